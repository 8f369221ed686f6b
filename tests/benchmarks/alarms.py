"""Whether findings on real models are true: those above notes, each judged by a run.

`alarms_judged.tsv` has what was judged: the model, the kind, whether it is true, and by which run.
A finding that is not listed counts as false until somebody judges it. With EVERY=4 in the
environment, only every fourth model of the zoo is exported.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.shapes import Shapes

from .sampling import sampled
from .table import Row
from .zoo import MODELS, Model

_JUDGED = Path(__file__).with_name("alarms_judged.tsv")


def run() -> list[Row]:
    """The table's row."""
    judged = dict(_judged())
    models, alarms, wrong = 0, 0, list[str]()
    tried, every = sampled(MODELS)
    for model in tried:
        kinds = _alarms_of(model)
        models += kinds is not None
        for kind in kinds or ():
            alarms += 1
            if not judged.get((model.name, kind), False):
                wrong.append(f"{model.name}: {kind}")
    share = (alarms - len(wrong)) / alarms if alarms else float(models > 0)
    return [
        Row(
            f"{models} models of the zoo" + (f", one of {every}" if every > 1 else ""),
            f"true of {alarms} findings above notes",
            share,
            "share",
            least=0.99,
            means=f"judged by running it; false or not judged: {', '.join(wrong) or 'none'}",
        )
    ]


def _judged() -> Iterator[tuple[tuple[str, str], bool]]:
    for line in _JUDGED.read_text(encoding="utf-8").splitlines()[1:]:
        name, kind, verdict, _ = line.split("\t")
        yield (name, kind), verdict == "true"


def _alarms_of(model: Model) -> list[str] | None:
    """The kinds of a model's findings above notes; None if it is not there or does not export."""
    try:
        args, kwargs = model.call(**model.sizes)
        shapes = Shapes.parse(model.shapes) if model.shapes else None
        request = Request(target=model.build(), args=args, kwargs=kwargs, dynamic_shapes=shapes)
        attempt = capture(request)
        if not isinstance(attempt, Exported):  # the natural dims take a fix
            attempt = capture(request.with_changes(shapes=None))
    except ImportError:
        return None
    if not isinstance(attempt, Exported):
        return None
    return [each.kind for each in describe(attempt).findings if each.severity != "note"]
