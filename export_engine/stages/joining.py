"""Joins what a compilation told with the Record: node → op → kernel, and kernel → line."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple

from export_engine.record import (
    Kernel,
    Ragged,
    Record,
    StageCode,
    StageGraph,
    StageGuard,
    StageLine,
    StageRemark,
)
from export_engine.source import find_last_user_frame, parse_stack_trace, source_line
from export_engine.stages.added_guards import find_added_guards
from export_engine.stages.generated_code import (
    CodePlace,
    find_calls,
    find_definitions,
    find_readers,
)
from export_engine.stages.kernel_calls import base_name, find_called_op, is_extern
from export_engine.stages.printed_graph import (
    PrintedOp,
    PrintedPlace,
    read_operands,
    read_printed_graph,
)
from export_engine.stages.program_ops import align_program, list_computing_ops
from export_engine.stages.remarks import find_remarks
from export_engine.stages.stage_graph import InputJoin, build_graph

_MOST_GUARDS = 2**18
"""Characters of Dynamo's guards that are kept: there are some for each parameter."""
Texts = Mapping[str, str]
"""Artifacts of a compilation, by name."""


class Provenance(NamedTuple):
    """The compiler's provenance of ops and kernels, by their names."""

    before: dict[str, list[str]]
    """Per op of the post-grad graph, the ops of the first graph."""
    ops: dict[str, list[str]]
    """Per kernel, in the order of the calls, the ops of the post-grad graph."""
    traces: dict[str, list[str]]
    """Per kernel, the stack traces of its ops."""


class Artifacts(NamedTuple):
    """The artifacts of a compilation, and the provenance in them."""

    texts: Texts
    provenance: Provenance


class Joined(NamedTuple):
    """The stages, joined."""

    graphs: list[StageGraph]
    kernels: list[Kernel]
    lines: list[StageLine]
    codes: list[StageCode]
    removed: list[int]
    remarks: list[StageRemark]
    guards: list[StageGuard]


class Ladder(NamedTuple):
    """The stages of one compilation, or of several that are joined into one."""

    joined: Joined
    parts: Sequence[Joined]
    """Each compilation by itself."""


def read_provenance(texts: Texts) -> Provenance:
    """The maps that torch tells, with nothing in them where it tells none."""
    mapped = _parse_json(texts.get("inductor_provenance_tracking_node_mappings", ""))
    traces = _parse_json(texts.get("inductor_provenance_tracking_kernel_stack_traces", ""))
    ops = _lists(mapped.get("cppCodeToPost"))
    names = sorted({*ops, *traces}, key=_handle)
    return Provenance(
        _lists(mapped.get("postToPre")),
        {name: ops.get(name, []) for name in names},
        _lists(traces),
    )


def join_stages(
    record: Record | None,
    texts: Texts,
    provenance: Provenance,
    named: Mapping[str, int] | None = None,
    lines: Lines | None = None,
) -> Joined:
    """The graphs and kernels of a compilation, each op with the nodes that it comes from.

    Args:
        record: of the program; None where it is not at hand.
        texts: the compilation's artifacts.
        provenance: how they hang together.
        named: the nodes of the program by name, where the provenance names these.
        lines: to add the lines to.
    """
    # where a cache has the code, torch makes no graph before pre-grad passes: Dynamo's is the same
    text = texts.get("before_pre_grad_graph") or texts.get("dynamo_output_graph", "")
    first = read_printed_graph(text)
    aligned = align_program(record, first) if record is not None and named is None else named or {}
    inputs = InputJoin(record, text, aligned)
    post = read_printed_graph(texts.get("inductor_post_grad_graph", ""))
    nodes = _find_origins(post, provenance, aligned)
    graphs = []
    if texts.get("before_post_grad_graph"):
        graphs.append(build_graph("decomposed", texts["before_post_grad_graph"], nodes, inputs))
    if post:
        graphs.append(build_graph("post-grad", texts["inductor_post_grad_graph"], nodes, inputs))
    elif any(provenance.ops.values()):
        graphs.append(_make_names_graph(provenance))
    codes = _codes(texts)
    lines = lines or Lines(record)
    numbers = {name: number for number, name in enumerate(graphs[-1].ops)} if graphs else {}
    # without a program, torch's comments tell the lines of ops
    places = {op.name: op.place for op in post if op.place and record is None}
    op_lines = partial(_lines_of_ops, lines, nodes, places)
    kernels = _kernels(
        provenance, numbers, nodes, {op.name: op.target for op in post}, codes, lines, op_lines
    )
    present = {node for names in nodes.values() for node in names}
    # an op that Dynamo left out is not aligned, and has become nothing either
    computing_ops = list_computing_ops(record) if record is not None and aligned and post else []
    removed = [node for node in computing_ops if node not in present]
    last = graphs[-1] if post else None  # of names alone nothing can be said
    remarks = []
    if last is not None:
        names = last.ops
        remarks = find_remarks(last, kernels, lambda ops: op_lines([names[op] for op in ops]))
    guards: list[StageGuard] = []
    if record is not None and last is not None:
        guards = find_added_guards(record, last, lines.of_nodes)
    return Joined(graphs, kernels, lines.rows, codes, removed, remarks, guards)


def _find_origins(
    post: Sequence[PrintedOp], provenance: Provenance, aligned: Mapping[str, int]
) -> dict[str, list[int]]:
    """Per op of the post-grad graph, by name, the nodes of the program that it comes from.

    An op that the compiler made by itself, such as the seeds of random numbers, comes from the
    nodes of the ops that read it; what nothing reads, such as a write into a buffer, from those of
    the ops that it reads.
    """
    nodes = {
        op.name: {aligned[name] for name in provenance.before.get(op.name, []) if name in aligned}
        for op in post
    }
    own_nodes = {name for name, origins in nodes.items() if origins}
    for op in reversed(post):
        for operand in set(read_operands(op.expression, nodes)) - own_nodes - {op.name}:
            nodes[operand] |= nodes[op.name]
    for op in post:
        if not nodes[op.name]:
            nodes[op.name].update(*(nodes[name] for name in read_operands(op.expression, nodes)))
    return {name: sorted(origins) for name, origins in nodes.items()}


def _lines_of_ops(
    lines: Lines,
    nodes: Mapping[str, list[int]],
    places: Mapping[str, PrintedPlace],
    ops: Iterable[str],
) -> list[int]:
    """The lines of ops: those of the nodes that they come from, or those printed above them."""
    names = list(ops)
    return lines.of_nodes(node for name in names for node in nodes.get(name, [])) or (
        lines.of_places(places[name] for name in names if name in places)
    )


def is_consistent(record: Record, joined: Joined, provenance: Provenance) -> bool:
    """Whether kernels' stack traces name lines of their nodes, where both are known.

    torch's cache finds code by the graph only: what it then tells may be of another program with
    the same graph, whose lines and names are others.
    """
    traced = Lines(record)
    for kernel in joined.kernels:
        told = traced.of_traces(provenance.traces.get(kernel.name, []))
        places = {_place(traced.rows[number]) for number in told}
        own = {_place(joined.lines[line]) for line in kernel.lines}
        if kernel.nodes and places and own and not places & own:
            return False
    return True


def _is_torchs(file: str) -> bool:
    """Whether a file is of torch, wherever that was installed."""
    return "/torch/" in file.replace("\\", "/")


class Lines:
    """The user's lines, each once."""

    def __init__(self, record: Record | None) -> None:
        self.rows: list[StageLine] = []
        self._record = record
        self._numbers: dict[tuple[str, int], int] = {}
        files = record.files if record is not None else []
        self._files = {file.path: number for number, file in enumerate(files)}

    def of_nodes(self, nodes: Iterable[int]) -> list[int]:
        """The lines of nodes of the main graph."""
        if self._record is None:
            return []
        stack = self._record.graphs[0].stack
        numbers = []
        for node in nodes:
            frame = find_last_user_frame(self._record, stack[node])
            if frame is not None:
                numbers.append(self._number(frame.file, frame.name, frame.line))
        return sorted(set(numbers))

    def of_traces(self, traces: Iterable[str]) -> list[int]:
        """The lines of stack traces, as torch prints them: the innermost that is not torch's."""
        numbers = []
        for trace in traces:
            shown = parse_stack_trace(trace)
            own = [location for location in shown if not _is_torchs(location.file)]
            for location in (own or list(shown))[-1:]:
                file = self._files.get(location.file, -1)
                name = location.file.replace("\\", "/").rpartition("/")[2]
                if self._record is not None and file >= 0:
                    name = self._record.files[file].name
                numbers.append(
                    self._number(file, name, location.line, _code_of(trace, location.line))
                )
        return sorted(set(numbers))

    def of_places(self, places: Iterable[PrintedPlace]) -> list[int]:
        """The lines that torch prints above ops, without torch's own."""
        rows = [
            (PurePosixPath(place.file.replace("\\", "/")).name, place)
            for place in places
            if not _is_torchs(place.file)
        ]
        return sorted({self._number(-1, name, place.line, place.code) for name, place in rows})

    def _number(self, file: int, name: str, line: int, code: str = "") -> int:
        key = (str(file) if file >= 0 else name, line)
        if key not in self._numbers:
            self._numbers[key] = len(self.rows)
            if self._record is not None and file >= 0:
                code = source_line(self._record, file, line)
            self.rows.append(StageLine(file, name, line, code))
        return self._numbers[key]


def _kernels(
    provenance: Provenance,
    numbers: Mapping[str, int],
    nodes: Mapping[str, list[int]],
    targets: Mapping[str, str],
    codes: Sequence[StageCode],
    lines: Lines,
    lines_of: Callable[[Iterable[str]], list[int]],
) -> list[Kernel]:
    calls, bodies = find_calls(codes), find_definitions(codes)
    computed = _select_computed_ops(provenance.ops, targets)
    readers = find_readers(codes, calls)
    kernels = []
    for name, listed in computed.items():
        own = listed
        if not any(op in numbers for op in listed):
            # it copies inputs of the program into the layout of library calls, which read them
            reading = [call for call in computed if call in readers.get(name, ())]
            own = [op for call in reading if is_extern(call) for op in computed[call]] or listed
        origins = sorted({node for op in own for node in nodes.get(op, [])})
        items = lines_of(own) or lines.of_traces(provenance.traces.get(name, []))
        call, body = calls.get(name, CodePlace(-1, 0)), bodies.get(base_name(name))
        kernels.append(
            Kernel(
                name=name,
                kind="extern" if is_extern(name) else "fused",
                calls=_name_called(name, own, targets),
                ops=sorted(numbers[op] for op in own if op in numbers),
                nodes=origins,
                lines=items,
                code=call.code,
                call_line=call.line,
                body=body.code if body else -1,
                body_line=body.line if body else 0,
            )
        )
    return kernels


def _select_computed_ops(
    listed: Mapping[str, list[str]], targets: Mapping[str, str]
) -> dict[str, list[str]]:
    """Per kernel, the ops that it computes: torch may list what it reads, or who reads it.

    Args:
        listed: per kernel, the ops that torch lists.
        targets: what each op calls, by its name.
    """
    fused = {op for kernel, ops in listed.items() if not is_extern(kernel) for op in ops}
    called: dict[str, list[str]] = {}
    for kernel, ops in listed.items():
        target = find_called_op(kernel)
        if target:
            called[kernel] = [op for op in ops if _is_called(target, targets.get(op, ""))]
    in_library = {op for ops in called.values() for op in ops}

    def select(kernel: str, ops: list[str]) -> list[str]:
        of_subgraph = [op for op in ops if targets.get(op, "").startswith("higher_order.")]
        if of_subgraph:  # the other ops are what the subgraph reads
            return of_subgraph
        if kernel in called:
            return [op for op in ops if op not in fused] or called[kernel] or ops
        return [op for op in ops if op not in in_library] or ops

    return {kernel: select(kernel, ops) for kernel, ops in listed.items()}


def _is_called(called: str, target: str) -> bool:
    """Whether an extern kernel's call is of an op; C++ names an op without its namespace."""
    return called.partition(".")[2] == _op_name(target).partition(".")[2] != ""


def _op_name(target: str) -> str:
    """`mkl._mkl_linear`: a target without its overload, which torch does not always print."""
    return ".".join(target.split(".")[:2])


def _name_called(kernel: str, ops: Sequence[str], targets: Mapping[str, str]) -> str:
    """The op that an extern kernel calls: `mine.op`."""
    called = find_called_op(kernel)
    own_targets = (targets.get(op, "") for op in ops)
    names = (_op_name(target) for target in own_targets if _is_called(called, target))
    return next(names, called)


def _make_names_graph(provenance: Provenance) -> StageGraph:
    """A graph of which only the names of ops are known."""
    names = list(dict.fromkeys(name for ops in provenance.ops.values() for name in ops))
    empty = [""] * len(names)
    return StageGraph(
        name="post-grad",
        text="",
        ops=names,
        targets=empty,
        types=empty,
        line=array("i", [0] * len(names)),
        nodes=Ragged(array("i", [0] * (len(names) + 1)), array("i")),
    )


def _code_of(trace: str, line: int) -> str:
    """The code that a stack trace has for a line of it."""
    rows = trace.splitlines()
    for at, row in enumerate(rows[:-1]):
        if f", line {line}, in " in row and not rows[at + 1].lstrip().startswith("File "):
            return rows[at + 1].strip()
    return ""


def _codes(texts: Texts) -> list[StageCode]:
    titles: list[tuple[str, str, Literal["python", "cpp"]]] = [
        ("inductor_output_code", "generated code", "python"),
        ("inductor_aot_wrapper_code", "C++ wrapper", "cpp"),
        ("inductor_aot_kernel_code", "C++ kernels", "cpp"),
    ]
    codes = [StageCode(title, kind, texts[name]) for name, title, kind in titles if texts.get(name)]
    guards = texts.get("dynamo_cpp_guards_str", "")
    if guards:
        codes.append(StageCode("Dynamo's guards", "python", guards[:_MOST_GUARDS]))
    return codes


def _place(line: StageLine) -> tuple[int, str, int]:
    return line.file, line.name, line.line


def _handle(name: str) -> tuple[int, str]:
    number = name.rpartition(":")[2]
    return (int(number) if number.isdigit() else 0, name)


def _parse_json(text: str) -> dict[str, Any]:
    try:
        result = json.loads(text) if text else {}
    except ValueError:
        return {}
    return result if isinstance(result, dict) else {}


def _lists(value: Any) -> dict[str, list[str]]:
    if not isinstance(value, dict):
        return {}
    return {
        str(name): [str(item) for item in items]
        for name, items in value.items()
        if isinstance(items, list)
    }
