"""What is known of real devices beyond their specifications: rates, class constants, biases, widths of ranges."""
