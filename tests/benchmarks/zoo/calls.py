"""Each model of the zoo as a call for `export-explorer survey`: `calls:bert`.

`python -m tests.benchmarks.zoo.calls` writes `tests/benchmarks/public.toml`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import MODELS, Model, cpu_torchvision
from .libraries import LIBRARIES

SURVEY = Path(__file__).parents[1] / "public.toml"
_HEAD = """\
# Public architectures from configs, with random weights.
# `python -m tests.benchmarks.zoo.calls` writes this file.
folder = "../.."
seconds = 600
memory = "8 GB"
preload = [
  "tests.benchmarks.zoo.calls", "transformers.modeling_utils",
  "transformers.models.auto.modeling_auto", "transformers.generation", "diffusers",
  "timm", "torchvision.models",
]
"""

cpu_torchvision.declare_ops()


def identifier(model: Model) -> str:
    """The name of a model as a function's: `deberta_v2`."""
    return re.sub(r"\W+", "_", model.name)


def survey_text() -> str:
    """The survey of all models."""
    parts = [_HEAD]
    for model in (*MODELS, *LIBRARIES):
        fields = {
            "name": model.name,
            "group": model.package,
            "call": f"tests.benchmarks.zoo.calls:{identifier(model)}",
            "shapes": model.shapes,
        }
        lines = [f"{name} = {json.dumps(value)}" for name, value in fields.items()]
        parts.append("\n".join(["[[model]]", *lines]) + "\n")
    return "\n".join(parts)


def __getattr__(name: str) -> Callable[[], Any]:
    for model in (*MODELS, *LIBRARIES):
        if identifier(model) == name:
            return lambda: (model.build(), *model.call(**model.sizes))
    raise AttributeError(name)


if __name__ == "__main__":
    SURVEY.write_text(survey_text(), encoding="utf-8")
