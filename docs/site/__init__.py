"""The docs as a site: `make docs` writes `docs/_build/html`, which needs no network.

Pages are the Markdown files in `docs/`. What is written elsewhere is not written again: the README,
CONTRIBUTING, the pages on codes, helps, docstrings, the schema and the tour become pages below
`docs/_made/` each time (`pages.py`), and the views in them are reports of exports that ran for it
(`live.py`).
"""
