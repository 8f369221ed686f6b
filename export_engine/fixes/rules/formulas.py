"""torch's functions that take no symbolic size, as ops that do: `torch.kron(a, b)` as a product.

Each asks its sizes for plain ints on the way, or a tensor for its values (torch 2.11 to 2.15), and
a few ops over whole tensors compute the same.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import partial

from export_engine.fixes.code.text_edits import CannotRewrite, Rewritten, Source, last_name, spans
from export_engine.fixes.rules.grids import affine_grid, build_pool, interpolate, pool_rows
from export_engine.fixes.rules.match import Rule, Texts, apply_rules

_INTS = (
    "`{called}` requires plain ints, which specializes the sizes. Other ops compute the same "
    "result and keep them symbolic."
)
_READS = (
    "`{called}` calls `.item()` internally, which fails while tracing. Sums and products compute "
    "the same result without it."
)
_CHOOSES = (
    "`{called}` chooses its algorithm for more than 25 rows while tracing. The op that it calls "
    "chooses at run time."
)
_SCALES = (
    "`{called}` requires its scale as a plain float, which specializes the sizes in it. "
    "grid_sample at the same points keeps them symbolic."
)
_COUNTS = (
    "torch does not track the output size of `{called}`. Boolean-mask indexing returns the same "
    "rows with a tracked size."
)
_CENTRED = (
    "($torch.atleast_2d($input) - $torch.atleast_2d($input).mean(-1, keepdim=True))"  # row by row
)
_CHOSEN = (
    "$input[(lambda _at: _at[(_at.diff(dim=-1) {} 0).all(-1)])($torch.cartesian_prod("
    "*[$torch.arange($input.shape[0], device=$input.device)] * $r))]"
)
_SLOPE = (
    "(lambda _step, _dim: $torch.cat([_step.narrow(_dim, 0, 1), "
    "(_step.narrow(_dim, 1, _step.shape[_dim] - 1) + _step.narrow(_dim, 0, _step.shape[_dim] - 1))"
    " / 2, _step.narrow(_dim, _step.shape[_dim] - 1, 1)], _dim) / $spacing)"
    "($input.diff(dim={dim}), {dim})"
)
"""The differences from one element to the next, and between both inside."""
_INTEGER = r"-?\d+"
_SEVERAL = r"[2-9]|\d{2,}"


def _product(texts: Texts, _torch: str) -> str:
    return f"({' @ '.join(texts.values())})"


FORMULAS = (
    Rule(
        "fill_diagonal_(input, fill_value)",
        "$input.masked_fill_($torch.eye($input.shape[0], $input.shape[1], dtype=$torch.bool, "
        "device=$input.device), $fill_value)",
        _INTS,
    ),
    Rule(  # the last coordinate is what is left by the last size, and so on
        "unravel_index(indices, shape)",
        "(lambda _rest, _sizes: tuple([(_rest % _size, _rest := _rest // _size)[0] "
        "for _size in _sizes[::-1]][::-1]))($indices, $shape)",
        _INTS,
    ),
    Rule(
        "kron(input, other)",
        "($input[(slice(None), None) * $input.ndim] * $other[(None, slice(None)) * $input.ndim])"
        ".reshape([_m * _n for _m, _n in zip($input.shape, $other.shape)])",
        _INTS,
    ),
    Rule(
        "cov(input, correction=1)",
        "(lambda _rows: (_rows @ _rows.mH / $torch.sym_max(_rows.shape[1] - $correction, 0))"
        f".squeeze())({_CENTRED})",
        _READS,
    ),
    Rule(
        "corrcoef(input)",
        "(lambda _cov: (_cov / _cov.diagonal().sqrt()[:, None] / _cov.diagonal().sqrt())"
        f".clamp(-1, 1).squeeze())((lambda _rows: _rows @ _rows.mH)({_CENTRED}))",
        _READS,
    ),
    *(
        Rule(
            "combinations(input, r=2, with_replacement=False)",
            _CHOSEN.format(rises),
            _COUNTS,
            when={"r": _SEVERAL, "with_replacement": again},
        )
        for again, rises in (("False", ">"), ("True", ">="))
    ),
    Rule("multi_dot([*tensor])", _product, _INTS),
    Rule("chain_matmul(*tensor)", _product, _INTS),
    Rule(  # at indices that are broadcast along all other dims
        "take_along_dim(input, indices, dim)",
        "$torch.gather($input, $dim, $indices.expand(*$input.shape[:$dim], -1, "
        "*$input.shape[$dim:][1:]))",
        _INTS,
        when={"dim": _INTEGER},
    ),
    Rule("cdist(x1, x2, p=2.0)", "$torch.ops.aten._cdist_forward($x1, $x2, $p, None)", _CHOOSES),
    Rule(
        "gradient(input, spacing=1, dim=None)",
        f"({_SLOPE.format(dim='$dim')},)",
        _INTS,
        when={"dim": _INTEGER},
    ),
    Rule(
        "gradient(input, spacing=1, dim=None)",
        f"tuple({_SLOPE.format(dim='_at')} for _at in range($input.ndim))",
        _INTS,
        when={"dim": "None"},
    ),
    Rule("affine_grid(theta, size, align_corners=False)", affine_grid, _INTS),
    Rule(
        "interpolate(input, scale_factor, mode, align_corners=False)",
        interpolate,
        _SCALES,
        as_written=("input", "scale_factor", "mode", "align_corners"),
    ),
    Rule(
        "max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False)",
        pool_rows,
        _INTS,
        when={"kernel_size": r"\(?\d+,?\)?|self\.\w+|kernel_size"},  # the last is torch's own
        as_written=("input", "kernel_size", "stride", "padding", "dilation", "ceil_mode"),
    ),
    *(
        Rule(
            f"{kind}_pool{dims}d(input, kernel_size, stride=None)",
            partial(build_pool, dims, kind == "avg"),
            _INTS,
            as_written=("kernel_size", "stride"),
        )
        for kind in ("avg", "max")
        for dims in (1, 2, 3)
    ),
)
_BY_NAME: defaultdict[str, list[Rule]] = defaultdict(list)
for _rule in FORMULAS:
    _BY_NAME[_rule.name].append(_rule)
_METHODS = ("fill_diagonal_",)
"""Methods of tensors alone, by their names."""
_MODULES = {
    f"{kind}Pool{dims}d": f"{kind.lower()}_pool{dims}d"
    for kind in ("Avg", "Max")
    for dims in (1, 2, 3)
}


def in_ops(text: str, line: int) -> Rewritten:
    """The text with the first such function at a line computed with other ops."""
    source = Source(text, line)
    for node in ast.walk(source.function):
        if not isinstance(node, ast.Call) or not spans(node, line):
            continue
        name, call = _as_function(source, node)
        rules = _BY_NAME.get(name, ())
        pair = apply_rules(rules, call, source.torch, source.of, source.names)
        if pair is not None:
            piece = source.put(node, pair[0])
            called = name if name in _METHODS else source.of(call.func)
            why = pair[1].why.format(called=called)
            return source.replace([piece])._replace(what=called, why=why)
    raise CannotRewrite("that line calls no function with a known decomposition")


def _as_function(source: Source, call: ast.Call) -> tuple[str, ast.Call]:
    """A function of torch and its call.

    `nn.AvgPool2d(k)(x)`, made where it is called, is one, and so is a method by its name.
    """
    func = call.func
    if isinstance(func, ast.Attribute) and func.attr in _METHODS:
        return func.attr, ast.Call(func, [func.value, *call.args], call.keywords)
    of_module = _MODULES.get(last_name(func.func), "") if isinstance(func, ast.Call) else ""
    if isinstance(func, ast.Call) and of_module and len(call.args) == 1 and not call.keywords:
        return of_module, ast.Call(func.func, [*call.args, *func.args], func.keywords)
    return _of_torch(source, call), call


def _of_torch(source: Source, call: ast.Call) -> str:
    """The name of the function of torch that is called; empty for another."""
    function = call.func
    if isinstance(function, ast.Name):
        imports = (node for node in ast.walk(source.tree) if isinstance(node, ast.ImportFrom))
        names = (
            alias.name
            for node in imports
            if (node.module or "").split(".")[0] == "torch"
            for alias in node.names
            if (alias.asname or alias.name) == function.id
        )
        return next(names, "")
    if not isinstance(function, ast.Attribute):
        return ""
    owner = source.of(function.value)
    is_known = owner in (source.torch, "F") or owner.endswith(("functional", ".linalg"))
    return function.attr if is_known else ""
