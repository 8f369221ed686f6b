"""torch's functions that make a tensor of so many elements as a plain number says, by torch.arange.

`torch.linspace`, the windows and `one_hot` take an `int` where `torch.arange` takes a symbol (their
schemas, torch 2.11 to 2.15), so that a size given to them is specialized.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

_COSINES = {
    "hann_window": (0.5, 0.5),
    "hamming_window": (0.54, 0.46),
    "blackman_window": (0.42, 0.5, 0.08),
}
"""Windows that are sums of cosines: the factor of each, with alternating signs."""
_FORMS = {
    "linspace": ("start", "end", "steps"),
    "logspace": ("start", "end", "steps", "base"),
    "fftfreq": ("n", "d"),
    "rfftfreq": ("n", "d"),
    "one_hot": ("tensor", "num_classes"),
    **dict.fromkeys((*_COSINES, "bartlett_window"), ("window_length", "periodic")),
    "kaiser_window": ("window_length", "periodic", "beta"),
    **dict.fromkeys(("tril_indices", "triu_indices"), ("row", "col", "offset")),
    "vander": ("x", "N", "increasing"),
}
"""The parameters of each, in order."""
_KEPT = {"dtype", "device"}
"""Keywords that `torch.arange` is given, too."""


def by_arange(node: ast.Call, name: str, torch: str, of: Callable[[ast.expr], str]) -> str | None:
    """What gives the same as a call for every size; None for a call that is none of these.

    Args:
        node: the call.
        name: of the function.
        torch: what torch is called there.
        of: the text of an expression.
    """
    given = _given(node, name)
    if given is None:
        return None
    said = {parameter: _inner(each, of) for parameter, each in given.items()}
    more = {each.arg: of(each.value) for each in node.keywords if each.arg in _KEPT}
    if name == "one_hot":
        return _one_hot(said, torch)
    if name == "vander":
        return _powers(said, torch)
    if name.endswith("_indices"):
        return _triangle(name.removesuffix("_indices"), said, torch, more)
    more.setdefault("dtype", f"{torch}.get_default_dtype()")
    options = "".join(f", {key}={value}" for key, value in more.items())
    if name.endswith("_window"):
        return _window(name, said, torch, options)
    if name.endswith("fftfreq"):
        return _frequencies(name, said, torch, options)
    if not {"start", "end", "steps"} <= said.keys():
        return None
    steps = said["steps"]
    width = f"({said['end']} - {said['start']}) / {torch}.sym_max({steps} - 1, 1)"
    line = f"({said['start']} + {width} * {torch}.arange({steps}{options}))"
    return line if name == "linspace" else f"({said.get('base', '10.0')} ** {line})"


def _given(node: ast.Call, name: str) -> dict[str, ast.expr] | None:
    """What each parameter is given; None where it cannot be told, or is not all that is given."""
    parameters = _FORMS.get(name)
    if parameters is None or len(node.args) > len(parameters):
        return None
    if any(isinstance(each, ast.Starred) for each in node.args):
        return None
    given = dict(zip(parameters, node.args, strict=False))
    for each in node.keywords:
        if each.arg not in (*parameters, *_KEPT):
            return None
        if each.arg in parameters:
            given[each.arg] = each.value
    return given


def _inner(node: ast.expr, of: Callable[[ast.expr], str]) -> str:
    """Its text as an operand."""
    simple = isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.Constant)
    return of(node) if simple else f"({of(node)})"


def _one_hot(said: dict[str, str], torch: str) -> str | None:
    labels = said.get("tensor")
    if labels is None:
        return None
    count = said.get("num_classes", "-1")
    if count.strip("()") == "-1":  # as many as the labels need
        count = f"{labels}.max().item() + 1"
    rows = f"{labels}.new_zeros((*{labels}.shape, {count}))"
    # Like one_hot, scatter raises for labels that are negative, or no class.
    return f"{rows}.scatter(-1, {labels}.unsqueeze(-1), 1)"


def _powers(said: dict[str, str], torch: str) -> str | None:
    """The powers of each value of a vector, the highest first unless they increase."""
    values, increasing = said.get("x"), said.get("increasing", "False")
    if values is None or increasing not in ("True", "False"):
        return None
    powers = f"{torch}.arange({said.get('N', f'{values}.shape[0]')}, device={values}.device)"
    powers += "" if increasing == "True" else ".flip(0)"
    return f"({values}.unsqueeze(-1) ** {powers})"


def _triangle(name: str, said: dict[str, str], torch: str, more: dict[str, str]) -> str | None:
    """The indices of a triangle: of the ones that `tril` or `triu` leave, row by row."""
    if not {"row", "col"} <= said.keys():
        return None
    device = f", device={more['device']}" if "device" in more else ""
    ones = f"{torch}.ones({said['row']}, {said['col']}{device})"
    found = f"{ones}.{name}({said.get('offset', '0')}).nonzero().T"
    return f"{found}.to({more['dtype']})" if "dtype" in more else found


def _window(name: str, said: dict[str, str], torch: str, options: str) -> str | None:
    length, periodic = said.get("window_length"), said.get("periodic", "True")
    if length is None or periodic not in ("True", "False"):
        return None
    whole = length if periodic == "True" else f"{torch}.sym_max({length} - 1, 1)"
    # A window of one number is its centre, 1.
    steps = f"({torch}.arange({length}{options}) + {torch}.sym_max(2 - {length}, 0) * {whole} / 2)"
    if name not in _COSINES:
        across = f"({steps} * (2 / {whole}) - 1)"  # from -1 to 1
        if name == "bartlett_window":
            return f"(1 - {across}.abs())"
        beta = said.get("beta", "12.0")
        scale = f"{torch}.special.i0({torch}.tensor({beta}{options}))"
        root = f"{torch}.sqrt((1 - {across} ** 2).clamp(min=0))"
        return f"({torch}.special.i0({root} * {beta}) / {scale})"
    turn = f"{steps} * (2 * {torch}.pi / {whole})"
    first, *rest = _COSINES[name]
    terms = [
        f" {'-+'[at % 2]} {factor} * {torch}.cos({f'{at + 1} * ' if at else ''}{turn})"
        for at, factor in enumerate(rest)
    ]
    return f"({first}{''.join(terms)})"


def _frequencies(name: str, said: dict[str, str], torch: str, options: str) -> str | None:
    count, spacing = said.get("n"), said.get("d", "1.0")
    if count is None:
        return None
    if name == "rfftfreq":
        return f"({torch}.arange({count} // 2 + 1{options}) / ({count} * {spacing}))"
    order = f"({torch}.arange({count}{options}) + {count} // 2) % {count} - {count} // 2"
    return f"(({order}) / ({count} * {spacing}))"
