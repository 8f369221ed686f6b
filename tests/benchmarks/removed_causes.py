"""Reasons of XNNPACK's partitioner, judged: the cause is removed, and the partitioner asked again.

Each op outside is asked about in the program that the partitioner saw. It must be refused for the
reason that was given; without the cause its rule must accept it, or name another cause, which is
removed as well. Where an op has no rule, the partitioner gets one, and must take the op.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import Node

from explorer.typing import DelegationResult
from export_engine.delegate.builtin_backends.executorch_backend import (
    RESHAPED,
    Answered,
    asking,
    lower_to_edge,
    quiet,
    replace_views,
)
from export_engine.delegate.reasons import REFUSED, Refusals
from export_engine.record import DelegatedOp
from export_engine.run import Origins

_MOST_CAUSES = 6
_TAG = "delegation_tag"


@dataclass
class Judged:
    """Reasons that hold, those that do not, and those that were not judged."""

    right: int = 0
    wrong: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    """Those whose cause is not removed here."""
    classes: Counter[str] = field(default_factory=Counter)
    """How many reasons of each class are right."""


def judge(program: torch.export.ExportedProgram, delegation: DelegationResult) -> Judged:
    """Judges the reason of each op outside.

    Args:
        program: that was lowered.
        delegation: what came of it.
    """
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

    if RESHAPED in delegation.data.notes:  # the partitioner saw the reshaped one last
        program = replace_views(program)
    with quiet():
        partitioner = XnnpackPartitioner()
        edge = _ask(program, partitioner)
    judging = _Judging(program, edge, partitioner)
    judged, ruleless = Judged(), list[tuple[DelegatedOp, Node]]()
    for op in delegation.outside:
        node = judging.find(op)
        if node is None:
            judged.open.append(f"{op.op}: {op.reason}")
        elif op.by == "no rule" and "decomposed" not in op.reason:
            ruleless.append((op, node))
        else:
            _note(judged, op, judging.judge(op, node))
    taken = _take_with_rules(edge, {_target(node) for _, node in ruleless})
    for op, node in ruleless:
        is_right = _target(node) not in partitioner.target_partitioner_configs
        _note(judged, op, is_right and (bool(op.graph) or node.name in taken))
    return judged


def _note(judged: Judged, op: DelegatedOp, is_right: bool | None) -> None:
    if is_right is None:
        judged.open.append(f"{op.op}: {op.reason}")
    elif is_right:
        judged.right += 1
        judged.classes[f"{op.op}: {_class_of(op.reason)}"] += 1
    else:
        judged.wrong.append(f"{op.op}: {op.reason}")


def _class_of(reason: str) -> str:
    return re.sub(r"input \w+ is", "an input is", re.sub(r"\d+|\[.*\]", "…", reason))


def _ask(program: torch.export.ExportedProgram, partitioner: Any) -> Any:
    """The program as the partitioner sees it, with its tags."""
    asked = asking(partitioner)
    with suppress(Answered):
        lower_to_edge(program, asked)
    return asked.program


def _take_with_rules(edge: Any, targets: set[str]) -> set[str]:
    """The ops that a partitioner with one more rule for each target takes."""
    from executorch.backends.xnnpack.partition.config import ALL_PARTITIONER_CONFIGS
    from executorch.backends.xnnpack.partition.config.generic_node_configs import ExpConfig
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

    def accept(self: Any, node: Node, ep: Any) -> bool:
        return True

    rules = [
        type(target, (ExpConfig,), {"target_name": target, "check_constraints": accept})
        for target in sorted(targets)
    ]
    for node in edge.graph.nodes:
        node.meta.pop(_TAG, None)
    with quiet():
        XnnpackPartitioner(configs=[*ALL_PARTITIONER_CONFIGS, *rules]).partition(edge)
    return {node.name for node in edge.graph.nodes if _TAG in node.meta}


def _target(node: Node) -> str:
    from executorch.exir.backend.canonical_partitioners.config_partitioner import (
        format_target_name,
    )

    return str(format_target_name(getattr(node.target, "__name__", "")))


class _Judging:
    """Asks the partitioner's rules about single ops."""

    def __init__(self, program: torch.export.ExportedProgram, edge: Any, partitioner: Any) -> None:
        self._program, self._edge, self._partitioner = program, edge, partitioner
        self._graphs = {"": edge.graph} | {
            name: module.graph
            for name, module in edge.graph_module.named_modules()
            if name and isinstance(module, torch.fx.GraphModule)
        }

    def find(self, op: DelegatedOp) -> Node | None:
        """The node that the partitioner saw."""
        graph = self._graphs.get(op.graph)
        nodes = [] if graph is None else [node for node in graph.nodes if node.name == op.name]
        return nodes[0] if nodes else None

    def judge(self, op: DelegatedOp, node: Node) -> bool | None:
        """Whether a reason is right; None where its cause is not removed here."""
        ep, reason = self._edge, op.reason
        if "skips graphs of branches" in reason:
            return bool(op.graph) and self._ask(node, ep) is not None
        if "compiler rejects it" in reason:
            return self._ask(node, ep) == ""  # the rule takes it; without it the rest was lowered
        if "it was then decomposed" in reason:
            reason = reason.partition("; it was then decomposed")[0]
            ep = self._program
            node = next(other for other in ep.graph.nodes if other.name == op.origin)
        with _restored(node):
            return self._remove_causes(node, ep, reason)

    def _remove_causes(self, node: Node, ep: Any, reason: str) -> bool | None:
        found = self._ask(node, ep)
        if found is None or _plain(found) != _plain(reason):
            return False
        removed: list[str] = []
        while found:
            if found in removed or len(removed) == _MOST_CAUSES:
                return False
            removed.append(found)
            remove = next((do for text, do in REMOVALS if re.search(text, found)), None)
            if remove is None:
                return None
            remove(node, ep)
            found = self._ask(node, ep)
        return found == ""

    def _ask(self, node: Node, ep: Any) -> str | None:
        """Why a rule refuses an op; empty if it takes it; None if there is no rule."""
        rule = self._partitioner.target_partitioner_configs.get(_target(node))
        if rule is None:
            return None
        refusals = Refusals(Origins(self._program), {})
        with quiet(), refusals.watching(self._partitioner):
            if rule.check_constraints(node, ep):
                rule.get_partition(node, ep)
        verdict = node.meta.get(REFUSED)
        if node.name in refusals.before:
            verdict = refusals.before[node.name][1]
        return "" if verdict is None or verdict.is_taken else str(verdict.reason)


def _plain(reason: str) -> str:
    """Without names of sizes, which the user's program has under its own."""
    return re.sub(r"dim: \S+|\[.*\]", "…", reason)


@contextmanager
def _restored(node: Node) -> Iterator[None]:
    """Puts back an op, and the types of its inputs."""
    args, kwargs, users = node.args, dict(node.kwargs), dict(node.users)
    metas = {part: dict(part.meta) for part in (node, *node.all_input_nodes)}
    try:
        yield
    finally:
        node.args, node.kwargs = args, kwargs
        node.users = users
        for part, meta in metas.items():
            part.meta = meta


def _put(node: Node, place: int, value: Any) -> None:
    args = [*node.args, *[None] * (place + 1 - len(node.args))]
    args[place] = value
    node.args = tuple(args)


def _plain_size(size: Any) -> int:
    """A size of two or more, whatever it was."""
    return size if isinstance(size, int) and size else 4


def _retype(node: Node, dtype: torch.dtype | None = None, rank: int | None = None) -> None:
    """Gives a node's tensor a type, fixed sizes, and a rank."""
    value = node.meta["val"]
    sizes = [_plain_size(size) for size in value.shape] if isinstance(value, torch.Tensor) else []
    sizes = sizes if rank is None else ([1] * rank + sizes)[-rank:]
    held = value.dtype if isinstance(value, torch.Tensor) else torch.float32
    node.meta["val"] = torch.empty(sizes, dtype=dtype or held, device="meta")


def _floats(node: Node, ep: Any) -> None:
    for part in (node, *node.all_input_nodes):
        if isinstance(part.meta.get("val"), torch.Tensor):
            _retype(part, torch.float32)


def _fixed(node: Node, ep: Any) -> None:
    """Numbers in place of sizes, and fixed sizes of tensors."""
    node.args = torch.fx.map_arg(
        node.args,
        lambda part: part if isinstance(part.meta.get("val"), torch.Tensor) else 4,
    )
    for part in (node, *node.all_input_nodes):
        if isinstance(part.meta.get("val"), torch.Tensor):
            _retype(part)
    if isinstance(node.args[1:2], tuple) and isinstance(node.args[1], list | tuple):
        _put(node, 1, [_plain_size(size) for size in node.args[1]])


def _of_four(node: Node, ep: Any) -> None:
    _retype(node.all_input_nodes[0], rank=4)


def _static(place: int) -> Callable[[Node, Any], None]:
    def remove(node: Node, ep: Any) -> None:
        names = {*ep.graph_signature.inputs_to_parameters}
        weight = next(part for part in ep.graph.nodes if part.name in names)
        _put(node, place, weight)

    return remove


def _setting(place: int, value: Any) -> Callable[[Node, Any], None]:
    return lambda node, ep: _put(node, place, value)


def _without_alpha(node: Node, ep: Any) -> None:
    node.kwargs = {name: value for name, value in node.kwargs.items() if name != "alpha"}


def _same_order(node: Node, ep: Any) -> None:
    value = node.all_input_nodes[0].meta["val"]
    node.kwargs = {**node.kwargs, "dim_order": [*value.dim_order()]}
    node.meta["val"] = value


def _two(node: Node, ep: Any) -> None:
    first = node.args[0][0]  # type: ignore[index]
    other = next(part for part in ep.graph.nodes if part is not first and part is not node)
    other_meta = dict(first.meta)
    saved, other.meta = other.meta, other_meta
    _put(node, 0, [first, other])
    other.meta = {**saved, "val": first.meta["val"]} if "val" in saved else other_meta


def _only_values(node: Node, ep: Any) -> None:
    node.users = {user: None for user in node.users if user.args[1] == 0}


REMOVALS: tuple[tuple[str, Callable[[Node, Any], None]], ...] = (
    (
        r"is a size, not a tensor|Symbolic reshape|invalid shape|data-dependent size|is empty",
        _fixed,
    ),
    (r"invalid dtype|mixed input dtypes|dtype conversion|output dtype|input dtype", _floats),
    (r"alpha != 1", _without_alpha),
    (r"tensor of rank|Unsupported input rank", _of_four),
    (r"keepdim=True", _setting(2, True)),
    (r"across the innermost", _setting(1, [2, 3])),
    (r"trailing dimension|must be the last dim", _setting(1, -1)),
    (r"if stride != 1", _setting(4, 1)),
    (r"int powers|power == 2", _setting(1, 2)),
    (r"concatenation of > 2", _two),
    (r"weight to be a static param", _static(1)),
    (r"bias to be a static param", _static(2)),
    (r"dim-order preserving", _same_order),
    (r"user of max.dim", _only_values),
    (r"must be less than or equal to kernel size", _setting(2, [1, 1])),
    (r"zero-padding in the averaging", _setting(3, [0, 0])),
)
"""Per cause, what removes it from an op; the first that fits."""
