"""Plain user code, one module per topic; importing this package fills `tests.fixes.case.CASES`."""

from importlib import import_module
from pathlib import Path

for _file in sorted(Path(__file__).parent.glob("[a-z]*.py")):
    import_module(f"{__name__}.{_file.stem}")
