"""One short story in other hosts of notebooks, in Chromium: `python -m tests.hosts`.

Hosts are heavy, so no test of the suite needs them: `make test-hosts` makes an environment for
them. It prints a row for each host, and fails where a step of the story does.
"""
