"""Sets of programs that belong together."""
