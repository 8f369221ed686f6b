"""`python -m explorer` is the command `export-explorer`, of this very Python."""

from __future__ import annotations

import sys

from explorer.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
