"""What nvidia-smi prints, in its many forms."""
