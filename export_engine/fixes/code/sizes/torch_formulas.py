"""torch's functions that take no symbolic size, as ops that do: `torch.kron(a, b)` as a product.

Each asks its sizes for plain ints on the way, or a tensor for its values (torch 2.11 to 2.15), and
computes what a few ops over whole tensors do, too.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans
from export_engine.fixes.code.sizes.grid_formulas import affine_grid, interpolate
from export_engine.fixes.code.sizes.pool_formulas import POOLS, pooled

Said = dict[str, str]
"""The text of what each parameter is given, which may be repeated."""


class Formula(NamedTuple):
    """A function of torch that a formula replaces."""

    parameters: tuple[str, ...]
    made: Callable[[Said, str], str | None]
    """Of what is said, and of what torch is called."""
    why: str


class InOps(NamedTuple):
    """A text in which a function of torch is computed from other ops."""

    made: Rewritten
    called: str
    """The function as it was called."""
    why: str


_INTS = (
    "`{called}` takes sizes as plain ints, which fixes them. The same values computed with other "
    "ops keep them symbolic."
)
_READS = (
    "`{called}` reads numbers of tensors on its way, which are unknown while tracing. The same "
    "sums and products read none."
)
_CHOOSES = (
    "`{called}` chooses while tracing how it computes more than 25 rows. The op that it calls "
    "chooses at run time."
)
_SCALES = (
    "`{called}` takes its scale as a plain float, which fixes the sizes that it is computed from. "
    "grid_sample at the same points keeps them symbolic."
)
_COUNTS = (
    "torch loses track of how many rows `{called}` gives. Indices that a mask selects give the "
    "same rows, and are counted."
)


def in_ops(text: str, line: int) -> InOps:
    """The text with the first such function at a line computed from other ops.

    Raises:
        Unclear: there is none, or what it is given is not told apart.
    """
    source = Source(text, line)
    for node in ast.walk(source.function):
        if not isinstance(node, ast.Call) or not spans(node, line):
            continue
        name, call = _as_function(source, node)
        formula = _FORMULAS.get(name)
        made = _made(source, call, name, formula) if formula is not None else None
        if made is not None and formula is not None:
            piece = Piece(source.start(node), source.end(node), made)
            called = name if name in _METHODS else source.of(call.func)
            return InOps(source.changed([piece]), called, formula.why.format(called=called))
    raise Unclear("no function there is known to be computed from other ops")


def _as_function(source: Source, call: ast.Call) -> tuple[str, ast.Call]:
    """A function of torch and its call.

    `nn.AvgPool2d(k)(x)`, made where it is called, is one, and so is a method by its name.
    """
    made = call.func
    if isinstance(made, ast.Attribute) and made.attr in _METHODS:
        return made.attr, ast.Call(made, [made.value, *call.args], call.keywords)
    of_module = _MODULES.get(_name(made.func), "") if isinstance(made, ast.Call) else ""
    if isinstance(made, ast.Call) and of_module and len(call.args) == 1 and not call.keywords:
        return of_module, ast.Call(made.func, [*call.args, *made.args], made.keywords)
    return _of_torch(source, call), call


def _name(function: ast.expr) -> str:
    return getattr(function, "attr", getattr(function, "id", ""))


_METHODS = ("fill_diagonal_",)
"""Methods of tensors alone, by their names."""
_MODULES = {
    f"{kind}Pool{n}d": f"{kind.lower()}_pool{n}d" for kind in ("Avg", "Max") for n in (1, 2, 3)
}


def _of_torch(source: Source, call: ast.Call) -> str:
    """The name of the function of torch that is called; empty for another."""
    function = call.func
    if isinstance(function, ast.Name):
        imports = (node for node in ast.walk(source.tree) if isinstance(node, ast.ImportFrom))
        names = (
            alias.name
            for each in imports
            if (each.module or "").split(".")[0] == "torch"
            for alias in each.names
            if (alias.asname or alias.name) == function.id
        )
        return next(names, "")
    if not isinstance(function, ast.Attribute):
        return ""
    owner = source.of(function.value)
    known = owner in (source.torch, "F") or owner.endswith(("functional", ".linalg"))
    return function.attr if known else ""


def _made(source: Source, call: ast.Call, name: str, formula: Formula) -> str | None:
    given = _given(call, formula.parameters)
    if given is None:
        return None
    said: Said = {}
    bound: dict[str, str] = {}
    for parameter, value in given.items():
        said[parameter] = source.of(value)
        again = (name in POOLS and parameter != "input") or name == "interpolate"
        if not again and not _can_be_repeated(value):
            said[parameter] = f"_{parameter}"
            bound[f"_{parameter}"] = source.of(value)
    if bound.keys() & source.names:
        return None
    made = pooled(name, given, said, source) if name in POOLS else formula.made(said, source.torch)
    if made is None or not bound:
        return made
    return f"(lambda {', '.join(bound)}: {made})({', '.join(bound.values())})"


def _given(call: ast.Call, parameters: tuple[str, ...]) -> dict[str, ast.expr] | None:
    """What each parameter is given; None where it cannot be told, or is not all that is given."""
    values = call.args
    if parameters[-1].startswith("*"):
        if call.keywords or any(isinstance(each, ast.Starred) for each in values):
            return None
        return {f"{parameters[-1][1:]}{at}": each for at, each in enumerate(values)}
    if len(values) > len(parameters) or any(isinstance(each, ast.Starred) for each in values):
        return None
    given = dict(zip(parameters, values, strict=False))
    for each in call.keywords:
        if each.arg not in parameters:
            return None
        given[each.arg] = each.value
    if parameters == ("tensors",) and isinstance(given.get("tensors"), ast.List | ast.Tuple):
        listed = given["tensors"]
        assert isinstance(listed, ast.List | ast.Tuple)
        if any(isinstance(each, ast.Starred) for each in listed.elts):
            return None
        return {f"tensor{at}": each for at, each in enumerate(listed.elts)}
    return given


def _can_be_repeated(node: ast.expr) -> bool:
    """Whether an expression costs nothing, and is the same each time."""
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.UnaryOp(ast.USub(), inner) | ast.Attribute(inner):
            return _can_be_repeated(inner)
        case ast.Subscript(inner, at):
            return _can_be_repeated(inner) and _can_be_repeated(at)
        case ast.Slice(lower, upper, None):
            return all(_can_be_repeated(each) for each in (lower, upper) if each is not None)
        case ast.Call(ast.Attribute(inner, "size"), given, []):
            return all(map(_can_be_repeated, (inner, *given)))
        case ast.List(elements) | ast.Tuple(elements):
            return all(map(_can_be_repeated, elements))
    return False


def _kron(said: Said, torch: str) -> str | None:
    if not {"input", "other"} <= said.keys():
        return None
    one, other = said["input"], said["other"]
    product = f"{one}[(slice(None), None) * {one}.ndim] * {other}[(None, slice(None)) * {one}.ndim]"
    sizes = f"[_m * _n for _m, _n in zip({one}.shape, {other}.shape)]"
    return f"({product}).reshape({sizes})"


def _centred(values: str, torch: str) -> str:
    rows = f"{torch}.atleast_2d({values})"
    return f"({rows} - {rows}.mean(-1, keepdim=True))"


def _cov(said: Said, torch: str) -> str | None:
    if "input" not in said:
        return None
    count = f"{torch}.sym_max(_rows.shape[1] - {said.get('correction', '1')}, 0)"
    return (
        f"(lambda _rows: (_rows @ _rows.mH / {count}).squeeze())({_centred(said['input'], torch)})"
    )


def _corrcoef(said: Said, torch: str) -> str | None:
    if "input" not in said:
        return None
    scaled = "(_cov / _cov.diagonal().sqrt()[:, None] / _cov.diagonal().sqrt()).clamp(-1, 1)"
    products = f"(lambda _rows: _rows @ _rows.mH)({_centred(said['input'], torch)})"
    return f"(lambda _cov: {scaled}.squeeze())({products})"


def _combinations(said: Said, torch: str) -> str | None:
    count, again = said.get("r", "2"), said.get("with_replacement", "False")
    if "input" not in said or not count.isdigit() or int(count) < 2 or again not in _BOOLS:
        return None
    values = said["input"]
    indices = f"{torch}.arange({values}.shape[0], device={values}.device)"
    rises = f"(_at.diff(dim=-1) {'>=' if again == 'True' else '>'} 0).all(-1)"
    chosen = f"(lambda _at: _at[{rises}])({torch}.cartesian_prod(*[{indices}] * {count}))"
    return f"{values}[{chosen}]"


_BOOLS = ("True", "False")


def _product(said: Said, torch: str) -> str | None:
    return f"({' @ '.join(said.values())})" if len(said) > 1 else None


def _take_along(said: Said, torch: str) -> str | None:
    """The values at indices that are broadcast along all other dims."""
    values, dim = said.get("input"), said.get("dim", "")
    if values is None or "indices" not in said or not dim.lstrip("-").isdigit():
        return None
    behind = f", *{values}.shape[{int(dim) + 1}:]" if int(dim) != -1 else ""
    others = f"*{values}.shape[:{dim}], -1{behind}"
    return f"{torch}.gather({values}, {dim}, {said['indices']}.expand({others}))"


def _cdist(said: Said, torch: str) -> str | None:
    """The op itself, which chooses at run time how it computes many rows."""
    if not {"x1", "x2"} <= said.keys():
        return None
    power = said.get("p", "2.0")
    return f"{torch}.ops.aten._cdist_forward({said['x1']}, {said['x2']}, {power}, None)"


def _gradient(said: Said, torch: str) -> str | None:
    values, dim = said.get("input"), said.get("dim", "")
    if values is None or (dim and not dim.lstrip("-").isdigit()):
        return None
    left = "_step.shape[_dim] - 1"
    inner = f"(_step.narrow(_dim, 1, {left}) + _step.narrow(_dim, 0, {left})) / 2"
    ends = f"_step.narrow(_dim, 0, 1), {inner}, _step.narrow(_dim, {left}, 1)"
    spacing = f" / {said['spacing']}" if "spacing" in said else ""
    of_one = f"(lambda _step, _dim: {torch}.cat([{ends}], _dim){spacing})"
    if dim:
        return f"({of_one}({values}.diff(dim={dim}), {dim}),)"
    return f"tuple({of_one}({values}.diff(dim=_at), _at) for _at in range({values}.ndim))"


def _fill_diagonal(said: Said, torch: str) -> str | None:
    if not {"input", "fill_value"} <= said.keys():
        return None
    given = said["input"]
    sizes = f"{given}.shape[0], {given}.shape[1], dtype={torch}.bool, device={given}.device"
    return f"{given}.masked_fill_({torch}.eye({sizes}), {said['fill_value']})"


def _unravel_index(said: Said, _torch: str) -> str | None:
    """The last coordinate is what is left by the last size, and so on."""
    if not {"indices", "shape"} <= said.keys():
        return None
    each = "(_rest % _size, _rest := _rest // _size)[0] for _size in _sizes[::-1]"
    made = f"(lambda _rest, _sizes: tuple([{each}][::-1]))"
    return f"{made}({said['indices']}, {said['shape']})"


_FORMULAS: dict[str, Formula] = {
    "fill_diagonal_": Formula(("input", "fill_value"), _fill_diagonal, _INTS),
    "unravel_index": Formula(("indices", "shape"), _unravel_index, _INTS),
    "kron": Formula(("input", "other"), _kron, _INTS),
    "cov": Formula(("input", "correction"), _cov, _READS),
    "corrcoef": Formula(("input",), _corrcoef, _READS),
    "combinations": Formula(("input", "r", "with_replacement"), _combinations, _COUNTS),
    "multi_dot": Formula(("tensors",), _product, _INTS),
    "chain_matmul": Formula(("*tensor",), _product, _INTS),
    "take_along_dim": Formula(("input", "indices", "dim"), _take_along, _INTS),
    "cdist": Formula(("x1", "x2", "p"), _cdist, _CHOOSES),
    "gradient": Formula(("input", "spacing", "dim"), _gradient, _INTS),
    "affine_grid": Formula(("theta", "size", "align_corners"), affine_grid, _INTS),
    "interpolate": Formula(
        ("input", "scale_factor", "mode", "align_corners"), interpolate, _SCALES
    ),
    **{
        name: Formula(("input", "kernel_size", "stride"), lambda _said, _torch: None, _INTS)
        for name in POOLS
    },
}
