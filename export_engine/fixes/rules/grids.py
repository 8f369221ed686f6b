"""Replacements that depend on how many dims there are: grids of points, and pools.

`F.affine_grid` computes from plain ints, and so does a pool whose kernel is a dynamic size:
over a whole dim it is a mean or a maximum, else one over windows. `F.interpolate` by a scale
computes from plain floats.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from export_engine.fixes.code.text_edits import last_name, spans


def affine_grid(said: Mapping[str, str], torch: str) -> str | None:
    """The coordinates of a grid, each a sum of products with the rows of a matrix."""
    theta, size, corners = said["theta"], said["size"], said["align_corners"]
    if corners not in ("True", "False", "None"):
        return None
    sides = _last_sizes(size)
    texts = [
        f"{_coordinates(side, torch, theta, corners == 'True')}[{', '.join([':', *['None'] * at])}]"
        for at, side in enumerate(reversed(sides), start=1)
    ]
    of = f"{theta}[{', '.join([':', *['None'] * len(sides), ':'])}, "
    scaled = [f"{text} * {of}{at}]" for at, text in enumerate(texts)]
    return f"({' + '.join(scaled)} + {of}{len(sides)}])"


def _last_sizes(size: str) -> list[str]:
    """The sizes of a grid, of an image's or, where so many are listed, of a volume's shape."""
    listed = ast.parse(size, mode="eval").body
    if isinstance(listed, ast.List | ast.Tuple):
        return [ast.unparse(expression) for expression in listed.elts[2:]]
    return [f"{size}[-2]", f"{size}[-1]"]


def _coordinates(count: str, torch: str, like: str, corners: bool) -> str:
    """Coordinates from -1 to 1: of the pixels' centres, or of corners, of one the middle."""
    steps = f"{torch}.arange({count}, dtype={like}.dtype, device={like}.device)"
    if corners:
        last = f"{torch}.sym_max({count} - 1, 1)"
        return f"({steps} * (2 / {last}) - {torch}.sym_min({count} - 1, 1))"
    return f"(({steps} * 2 + 1) / ({count}) - 1)"


def interpolate(said: Mapping[str, str], torch: str) -> str | None:
    """An image at points that are a computed scale apart, which need not be sizes' quotient."""
    mode, corners = said["mode"].strip("'\""), said["align_corners"]
    if mode not in ("bilinear", "bicubic"):
        return None
    scale = ast.parse(said["scale_factor"], mode="eval").body
    if corners not in ("False", "None") or isinstance(scale, ast.Constant):
        return None
    scales = [said["scale_factor"]] * 2
    if isinstance(scale, ast.Tuple | ast.List):
        scales = [ast.unparse(expression) for expression in scale.elts]
    if len(scales) != 2:
        return None
    like = "dtype=_image.dtype, device=_image.device"
    sides = [
        f"({torch}.arange({torch}.sym_int(_image.shape[{at}] * {by}), {like}) + 0.5)"
        f" * (2 / (_image.shape[{at}] * {by})) - 1"
        for at, by in ((-2, "_down"), (-1, "_across"))
    ]
    points = f'{torch}.stack({torch}.meshgrid({", ".join(sides)}, indexing="ij")[::-1], -1)'
    text = f'mode="{mode}", padding_mode="border", align_corners=False'
    sampled = (
        f"{torch}.nn.functional.grid_sample(_image, {points}.expand(_image.shape[0], -1, -1, -1)"
    )
    of = f"{said['input']}, {', '.join(scales)}"
    return f"(lambda _image, _down, _across: {sampled}, {text}))({of})"


def find_scale_lines(text: str, lines: set[int]) -> list[int]:
    """The lines that interpolate by a computed scale, in the classes or functions around others.

    The size that such a scale is computed from is fixed, and no line of the model checks for it.
    """
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return []
    around = [statement for statement in tree.body if any(spans(statement, line) for line in lines)]
    return [
        call.lineno
        for statement in around
        for call in ast.walk(statement)
        if isinstance(call, ast.Call)
        and last_name(call.func) == "interpolate"
        and any(
            k.arg == "scale_factor" and isinstance(k.value, ast.Name | ast.Tuple | ast.BinOp)
            for k in call.keywords
        )
    ]


def pool_rows(said: Mapping[str, str], torch: str) -> str:
    """torch's max_pool1d, which computes from plain ints, as max_pool2d over rows of height 1."""

    def pair(first: str, name: str) -> str:
        value = said[name]
        if not value.isdigit():  # a number, or a tuple of one
            value = f"{value} if isinstance({value}, int) else {value}[0]"
        return f"({first}, {value})"

    stride = said["stride"]
    steps = pair("1", "stride") if stride != "None" else "None"
    if stride != "None" and not stride.isdigit():
        steps = f"{steps} if {stride} else None"
    more = {"stride": ("None", steps), "padding": ("0", pair("0", "padding"))}
    more |= {"dilation": ("1", pair("1", "dilation")), "ceil_mode": ("False", said["ceil_mode"])}
    texts = [f", {name}={text}" for name, (usual, text) in more.items() if said[name] != usual]
    kernel = f"({said['input']}).unsqueeze(-2), {pair('1', 'kernel_size')}"
    return f"{torch}.nn.functional.max_pool2d({kernel}{''.join(texts)}).squeeze(-2)"


def build_pool(count: int, mean: bool, said: Mapping[str, str], torch: str) -> str | None:
    """A pool without padding, for every size; None where it is not told."""
    values = said["input"]
    kernels = _each(said["kernel_size"], count)
    strides = kernels if said["stride"] == "None" else _each(said["stride"], count)
    if _covers(kernels, values, count):
        dims = str(tuple(range(-count, 0))) if count > 1 else "-1"
        return f"{values}.{'mean' if mean else 'amax'}({dims}, keepdim=True)"
    if count > 2:
        return None
    reduced = "mean(-1)" if mean else "max(-1)[0]"
    text = _windows(values, kernels[-1], strides[-1], reduced, torch)
    if count == 1:
        return text
    turned = f"{text}.mT"
    return f"{_windows(turned, kernels[0], strides[0], reduced, torch)}.mT.contiguous()"


def _each(text: str, count: int) -> list[str]:
    """The number of each dim."""
    node = ast.parse(text, mode="eval").body
    if isinstance(node, ast.Tuple | ast.List):
        inner = [f"({ast.unparse(expression)})" for expression in node.elts]
        return inner * count if len(inner) == 1 else inner[:count]
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return [f"{text}[{at}]" for at in range(count)]
    if isinstance(node, ast.Attribute) or text.isidentifier() or isinstance(node, ast.Constant):
        return [text] * count
    return [f"({text})"] * count


def _covers(kernels: list[str], values: str, count: int) -> bool:
    """Whether each kernel is the size of its dim, as far as their text says."""
    for at, kernel in enumerate(kernels):
        back, front = at - count, at + 2
        texts = {f"{values}.shape[{n}]" for n in (back, front)}
        texts |= {f"{values}.size({n})" for n in (back, front)}
        texts |= {f"{values}.{w}[{n}:][{at}]" for w in ("shape", "size()") for n in (-count, 2)}
        if kernel.strip("()") not in {text.strip("()") for text in texts}:
            return False
    return True


def _windows(values: str, kernel: str, stride: str, reduced: str, torch: str) -> str:
    """What is left of the windows along the last dim."""
    device = "device=_wide.device"
    starts = f"{torch}.arange((_wide.shape[-1] - {kernel}) // {stride} + 1, {device})"
    at = f"{starts}[:, None] * {stride} + {torch}.arange({kernel}, {device})"
    return f"(lambda _wide: _wide[..., {at}].{reduced})({values})"
