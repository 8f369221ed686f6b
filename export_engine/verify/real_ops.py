"""Custom ops run on real tensors, and compared with their fake kernels and schemas.

Tracing trusts an op's fake kernel on its outputs and its schema on mutation, and checks neither.
torch's own ops are trusted; any other is run here on real inputs, at the example's sizes and at
others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

from export_engine import rules
from export_engine.attempt import Request
from export_engine.defects import log_internal_error
from export_engine.error_text import error_text
from export_engine.process import raise_if_interrupted
from export_engine.source import parse_stack_trace, user_error
from export_engine.torch_internals import (
    OpOverload,
    fake_result,
    is_fake,
    list_aliased_arguments,
    list_written_arguments,
    op_signature,
    pytree,
)
from export_engine.verify.contract_sampling import inside
from export_engine.verify.custom_ops import find_custom, is_custom
from export_engine.verify.guarantee import Guarantee, verdict_of, without_weights
from export_engine.verify.isolated_run import call, storage_address
from export_engine.verify.program_under_test import Subject

_MOST_SIZES = 3


class _Problem(NamedTuple):
    node: str
    text: str


def check_ops(subject: Subject) -> Guarantee:
    """Runs the program op by op and looks at each custom op before and after."""
    custom = find_custom(subject.program.graph_module)
    if not custom:
        text = rules.GuaranteeOps.NONE()
        return Guarantee(rule=rules.GuaranteeOps, verdict="not applicable", sentence=text)
    if subject.without_values:
        return without_weights(rules.GuaranteeOps, subject.without_values)
    problems: dict[tuple[str, str], _Problem] = {}
    seen: set[str] = set()
    failed: list[str] = []
    for seed, sizes in enumerate(inside(subject, _MOST_SIZES)):
        raise_if_interrupted()
        request = subject.request if seed == 0 else subject.at(sizes, seed)
        try:
            watching = _run(subject, request, seed)
        except Exception as error:  # noqa: BLE001 - the program may refuse sizes; `sound` says so
            log_internal_error(error, "running a program op by op")
            failed.append(user_error(error) or error_text(error))
            continue
        seen |= watching.seen
        for problem in watching.problems:
            problems.setdefault((problem.node, problem.text.partition(":")[0]), problem)
    return _conclude(custom, seen, list(problems.values()), failed)


def _conclude(
    custom: list[torch.fx.Node], seen: set[str], problems: list[_Problem], failed: list[str]
) -> Guarantee:
    names = sorted({str(node.target) for node in custom})
    unseen = [name for name in names if name not in seen]
    verdict = verdict_of(problems)
    count = f"{len(names)} custom {'op was' if len(names) == 1 else 'ops were'}"
    sentence = rules.GuaranteeOps.HOLDS(ops=count, names=", ".join(names[:3]))
    if problems:
        sentence = problems[0].text
    elif unseen:
        verdict = "not checked"
        sentence = rules.GuaranteeOps.NOT_RUN(
            names=", ".join(unseen[:3]), reason="".join(failed[:1])
        ).strip()
    return Guarantee(
        rule=rules.GuaranteeOps,
        verdict=verdict,
        sentence=sentence,
        evidence=(
            *(problem.text for problem in problems),
            *(rules.GuaranteeOps.RUN_FAILED(error=text) for text in failed),
        ),
        node=problems[0].node if problems else "",
    )


def _run(subject: Subject, request: Request, seed: int) -> _Watching:
    module = subject.module
    assert isinstance(module, torch.fx.GraphModule)
    watching, graph = _Watching(module), module.graph

    def run(*args: Any, **kwargs: Any) -> Any:
        flat = graph.process_inputs(*args, **kwargs)
        return watching.run(*flat, enable_io_processing=False)

    try:
        call(run, request, seed, patience=subject.patience)
    finally:
        subject.restore()
    return watching


class _Watching(torch.fx.Interpreter):
    """Runs a graph and those inside, and compares custom ops with fake kernels and schemas."""

    def __init__(self, module: torch.fx.GraphModule, within: _Watching | None = None) -> None:
        super().__init__(module, garbage_collect_values=True)
        self.seen: set[str] = within.seen if within else set()
        self.problems: list[_Problem] = within.problems if within else []
        self.caller = ""
        """The node of the main graph that is being run."""
        self._within = within

    def run_node(self, n: torch.fx.Node) -> Any:
        if n.op == "call_module" and n.target == "_guards_fn":
            return None  # whether a size is refused is for `refuses`
        self.caller = self._within.caller if self._within else n.name
        return super().run_node(n)

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        attr = super().get_attr(target, args, kwargs)
        return _Inner(attr, self) if isinstance(attr, torch.fx.GraphModule) else attr

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        if target is torch.ops.higher_order.cond:
            self._try_branches(*args, **kwargs)
        if not is_custom(target):
            return super().call_function(target, args, kwargs)
        before = _copy_arguments(args, kwargs)
        claimed = fake_result(target, *_copy_arguments(args, kwargs))
        result = super().call_function(target, args, kwargs)
        self.seen.add(str(target))
        for text in (
            *_unlike(result, claimed),
            *_find_undeclared_writes(target, (args, kwargs), before),
            *_find_undeclared_views(target, result, args, kwargs),
        ):
            self.problems.append(self._locate_problem(target, text))
        return result

    def _try_branches(self, _: Any, true_fn: Any, false_fn: Any, operands: Any = ()) -> None:
        """Run both branches of a cond on copies: tracing also trusts the one that is not taken."""
        for branch in (true_fn, false_fn):
            try:
                if isinstance(branch, _Inner) and branch.has_custom:
                    branch(*_copy_arguments(tuple(operands), {})[0])
            except Exception as error:  # noqa: BLE001 - it may not be made for these values
                log_internal_error(error, "running a branch of a cond")

    def _locate_problem(self, target: OpOverload, text: str) -> _Problem:
        """With the line that it is at and the node; of a nested graph, the node that runs it."""
        node = next((node for node in self.graph.nodes if node.target is target), None)
        stack = parse_stack_trace((node.stack_trace if node is not None else "") or "")
        where = f" ({stack[-1].file.rpartition('/')[2]}:{stack[-1].line})" if stack else ""
        text = rules.GuaranteeOps.PROBLEM(op=target, problem=text, where=where)
        return _Problem(self.caller, text)


class _Inner:
    """A graph that a higher-order operator is given, watched where it runs on real tensors."""

    def __init__(self, module: torch.fx.GraphModule, outer: _Watching) -> None:
        self._module = module
        self._outer = outer
        self.has_custom = bool(find_custom(module))

    def __call__(self, *args: Any) -> Any:
        if not self.has_custom or any(map(is_fake, pytree.tree_leaves(args))):
            return self._module(*args)  # autograd of a cond traces its branches on fake tensors
        return _Watching(self._module, self._outer).run(*args)


def _copy_arguments(args: Any, kwargs: Any) -> tuple[Any, Any]:
    """With tensors of their own that lie in memory as these do."""

    def copy(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if value.layout is not torch.strided or _overlaps_itself(value):
            return value.detach().clone()
        tensor = torch.empty_strided(
            value.shape, value.stride(), dtype=value.dtype, device=value.device
        )
        return tensor.copy_(value.detach())

    pair: tuple[Any, Any] = pytree.tree_map(copy, (args, kwargs))
    return pair


def _overlaps_itself(value: torch.Tensor) -> bool:
    return any(
        not step and size > 1 for step, size in zip(value.stride(), value.shape, strict=True)
    )


def _unlike(result: Any, claimed: Any) -> Iterator[str]:
    """How an op's outputs differ from its fake kernel's."""
    if isinstance(claimed, Exception):
        yield rules.GuaranteeOps.FAKE_FAILS(error=error_text(claimed, 160))
        return
    real, fake = pytree.tree_leaves(result), pytree.tree_leaves(claimed)
    if len(real) != len(fake):
        yield rules.GuaranteeOps.COUNTS(real=len(real), fake=len(fake))
        return
    for number, (one, other) in enumerate(zip(real, fake, strict=True)):
        which = f" as result {number}" if len(real) > 1 else ""
        if isinstance(one, torch.Tensor) != isinstance(other, torch.Tensor):
            types = type(one).__name__, type(other).__name__
            yield rules.GuaranteeOps.TYPES(real=types[0], which=which, fake=types[1])
        elif isinstance(one, torch.Tensor):
            yield from _unlike_tensor(one, other, which)


def _unlike_tensor(one: torch.Tensor, other: torch.Tensor, which: str) -> Iterator[str]:
    sizes = [int(size) if _is_known(size) else None for size in other.shape]  # None: from data
    same = len(sizes) == one.dim() and all(
        size is None or size == real for size, real in zip(sizes, one.shape, strict=True)
    )
    if not same:
        yield rules.GuaranteeOps.SHAPES(real=list(one.shape), which=which, fake=sizes)
    elif one.dtype != other.dtype:
        yield rules.GuaranteeOps.DTYPES(real=one.dtype, which=which, fake=other.dtype)
    elif one.device != other.device:
        yield rules.GuaranteeOps.DEVICES(real=one.device, which=which, fake=other.device)
    elif None not in sizes and one.layout is torch.strided and _steps(one) != _steps(other):
        yield rules.GuaranteeOps.STRIDES(real=one.stride(), which=which, fake=other.stride())


def _is_known(size: object) -> bool:
    return isinstance(size, int)


def _steps(value: torch.Tensor) -> list[int]:
    """Strides of dims with more than one element; of an empty tensor none matter."""
    if not value.numel():
        return []
    return [step for step, size in zip(value.stride(), value.shape, strict=True) if size > 1]


def _find_undeclared_writes(target: OpOverload, after: Any, before: Any) -> Iterator[str]:
    """Arguments that have other values after the call, though the schema does not declare it."""
    texts = set(list_written_arguments(target))
    names = op_signature(target)
    now = names.bind(*after[0], **after[1]).arguments
    then = names.bind(*before[0], **before[1]).arguments
    for name, value in now.items():
        leaves = zip(pytree.tree_leaves(value), pytree.tree_leaves(then[name]), strict=True)
        if name not in texts and any(_is_changed(one, other) for one, other in leaves):
            yield rules.GuaranteeOps.WRITES(argument=name)


def _is_changed(one: Any, other: Any) -> bool:
    if not isinstance(one, torch.Tensor) or one.layout is not torch.strided:
        return False
    if one.shape != other.shape:
        return True
    same = one.detach() == other
    if one.is_floating_point() or one.is_complex():
        same |= (one.detach() != one.detach()) & (other != other)  # nan
    return not bool(same.all())


def _find_undeclared_views(
    target: OpOverload, result: Any, args: Any, kwargs: Any
) -> Iterator[str]:
    """Results that alias an argument, though the schema does not declare it."""
    texts = {*list_aliased_arguments(target), *list_written_arguments(target)}
    arguments = op_signature(target).bind(*args, **kwargs).arguments
    items = [leaf for leaf in pytree.tree_leaves(result) if storage_address(leaf)]
    for name, value in arguments.items():
        addresses = {storage_address(leaf) for leaf in pytree.tree_leaves(value)} - {0}
        if name not in texts and any(storage_address(item) in addresses for item in items):
            yield rules.GuaranteeOps.ALIAS(argument=name)
