"""Python and NumPy around sizes: what makes a plain number of a size, kept symbolic."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from export_engine.attempt import Exported, Failed, Kind, Request
from export_engine.fixes import autofix
from export_engine.fixes.automatic import outcome
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.sizes.size_statistics import without_statistics
from export_engine.fixes.code.sizes.symbolic_sizes import symbolic
from export_engine.shapes import Shapes

from .test_fixes_code import defined

HEAD = "import copy\nimport math\nimport numpy as np\nimport torch\n\ndef f(x, n):\n    return "
IDIOMS = {
    "math.sqrt(x.size(1))": "torch.sym_sqrt(x.size(1))",
    "int(torch.floor(torch.tensor(n / 2)))": "math.floor(n / 2)",
    "x[:, : torch.ceil(torch.as_tensor(n / 2)).long()]": "x[:, : math.ceil(n / 2)]",
    "np.sqrt(n * 2)": "torch.sym_sqrt(n * 2)",
    "int(n * 0.5)": "torch.sym_int(n * 0.5)",
    "x[:, : int(n)] / float(n)": "x[:, : torch.sym_int(n)] / torch.sym_float(n)",
    "int(np.ceil(n / 2))": "int(math.ceil(n / 2))",
    "list(map(int, x.shape))": "list(map(torch.sym_int, x.shape))",
    "torch.as_tensor(x.shape[-2:])": "torch.tensor([*x.shape[-2:]])",
    "torch.as_tensor([n, 2])": "torch.tensor([n, 2])",
    "torch._shape_as_tensor(x)": "torch.tensor([*x.shape])",
    "copy.deepcopy(x.shape)": "x.shape",
    "len(x)": "x.shape[0]",
    "x.view(int(np.prod(x.shape)))": "x.view(int(math.prod(x.shape)))",
    "isinstance(n, int)": "isinstance(n, (int, torch.SymInt))",
    "x * math.log(n)": "x * torch.log(torch.tensor(n, dtype=torch.float64))",
}


@pytest.mark.parametrize("before", IDIOMS)
def test_an_idiom_is_replaced_and_computes_the_same(before: str) -> None:
    made, names = symbolic(HEAD + before + "\n", {7})
    assert made.text == HEAD + IDIOMS[before] + "\n"
    assert names
    results = []
    for text in (HEAD + before, made.text):
        scope: dict[str, object] = {}
        exec(compile(text, "idiom.py", "exec"), scope)
        results.append(scope["f"](torch.ones(3, 5), 5))  # type: ignore[operator]
    mine, theirs = results
    if isinstance(mine, torch.Tensor):
        torch.testing.assert_close(mine, theirs)
    else:
        assert mine == theirs


FACTORIES = [
    "torch.linspace(-1, 1, steps=n)",
    "torch.linspace(0, n - 1, n, dtype=torch.float64)",
    "torch.linspace(start=n / 2, end=-n, steps=n + 1)",
    "torch.logspace(0, 1, n)",
    "torch.logspace(0, 3, steps=n, base=2.0)",
    "torch.hann_window(n)",
    "torch.hann_window(n, False)",
    "torch.hamming_window(n, periodic=False, dtype=torch.float64)",
    "torch.blackman_window(window_length=n)",
    "torch.bartlett_window(n)",
    "torch.bartlett_window(n, periodic=False, dtype=torch.float64)",
    "torch.kaiser_window(n)",
    "torch.kaiser_window(n, False, beta=5.0)",
    "torch.fft.fftfreq(n)",
    "torch.fft.rfftfreq(n, d=0.5)",
    "torch.nn.functional.one_hot(x.long(), n)",
    "torch.nn.functional.one_hot(x.long(), num_classes=n + 1)",
    "torch.nn.functional.one_hot(x.long() * n)",
    "torch.tril_indices(n, n)",
    "torch.triu_indices(n, n + 2, offset=1, dtype=torch.int32)",
    "torch.triu_indices(row=n, col=3, offset=-1)",
    "torch.vander(x[:, 0].long() * 2, n)",
    "torch.vander(x[0], N=3, increasing=True)",
    "torch.vander(x[0] + 1)",
    "torch.tensor([i / n for i in range(n)])",
    "torch.tensor([2 * (i // 2) - n for i in range(1, n)])",
    "torch.tensor([math.sin(math.pi * i / n) ** 2 for i in range(0, n, 2)], dtype=torch.float64)",
    "torch.as_tensor([0.5 * -i for i in range(n)], device=x.device)",
    "torch.tensor([10000 ** (i % 3) for i in range(n)])",
    "torch.tensor([i if i > 2 else n for i in range(n)])",
    "torch.tensor([[-abs(i - j) for j in range(n)] for i in range(n + 1)])",
    "torch.tensor([[min(i, j) / n for j in range(1, n)] for i in range(n)])",
    "torch.tensor([[0.0 if j <= i else float('-inf') for j in range(n)] for i in range(n)])",
    "torch.tensor([[abs(i - j) <= 2 for j in range(n)] for i in range(n)])",
    "torch.tensor([[i / 2 < j and j != n for j in range(n)] for i in range(n)])",
    "torch.tensor([1 if i < 2 or i > 0.5 * n else 0 for i in range(n)])",
    "torch.tensor([[i, j] for i in range(n) for j in range(0, 6, 2)])",
    "torch.tensor([(max(i - 1, 0), i + 0.5) for i in range(n)])",
    "torch.tensor([i * n + j for i in range(n) for j in range(2)], dtype=torch.int32)",
    "torch.tensor([[[i + j - k for k in range(3)] for j in range(n)] for i in range(n)])",
]


SCOPE = {"torch": torch, "math": math}


@pytest.mark.parametrize("before", FACTORIES)
def test_a_tensor_of_so_many_elements_is_made_by_arange(before: str) -> None:
    made, names = symbolic(HEAD + before + "\n", {7})
    assert len(names) == 1
    for size in (*([1] if "_window" in before else []), 2, 3, 4, 7):
        mine, theirs = (
            eval(text.partition("return ")[2], {**SCOPE, "x": torch.ones(3, 5), "n": size})
            for text in (HEAD + before, made.text)
        )
        torch.testing.assert_close(mine, theirs)
        assert mine.dtype == theirs.dtype


STEPS = [
    "next(s for s in (2, 4, 7) if s >= n)",
    "next(s for s in (2, 4, 7) if n <= s)",
    "next(s for s in [4, 2, 9] if s > n / 2)",
    "next((s for s in (2, 4) if n / 3 < s), 5)",
    "next((s for s in (2, 4, 3) if s >= 1.5 * n), 1)",
    "next(s for s in row if s >= x.shape[1] + n)",
]


@pytest.mark.parametrize("before", STEPS)
def test_the_first_number_that_is_large_enough_is_a_sum_of_steps(before: str) -> None:
    head = HEAD.replace("return ", "found = ")
    made, _ = symbolic(f"{head}{before}\n    return found\n", {7})
    assert "sym_min" in made.text
    for size in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9):
        found = []
        for text in (f"{head}{before}\n    return found\n", made.text):
            scope: dict[str, Any] = {"row": [9, 7, 12]}
            exec(compile(text, "steps.py", "exec"), scope)
            try:
                found.append(scope["f"](torch.ones(3, 2), size))
            except (StopIteration, RuntimeError):
                found.append(None)
        assert found[0] == found[1]


@pytest.mark.parametrize(
    "before", ["next(s for s in row if s >= s)", "next(iter(row))", "next(s for s in row if s < n)"]
)
def test_another_next_is_left(before: str) -> None:
    with pytest.raises(Unclear):
        symbolic(f"{HEAD}{before}\n", {7})


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_a_length_padded_to_one_of_several_stays_dynamic(strict: bool) -> None:
    body = "\n".join(
        (
            "for each in (8, 16, 32):",
            "    if x.shape[1] <= each:",
            "        return each",
            "raise ValueError('too long')",
        )
    )
    model, _ = defined(
        f"def length():\n    {body.replace(chr(10), chr(10) + '    ')}\n"
        "return torch.nn.functional.pad(x, (0, length() - x.shape[1]))",
        "bucketed",
    )
    shapes = Shapes.parse("x: _, n")
    request = Request(target=model, args=(torch.rand(2, 5),), shapes=shapes, strict=strict)
    report = autofix(request)
    assert isinstance(report.attempt, Exported), report.sentence
    for size in (1, 8, 9, 16, 17, 32):
        x = torch.rand(2, size)
        assert torch.equal(report.attempt.program.module()(x), model(x))


@pytest.mark.parametrize("labels", [[0, -1], [0, 3]])
def test_labels_that_are_no_class_are_refused_as_before(labels: list[int]) -> None:
    made, _ = symbolic(HEAD + "torch.nn.functional.one_hot(x, n)\n", {7})
    for text in (HEAD + "torch.nn.functional.one_hot(x, n)", made.text):
        names = {"torch": torch, "x": torch.tensor(labels), "n": 3}
        with pytest.raises(RuntimeError):
            eval(text.partition("return ")[2], names)


@pytest.mark.slow
def test_coordinates_of_a_free_height_stay_dynamic() -> None:
    body = "\n".join(
        (
            "h, w = x.shape[-2:]",
            "ys = torch.linspace(-1, 1, steps=h)",
            "xs = torch.linspace(-1, 1, steps=w)",
            'gy, gx = torch.meshgrid(ys, xs, indexing="ij")',
            "grid = torch.stack([gx, gy], -1).expand(x.shape[0], h, w, 2)",
            "return torch.nn.functional.grid_sample(x, grid, align_corners=True)",
        )
    )
    model, _ = defined(body, "coordinates")
    shapes = Shapes.parse("x: b, _, h, w")
    report = autofix(Request(target=model, args=(torch.rand(2, 3, 8, 6),), shapes=shapes))
    first = report.first
    assert isinstance(first, Failed)
    assert first.diagnosis is not None
    assert "`torch.linspace(-1, 1, steps=h)` takes an int alone" in first.diagnosis.sentence
    assert isinstance(report.attempt, Exported), report.sentence
    assert not any(step.fix.gives_up for step in report.kept)
    for height, width in ((3, 5), (9, 2)):
        x = torch.rand(1, 3, height, width)
        torch.testing.assert_close(report.attempt.program.module()(x), model(x))


@pytest.mark.parametrize(
    "code",
    [
        "x.sum()",
        "max(n, 2)",
        "round(n / 2)",
        "torch.as_tensor(n)",
        "torch.ceil(x / 2).long()",
        "torch.round(torch.tensor(n / 2)).long()",
        "copy.copy(x)",
        "f(x, 1)",
        "torch.arange(n)",
        "torch.tensor([i if f(i) else n for i in range(n)])",
        "torch.tensor([[i + j for j in range(i)] for i in range(n)])",
        "torch.tensor([[i + 1 for j in range(n)] for i in range(n)])",
        "torch.tensor([[i + j for j in range(n) if j > 1] for i in range(n)])",
        "torch.tensor([[i, n] for i in range(n)])",
        "torch.tensor([round(i) for i in range(n)])",
        "torch.tensor([n for i in range(n)])",
    ],
)
def test_what_asks_for_no_number_is_kept(code: str) -> None:
    with pytest.raises(Unclear):
        symbolic(HEAD + code + "\n", {7})


@pytest.mark.slow
def test_a_size_that_python_makes_a_number_of_stays_dynamic() -> None:
    body = "n = int(x.size(1) * 0.5)\nk = float(x.size(1))\nreturn x[:, :n] / k"
    model, _ = defined(body, "number_of_size")
    shapes = Shapes.parse("x: b, t, _")
    report = autofix(Request(target=model, args=(torch.rand(3, 5, 4),), shapes=shapes))
    assert isinstance(report.attempt, Exported), report.sentence
    assert "symbolic" in report.kept[0].fix.title
    for length in (4, 11):
        x = torch.rand(2, length, 4)
        torch.testing.assert_close(report.attempt.program.module()(x), model(x))


@pytest.mark.slow
def test_a_size_that_equals_one_of_another_input_may_vary_with_it() -> None:
    model = torch.nn.Bilinear(4, 3, 2)
    args = (torch.rand(5, 4), torch.rand(5, 3))
    report = autofix(Request(target=model, args=args, shapes=Shapes.parse("input1: batch, _")))
    assert isinstance(report.attempt, Exported), report.sentence
    (step,) = report.kept
    assert step.fix.title == "Let input2 vary too"
    assert step.fix.after == "input1: batch, _; input2: batch, _"
    assert not step.fix.lossy


@pytest.mark.slow
def test_torchs_own_recurrent_module_becomes_a_scan() -> None:
    body = "return self.gru(x)[0]"
    wrapped, _ = defined(body, "own_gru")
    wrapped.add_module("gru", torch.nn.GRU(3, 3, batch_first=True))
    shapes = Shapes.parse("x: _, t, _")
    report = autofix(Request(target=wrapped, args=(torch.rand(2, 4, 3),), shapes=shapes))
    assert isinstance(report.attempt, Exported), report.sentence
    (step,) = report.kept
    assert step.fix.title == "Rewrite the GRU in line 11 as a scan"
    program = report.attempt.program.module()
    for length in (1, 7):
        x = torch.rand(2, length, 3)
        torch.testing.assert_close(program(x), wrapped(x))


@pytest.mark.slow
def test_a_size_that_is_looked_up_is_said_to_be_one() -> None:
    model, _ = defined("return x * {4: 0.5, 6: 2.0}[x.size(1)]", "looked_up_size")
    request = Request(target=model, args=(torch.rand(3, 4),), shapes=Shapes.parse("x: b, t"))
    failed = autofix(request).attempt
    assert isinstance(failed, Failed)
    assert failed.diagnosis is not None
    assert failed.diagnosis.kind is Kind.SHAPES_VIOLATED
    assert failed.diagnosis.sentence == (
        "t cannot be dynamic: `{4: 0.5, 6: 2.0}[x.size(1)]` uses a dynamic size as a key."
    )
    (fix,) = failed.fixes
    assert fix.lossy
    assert fix.after == "x: b, _"
    assert isinstance(autofix(fix.apply(request)).attempt, Exported)


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_a_tensor_that_python_copies_is_copied_by_torch(strict: bool) -> None:
    body = "import copy\ny = copy.copy(x)\ny = y + copy.deepcopy(x)\nreturn y"
    model, _ = defined(body, f"python_copy_{strict}")
    report = autofix(Request(target=model, args=(torch.rand(3, 4),), strict=strict))
    assert isinstance(report.attempt, Exported), report.sentence
    x = torch.rand(3, 4)
    torch.testing.assert_close(report.attempt.program.module()(x), 2 * x)


class Boxes:
    """A container of the user's own around one tensor."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor

    def __len__(self) -> int:
        return self.tensor.shape[0]


class CountsBoxes(torch.nn.Module):
    def forward(self, rects: torch.Tensor) -> torch.Tensor:
        boxes = Boxes(rects)
        return rects.sum() / len(boxes)


@pytest.mark.slow
def test_the_length_of_an_object_of_ones_own_stays_symbolic() -> None:
    request = Request(
        target=CountsBoxes(), args=(torch.rand(5, 4),), shapes=Shapes.parse("rects: boxes, _")
    )

    report = autofix(request)

    assert isinstance(report.attempt, Exported), report
    (edit,) = report.kept[0].fix.edits
    assert "rects.sum() / boxes.__len__()" in edit.after


class FitsASquare(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scale = 64 / max(x.shape[-2:])
        size = [int(each * scale + 0.5) for each in x.shape[-2:]]
        return torch.nn.functional.interpolate(x, size, mode="bilinear")


@pytest.mark.slow
def test_a_fix_whose_program_is_wrong_leads_on_to_one_that_agrees() -> None:
    request = Request(
        target=FitsASquare(),
        args=(torch.ones(1, 3, 30, 40),),
        shapes=Shapes.parse("x: batch, _, h, w"),
    )
    report = autofix(request)
    assert [(step.kept, outcome(step.attempt)) for step in report.steps] == [
        (True, "exports, but rejects sizes that eager accepts"),
        (True, "exports, and agrees with eager"),
    ]
    assert isinstance(report.attempt, Exported)
    for size in ((1, 3, 50, 20), (3, 3, 16, 16)):
        x = torch.rand(size)
        assert torch.allclose(report.attempt.program.module()(x), FitsASquare()(x))


class TablesByName(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        size = x.shape[1]
        rows = [[0 if j <= i else 1 for j in range(size)] for i in range(size)]
        mask = torch.tensor(rows, dtype=torch.bool)
        slopes = [2.0 ** (-k / size) for k in range(1, size + 1)]
        return x.masked_fill(mask, 0.0) * torch.tensor(slopes)


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_a_list_that_has_a_name_before_it_is_a_tensor_stays_dynamic(strict: bool) -> None:
    model, shapes = TablesByName(), Shapes.parse("x: _, size, size")
    report = autofix(
        Request(target=model, args=(torch.randn(2, 5, 5),), shapes=shapes, strict=strict)
    )
    assert isinstance(report.attempt, Exported), report
    for size in (2, 3, 8):
        x = torch.randn(2, size, size)
        torch.testing.assert_close(report.attempt.program.module()(x), model(x))


class FramesByRounding(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        count = int((x.shape[1] - 8) / 4) + 1
        return torch.stack([x[:, 4 * i : 4 * i + 8].sum(1) for i in range(count)], 1)


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_a_size_that_is_kept_leads_on_to_the_loop_that_needs_it(strict: bool) -> None:
    model, shapes = FramesByRounding(), Shapes.parse("x: _, time")
    report = autofix(
        Request(target=model, args=(torch.randn(2, 41),), shapes=shapes, strict=strict)
    )
    assert isinstance(report.attempt, Exported), report
    for size in (12, 39, 100):
        x = torch.randn(2, size)
        torch.testing.assert_close(report.attempt.program.module()(x), model(x))


class KeepsAShare(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept = max(int(math.ceil(0.5 * x.size(1))), 1)  # noqa: RUF046 - as users write it
        return x.topk(kept, dim=1).values


class KeepsHalf(torch.nn.Module):
    """As torchaudio.transforms.Resample crops what it has resampled."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        half = torch.ceil(torch.as_tensor(x.size(1) / 2)).long()
        return x[..., :half].contiguous()


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("model", [KeepsAShare(), KeepsHalf()], ids=["math", "torch"])
def test_a_share_of_a_size_that_is_rounded_up_stays_dynamic(
    model: torch.nn.Module, strict: bool
) -> None:
    shapes = Shapes.parse("x: batch, size")
    report = autofix(
        Request(target=model, args=(torch.randn(2, 20),), shapes=shapes, strict=strict)
    )
    assert isinstance(report.attempt, Exported), report
    for size in (3, 8, 41):
        x = torch.randn(2, size)
        torch.testing.assert_close(report.attempt.program.module()(x), model(x))


class PadsToAPowerOfTwo(torch.nn.Module):
    """torch lets no program take a logarithm of a size; an op computes it."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        whole = 2 ** math.ceil(math.log2(x.shape[1]))
        return torch.fft.irfft(torch.fft.rfft(x, whole), whole)[:, : x.shape[1]]


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_a_transform_of_a_length_that_is_a_power_of_two_stays_dynamic(strict: bool) -> None:
    shapes = Shapes.parse("x: batch, time")
    model, args = PadsToAPowerOfTwo(), (torch.randn(2, 20),)
    report = autofix(Request(target=model, args=args, shapes=shapes, strict=strict))
    assert isinstance(report.attempt, Exported), report
    for size in (3, 4, 16, 21):
        x = torch.randn(3, size)
        torch.testing.assert_close(report.attempt.program.module()(x), model(x))


class NotesSizes(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[int, int] = {}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen[x.shape[0]] = self.seen.get(x.shape[0], 0) + 1
        return x.cumsum(0)


@pytest.mark.slow
def test_what_is_only_noted_by_size_is_not_noted_while_exporting() -> None:
    model = NotesSizes()
    report = autofix(
        Request(target=model, args=(torch.randn(4, 2),), shapes=Shapes.parse("x: batch, _"))
    )
    assert isinstance(report.attempt, Exported), report
    assert [each.fix.title for each in report.kept] == [
        f"Skip in line {model.forward.__code__.co_firstlineno + 1} what is noted in `self.seen`, "
        "while exporting"
    ]
    x = torch.randn(7, 2)
    torch.testing.assert_close(report.attempt.program.module()(x), model(x))


@pytest.mark.parametrize(
    "body",
    [
        "self.seen[n] = y\n    return self.seen[n]",
        "self.seen[n] += self.count()\n    return y",
        "self.seen[n].append(y.mul_(2))\n    return y",
        "seen[n] += 1\n    return y",
        "y[n] = 1\n    return y",
    ],
)
def test_what_is_read_or_changed_is_no_note(body: str) -> None:
    text = f"import torch\ndef f(self, n, y, seen):\n    {body}\n"
    with pytest.raises(Unclear):
        without_statistics(text, 3)
