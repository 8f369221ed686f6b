"""Backends of ExecuTorch: a partitioner tags ops of its edge dialect; a tag is a partition."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from typing import Any

import torch

from export_engine.capture import descriptors_quiet
from export_engine.defects import log_internal_error
from export_engine.delegate.backend import Lowered, LoweringError, Placement, Verdict
from export_engine.delegate.executorch_names import (
    COUNTS,
    TARGET_NAME,
    WHY,
    inner_program,
    rules_of,
)
from export_engine.delegate.reasons import REFUSED, Refusals
from export_engine.error_text import error_text, format_with_type
from export_engine.listing import join_names
from export_engine.process import undone
from export_engine.record import CountedNodes
from export_engine.run import Origins, edge_options, packages, replace_views
from export_engine.torch_internals import (
    OpOverload,
    copy_program,
    find_aten_op,
    open_sizes,
    read_size,
    set_graph_module,
)

_TAG = "delegation_tag"
_MOST_REFUSED = 12


class AskedBackend:
    """A partitioner that is asked which ops it takes. Nothing is compiled for its device."""

    name = ""
    title = ""
    modules: tuple[str, ...] = ("executorch.exir",)

    def missing(self) -> str | None:
        """The packages."""
        return packages({module: module.partition(".")[0] for module in self.modules})

    def partitioner(self) -> Any:
        """A new partitioner."""
        raise NotImplementedError

    def rules(self) -> frozenset[str]:
        """The ops that its rules are for: `add.Tensor`; empty where it is not made of rules."""
        with quiet():
            return frozenset(rules_of(self.partitioner()))

    @undone
    def listening(self, partitioner: Any) -> Iterator[None]:
        """Hears what the partitioner says of ops that no rule says."""
        yield

    def lower(self, program: torch.export.ExportedProgram) -> Lowered:
        """Ops that the partitioner tags, grouped as its partitions would be."""
        seen, refusals, partitioner = self._ask_partitioner(program)
        before = _by_origin(program, refusals)
        sources = Origins(program)
        return Lowered(
            program=None,
            placements=tuple(
                Placement(node.name, str(find_aten_op(node.target)), sources.of(node), tag)
                for node, tag in seen
                if _is_on_tensors(node)
            ),
            verdicts={
                node.name: self._verdict(node, partitioner, before) for node, tag in seen if not tag
            },
            refused_before=before,
            version=f"executorch {version('executorch')}",
            notes=("Partitions come from its partitioner; nothing was compiled for a device.",),
        )

    def can_take(self, program: torch.export.ExportedProgram) -> dict[str, Verdict]:
        """Ops that the partitioner tags. Nothing is lowered."""
        seen, refusals, partitioner = self._ask_partitioner(program)
        sources = Origins(program)
        before = _by_origin(program, refusals)
        verdicts: dict[str, Verdict] = {}
        for node, tag in seen:
            origin = sources.of(node)
            if not origin or not _is_on_tensors(node):
                continue
            verdict = Verdict(True) if tag else self._verdict(node, partitioner, before)
            if origin not in verdicts or verdicts[origin].is_taken:
                verdicts[origin] = verdict
        return verdicts

    def _ask_partitioner(
        self, program: torch.export.ExportedProgram
    ) -> tuple[list[tuple[torch.fx.Node, str]], Refusals, Any]:
        """The ops of the edge dialect, each with its tag; what was heard; and who said it."""
        with quiet():
            partitioner, refusals = self.partitioner(), Refusals(Origins(program), {})
            asked = asking(partitioner)
            with (
                refusals.watching(partitioner),
                self.listening(partitioner),
                suppress(Answered),
            ):
                lower_to_edge(program, asked)
        return asked.seen, refusals, partitioner

    def _verdict(
        self, node: torch.fx.Node, partitioner: Any, before: Mapping[str, Verdict]
    ) -> Verdict:
        """What is known of a node that is outside."""
        verdict: Verdict | None = node.meta.get(REFUSED)
        if verdict is not None and not verdict.is_taken:
            return verdict
        named = _rule_name(node)
        rules = rules_of(partitioner)
        rule = rules.get(named)
        if verdict is not None and rule is not None:
            told = f"{type(rule).__name__} accepts it, but no partition includes it"
            return Verdict(False, told, "rule")
        if rules and rule is None:
            return Verdict(False, f"{self.title} has no rule for {named}", "no rule")
        return Verdict(False, "", "")


class LoweringBackend(AskedBackend):
    """Lowers with a partitioner of ExecuTorch's, and hears what it says of each op."""

    plans_memory = True

    def lower(self, program: torch.export.ExportedProgram) -> Lowered:
        """Lowers a copy.

        An op that the partitioner takes and the compiler then refuses is left out, and all else is
        lowered once more: ExecuTorch itself would lower nothing.
        """
        sizes = open_sizes(program)
        refused: dict[str, Verdict] = {}
        while True:
            try:
                edge, partitioner, refusals, notes = self._lower_program(program, refused)
                break
            except Exception as error:
                op = _find_op_rejected_by_compiler(error, Origins(program))
                if not op:
                    raise
                if op in refused or len(refused) == _MOST_REFUSED:
                    raise LoweringError(op, format_with_type(error)) from error
                told = f"{self.title}'s compiler rejects it: {error_text(error).rstrip('.')}"
                refused[op] = Verdict(False, told, "backend", None)
        lowered = edge.exported_program()
        ready, problem = _make_ready(edge)
        notes += [problem] if problem else []
        count = COUNTS.find()
        counted = count(lowered.graph_module) if count else None
        shown, partitions = expand_partitions(lowered)
        notes += _list_fixed_sizes(sizes)
        if WHY.find() is None:
            notes.append(WHY.without)
        if refused:
            ops = join_names(list(refused))
            notes.append(
                f"Without rewrites, ExecuTorch fails to lower this program because of {ops}."
            )
        return Lowered(
            program=shown,
            partitions=partitions,
            verdicts=dict(self._verdicts(shown, partitioner)),
            refused_before=_by_origin(program, refusals),
            counted=None
            if counted is None
            else CountedNodes(
                inside=counted.num_delegated_nodes,
                outside=counted.num_non_delegated_nodes,
                partitions=counted.num_delegated_subgraphs,
            ),
            ready=ready,
            kernels={} if ready is None else _kernels(ready.exported_program()),
            version=f"executorch {version('executorch')}",
            notes=tuple(notes),
        )

    def _lower_program(
        self, program: torch.export.ExportedProgram, refused: Mapping[str, Verdict]
    ) -> tuple[Any, Any, Refusals, list[str]]:
        """The edge program, the partitioner that it was lowered with, what that said, and notes."""
        with quiet():
            partitioner = self.partitioner()
            refusals = Refusals(Origins(program), refused)
            with refusals.watching(partitioner), self.listening(partitioner):
                edge, notes = lower_to_edge(program, partitioner)
        return edge, partitioner, refusals, notes

    def _verdicts(
        self, program: torch.export.ExportedProgram, partitioner: Any
    ) -> Iterator[tuple[str, Verdict]]:
        rules = rules_of(partitioner)
        for module in _graph_modules(program):
            for node in module.graph.nodes:
                if node.op != "call_function":
                    continue
                verdict = self._verdict(node, partitioner, {})
                if module is not program.graph_module and _rule_name(node) in rules:
                    told = f"{self.title}'s partitioner skips graphs of branches and loops"
                    verdict = Verdict(False, told, "rule")
                yield node.name, verdict


def _list_fixed_sizes(sizes: Mapping[str, Any]) -> Iterator[str]:
    """The sizes of inputs that tracing in ExecuTorch made a number."""
    for place, size in sizes.items():
        value = read_size(size)
        if isinstance(value, int):
            yield f"ExecuTorch fixes `{place}` at {value} while it lowers the program."


def lower_to_edge(
    program: torch.export.ExportedProgram, partitioner: Any, passes: Sequence[Any] = ()
) -> tuple[Any, list[str]]:
    """Lowers a copy, and what was needed for it.

    Without ExecuTorch's check of ops where an op fails it, as its own message advises; with
    reshapes in place of views where a view of attention's result fails.
    """
    from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower

    options, notes = edge_options(program), list[str]()
    while True:
        try:
            edge = to_edge_transform_and_lower(
                copy_program(program),
                transform_passes=[*passes] or None,
                partitioner=[partitioner],
                **options,
            )
        except Exception as error:
            if type(error).__name__ == "SpecViolationError" and not options:
                options = {"compile_config": EdgeCompileConfig(_check_ir_validity=False)}
                notes.append(_UNCHECKED)
            elif "Cannot view a tensor" in str(error) and RESHAPED not in notes:
                program = replace_views(program)
                notes.append(RESHAPED)
            else:
                raise
            log_internal_error(error, "lowering to ExecuTorch's edge dialect")
        else:
            return edge, notes


_UNCHECKED = (
    "ExecuTorch's default options reject this program, because an op is not in Core ATen. "
    "It was lowered with `_check_ir_validity=False`."
)
RESHAPED = (
    "ExecuTorch fails on a view of attention's result. Views were lowered as reshapes; "
    "the values are the same."
)


@undone
def quiet() -> Iterator[None]:
    """Drops what ExecuTorch and its libraries print, and torch's warnings about their code."""
    with descriptors_quiet(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class Answered(Exception):
    """A partitioner has answered, and nothing is to be lowered."""


def asking(partitioner: Any) -> Any:
    """A partitioner that asks another, keeps what it tagged as `seen`, and raises `Answered`."""
    from executorch.exir.backend.partitioner import Partitioner

    class Asking(Partitioner):  # type: ignore[misc] # ExecuTorch has no types
        def __init__(self) -> None:
            super().__init__()
            self.seen: list[tuple[torch.fx.Node, str]] = []
            self.program: Any = None

        def ops_to_not_decompose(self, ep: Any) -> Any:
            return partitioner.ops_to_not_decompose(ep)

        def partition(self, exported_program: Any) -> Any:
            self.program = exported_program
            tagged = partitioner.partition(exported_program).tagged_exported_program
            for node in tagged.graph.nodes:
                if node.op == "call_function":
                    self.seen.append((node, str(node.meta.get(_TAG, ""))))
            raise Answered

    return Asking()


def _find_op_rejected_by_compiler(error: BaseException, sources: Origins) -> str:
    """The op of the program at which a compiler raised an error; empty where that is not known."""
    text, frame = "", error.__traceback__
    while frame is not None:
        held = frame.tb_frame.f_locals
        for node in (held.get("node"), held.get("n")):
            if isinstance(node, torch.fx.Node) and node.op == "call_function":
                text = sources.of(node) or text
        frame = frame.tb_next
    return text


def expand_partitions(
    lowered: torch.export.ExportedProgram,
) -> tuple[torch.export.ExportedProgram, tuple[str, ...]]:
    """A copy whose partitions are nested graphs of torch's ops, and their names.

    The lowered program keeps the compiled payload; the copy has the graph that it was compiled
    from, so that it can be read. Weights and constants are shared.
    """
    names: list[str] = []
    root = _expand(lowered.graph_module, names, "")
    shown = copy.copy(lowered)
    set_graph_module(shown, root)
    return shown, tuple(names)


def _expand(module: torch.fx.GraphModule, names: list[str], path: str) -> torch.fx.GraphModule:
    held: dict[str, Any] = {}
    for name, child in module.named_children():
        inner = inner_program(child)
        if inner is not None:
            names.append(f"{path}{name}")
            held[name] = _expand(inner.graph_module, [], f"{path}{name}.")
        elif isinstance(child, torch.fx.GraphModule):
            held[name] = _expand(child, names, f"{path}{name}.")
        else:
            held[name] = child
    held |= dict(module.named_buffers(recurse=False))
    graph = copy.deepcopy(module.graph)
    for node, original in zip(graph.nodes, module.graph.nodes, strict=True):
        node.name = original.name
        node.target = find_aten_op(node.target)
    for name in {str(node.target) for node in graph.nodes if node.op == "get_attr"}:
        held.setdefault(name, getattr(module, name, None))
    return torch.fx.GraphModule(held, graph)


def _graph_modules(program: torch.export.ExportedProgram) -> Iterator[torch.fx.GraphModule]:
    for module in program.graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            yield module


def _rule_name(node: torch.fx.Node) -> str:
    """An op as rules name it: `add.Tensor`."""
    target = find_aten_op(node.target)
    name = getattr(target, "__name__", str(target))
    short = TARGET_NAME.find()
    return str(short(name)) if short else name


def _is_on_tensors(node: torch.fx.Node) -> bool:
    if getattr(node.target, "__name__", "") == "getitem":
        return False
    value = node.meta.get("val")
    values = value if isinstance(value, tuple | list) else (value,)
    return any(isinstance(value, torch.Tensor) for value in values)


def _by_origin(program: torch.export.ExportedProgram, refusals: Refusals) -> dict[str, Verdict]:
    """Rejections before decomposition, by the op of the program."""
    sources = Origins(program)
    named = (
        (sources.of_history(history), verdict) for history, verdict in refusals.before.values()
    )
    return {origin: verdict for origin, verdict in named if origin}


def _make_ready(edge: Any) -> tuple[Any, str]:
    """The program that ExecuTorch's runtime loads; else None, and why."""
    try:
        with quiet():
            return copy.deepcopy(edge).to_executorch(), ""
    except Exception as error:  # noqa: BLE001 - the rest is known without it
        log_internal_error(error, "making a program for ExecuTorch's runtime")
        return None, f"ExecuTorch cannot make a program from it: {format_with_type(error)}."


def _kernels(ready: torch.export.ExportedProgram) -> dict[str, str]:
    """Per node that a delegate does not run, the kernel that it needs."""
    return {
        node.name: _kernel_name(node.target)
        for module in _graph_modules(ready)
        for node in module.graph.nodes
        if isinstance(node.target, OpOverload)
    }


def _kernel_name(target: OpOverload) -> str:
    """As ExecuTorch's runtime names kernels: `aten::add.out`, and without an overload `ns::op`."""
    return str(target.name())
