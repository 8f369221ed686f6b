"""torch's functions that make a tensor of so many elements as a plain number says, by torch.arange.

`torch.linspace`, the windows and `one_hot` take an `int` where `torch.arange` takes a symbol (their
schemas, torch 2.11 to 2.15), so that a size given to them is specialized.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial

from export_engine.fixes.rules.match import Rule, apply_rules

_Sized = partial(Rule, of_sizes=True)

_LINE = "($start + ($end - $start) / $torch.sym_max($steps - 1, 1) * $torch.arange($steps$options))"
_HOT = "$tensor.new_zeros((*$tensor.shape, {})).scatter(-1, $tensor.unsqueeze(-1), 1)"
"""Like one_hot, scatter raises for labels that are negative, or no class."""
_POWERS = "($x.unsqueeze(-1) ** $torch.arange($N, device=$x.device){})"
_TRIANGLE = "$torch.ones($row, $col$device).{}($offset).nonzero().T$to_dtype"


def _windows(name: str, more: str, formula: str) -> Iterator[Rule]:
    """A window, periodic or not, of `{steps}` out of `{whole}`."""
    length = "$window_length"
    for periodic, whole in ("True", length), ("False", f"$torch.sym_max({length} - 1, 1)"):
        # A window of one number is its centre, 1.
        middle = f"$torch.sym_max(2 - {length}, 0) * {whole} / 2"
        steps = f"($torch.arange({length}$options) + {middle})"
        across = f"({steps} * (2 / {whole}) - 1)"  # from -1 to 1
        turn = f"{steps} * (2 * $torch.pi / {whole})"
        text = formula.format(across=across, turn=turn)
        yield _Sized(
            f"{name}(window_length, periodic=True{more})", text, when={"periodic": periodic}
        )


_KAISER = (
    "($torch.special.i0($torch.sqrt((1 - {across} ** 2).clamp(min=0)) * $beta)"
    " / $torch.special.i0($torch.tensor($beta$options)))"
)
_BLACKMAN = "(0.42 - 0.5 * $torch.cos({turn}) + 0.08 * $torch.cos(2 * {turn}))"
FACTORIES = (
    _Sized("linspace(start, end, steps)", _LINE),
    _Sized("logspace(start, end, steps, base=10.0)", f"($base ** {_LINE})"),
    _Sized(
        "fftfreq(n, d=1.0)", "((($torch.arange($n$options) + $n // 2) % $n - $n // 2) / ($n * $d))"
    ),
    _Sized("rfftfreq(n, d=1.0)", "($torch.arange($n // 2 + 1$options) / ($n * $d))"),
    _Sized(
        "one_hot(tensor, num_classes=-1)",
        _HOT.format("$tensor.max().item() + 1"),
        when={"num_classes": "-1"},
    ),
    _Sized("one_hot(tensor, num_classes)", _HOT.format("$num_classes")),
    _Sized(
        "vander(x, N=x.shape[0], increasing=False)", _POWERS.format(""), when={"increasing": "True"}
    ),
    _Sized(
        "vander(x, N=x.shape[0], increasing=False)",
        _POWERS.format(".flip(0)"),
        when={"increasing": "False"},
    ),
    _Sized("tril_indices(row, col, offset=0)", _TRIANGLE.format("tril")),
    _Sized("triu_indices(row, col, offset=0)", _TRIANGLE.format("triu")),
    *_windows("hann_window", "", "(0.5 - 0.5 * $torch.cos({turn}))"),
    *_windows("hamming_window", "", "(0.54 - 0.46 * $torch.cos({turn}))"),
    *_windows("blackman_window", "", _BLACKMAN),
    *_windows("bartlett_window", "", "(1 - {across}.abs())"),
    *_windows("kaiser_window", ", beta=12.0", _KAISER),
)
_BY_NAME: defaultdict[str, list[Rule]] = defaultdict(list)
for _rule in FACTORIES:
    _BY_NAME[_rule.name].append(_rule)


def by_arange(node: ast.Call, name: str, torch: str, of: Callable[[ast.expr], str]) -> str | None:
    """An expression equal to a call for every size; None for a call without a rule."""
    pair = apply_rules(_BY_NAME.get(name, ()), node, torch, of)
    return pair[0] if pair is not None else None
