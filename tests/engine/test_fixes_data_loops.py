"""Loops over what data select: every iteration is run, and the skipped ones do nothing."""

from __future__ import annotations

import linecache
import sys
import textwrap
import types
from typing import Any

import pytest
import torch

from export_engine.attempt import CachesRegistered, Edit, Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.eager_trials import agrees
from export_engine.fixes.code.loops.element_uses import Way
from export_engine.fixes.code.loops.every_iteration import unskipped
from export_engine.shapes import Shapes

HEAD = """
import torch
import torch.nn.functional as F

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = torch.nn.Linear(3, 4)
        self.experts = torch.nn.ModuleList(torch.nn.Linear(3, 3) for _ in range(4))
        self.up = torch.nn.Parameter(torch.randn(4, 3, 3))

    def forward(self, x):
        w, sel = torch.topk(self.gate(x).softmax(-1), 2)
        mask = F.one_hot(sel, 4).permute(2, 1, 0)
        out = torch.zeros_like(x)
"""

FORMS = {
    "rows_of_modules": """
        hit = torch.greater(mask.sum((-1, -2)), 0).nonzero()
        for e in hit:  # <-
            expert = self.experts[e]
            at, token = torch.where(mask[e].squeeze(0))
            out.index_add_(0, token, expert(x[token]) * w[token, at, None])
        return out
    """,
    "unwrapped_rows": """
        with torch.no_grad():
            hit = (mask.sum((-1, -2)) > 0).nonzero()
        for e in hit:  # <-
            e = e[0]
            at, token = torch.where(mask[e])
            out.index_add_(0, token, F.linear(x[token], self.up[e]) * w[token, at, None])
        return out
    """,
    "named_in_text": """
        for e in (mask.sum((-1, -2)) > 0).nonzero():  # <-
            expert = self.get_submodule(f"experts.{e[0]}")
            at, token = torch.where(mask[e[0]])
            out[token] += expert(x[token]) * w[token, at, None]
        return out
    """,
    "numbers": """
        hit = mask.sum((-1, -2)).nonzero(as_tuple=True)[0].tolist()  # <-
        for e in hit:
            at, token = torch.where(mask[e])
            out = out.index_add(0, token, self.experts[e](x[token]))
        return out
    """,
    "unique": """
        for e in sel.unique():  # <-
            token, at = (sel == e).nonzero(as_tuple=True)
            out[token] += w[token, at].unsqueeze(-1) * self.experts[int(e)](x[token])
        return out
    """,
    "as_a_set": """
        for e in sorted(set(sel.flatten().tolist())):  # <-
            token, at = torch.where(sel == e)
            out[token] += self.experts[e](x[token])
        return out
    """,
    "dense_sums_are_masked": """
        total = x.sum()
        for e in sel.unique():  # <-
            total = total + self.experts[e](x).mean()
            out += self.experts[e](x) * (sel == e).any(-1, keepdim=True)
        return out, total
    """,
    "mean_of_nothing": """
        centers = x.new_zeros(4, 3)
        for e in sel.unique():  # <-
            centers[e] = x[(sel == e).any(-1)].mean(0) + 0 * self.up[e].sum()
        return centers
    """,
    "any": """
        for i, expert in enumerate(self.experts):
            m = (sel == i).any(-1)
            if m.any():  # <-
                y = expert(x[m])
                out[m] += y * w[m][:, :1]
        return out
    """,
    "continue": """
        for i in range(len(self.experts)):
            token, at = torch.where(sel == i)
            if token.numel() == 0:  # <-
                continue
            # where it belongs
            out.index_add_(0, token, self.experts[i](x[token]))
        return out
    """,
    "count_apart": """
        for i in range(4):
            m = (sel == i).any(-1)
            count = m.sum()
            if not count > 0:  # <-
                continue
            out[m] = self.experts[i](x[m])
        return out
    """,
    "outside_of_a_loop": """
        chosen = x.mean(-1) > 0
        if chosen.any():  # <-
            out[chosen] = self.experts[0](x[chosen])
        return out
    """,
    "counts_in_numpy": """
        counts = torch.zeros(x.shape[0], 4, dtype=torch.long).scatter_(1, sel, 1).sum(0)
        order = sel.view(-1).argsort(stable=True)
        rows = x[order // 2]
        counts = counts.cpu().numpy()  # <-
        parts, start = [], 0
        for i, n in enumerate(counts):
            end = start + n
            if n == 0:
                continue
            parts.append(self.experts[i](rows[start:end]))
            start = end
        parts = torch.cat(parts) if len(parts) else rows.new_empty(0)
        back = torch.empty_like(parts)
        back[order] = parts
        return back.view(-1, 2, 3).sum(1)
    """,
    "ends_in_numpy": """
        order = sel.view(-1).argsort(stable=True)
        ends = sel.view(-1).bincount().cpu().numpy().cumsum(0)  # <-
        for i, end in enumerate(ends):
            start = 0 if i == 0 else ends[i - 1]
            if start == end:
                continue
            token = order[start:end] // 2
            y = self.experts[i](x[token])
            y.mul_(w.view(-1, 1)[order[start:end]])
            out.scatter_reduce_(0, token[:, None].repeat(1, 3), y, reduce="sum")
        return out
    """,
    "split": """
        order = sel.view(-1).argsort(stable=True)
        counts = torch.bincount(sel.view(-1), minlength=4)
        parts = x[order // 2].split(counts.tolist())  # <-
        y = torch.cat([expert(part) for expert, part in zip(self.experts, parts)])
        return torch.zeros_like(y).index_copy(0, order, y).view(-1, 2, 3).sum(1)
    """,
    "in_a_closure": """
        def run(values):
            for e in sel.unique():  # <-
                token, at = torch.where(sel == e)
                values[token] += self.experts[e](x[token])
            return values

        return run(out)
    """,
}


def defined(body: str, name: str) -> tuple[Any, str, int]:
    """A model with this end of its `forward`, its text, and the line that is marked."""
    text = HEAD + textwrap.indent(textwrap.dedent(body).strip("\n"), " " * 8) + "\n"
    file = f"/cells/{name}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    module = types.ModuleType(f"cell_{name}")
    sys.modules[module.__name__] = module
    torch.manual_seed(0)
    exec(compile(text, file, "exec"), vars(module))
    line = next(n for n, each in enumerate(text.splitlines(), 1) if "# <-" in each)
    return module.Model().eval(), text, line


def run_as(text: str, model: Any) -> Any:
    """The model of another text, with the same weights."""
    names: dict[str, Any] = {}
    exec(compile(text, "changed.py", "exec"), names)
    other = names["Model"]().eval()
    other.load_state_dict(model.state_dict())
    return other


def agreed(model: Any, text: str, line: int) -> bool:
    """Whether the rewritten model answers as it did, also where the loop skips an iteration."""
    found = unskipped(text, line, Way.MODULES)
    file = model.forward.__func__.__code__.co_filename
    made, *probes = (
        Edit(file, text, each, (found.made.function,)) for each in (found.made.text, *found.probes)
    )
    request = Request(target=model, args=(torch.rand(6, 3),), shapes=Shapes.parse("x: n, _"))
    return agrees(request, made, tuple(probes))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.slow
def test_what_a_loop_skips_does_nothing(form: str) -> None:
    model, text, line = defined(FORMS[form], f"data_loop_{form}")
    found = unskipped(text, line, Way.MODULES)
    other = run_as(found.made.text, model)
    alike = torch.rand(1, 3).expand(5, 3).clone()
    for x in (torch.rand(6, 3), alike, alike[:1], alike[:0], -alike):
        torch.testing.assert_close(other(x), model(x))
    for probe in found.probes:
        with pytest.raises(LookupError, match="this way is taken"):
            [run_as(probe, model)(each) for each in (alike, -alike)]


@pytest.mark.after_check
def test_it_is_tried_in_eager_before_an_export() -> None:
    model, text, line = defined(FORMS["unique"], "tried_data_loop")
    assert agreed(model, text, line)


def test_only_what_is_needed_changes() -> None:
    _, text, line = defined(FORMS["continue"], "kept_lines")
    made = unskipped(text, line, Way.MODULES).made.text
    gone = [each for each in text.splitlines() if each not in made.splitlines()]
    assert [each.strip() for each in gone] == ["if token.numel() == 0:  # <-", "continue"]


KEPT = {
    "stacked": """
        parts = []
        for e in sel.unique():  # <-
            parts.append(self.experts[e](x).mean())
        return torch.stack(parts)
    """,
    "attribute": """
        for e in sel.unique():  # <-
            self.last = self.experts[e](x)
        return self.last
    """,
    "used_later": """
        for e in sel.unique():  # <-
            y = self.experts[e](x)
        return y
    """,
    "leaves": """
        for e in sel.unique():  # <-
            out[sel[:, 0] == e] = self.experts[e](x[sel[:, 0] == e])
            if e > 2:
                break
        return out
    """,
    "unknown_length": """
        for e in sel.unique():  # <-
            out[sel[:, 0] == e] += e
        return out
    """,
    "does_more": """
        for i in range(4):
            m = (sel == i).any(-1)
            if m.any():  # <-
                out[m] += 1
            else:
                out = out + 1
        return out
    """,
    "printed": """
        for i in range(4):
            m = (sel == i).any(-1)
            if m.any():  # <-
                print(i)
        return out
    """,
}


@pytest.mark.parametrize("case", KEPT)
def test_a_loop_that_does_more_is_kept(case: str) -> None:
    _, text, line = defined(KEPT[case], f"kept_data_loop_{case}")
    with pytest.raises(Unclear):
        unskipped(text, line, Way.MODULES)


DIFFERENT = {
    "counts": """
        count = 0
        for e in sel.unique():  # <-
            out[(sel == e).any(-1)] += self.experts[e](x[(sel == e).any(-1)])
            count += 1
        return out * count
    """,
    "another_mask": """
        for i in range(4):
            m = (sel == i).any(-1)
            if m.any():  # <-
                out[x.sum(-1) > m.sum()] += 1
        return out
    """,
    "never_skipped": """
        m = sel[:, 0] >= 0
        if len(x) > 0 and m.shape[0] > 0:  # <-
            out[m] += 1
        return out if len(x) else 1 / 0
    """,
}


@pytest.mark.parametrize("case", DIFFERENT)
@pytest.mark.slow
def test_another_answer_is_noticed_and_so_is_a_way_that_was_not_tried(case: str) -> None:
    model, text, line = defined(DIFFERENT[case], f"different_data_loop_{case}")
    assert not agreed(model, text, line)


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_a_mixture_of_experts_exports(strict: bool) -> None:
    model, _, _ = defined(FORMS["counts_in_numpy"], f"exported_data_loop_{strict}")
    x = torch.rand(6, 3)
    report = autofix(
        Request(target=model, args=(x,), shapes=Shapes.parse("x: n, _"), strict=strict)
    )
    assert isinstance(report.attempt, Exported), report.sentence
    program = report.attempt.program.module()
    for each in (torch.rand(9, 3), x[:1].expand(5, 3).contiguous()):
        torch.testing.assert_close(program(each), model(each))


@pytest.mark.slow
def test_it_is_tried_in_what_the_export_runs_in() -> None:
    """A cache is compared by its tensors only while its class is registered, as in an export."""
    transformers = pytest.importorskip(
        "transformers", reason="its experts loop over what data select"
    )
    model, text, line = defined(FORMS["unique"], "boxed_data_loop")
    config = transformers.LlamaConfig(num_hidden_layers=1)

    class Caching(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = model

        def forward(self, x: torch.Tensor) -> Any:
            cache = transformers.DynamicCache(config=config)
            cache.update(self.inner(x)[None, None], x[None, None], 0)
            return cache

    found = unskipped(text, line, Way.MODULES)
    file = model.forward.__func__.__code__.co_filename
    made = Edit(file, text, found.made.text, (found.made.function,))
    setup = CachesRegistered((transformers.DynamicCache,))
    request = Request(target=Caching(), args=(torch.rand(6, 3),), setups=(setup,))
    assert agrees(request, made)


@pytest.mark.after_check
def test_a_size_beside_a_larger_one_is_never_below_zero() -> None:
    model, text, line = defined(FORMS["unique"], "masked_data_loop")

    class Masked(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = model

        def forward(self, mask: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
            return self.inner(x) * mask[1:, None]

    found = unskipped(text, line, Way.MODULES)
    file = model.forward.__func__.__code__.co_filename
    made = Edit(file, text, found.made.text, (found.made.function,))
    shapes = Shapes.parse("mask: n + 1; x: n, _")
    assert agrees(
        Request(target=Masked(), args=(torch.rand(7), torch.rand(6, 3)), shapes=shapes), made
    )


class ByLanguage(torch.nn.Module):
    """Its adapters have keys, which are no range."""

    def __init__(self) -> None:
        super().__init__()
        made = {str(key): torch.nn.Linear(3, 3) for key in (11, 3, 7)}
        self.adapters = torch.nn.ModuleDict(made)

    def forward(self, x: torch.Tensor, languages: torch.Tensor) -> torch.Tensor:
        out = x.clone()
        for language in languages.unique().tolist():
            rows = languages == language
            out[rows] = self.adapters[str(language)](x[rows])
        return out


class ByName(ByLanguage):
    """A key that is no number."""

    def __init__(self) -> None:
        super().__init__()
        self.adapters["other"] = torch.nn.Linear(3, 3)


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_a_loop_over_keys_that_data_have_runs_for_every_key(strict: bool) -> None:
    model, shapes = ByLanguage(), Shapes.parse("x: n, _; languages: n")
    args = (torch.randn(4, 3), torch.tensor([3, 11, 3, 7]))
    report = autofix(Request(target=model, args=args, shapes=shapes, strict=strict))
    assert isinstance(report.attempt, Exported), report.sentence
    assert "for every key" in report.sentence
    program = report.attempt.program.module()
    for languages in ([7], [3, 3], [11, 7, 3, 3, 11, 7]):
        given = torch.randn(len(languages), 3), torch.tensor(languages)
        torch.testing.assert_close(program(*given), model(*given))
    with pytest.raises(KeyError):
        model(torch.randn(2, 3), torch.tensor([3, 4]))
    with pytest.raises(RuntimeError, match="a key is missing"):
        program(torch.randn(2, 3), torch.tensor([3, 4]))
    report = autofix(Request(target=ByName(), args=args, shapes=shapes, strict=strict))
    assert not any("for every key" in each.fix.title for each in report.kept)
