"""Cells as they were typed."""

import pytest

from export_engine.source.notebook_cells import as_typed


@pytest.mark.parametrize(
    ("compiled", "typed"),
    [
        ("get_ipython().run_line_magic('export', 'model(x)')\n", "%export model(x)\n"),
        (
            "get_ipython().run_line_magic('export', '-d \"x: b, _\" m(x)')",
            '%export -d "x: b, _" m(x)',
        ),
        ("    get_ipython().run_line_magic('time', 'it\\'s()')\n", "    %time it's()\n"),
        ("get_ipython().run_line_magic('matplotlib', '')", "%matplotlib"),
        ("t = get_ipython().run_line_magic('timeit', '-o f()')", "t = %timeit -o f()"),
        ("get_ipython().system('ls -l')\r\n", "!ls -l\r\n"),
        ("names = get_ipython().getoutput('ls')", "names = !ls"),
        ("get_ipython().run_line_magic(name, rest)", "get_ipython().run_line_magic(name, rest)"),
        ("x = 1  # get_ipython\n", "x = 1  # get_ipython\n"),
    ],
)
def test_a_line_is_as_it_was_typed(compiled: str, typed: str) -> None:
    around = "import torch\n{}\ny = 2\n"
    assert as_typed(around.format(compiled)) == around.format(typed)
