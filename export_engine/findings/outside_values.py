"""Values that the program took from its surroundings: environment, files, settings, input layout.

A read of the environment or a file counts wherever the call may run it; non-strict mode also
records reads that the source does not show. A setting of torch, or a tensor's device or strides,
counts if the code branches on it or computes with it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence

from export_engine import rules
from export_engine.attempt import Exported, Finding, Kind
from export_engine.findings.baked_values import Line, constants_of, lines_of, place_of
from export_engine.findings.reachable_code import find_reached_code, in_eval_mode
from export_engine.findings.value_flow import Momentary, SourceFile, source_files
from export_engine.record import Record
from export_engine.source import Location, is_own

_ENVIRONMENT = frozenset(
    {"os.getenv", "os.getenvb", "os.environ.get", "os.environ.setdefault", "os.environ.copy"}
    | {"os.environ.items", "os.environ.keys", "os.environ.values", "os.getcwd", "os.getlogin"}
    | {"socket.gethostname", "platform.node", "getpass.getuser"}
)
_FILES = frozenset(
    {"open", "builtins.open", "io.open", "os.open", "os.listdir", "os.scandir", "os.stat"}
    | {"os.path.exists", "os.path.isfile", "os.path.getsize", "os.path.getmtime"}
    | {"codecs.open", "linecache.getline"}
    | {f"{np}.{name}" for np in ("np", "numpy")
       for name in ("load", "loadtxt", "genfromtxt", "fromfile", "memmap")}
    | {"torch.load", "torch.from_file", "safetensors.torch.load_file", "pandas.read_csv"}
    | {"torch.hub.load_state_dict_from_url", "urllib.request.urlopen", "requests.get"}
)  # fmt: skip
_LOGS = frozenset({"print", "warn", "debug", "info", "warning", "error", "critical", "log"})
"""Functions that show a value."""
_READS = frozenset({"read_text", "read_bytes", "iterdir"})
"""Methods of a path."""
_SETTINGS = frozenset(
    f"torch.{name}"
    for name in (
        *("is_grad_enabled", "is_inference_mode_enabled", "get_default_dtype"),
        *("get_default_device", "are_deterministic_algorithms_enabled", "initial_seed", "seed"),
        *("is_deterministic_algorithms_warn_only_enabled", "get_deterministic_debug_mode"),
        *("get_num_threads", "get_num_interop_threads", "get_float32_matmul_precision"),
        *("is_autocast_enabled", "is_autocast_cpu_enabled", "get_autocast_dtype"),
        *("get_autocast_gpu_dtype", "get_autocast_cpu_dtype", "is_anomaly_enabled"),
        *("get_rng_state", "is_warn_always_enabled", "random.initial_seed", "device_count"),
        *(f"cuda.{text}" for text in (
            *("is_available", "device_count", "current_device", "get_device_capability"),
            *("get_device_name", "is_bf16_supported", "memory_allocated", "mem_get_info"),
        )),
        *("mps.is_available", "xpu.is_available", "accelerator.is_available"),
        *("accelerator.current_accelerator", "distributed.is_initialized"),
        *("distributed.is_available", "distributed.get_rank", "distributed.get_world_size"),
    )
) | {"os.cpu_count", "platform.system", "platform.machine", "sys.getrecursionlimit"}  # fmt: skip
_SETTING_PREFIXES = ("torch.backends.", "torch._C._get_", "torch.autograd.grad_mode.")
_SETTING_NAMES = frozenset({"sys.platform", "os.name"})
_FACTS = frozenset(
    {"device", "is_cuda", "is_cpu", "is_mps", "is_xpu", "is_meta", "requires_grad", "is_leaf"}
    | {"grad_fn", "layout", "is_sparse", "is_mkldnn"}
)
"""Attributes of a tensor."""
_FACT_CALLS = frozenset(
    {"stride", "is_contiguous", "storage_offset", "data_ptr", "get_device", "is_pinned"}
    | {"is_inference", "untyped_storage", "is_conj", "is_neg"}
)


def check_outside_values(exported: Exported, _: Record) -> Iterator[Finding]:
    """One finding per line."""
    lines = lines_of(exported)
    numbered = {path: list(at) for path, at in lines.items()}
    files = source_files(numbered, find_reached_code(exported), is_own, in_eval_mode(exported))
    yield from _reads(exported, files)
    settings, facts = Momentary(files, _is_setting), Momentary(files, _is_fact)
    for file in files:
        told: set[int] = set()
        traced = lines.get(file.path, {}).keys()
        for finding in (
            *_check_branches(file, settings, "a process-wide setting", traced),
            *_check_branches(
                file, facts, "the layout of the example's tensors", traced, _compares_two
            ),
            *_check_computations(file, settings, lines.get(file.path, {})),
        ):
            if finding.stack[-1].line not in told:
                told.add(finding.stack[-1].line)
                yield finding


def _is_setting(file: SourceFile, node: ast.AST) -> bool:
    match node:
        case ast.Call(func=function):
            name = file.qualify(function)
            return name in _SETTINGS or name.startswith(_SETTING_PREFIXES)
        case ast.Attribute(ctx=ast.Load()) | ast.Name(ctx=ast.Load()):
            name = file.qualify(node)
            return name in _SETTING_NAMES or name.startswith(_SETTING_PREFIXES)
    return False


def _is_fact(file: SourceFile, node: ast.AST) -> bool:
    """Whether the source suggests a tensor's attribute, not one of the model itself."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=name)):
            return name in _FACT_CALLS and not _is_module(file, value)
        case ast.Attribute(value=value, attr=name, ctx=ast.Load()) if name in _FACTS:
            return not _is_module(file, value)
    return False


def _is_module(file: SourceFile, value: ast.expr) -> bool:
    """Whether something is `self`, or a module that was imported, rather than a tensor."""
    match value:
        case ast.Name(id=name):
            return name in ("self", "cls", "config", "cfg", "args") or file.is_import(name)
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return name in ("config", "cfg", "args")
    return False


def _reads(exported: Exported, files: list[SourceFile]) -> Iterator[Finding]:
    """Reads found in the source, and those recorded while tracing."""
    told: set[tuple[str, int]] = set()
    for file in files:
        for node in file.running.values():
            what = _read(file, node)
            if what and isinstance(node, ast.expr):
                place = place_of(file, node)
                if place[-1][:2] not in told:
                    told |= _lines_around(file, node)
                    if not _is_only_logged(file, node):
                        yield _read_finding(what, file.code.text(node), place[-1])
    for read in exported.recording.reads:
        if read.place[:2] not in told:
            told.add(read.place[:2])
            yield _read_finding(read.what, read.name, read.place)


def _is_only_logged(file: SourceFile, node: ast.expr) -> bool:
    """Whether a value goes to a log, a warning or a print, whose result is not used."""
    match file.code.statement(node.lineno):
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(attr=name)) | ast.Call(func=ast.Name(id=name))
        ):
            return name in _LOGS
    return False


def _lines_around(file: SourceFile, node: ast.expr) -> set[tuple[str, int]]:
    """The lines of a read's statement."""
    statement = file.code.statement(node.lineno)
    first = min(node.lineno, statement.lineno if statement is not None else node.lineno)
    return {(file.path, line) for line in range(first, (node.end_lineno or node.lineno) + 1)}


def _read(file: SourceFile, node: ast.AST) -> str:
    """`environment`, `file`, or nothing."""
    match node:
        case ast.Call(func=function):
            name = file.qualify(function)
            if name in _ENVIRONMENT:
                return "environment"
            method = function.attr if isinstance(function, ast.Attribute) else ""
            return "file" if name in _FILES or method in _READS else ""
        case ast.Subscript(value=value, ctx=ast.Load()) if file.qualify(value) == "os.environ":
            return "environment"
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[other]):
            return "environment" if file.qualify(other) == "os.environ" else ""
    return ""


def _read_finding(what: str, text: str, place: Location) -> Finding:
    where = "the environment" if what == "environment" else "a file"
    return Finding(
        kind=Kind.OUTSIDE_VALUE,
        severity="surprising",
        sentence=rules.OutsideValue.READ(source=where, code=text),
        why=rules.OutsideValue.READ_WHY(),
        stack=(place,),
    )


def _compares_two(file: SourceFile, source: ast.AST) -> bool:
    """Whether a fact of a tensor is compared with that of another: `x.device != y.device`.

    It is decided alike on every device, as long as the tensors are on the same one.
    """
    match next(iter(file.code.ancestors(source)), None):
        case ast.Compare(
            left=ast.Attribute(attr=attr), ops=[_], comparators=[ast.Attribute(attr=other)]
        ):
            return attr == other
    return False


def _asks_for_presence(asked: ast.expr) -> bool:
    """Whether a test asks whether there is a value, or its class: `res is not None`.

    Where a fact decided that, it did so in a branch of its own, which is named.
    """
    match asked:
        case ast.Compare(
            left=ast.Name(), ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]
        ):
            return True
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(), *_]):
            return True
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _asks_for_presence(operand)
    return False


def _is_left_out(file: SourceFile, node: ast.AST, traced: Collection[int]) -> bool:
    """Whether a branch is in an arm of another one that the trace did not take.

    No op is of a line of the arm, and some are of the other arm's.
    """
    inner = node
    for outer in file.code.ancestors(node):
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef):
            break
        if isinstance(outer, ast.If) and inner is not outer.test:
            own, other = outer.body, outer.orelse
            if inner in other:
                own, other = other, own
            if _has_ops(other, traced) and not _has_ops(own, traced):
                return True
        inner = outer
    return False


def _has_ops(statements: Sequence[ast.stmt], traced: Collection[int]) -> bool:
    return any(
        statement.lineno <= line <= (statement.end_lineno or statement.lineno)
        for statement in statements
        for line in traced
    )


def _check_branches(
    file: SourceFile,
    momentary: Momentary,
    what: str,
    traced: Collection[int],
    passes: Callable[[SourceFile, ast.AST], bool] = lambda *_: False,
) -> Iterator[Finding]:
    for node, asked in momentary.branches(file):
        if _asks_for_presence(asked) or _is_left_out(file, node, traced):
            continue
        sources = [node for node in momentary.sources_in(file, asked) if not passes(file, node)]
        if not sources:
            continue
        source = sources[0]
        text = file.code.text(source)
        yield Finding(
            kind=Kind.OUTSIDE_VALUE,
            severity="surprising",
            sentence=rules.OutsideValue.BRANCH(what=what, code=file.code.text(asked)),
            why=rules.OutsideValue.BRANCH_WHY(code=text),
            stack=place_of(file, node),
        )


def _check_computations(
    file: SourceFile, momentary: Momentary, lines: dict[int, Line]
) -> Iterator[Finding]:
    for line, here in lines.items() if momentary.any else ():
        statement = file.code.statement(line)
        if statement is None or isinstance(statement, ast.If | ast.For | ast.While | ast.With):
            continue
        source = momentary.source_in(file, statement)
        if source is not None and file.runs(statement) and constants_of(here, statement, source):
            yield Finding(
                kind=Kind.OUTSIDE_VALUE,
                severity="surprising",
                sentence=rules.OutsideValue.SETTING(code=file.code.text(source)),
                why=rules.OutsideValue.SETTING_WHY(),
                stack=place_of(file, statement),
            )
