"""The command `export-explorer` and its sub-commands."""
