"""Large tables, read in blocks of lines with numpy: the regular stretches column by column, the rest line by line."""
