"""Two programs, or two contracts of one call, side by side."""
