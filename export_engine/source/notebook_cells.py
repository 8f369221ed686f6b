"""The text of a notebook cell as typed.

IPython turns magics into calls before it compiles a cell, line by line, and keeps that text.
"""

from __future__ import annotations

import ast
import re

_CALL = re.compile(r"(.*?)get_ipython\(\)\.(run_line_magic|system|getoutput)\((.*)\)")
_SIGNS = {"system": "!", "getoutput": "!"}


def as_typed(text: str) -> str:
    """A cell's text with its magics and shell commands as they were typed: `%time f()`, `!ls`."""
    return "".join(map(_line, text.splitlines(keepends=True))) if "get_ipython" in text else text


def _line(line: str) -> str:
    match = _CALL.fullmatch(line.rstrip("\r\n"))
    if match is None:
        return line
    before, method, value = match.groups()
    try:
        words = ast.literal_eval(f"({value},)")
    except (SyntaxError, ValueError):  # the call was written by hand, with other arguments
        return line
    typed = " ".join(str(word) for word in words).rstrip()
    return f"{before}{_SIGNS.get(method, '%')}{typed}{line[match.end() :]}"
