"""Models defined from the text of their `forward`, as a notebook cell would define them."""

from __future__ import annotations

import linecache
import sys
import textwrap
import types
from typing import Any

HEAD = """import math
import warnings

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.cell = torch.nn.Linear(4, 4)
        self.k = 2.0

"""


def define(source: str, name: str) -> tuple[Any, str, str]:
    """A model with this `forward`, its file, and the file's text."""
    text = HEAD + textwrap.indent(textwrap.dedent(source).strip("\n"), " " * 4) + "\n"
    file = f"/cells/{name}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    module = types.ModuleType(f"cell_{name}")  # strict mode imports it by its name
    sys.modules[module.__name__] = module
    exec(compile(text, file, "exec"), vars(module))
    return vars(module)["Model"]().eval(), file, text
