"""One short story in other hosts of notebooks, in Chromium: `python -m tests.hosts`.

Hosts are heavy, so no test of the suite needs them: `pip install notebook marimo` first, in an
environment that has what the browser tests need. It prints a row for each host.
"""
