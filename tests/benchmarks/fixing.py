"""Dynamic exports of real models: plain torch.export with named dims against `%export --fix`.

Where torch has ShapesSpec, the same models with the same sizes as ShapeVars beside it.

The judge is the benchmark's own: programs are run with inputs that the model's builder makes for
other sizes, and compared with eager. Models whose package is not installed are left out, and said.
With EVERY=4 in the environment, only every fourth model is tried, and the table says so.
"""

from __future__ import annotations

import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import torch
from torch.utils import _pytree as pytree

from export_engine.attempt import Exported, Failed, Request
from export_engine.capture import quiet
from export_engine.fixes import autofix
from export_engine.shapes import Shapes
from export_engine.torch_internals import missing_shapes_spec
from export_engine.verify import run as call

from .sampling import sampled
from .table import Row
from .zoo import MODELS, Model

_SECONDS = 150
"""A model that takes longer is given up: CPU seconds, which a busy machine does not prolong."""
_DRIFT = 2e-3


class Outcome(NamedTuple):
    """How a model ended."""

    name: str
    package: str
    plain: str
    fixed: str
    attempts: int
    ratio: float
    """Seconds of the fix over those of the plain export."""
    reason: str
    form: str = "Dims"
    """`Dims`, or `ShapesSpec`."""


class _TooLong(BaseException):
    """Out of time; not an Exception, so that nobody takes it for the model's own error."""


def run_model(model: Model, form: str = "Dims") -> Outcome | None:
    """Measures one; None if its package is not there."""
    try:
        target = model.build()
    except ImportError:
        return None
    args, kwargs = model.call(**model.sizes)
    shapes = Shapes.parse(model.shapes)
    shapes = shapes.to_spec() if form == "ShapesSpec" else shapes
    started = time.perf_counter()
    plain = _plain(model, target, args, kwargs, shapes)
    taken = time.perf_counter() - started
    started = time.perf_counter()
    request = Request(
        target=target, args=args, kwargs=kwargs, dynamic_shapes=shapes, title=model.name
    )
    report = autofix(request)
    spent = time.perf_counter() - started
    attempt = report.attempt
    reason = ""
    if isinstance(attempt, Exported):
        fixed = _judged(model, target, attempt.program)
        if fixed != "dynamic and right":
            reason = report.sentence
    else:
        assert isinstance(attempt, Failed)
        diagnosis = attempt.diagnosis
        assert diagnosis is not None
        place = diagnosis.stack[-1] if diagnosis.stack else None
        where = f" ({place.file.rsplit('/', 1)[-1]}:{place.line})" if place else ""
        fixed = "reason given" if diagnosis.known else "unknown"
        reason = f"{diagnosis.sentence}{where}"
    return Outcome(
        model.name,
        model.package,
        plain,
        fixed,
        len(report.steps),
        spent / max(taken, 1e-3),
        reason,
        form,
    )


def _plain(model: Model, target: Any, args: Any, kwargs: Any, shapes: Shapes) -> str:
    try:
        with quiet():
            program = torch.export.export(
                target, args, kwargs, dynamic_shapes=shapes.to_torch(target, args, kwargs)
            )
    except Exception as error:  # noqa: BLE001 - whatever it is, it did not export
        return f"fails: {type(error).__name__}"
    return _judged(model, target, program)


def _judged(model: Model, target: Any, program: torch.export.ExportedProgram) -> str:
    """Whether a program is right at sizes that all differ from the example's.

    Where the model itself takes none of those, say images of another height, one size differs.
    """
    called = program.module()
    for choices in (_other_sizes(model), _one_other_size(model)):
        found = _judged_at(choices, model, target, called)
        if found:
            return found
    return "no other size"


def _judged_at(
    choices: Iterator[dict[str, int]], model: Model, target: Any, called: torch.nn.Module
) -> str:
    """The verdict at the first sizes that both take; empty if the model takes none."""
    refused = False
    with torch.no_grad():
        for sizes in choices:
            args, kwargs = model.call(**sizes)
            request = Request(target=target, args=args, kwargs=kwargs)
            try:
                eager = call(target, request, 0)
            except Exception:  # noqa: BLE001 - a size that the model itself does not take
                continue
            try:
                ours = call(called, request, 0)
            except Exception:  # noqa: BLE001 - a size that the program does not take
                refused = True
                continue
            return "dynamic and right" if _close(ours, eager) else "differs"
    return "refuses other sizes" if refused else ""


def _other_sizes(model: Model) -> Iterator[dict[str, int]]:
    """Sizes all of which differ from the example's; ever more regular ones."""
    for number, scale in ((1, 1), (3, 1), (0, 2), (32, 1), (0, 3), (64, 2)):
        yield {
            name: size + 1 if name == "batch" else scale * size + number
            for name, size in model.sizes.items()
        }
    yield {name: size + 1 if name == "batch" else size - 1 for name, size in model.sizes.items()}
    for factor in (0.5, 0.75):
        yield {
            name: size + 1 if name == "batch" else max(2, int(size * factor))
            for name, size in model.sizes.items()
        }


def _one_other_size(model: Model) -> Iterator[dict[str, int]]:
    """Sizes of which one differs from the example's."""
    for name, size in model.sizes.items():
        yield {**model.sizes, name: size + 1}


def _close(ours: Any, eager: Any) -> bool:
    one = [leaf for leaf in pytree.tree_leaves(ours) if isinstance(leaf, torch.Tensor)]
    other = [leaf for leaf in pytree.tree_leaves(eager) if isinstance(leaf, torch.Tensor)]
    return len(one) == len(other) and all(
        a.shape == b.shape
        and torch.allclose(a.double(), b.double(), rtol=_DRIFT, atol=_DRIFT, equal_nan=True)
        for a, b in zip(one, other, strict=True)
    )


def run_all(models: Sequence[Model]) -> list[Outcome]:
    """Measures models, and prints a line for each."""
    found: list[Outcome] = []
    left_out: dict[str, int] = {}
    missing = missing_shapes_spec()
    if missing:
        print(f"{missing}: the cure rates under it are left out", file=sys.stderr)
    forms = ("Dims",) if missing else ("Dims", "ShapesSpec")
    for model, form in product(models, forms):
        torch.manual_seed(0)
        signal.signal(signal.SIGPROF, _give_up)
        signal.setitimer(signal.ITIMER_PROF, _SECONDS)
        try:
            outcome = run_model(model, form)
        except _TooLong:
            outcome = Outcome(model.name, model.package, "", "too long", 0, 0.0, "", form)
        except Exception as error:  # noqa: BLE001 - a crash of ours is an outcome too
            said = f"{type(error).__name__}: {error}"[:200]
            outcome = Outcome(model.name, model.package, "", "crashed", 0, 0.0, said, form)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        if outcome is None:
            left_out[model.package] = left_out.get(model.package, 0) + (form == "Dims")
            continue
        found.append(outcome)
        print(_line(outcome), file=sys.stderr, flush=True)
    for package, count in left_out.items():
        print(f"{package} is not installed: {count} models left out", file=sys.stderr)
    return found


def _give_up(*_: object) -> None:
    raise _TooLong


def _line(outcome: Outcome) -> str:
    reason = f"  {outcome.reason[:150]}" if outcome.reason else ""
    return (
        f"{outcome.name:22} {outcome.form:10} {outcome.plain:28} {outcome.fixed:20} "
        f"{outcome.attempts:2} attempts {outcome.ratio:5.1f}x{reason}"
    )


def rows_of(outcomes: list[Outcome], sample: bool = False) -> list[Row]:
    """The summary, Dims and ShapesSpec side by side; a model that ended badly has its own row."""
    forms = {form: [o for o in outcomes if o.form == form] for form in ("Dims", "ShapesSpec")}
    found = forms["Dims"]
    rows = [*(() if sample else _tried(found)), *_rates(forms)]
    rows.append(
        Row("real models", "end as one of these two",
            sum(o.fixed in _GOOD for o in found) / max(len(found), 1), "share", least=1,
            means="no model ends unexplained, wrong, too slow, or in a crash")
    )  # fmt: skip
    rows += [
        Row("real models", f"{o.name}, {o.form}: {o.fixed}", None,
            means=o.reason or "no reason was given")
        for o in outcomes
        if o.fixed not in _GOOD
    ]  # fmt: skip
    mended = [o for o in found if o.plain != _RIGHT and o.fixed == _RIGHT]
    if mended:
        rows += [
            Row("mended models", "fixes tried, median",
                statistics.median(o.attempts for o in mended), "attempts",
                means="how many fixes it takes where plain export does not do"),
            Row("mended models", "fixes tried, at most", max(o.attempts for o in found),
                "attempts", most=10, means="the most that any model took before it ended"),
            Row("mended models", "seconds over those of plain export, median",
                statistics.median(o.ratio for o in mended), "×", most=3,
                means="what a fix costs, tracing and checking included, in plain exports"),
        ]  # fmt: skip
    return rows


_RIGHT = "dynamic and right"
_GOOD = (_RIGHT, "reason given")
_MEASURES: dict[str, tuple[Callable[[Outcome], bool], str]] = {
    "plain export: dynamic and right": (
        lambda o: o.plain == _RIGHT,
        "what torch.export alone makes of the named sizes: it takes other sizes, rightly",
    ),
    "--fix: dynamic and right": (
        lambda o: o.fixed == _RIGHT,
        "what `%export --fix` makes of the same calls",
    ),
    "--fix: the reason, at its line": (
        lambda o: o.fixed == "reason given",
        "no lossless fix helps; the failing line and why are shown",
    ),
}


def _rates(forms: dict[str, list[Outcome]]) -> list[Row]:
    """Each measure under Dims, and below it under ShapesSpec where torch has it."""
    return [
        Row("cure rate", f"{name}, {form} (of {len(found)})", sum(map(holds, found)), "models",
            means=means)
        for name, (holds, means) in _MEASURES.items()
        for form, found in forms.items()
        if found
    ]  # fmt: skip


def _tried(found: list[Outcome]) -> list[Row]:
    """How many models there were, of transformers and of others."""
    ours = sum(o.package == "transformers" for o in found)
    return [
        Row("real models", "of transformers", ours, "models", least=30,
            means="architectures with tiny configs that were exported"),
        Row("real models", "of other packages", len(found) - ours, "models", least=20,
            means="vision, audio, graphs and diffusion"),
    ]  # fmt: skip


def run() -> list[Row]:
    """All models, or every so many of them."""
    models, every = sampled(MODELS)
    return [_asked(models, every), *rows_of(run_all(models), sample=every > 1)]


def _asked(models: Sequence[Model], every: int) -> Row:
    """Which models are asked, on which torch."""
    said = f"torch {torch.__version__.partition('+')[0]}"
    if every == 1:
        means = "tiny, with random weights; each dim that varies by nature has a name"
        return Row("real models", f"all, {said}", len(models), "models", means=means)
    means = f"one of {every}, from the first: {', '.join(each.name for each in models)}"
    return Row("real models", f"a sample, {said}", len(models), f"of {len(MODELS)}", means=means)
