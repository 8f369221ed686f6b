"""Infers a fake kernel of a custom op from runs of its real one."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import torch

from export_engine.attempt import Exported, Failed, Fix, NoFix, Request
from export_engine.diagnose import NoFakeKernel
from export_engine.fixes.fake_kernel_rules import ResultRule, rules_of
from export_engine.fixes.fake_kernel_runs import OpRuns, runs_of
from export_engine.fixes.pytree_containers import Unfit
from export_engine.fixes.try_fixes import try_request
from export_engine.progress import Progress, Report
from export_engine.torch_internals import op_signature, register_fake

_FEWEST = 3
"""Runs at other sizes that a rule needs at least, where the op takes tensors with dims."""


@dataclass(frozen=True)
class FakeKernel:
    """A Setup: a fake kernel for one op."""

    op: str
    """`ns::name`, with its overload where that is not the default one."""
    code: str
    """The kernel as a user writes it."""
    kernel: Callable[..., Any] = field(compare=False, repr=False)

    @property
    def title(self) -> str:
        """What it does, as an order."""
        return f"Give {self.op} a fake kernel"

    @property
    def stays(self) -> bool:
        """False: a program calls the op itself."""
        return False

    @property
    def classes(self) -> tuple[type, ...]:
        """None: it is of an op."""
        return ()

    def statements(self, _: Callable[[type], str]) -> list[str]:
        """The kernel as a user writes it."""
        return [self.code]

    def install(self) -> Callable[[], None]:
        """Registers the kernel; returns the undo function."""
        return register_fake(self.op, self.kernel)


def suggest_fake_kernel(attempt: Failed, progress: Report | None = None) -> Iterator[Fix | NoFix]:
    """A fake kernel for the op of a diagnosed attempt."""
    request, diagnosis = attempt.request, attempt.diagnosis
    facts = diagnosis.facts if diagnosis else None
    if request is None or not isinstance(facts, NoFakeKernel):
        return
    op, overload = facts.op, facts.overload
    if progress:
        progress(Progress(0, 0, f"running {op} at other sizes", "fix"))
    try:
        runs, kernel, rules = infer_kernel(request, op, overload)
    except Unfit as reason:
        yield NoFix(f"No fake kernel could be written for `{op}`: {reason}.")
        return
    result = try_request(_with(request, kernel))
    depend = sum(rule.open_sizes for rule in rules)
    yield Fix(
        kind="inputs",
        title=kernel.title,
        why=f"Inferred from {runs.count} runs of the real op, and correct for all of them"
        + (f"; {len(runs.further)} were held out to test it" if runs.further else "")
        + ". Put it next to the op's definition.",
        gives_up="It does not raise the op's errors."
        + (" A data-dependent size is left unbacked." if depend else ""),
        change=lambda request: _with(request, kernel),
        before=f"{op} without a fake kernel",
        after=kernel.code,
        stack=diagnosis.stack if diagnosis else (),
        leads_to=result if isinstance(result, Exported) else None,
    )


def _with(request: Request, kernel: FakeKernel) -> Request:
    others = tuple(setup for setup in request.setups if setup != kernel)
    return request.with_changes(setups=(*others, kernel))


def infer_kernel(
    request: Request, op: str, overload: str = ""
) -> tuple[OpRuns, FakeKernel, tuple[ResultRule, ...]]:
    """The kernel that explains every run, with the runs and its rules.

    Raises:
        Unfit: none does, or the op cannot be run.
    """
    runs = runs_of(request, op, overload)
    if runs is None:
        raise Unfit("the model does not reach the op on the example")
    signature = op_signature(runs.overload)
    if any(keyword.iskeyword(parameter) for parameter in signature.parameters):
        raise Unfit("one of its arguments has a Python keyword as its name")
    rules = rules_of(runs)
    sized = any(value.dim() for value in runs.shapes[0].made)
    if sized and len(runs.shapes) < _FEWEST:
        raise Unfit("it accepts only the example's sizes, so no rule can be inferred")
    name = f"{op}.{overload}" if overload and overload != "default" else op
    as_list = isinstance(runs.shapes[0].result, list)
    several = isinstance(runs.shapes[0].result, tuple | list)
    code = _code(name, signature, rules, several, as_list)
    return runs, FakeKernel(name, code, _kernel(signature, rules, several, as_list)), rules


def _kernel(
    signature: inspect.Signature, rules: tuple[ResultRule, ...], several: bool, as_list: bool
) -> Callable[..., Any]:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()

        def size() -> Any:
            return torch.library.get_ctx().new_dynamic_size()

        tensors = [rule.make(bound.arguments, size) for rule in rules]
        if several:
            return tensors if as_list else tuple(tensors)
        return tensors[0] if tensors else None

    return kernel


def _code(
    name: str,
    signature: inspect.Signature,
    rules: tuple[ResultRule, ...],
    several: bool,
    as_list: bool,
) -> str:
    numbers = count()
    names = [f"size{next(numbers)}" for rule in rules for _ in range(rule.open_sizes)]
    left = iter(names)
    texts = [rule.text(left) for rule in rules]
    result = texts[0] if texts else "None"
    if several:
        inside = ", ".join(texts)
        result = f"[{inside}]" if as_list else f"({inside}{',' if len(texts) == 1 else ''})"
    body = [f"{text} = torch.library.get_ctx().new_dynamic_size()" for text in names]
    lines = [f'@torch.library.register_fake("{name}")', f"def _{signature}:"]
    return "\n".join([*lines, *(f"    {line}" for line in [*body, f"return {result}"])])
