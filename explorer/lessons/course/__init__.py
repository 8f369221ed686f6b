"""The lessons of the course: one file each, with exercises, hints, solutions and wrong answers.

Their notebooks are in `notebooks/`, numbered in the order of `COURSE`. Importing this package
imports none of them.
"""

from __future__ import annotations

import importlib

from explorer.lessons.saved_progress import get_progress

__all__ = ["COURSE", "course_line", "write_model_cell"]

COURSE = (
    "a_first_export",
    "reading_a_graph_and_a_signature",
    "strict_and_non_strict",
    "graph_breaks_and_cond",
    "static_and_dynamic_dims",
    "relations_and_derived_dims",
    "data_dependent_shapes",
    "custom_ops",
    "decompositions",
    "diffing",
    "running_and_packaging",
    "soundness",
    "a_model_that_generates",
    "the_cost_of_a_program",
    "from_lines_to_kernels",
    "delegates",
)
"""The lessons of the course, in order. `notebooks/01_a_first_export.ipynb` is the first."""


def course_line() -> str:
    """How much of the course is done."""
    done = sum(_is_done(name) for name in COURSE)
    return f"{done} of the {len(COURSE)} lessons of the course are done."


def write_model_cell(name: str, body: str, *, options: str = "") -> str:
    """A learner's cell that defines a module and exports a call of it as `mine`.

    Args:
        name: of the module's class.
        body: of its `forward`, which takes `self` and `x`.
        options: of `%export`.
    """
    inner = body.replace("\n", "\n        ")
    export = " ".join(filter(None, ("%export", options, f"--as mine {name}()(x)")))
    return f"""
class {name}(torch.nn.Module):
    def forward(self, x):
        {inner}


{export}
"""


def _is_done(name: str) -> bool:
    """Whether all exercises of a lesson are done."""
    lesson = importlib.import_module(f"{__name__}.{name}").lesson
    return all(get_progress(lesson.name, number)["done"] for number in lesson.exercises)
