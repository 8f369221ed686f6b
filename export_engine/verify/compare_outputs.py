"""Compares two results, leaf by leaf, and two calls: one judge for fixes and for Verify."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from export_engine.defects import log_internal_error, user_code
from export_engine.torch_internals import pytree, to_strided

if TYPE_CHECKING:
    from export_engine.verify.isolated_run import Call

_LOOSE = {torch.float16: 2e-2, torch.bfloat16: 4e-2, torch.float64: 1e-6, torch.complex128: 1e-6}
_RELATIVE = 2e-3
"""Of 32-bit floats. A value baked in or a wrong branch is off by far more."""

_CLOSE = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}
"""Relative and absolute tolerance, as documented for `torch.testing.assert_close`."""


class Difference(NamedTuple):
    """How two results differ."""

    error: float
    """Largest absolute difference; 0 where nothing can be subtracted."""
    same: bool
    detail: str = ""
    """Where and how they differ, where they do."""
    strides: str = ""
    """Where they are the same but for strides: which output has which, and eager's."""
    reach: float = 0.0
    """The largest absolute value of eager's output that `error` is of."""
    of_inputs: bool = False
    """Whether only inputs after the call differ, which one of both writes to."""


def compare_calls(ours: Call, eager: Call, loose: float | None = None) -> Difference:
    """Compares results, then the inputs after the calls, which they may have written to.

    Args:
        ours: a call of the program.
        eager: a call of the model on the same inputs.
        loose: see `compare`.
    """
    difference = compare(ours.result, eager.result, loose)
    if not difference.same:
        return difference
    written = compare_named(ours.inputs, eager.inputs, loose)
    if not written.same:
        return written._replace(detail=f"inputs after the call, {written.detail}", of_inputs=True)
    return difference


def compare_named(
    ours: Mapping[str, Any], eager: Mapping[str, Any], loose: float | None = None
) -> Difference:
    """Compares values that have names, such as inputs after a call; both have the same."""
    worst = 0.0
    for name, value in ours.items():
        difference = _compare_leaf(value, eager[name], loose)
        if not difference.same:
            return Difference(difference.error, False, f"`{name}`: {difference.detail}")
        worst = max(worst, difference.error)
    return Difference(worst, True)


def compare(ours: Any, eager: Any, loose: float | None = None) -> Difference:
    """Compares a program's result with eager's.

    Args:
        ours: what the program gave.
        eager: what it should have given.
        loose: how many times the tolerances of `torch.testing.assert_close` floats may differ by;
            None for wide ones, by which only another answer is one.
    """
    mine, theirs = _leaves(ours), _leaves(eager)
    if len(mine) != len(theirs):
        return Difference(0.0, False, f"{len(mine)} results instead of {len(theirs)}")
    places, expected = _find_places(ours, eager)
    if places and set(places) == set(expected):  # a dict may have its keys in another order
        by_place = dict(zip(places, mine, strict=True))
        mine = [by_place[place] for place in expected]
    elif places:
        number = next(at for at, place in enumerate(places) if place != expected[at])
        detail = f"is at {_text(places[number])} instead of {_text(expected[number])}"
        return Difference(0.0, False, f"output {number} {detail}")
    worst, strides = Difference(0.0, True), ""
    for number, (one, other) in enumerate(zip(mine, theirs, strict=True)):
        difference = _compare_leaf(one, other, loose)
        if not difference.same:
            return Difference(difference.error, False, f"output {number}: {difference.detail}")
        worst = max(worst, difference, key=lambda each: each.error)
        strides = strides or (
            f"output {number}: {difference.strides}" if difference.strides else ""
        )
    return worst._replace(strides=strides)


def _leaves(result: Any) -> list[Any]:
    return [leaf for leaf in pytree.tree_leaves(result) if leaf is not None]


def _find_places(ours: Any, eager: Any) -> tuple[list[pytree.Path], list[pytree.Path]]:
    """Where each output is in both results: the keys of dicts, the fields, the positions.

    Empty where there is nothing to hold them to: some backends return a flat list, and a class may
    be registered without the names of what is in it.
    """
    try:
        mine, theirs = (
            pytree.tree_flatten_with_path(result, lambda leaf: leaf is None)[0]
            for result in (ours, eager)
        )
    except ValueError:
        return [], []
    kinds = [[[type(key) for key in path] for path, _ in leaves] for leaves in (mine, theirs)]
    if kinds[0] != kinds[1]:
        return [], []
    places, expected = (
        [path for path, leaf in leaves if leaf is not None] for leaves in (mine, theirs)
    )
    return places, expected


def _text(path: pytree.Path) -> str:
    return "".join(map(str, path))


def _compare_leaf(one: Any, other: Any, loose: float | None) -> Difference:
    if isinstance(one, torch.nn.Module) and type(one) is type(other):
        return _compare_modules(one, other, loose)
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        try:
            same = bool(one == other) or (one != one and other != other)
        except Exception as error:  # noqa: BLE001 - an object of the user's own decides what == means
            log_internal_error(error, "comparing two outputs")
            same = type(one) is type(other)
        return Difference(
            0.0, same, "" if same else f"{_short_repr(one)} instead of {_short_repr(other)}"
        )
    if one.shape != other.shape:
        return Difference(0.0, False, f"shape {list(one.shape)} instead of {list(other.shape)}")
    if one.dtype != other.dtype:
        return Difference(0.0, False, f"{one.dtype} instead of {other.dtype}")
    if one.layout is not other.layout:
        return Difference(0.0, False, f"layout {one.layout} instead of {other.layout}")
    strides = ""
    if _steps(one) != _steps(other):
        strides = f"{one.stride()} instead of {other.stride()}"
    with nullcontext() if _is_plain(one) and _is_plain(other) else user_code("reading an output"):
        return _compare_values(one, other, loose)._replace(strides=strides)


def _is_plain(value: torch.Tensor) -> bool:
    """Whether torch can compute with a tensor's values; one of a class of its own may refuse."""
    own_class = type(value) not in (torch.Tensor, torch.nn.Parameter)
    return not own_class and value.layout is torch.strided and not value.is_quantized


def _short_repr(value: object) -> str:
    """The start of a value's `repr`; of one whose class raises there, the class."""
    try:
        return f"{value!r:.60}"
    except Exception as error:  # noqa: BLE001 - the user's own `__repr__`
        log_internal_error(error, "showing an output")
        return f"a {type(value).__name__}"


def _compare_values(one: torch.Tensor, other: torch.Tensor, loose: float | None) -> Difference:
    if one.numel() == 0:
        return Difference(0.0, True)
    one, other = to_strided(one), to_strided(other)
    if not one.is_floating_point() and not one.is_complex():
        wrong = int((one != other).sum())
        text = f"{wrong:,} of {one.numel():,} elements differ" if wrong else ""
        return Difference(float(wrong > 0), wrong == 0, text)
    return _compare_floats(one, other, loose)


def _compare_modules(
    one: torch.nn.Module, other: torch.nn.Module, loose: float | None
) -> Difference:
    """Modules that a call takes: two copies are one where they hold the same."""
    ours, theirs = (
        dict([*module.named_parameters(), *module.named_buffers()]) for module in (one, other)
    )
    if ours.keys() != theirs.keys():
        return Difference(0.0, False, "a module with different parameters or buffers")
    return compare_named(ours, theirs, loose)


def _steps(value: torch.Tensor) -> list[int]:
    """The strides that matter: those of dims with more than one element."""
    if value.layout is not torch.strided:
        return []
    return [step for step, size in zip(value.stride(), value.shape, strict=True) if size > 1]


def _are_alike(ours: torch.Tensor, theirs: torch.Tensor) -> torch.Tensor:
    """Whether values that are not finite are the same: both NaN, or one infinity.

    The other part of a complex number may be finite, and rounded.
    """
    if ours.is_complex():
        ours, theirs = torch.view_as_real(ours), torch.view_as_real(theirs)
    finite = ours.isfinite() & theirs.isfinite()
    return ((ours == theirs) | (ours.isnan() & theirs.isnan()) | finite).all()


def _compare_floats(one: torch.Tensor, other: torch.Tensor, loose: float | None) -> Difference:
    wide = torch.complex128 if one.is_complex() else torch.float64
    ours, theirs = one.detach().to("cpu", wide), other.detach().to("cpu", wide)
    odd = ~torch.isfinite(theirs)
    if bool((torch.isfinite(ours) == odd).any()):
        return Difference(float("inf"), False, "one is finite where the other is not")
    if not bool(_are_alike(ours[odd], theirs[odd])):
        return Difference(float("inf"), False, "infinities or NaNs in different places")
    if bool(odd.all()):
        return Difference(0.0, True)
    errors = (ours - theirs).abs()[~odd]
    sizes = theirs.abs()[~odd]
    if loose is None:
        relative = _LOOSE.get(one.dtype, _RELATIVE)
        allowed = relative * (sizes + sizes.mean()) + relative / 100
    else:
        relative, absolute = _CLOSE.get(one.dtype, _CLOSE[torch.float32])
        allowed = loose * (relative * sizes + absolute)
    error = float(errors.max())
    same = bool((errors <= allowed).all())
    text = "" if same else f"off by up to {error:.2g}"
    return Difference(error, same, text, reach=float(sizes.max()))
