"""What does nothing where the test before it does not hold: a slice to a length, a clamp, a mask.

Two ways that agree on what was tried may still differ on data that is rare. So only forms are taken
whose other way is known to change nothing.
"""

from __future__ import annotations

import ast

_CLAMPS = {
    "upper": ("clamp_max", "clip_max", "minimum", "clamp_max_", "min"),
    "lower": ("clamp_min", "clip_min", "maximum", "clamp_min_", "max"),
}
_BOTH = ("clamp", "clip", "clamp_", "clip_")
_GREATEST, _LEAST = ("max", "amax"), ("min", "amin")
_FILLS = ("masked_fill", "masked_fill_")


def does_nothing_else(branch: ast.If) -> bool:
    """Whether each statement of an `if` without `else` changes nothing where its test is false."""
    return not branch.orelse and all(_is_needless(branch.test, each) for each in branch.body)


def _is_needless(test: ast.expr, statement: ast.stmt) -> bool:
    target, value = _written(statement)
    if target is None or value is None:
        return False
    return (
        _is_cut(test, target, value)
        or _is_clamp(test, target, value)
        or _is_filled(test, target, value)
    )


def _written(statement: ast.stmt) -> tuple[ast.expr | None, ast.expr | None]:
    """What a statement writes, and the value: of `x.clamp_(max=1)`, x."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        return statement.targets[0], statement.value
    called = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(called, ast.Call) and isinstance(called.func, ast.Attribute):
        return (called.func.value, called) if called.func.attr.endswith("_") else (None, None)
    return None, None


def _is_cut(test: ast.expr, target: ast.expr, value: ast.expr) -> bool:
    """`x = x[:, :n]` where n is less than a size: a slice beyond the end is all there is."""
    if not isinstance(value, ast.Subscript) or not _same(value.value, target):
        return False
    parts = value.slice.elts if isinstance(value.slice, ast.Tuple) else [value.slice]
    cuts = [each for each in parts if isinstance(each, ast.Slice) and each.upper is not None]
    plain = all(
        (isinstance(each, ast.Slice) and each.lower is None and each.step is None)
        or (isinstance(each, ast.Constant) and each.value is Ellipsis)
        for each in parts
    )
    small, large = _ordered(test)
    if len(cuts) != 1 or not plain or small is None or large is None:
        return False
    upper = cuts[0].upper
    return upper is not None and _same(_number(upper), _number(small)) and _is_size(large)


def _is_clamp(test: ast.expr, target: ast.expr, value: ast.expr) -> bool:
    """`x = x.clamp(max=c)` where the greatest element is more than c, and the like."""
    small, large = _ordered(test)
    if small is None or large is None or not isinstance(value, ast.Call):
        return False
    if _extreme(large, _GREATEST, target):
        side, bound = "upper", small
    elif _extreme(small, _LEAST, target):
        side, bound = "lower", large
    else:
        return False
    name, own, rest = _called(value, target)
    if not own:
        return False
    if name in _CLAMPS[side]:
        return len(rest) == 1 and not value.keywords and _same(rest[0], bound)
    keyword = "max" if side == "upper" else "min"
    given = {each.arg: each.value for each in value.keywords}
    if name not in _BOTH or rest or set(given) != {keyword}:
        return False
    return _same(given[keyword], bound)


def _is_filled(test: ast.expr, target: ast.expr, value: ast.expr) -> bool:
    """`x = x.masked_fill(m, c)`, `x[m] = c` or `x = torch.where(m, c, x)` where m has any."""
    mask = _any_of(test)
    if mask is None:
        return False
    if isinstance(target, ast.Subscript):
        return _same(_mask(target.slice), mask) and isinstance(value, ast.Constant)
    if not isinstance(value, ast.Call):
        return False
    name, own, rest = _called(value, target)
    if name in _FILLS and own:
        return len(rest) == 2 and not value.keywords and _same(_mask(rest[0]), mask)
    where = isinstance(value.func, ast.Attribute) and value.func.attr == "where"
    arguments = value.args if where and not value.keywords else []
    return len(arguments) == 3 and _same(_mask(arguments[0]), mask) and _same(arguments[2], target)


def _ordered(test: ast.expr) -> tuple[ast.expr | None, ast.expr | None]:
    """The smaller and the greater side of a comparison."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None, None
    left, right = test.left, test.comparators[0]
    if isinstance(test.ops[0], ast.Lt | ast.LtE):
        return left, right
    return (right, left) if isinstance(test.ops[0], ast.Gt | ast.GtE) else (None, None)


def _number(value: ast.expr) -> ast.expr:
    """What a plain number is made of: n of `int(n)` and of `n.item()`."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return _number(value.args[0]) if value.func.id == "int" and len(value.args) == 1 else value
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        return _number(value.func.value) if value.func.attr == "item" else value
    return value


def _is_size(value: ast.expr) -> bool:
    if isinstance(value, ast.Subscript):
        return isinstance(value.value, ast.Attribute) and value.value.attr == "shape"
    name = value.func if isinstance(value, ast.Call) else None
    if isinstance(name, ast.Name):
        return name.id == "len"
    return isinstance(name, ast.Attribute) and name.attr in ("size", "numel")


def _extreme(value: ast.expr, names: tuple[str, ...], target: ast.expr) -> bool:
    """`x.max()` or `torch.max(x)` of all elements of what is written."""
    value = _number(value)
    if not isinstance(value, ast.Call) or value.keywords:
        return False
    name, own, rest = _called(value, target)
    return name in names and own and not rest


def _called(call: ast.Call, target: ast.expr) -> tuple[str, bool, list[ast.expr]]:
    """A function's or method's name, whether its first argument is a target, and the others."""
    if not isinstance(call.func, ast.Attribute):
        return "", False, []
    if _same(call.func.value, target):
        return call.func.attr, True, call.args
    own = bool(call.args) and _same(call.args[0], target)
    return call.func.attr, own, call.args[1:]


def _any_of(test: ast.expr) -> ast.expr | None:
    """The mask of `m.any()` or `torch.any(m)`; of `not m.all()`, its opposite."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        kept = _reduced(test.operand, "all")
        return None if kept is None else _opposite(kept)
    return _reduced(test, "any")


def _reduced(value: ast.expr, name: str) -> ast.expr | None:
    value = _number(value)
    if not isinstance(value, ast.Call) or value.keywords:
        return None
    if not isinstance(value.func, ast.Attribute) or value.func.attr != name or len(value.args) > 1:
        return None
    return value.args[0] if value.args else value.func.value


def _mask(value: ast.expr) -> ast.expr:
    """A mask without dims of size 1 that only broadcast it."""
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Invert):
        return ast.UnaryOp(value.op, _mask(value.operand))
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        return _mask(value.func.value) if value.func.attr == "unsqueeze" else value
    if isinstance(value, ast.Subscript) and _only_broadcasts(value.slice):
        return _mask(value.value)
    return value


def _only_broadcasts(index: ast.expr) -> bool:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return all(
        (isinstance(each, ast.Constant) and each.value in (None, Ellipsis))
        or (isinstance(each, ast.Slice) and not (each.lower or each.upper or each.step))
        for each in parts
    )


def _opposite(mask: ast.expr) -> ast.expr:
    if isinstance(mask, ast.UnaryOp) and isinstance(mask.op, ast.Invert):
        return mask.operand
    return ast.UnaryOp(ast.Invert(), mask)


def _same(one: ast.expr, other: ast.expr) -> bool:
    return ast.unparse(one) == ast.unparse(other)
