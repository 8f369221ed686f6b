"""Hard-coded devices and dtypes: the program keeps them wherever it is moved."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import torch

from export_engine import rules
from export_engine.attempt import Exported, Finding, Kind
from export_engine.findings.program_ops import Op, ops_of
from export_engine.listing import join_names
from export_engine.record import Record
from export_engine.source import Code, code_of, is_own

_MOVES = {"cpu", "cuda"}
_HALVES = ("half", "bfloat16")


def check_devices(exported: Exported, _: Record) -> Iterator[Finding]:
    """One finding per line that names a device or a lower-precision dtype, one for all layers."""
    seen: set[tuple[str, int, Kind]] = set()
    ops = list(ops_of(exported.program))
    by_layers = [op for op in ops if _is_by_layer(op)]
    if by_layers:
        yield _of_layers(by_layers)
    for op in ops:
        kind = _kind(op)
        stack = op.stack if kind else ()
        if kind is None or not stack or not is_own(stack[-1].file):
            continue
        key = (stack[-1].file, stack[-1].line, kind)
        code = code_of(stack[-1].file)
        named = _find_name_text(code, stack[-1].line, kind) if code and key not in seen else ""
        seen.add(key)
        if named:
            yield _finding(kind, named, op)


def _is_by_layer(op: Op) -> bool:
    """Whether a layer of torch's makes a tensor: the first state of an LSTM that is given none."""
    if op.node.all_input_nodes and not op.name.startswith(("aten.zeros", "aten.full")):
        return False
    if not isinstance(op.argument("device"), torch.device):
        return False
    return bool(op.stack) and op.stack[-1].file.startswith(_LAYERS)


_LAYERS = torch.nn.modules.__path__[0]


def _of_layers(ops: list[Op]) -> Finding:
    layers = dict(map(_layer, ops))
    kinds = join_names(list(dict.fromkeys(layers.values())))
    several = len(layers) > 1
    device = ops[0].argument("device")
    return Finding(
        kind=Kind.DEVICE_BAKED,
        severity="note",
        sentence=rules.DeviceBaked.CREATED(
            layers=f"{len(layers)} layers create" if several else "A layer creates",
            device=device,
            names=kinds,
        ),
        why=rules.DeviceBaked.CREATED_WHY(),
        stack=ops[0].stack,
        node=ops[0].position,
    )


def _layer(op: Op) -> tuple[str, str]:
    """The path and the class of the layer that an op is in."""
    scopes = list((op.node.meta.get("nn_module_stack") or {}).values())
    path, cls = scopes[-1] if scopes else ("", "")
    name = cls if isinstance(cls, str) else getattr(cls, "__qualname__", "")
    return path, name.rpartition(".")[2]


def _kind(op: Op) -> Kind | None:
    """A device or a lower-precision dtype that an op fixes."""
    if isinstance(op.argument("device"), torch.device):
        return Kind.DEVICE_BAKED
    if op.argument("dtype") in (torch.float16, torch.bfloat16):
        return Kind.DTYPE_BAKED
    return None


def _find_name_text(code: Code, line: int, kind: Kind) -> str:
    """The source text that names it; empty if the line derives it, as from `x.device`."""
    statement = code.statement(line)
    for node in ast.walk(statement) if statement is not None else ():
        if isinstance(node, ast.Call):
            for value in _iter_device_arguments(node, kind):
                if _is_constant(value, kind):
                    return code.text(node if value is node else value)
    return ""


def _iter_device_arguments(call: ast.Call, kind: Kind) -> Iterator[ast.expr]:
    """The arguments of a call that may say a device or dtype; the call itself for `x.cpu()`."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if kind is Kind.DEVICE_BAKED and name in _MOVES and not call.args:
        yield call
    if kind is Kind.DTYPE_BAKED and name in _HALVES:
        yield call
    wanted = "device" if kind is Kind.DEVICE_BAKED else "dtype"
    yield from (keyword.value for keyword in call.keywords if keyword.arg == wanted)
    if name in ("to", "type"):
        yield from call.args


def _is_constant(value: ast.expr, kind: Kind) -> bool:
    match value:
        case ast.Call(func=ast.Attribute(attr="device")) if kind is Kind.DEVICE_BAKED:
            return True
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _MOVES or name in _HALVES
        case ast.Constant(value=str(text)):
            return kind is Kind.DEVICE_BAKED and text.partition(":")[0] in (*_MOVES, "mps", "xpu")
        case ast.Attribute(value=ast.Name(id="torch"), attr=name):
            return kind is Kind.DTYPE_BAKED and name in ("float16", *_HALVES)
    return False


def _finding(kind: Kind, named: str, op: Op) -> Finding:
    if kind is Kind.DEVICE_BAKED:
        sentence = rules.DeviceBaked.NAMED(code=named)
        why = rules.DeviceBaked.NAMED_WHY()
    else:
        sentence = rules.DtypeBaked.SENTENCE(code=named)
        why = rules.DtypeBaked.WHY()
    severity = "surprising" if kind is Kind.DEVICE_BAKED else "note"
    return Finding(
        kind=kind,
        severity=severity,  # type: ignore[arg-type]
        sentence=sentence,
        why=why,
        stack=op.stack,
        node=op.position,
    )
