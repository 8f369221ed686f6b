"""Branches on a requested size: both ways in the program, and padding to a multiple."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

from export_engine.attempt import Exported, Failed, Request
from export_engine.capture import capture
from export_engine.diagnose import diagnose
from export_engine.fixes import apply_fixes, autofix
from export_engine.fixes.code.branches.padding import (
    cropped,
    missing_to_multiple,
    without_early_return,
)
from export_engine.fixes.code.branches.size_branches import offered
from export_engine.fixes.code.calls.copied_slices import copied_slices
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.shapes import Shapes


class Pads(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rest = x.shape[0] % 4
        if rest:
            x = functional.pad(x, (0, 4 - rest))
        return x.reshape(-1, 4)


class Crops(nn.Module):
    """Padded rows take part in the softmax, so that padding must be by what is missing."""

    def __init__(self, branch: bool) -> None:
        super().__init__()
        self.branch = branch

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n = x.shape[1]
        if self.branch:
            padded = x
            if n % 4:
                padded = functional.pad(x, (0, 0, 0, 4 - n % 4))
        else:
            padded = functional.pad(x, (0, 0, 0, -n % 4))
        padded = padded.softmax(1)
        return padded[:, :n]


class TwoWays(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[0] > 6:
            return x.softmax(0)
        return x.sigmoid()


class Clamps(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n = x.shape[0]
        if n > 6:
            n = 6
        return x / n


@pytest.mark.slow
@pytest.mark.parametrize("branch", [True, False])
def test_what_was_padded_is_cropped_by_index(branch: bool) -> None:
    model, shapes = Crops(branch), Shapes.parse("x: b, n, _")
    report = autofix(Request(target=model, args=(torch.randn(2, 6, 3),), shapes=shapes))
    assert isinstance(report.attempt, Exported), report.sentence
    assert "by index" in report.sentence
    assert not any(step.fix.narrows or step.fix.lossy for step in report.kept)
    assert repr(report) == report.sentence
    assert repr(report.attempt).startswith("Exported(")
    for n in (2, 4, 7, 8):
        x = torch.randn(3, n, 3)
        torch.testing.assert_close(report.attempt.program.module()(x), model(x))


class CropsWhatIsStrided(nn.Module):
    """The size of a strided convolution is more than a Dim can prove something of."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, 2, 1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        h, w = image.shape[-2:]
        padded = functional.pad(image, (0, -w % 16, 0, -h % 16))
        small = self.conv(padded)
        return functional.interpolate(small, size=padded.shape[-2:])[..., :h, :w]


@pytest.mark.slow
def test_what_is_cropped_after_a_stride_keeps_all_its_sizes() -> None:
    model, shapes = CropsWhatIsStrided().eval(), Shapes.parse("image: b, _, h, w")
    report = autofix(Request(target=model, args=(torch.randn(2, 3, 33, 41),), shapes=shapes))
    assert isinstance(report.attempt, Exported), report.sentence
    assert not any(step.fix.narrows or step.fix.lossy for step in report.kept)
    for h, w in ((33, 41), (32, 48), (16, 17)):
        x = torch.randn(2, 3, h, w)
        torch.testing.assert_close(report.attempt.program.module()(x), model(x))


def in_blocks(x: torch.Tensor) -> torch.Tensor:
    """Rows in blocks of four, the last one padded: as a helper that `forward` calls."""
    if x.shape[1] % 4 != 0:
        x = functional.pad(x, (0, 0, 0, -x.shape[1] % 4))
    return x.reshape(x.shape[0], x.shape[1] // 4, 4, x.shape[2])


class AttendsInBlocks(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, n, width = x.shape
        return in_blocks(x).softmax(2).reshape(batch, -1, width)[:, :n]


@pytest.mark.slow
def test_what_a_helper_pads_is_cropped_by_index_where_it_is_called() -> None:
    model, shapes = AttendsInBlocks(), Shapes.parse("x: b, n, _")
    report = autofix(Request(target=model, args=(torch.randn(2, 11, 3),), shapes=shapes))
    assert isinstance(report.attempt, Exported), report.sentence
    assert "Always take the branch" in report.sentence
    for n in (5, 8, 12, 13):
        x = torch.randn(3, n, 3)
        torch.testing.assert_close(report.attempt.program.module()(x), model(x))


@pytest.mark.parametrize(
    "index",
    [
        *(":, :n", ":, n:", "..., :n", "1:n", ":, -n:, 1:", "..., :n, :", ":, :99", "n:, ..., :2"),
        *("-2:", "9:, 2:1", ":, -99:2", ":-1, -1:", "2:-2", "-0:, :0", "..., -2:-1, 3:9"),
    ],
)
def test_a_slice_by_index_takes_what_the_slice_does(index: str) -> None:
    text = f"import torch\ndef f(x, n):\n    return x[{index}]\n"
    made = copied_slices(text, 3).text
    assert "index_select" in made
    for size in (0, 1, 2, 3, 5):
        x = torch.arange(4 * 3 * 5).reshape(4, 3, 5)
        results = []
        for each in (text, made):
            scope: dict[str, Any] = {}
            exec(each, scope)
            results.append(scope["f"](x, size))
        assert torch.equal(*results)


@pytest.mark.parametrize(
    "index",
    [
        *(":, :n", "n:", "..., 1:n", ":, -n:, :", "..., :n, :"),
        *(":n, :n", ":n, 1:n, :2", "..., -n:, 2:", ":, :2, n:", "-2:, :9"),
    ],
)
@pytest.mark.parametrize("written", [" = -7", ".copy_(torch.tensor(-7))"])
def test_a_slice_that_is_written_is_written_by_index(index: str, written: str) -> None:
    text = f"import torch\ndef f(x, n):\n    x[{index}]{written}\n    return x\n"
    made = copied_slices(text, 3).text
    assert "torch.arange(" in made
    for size in (0, 1, 2, 3, 5):
        results = []
        for each in (text, made):
            scope: dict[str, Any] = {}
            exec(each, scope)
            results.append(scope["f"](torch.arange(4 * 3 * 5).reshape(4, 3, 5), size))
        assert torch.equal(*results)


@pytest.mark.parametrize("index", [":", "0, :n", "::2", "None, :n", "mask, :n", ":n, :, :n"])
def test_other_writes_are_left_alone(index: str) -> None:
    with pytest.raises(Unclear):
        copied_slices(f"import torch\ndef f(x, n, mask):\n    x[{index}] = 0\n", 3)


class FillsAPaddedTensor(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        blocks = (x.size(1) + 4) // 5
        padded = torch.full((x.size(0), blocks * 5), float("-inf"), dtype=x.dtype)
        padded[:, : x.size(1)] = x
        return padded.view(-1, blocks, 5).max(-1)[0]


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_a_tensor_that_is_filled_up_to_a_size_keeps_whole_multiples(strict: bool) -> None:
    model, shapes = FillsAPaddedTensor(), Shapes.parse("x: batch, time")
    report = autofix(
        Request(target=model, args=(torch.randn(2, 24),), shapes=shapes, strict=strict)
    )
    assert isinstance(report.attempt, Exported), report
    for size in (6, 10, 15, 23):
        x = torch.randn(3, size)
        torch.testing.assert_close(report.attempt.program.module()(x), model(x))


def test_what_is_computed_and_sliced_is_computed_once() -> None:
    text = "def f(x, n, calls):\n    sliced = x\n    return (calls.append(n) or sliced)[:, :n]\n"
    made = copied_slices("import torch\n" + text, 4).text
    assert "(sliced_ := calls.append(n) or sliced)" in made
    scope: dict[str, Any] = {}
    exec(made, scope)
    calls: list[int] = []
    x = torch.arange(12).reshape(3, 4)
    assert torch.equal(scope["f"](x, 2, calls), x[:, :2])
    assert calls == [2]


@pytest.mark.parametrize("index", [":", "0", "::2", "None, :n", "mask, :n", ":, 0, :n"])
def test_other_subscripts_are_left_alone(index: str) -> None:
    with pytest.raises(Unclear, match="sliced"):
        copied_slices(f"def f(x, n, mask):\n    return x[{index}]\n", 2)


def test_padding_to_a_multiple_is_by_what_is_missing() -> None:
    text = "def f(x, n):\n    if n % 4 != 0:\n        x = x + [0] * (4 - n % 4)\n    return x\n"
    made = missing_to_multiple(text, 2).text
    assert "((4 - n % 4) % 4)" in made
    scopes: list[dict[str, object]] = [{}, {}]
    for scope, each in zip(scopes, (text, made), strict=True):
        exec(each, scope)
    for n in range(9):
        theirs, mine = (scope["f"]([0] * n, n) for scope in scopes)  # type: ignore[operator]
        assert mine == theirs


def test_an_odd_size_is_padded_by_its_rest() -> None:
    text = "def f(x, n):\n    if n % 2:\n        x = pad(x, (0, 1))\n    return x\n"
    made = missing_to_multiple(text, 2).text
    assert "x = pad(x, (0, (n % 2)))" in made
    assert "if" not in made


def in_fours(x: torch.Tensor) -> torch.Tensor:
    """Each four rows have a softmax of their own."""
    return x.unflatten(1, (-1, 4)).softmax(2).flatten(1, 2)


class ChoosesWhatIsCropped(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rest = x.shape[1] % 4
        missing = 4 - rest if rest else 0
        x = in_fours(functional.pad(x, (0, 0, 0, missing)))
        return x[..., :-missing, :] if missing else x


class ReturnsEarly(nn.Module):
    """As ConvTasNet aligns what it is given with its strides."""

    def align(self, x: torch.Tensor) -> tuple[torch.Tensor, int]:
        rest = x.shape[1] - (x.shape[1] - 1) // 4 * 4 - 1
        if rest == 0:
            return x, 0
        missing = 4 - rest
        return torch.cat([x, x.new_zeros(x.shape[0], missing, 3)], 1), missing

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x, missing = self.align(x)
        x = x.cumsum(1) * x.shape[1]
        if missing > 0:
            x = x[:, :-missing]
        return x


class PadsWindows(nn.Module):
    """As Swin does; one branch is on both sizes."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, c, h, w = x.shape
        right, below = (4 - w % 4) % 4, (4 - h % 4) % 4
        if right > 0 or below > 0:
            x = functional.pad(x, (0, right, 0, below))
        h_padded, w_padded = x.shape[2:]
        x = x.view(b, c, h_padded // 4, 4, w_padded // 4, 4).softmax(3).view(*x.shape)
        if right > 0 or below > 0:
            x = x[:, :, :h, :w].contiguous()
        return x


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "shapes", "size"),
    [
        (ChoosesWhatIsCropped(), "x: b, n, _", (2, 10, 3)),
        (ReturnsEarly(), "x: b, n, _", (2, 10, 3)),
        (PadsWindows(), "x: b, _, h, w", (2, 3, 13, 10)),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, nn.Module) else "",
)
def test_what_pads_and_crops_by_branches_keeps_all_its_sizes(
    model: nn.Module, shapes: str, size: tuple[int, ...]
) -> None:
    attempt = capture(Request(target=model, args=(torch.randn(size),), shapes=Shapes.parse(shapes)))
    assert isinstance(attempt, Failed)
    (fix,) = offered(replace(attempt, diagnosis=diagnose(attempt)))
    assert isinstance(fix.leads_to, Exported), fix.title
    assert not fix.narrows, fix.title
    program = fix.leads_to.program.module()
    for more in range(1, 9):
        x = torch.randn(3, *(each + more if each > 3 else each for each in size[1:]))
        torch.testing.assert_close(program(x), model(x))


@pytest.mark.after_check
def test_a_long_condition_on_two_sizes_is_said_in_words_once_a_line() -> None:
    args, shapes = (torch.randn(2, 3, 13, 10),), Shapes.parse("x: b, _, h, w")
    attempt = capture(Request(target=PadsWindows(), args=args, shapes=shapes))
    assert isinstance(attempt, Failed)
    said = [each.text for each in diagnose(attempt).related]
    assert said[-1] == "relates h and w in a way that no Dim can say"
    assert len(set(said)) == len(said)
    assert all(len(each) < 100 for each in said)


@pytest.mark.parametrize(
    ("code", "made"),
    [
        ("if m > 0:\n    x = x[:, :-m]\nreturn x", "[:x.shape[1] - m]"),
        ("return x[..., :-m, :] if m else x", "[:x.shape[-2] - m]"),
        ("return x if m == 0 else x[:-m]", "[:x.shape[0] - m]"),
        ("return x[:-(m % 2 + m)] if m % 2 + m else x", "[:x.shape[0] - (m % 2 + m)]"),
    ],
)
def test_what_is_cropped_ends_before_what_is_missing(code: str, made: str) -> None:
    text = "import torch\ndef f(x, m):\n    " + code.replace("\n", "\n    ") + "\n"
    found = cropped(text, 3).text
    assert made in found
    assert " if " not in found
    scopes: list[dict[str, Any]] = [{}, {}]
    for scope, each in zip(scopes, (text, found), strict=True):
        exec(each, scope)
    x = torch.randn(6, 5, 4)
    for m in range(4):
        assert torch.equal(*(scope["f"](x, m) for scope in scopes))


@pytest.mark.parametrize(
    "code", ["x = x[:, :-k]", "x = x[:, :m]", "x = x[:, -m:]", "x = f(x)[:, :-m]"]
)
def test_other_ends_are_left_alone(code: str) -> None:
    with pytest.raises(Unclear):
        cropped(f"def g(x, m, k):\n    if m > 0:\n        {code}\n    return x\n", 2)


def test_an_early_return_goes_only_where_what_follows_pads() -> None:
    text = "def f(x, n):\n    rest = n % 4\n    if rest == 0:\n        return x\n    {}\n"
    for whole in ("4", "n % 2 + 4"):
        made = without_early_return(text.format(f"return x + [0] * ({whole} - rest)"), 3).text
        scope: dict[str, Any] = {}
        exec(made, scope)
        assert scope["f"]([1] * 4, 4) == [1] * 4
    made = without_early_return(text.format("return x + [0] * (4 - rest)"), 3).text
    assert "return x + [0] * (((4 - rest) % 4))" in made
    assert "if" not in made
    for other in ("return x + [0] * rest", "return x + [0] * (4 - n)"):
        with pytest.raises(Unclear):
            without_early_return(text.format(other), 3)


@pytest.mark.parametrize("code", ["x = x - n", "x = pad(x, (0, 1))"])
def test_a_difference_from_anything_else_is_kept(code: str) -> None:
    with pytest.raises(Unclear):
        missing_to_multiple(f"def f(x, n):\n    if n % 4:\n        {code}\n    return x\n", 2)


@pytest.mark.after_check
def test_sizes_that_a_remainder_excludes_are_said_with_the_line() -> None:
    attempt = capture(Request(target=Pads(), args=(torch.ones(9),), shapes=Shapes.parse("x: n")))
    assert isinstance(attempt, Failed)
    diagnosis = diagnose(attempt)
    said = "n must not be a multiple of 4 (the closest that a Dim can express: "
    assert said in diagnosis.sentence
    assert "(n % 4) != 0" in diagnosis.sentence
    assert diagnosis.stack


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "title"),
    [
        (Pads(), "pad up to a multiple"),
        (TwoWays(), "with torch.cond"),
        (Clamps(), "Select the number"),
    ],
)
def test_both_ways_of_a_branch_on_a_size_are_in_the_program(model: nn.Module, title: str) -> None:
    request = Request(target=model, args=(torch.rand(9),), shapes=Shapes.parse("x: n"))
    attempt = capture(request)
    assert isinstance(attempt, Failed)
    (fix,) = offered(replace(attempt, diagnosis=diagnose(attempt)))
    assert title in fix.title
    assert isinstance(fix.leads_to, Exported)
    program = fix.leads_to.program.module()
    for size in (8, 7, 6):
        x = torch.rand(size)
        torch.testing.assert_close(program(x), model(x))


class Resized(nn.Module):
    """A table that is taken as it is where it has the size of the image, and else resized."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.rand(1, 2, 4, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h, w = x.shape[-2] // 4, x.shape[-1] // 4
        return nn.functional.avg_pool2d(x, 4) + self.of(h, w)

    def of(self, h: int, w: int) -> torch.Tensor:
        if h == 4 and w == 4:
            return self.table
        return nn.functional.interpolate(self.table, (h, w), mode="bicubic")


class ResizedElse(Resized):
    """The same with an `else`."""

    def of(self, h: int, w: int) -> torch.Tensor:
        if (h, w) == (4, 4):
            found = self.table
        else:
            found = nn.functional.interpolate(self.table, (h, w), mode="bicubic")
        return found


@pytest.mark.slow
@pytest.mark.parametrize("model", [Resized, ResizedElse])
def test_a_table_of_the_same_size_is_resized_too(model: type[Resized]) -> None:
    resized = model()
    shapes = Shapes.parse("x: _, _, h, w")
    report = autofix(Request(target=resized, args=(torch.rand(1, 2, 16, 24),), shapes=shapes))
    assert report.kept[0].fix.title.startswith("Never take the branch"), report.sentence
    assert isinstance(report.attempt, Exported)
    for size in [(16, 16), (24, 16), (9, 30)]:
        x = torch.rand(1, 2, *size)
        torch.testing.assert_close(report.attempt.program.module()(x), resized(x))


class PadsAttendsAndCrops(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        size = x.shape[1]
        x = functional.pad(x, (0, 0, 0, (4 - size) % 4))
        y = x.unflatten(1, (-1, 4))[:, :, ::2].cumsum(2)
        out = torch.zeros_like(x).unflatten(1, (-1, 4))
        out[:, :, ::2] = y
        return out.flatten(1, 2)[:, :size]


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_what_is_cropped_keeps_whole_multiples_where_a_bound_is_left(strict: bool) -> None:
    model, shapes = PadsAttendsAndCrops(), Shapes.parse("x: batch, time, _")
    report = autofix(
        Request(target=model, args=(torch.randn(2, 21, 3),), shapes=shapes, strict=strict)
    )
    assert isinstance(report.attempt, Exported), report
    for size in (5, 8, 12, 22):
        x = torch.randn(3, size, 3)
        torch.testing.assert_close(report.attempt.program.module()(x), model(x))


class PadsBothSides(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        _, h, w = x.shape
        if h % 4 != 0:
            x = functional.pad(x, (0, 0, 0, 4 - h % 4))
        if w % 4 != 0:
            x = functional.pad(x, (0, 4 - w % 4))
        return x.unflatten(1, (-1, 4)).unflatten(3, (-1, 4)).mean((2, 4))


@pytest.mark.slow
def test_two_branches_that_pad_are_both_kept_for_every_size() -> None:
    model, shapes = PadsBothSides(), Shapes.parse("x: batch, h, w")
    attempt = capture(Request(target=model, args=(torch.randn(2, 30, 45),), shapes=shapes))
    assert isinstance(attempt, Failed)
    first = next(offered(replace(attempt, diagnosis=diagnose(attempt))))
    attempt = apply_fixes(attempt, [first])
    assert isinstance(attempt, Failed)
    second = next(offered(replace(attempt, diagnosis=diagnose(attempt))))
    assert all("Always take the branch" in each.title for each in (first, second))
    assert isinstance(second.leads_to, Exported)
    for sides in ((9, 16), (16, 9), (16, 8), (30, 45)):
        x = torch.randn(3, *sides)
        torch.testing.assert_close(second.leads_to.program.module()(x), model(x))
