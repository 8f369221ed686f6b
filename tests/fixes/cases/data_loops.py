"""Cases of data loops."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from ..case import case


@case(
    "x: n, _",
    lambda: (torch.rand(6, 3),),
    lambda: (torch.rand(9, 3),),
    lambda: (torch.rand(5, 3),),
    eval_mode=True,
)
class ExportedDataLoop(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = torch.nn.Linear(3, 4)
        self.experts = torch.nn.ModuleList(torch.nn.Linear(3, 3) for _ in range(4))

    def forward(self, x):
        w, sel = torch.topk(self.gate(x).softmax(-1), 2)
        mask = F.one_hot(sel, 4).permute(2, 1, 0)
        out = torch.zeros_like(x)
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


@case(
    "x: n, _; languages: n",
    lambda: (torch.randn(4, 3), torch.tensor([3, 11, 3, 7])),
    lambda: (torch.randn(1, 3), torch.tensor([7])),
    lambda: (torch.randn(2, 3), torch.tensor([3, 3])),
    lambda: (torch.randn(6, 3), torch.tensor([11, 7, 3, 3, 11, 7])),
    lambda: (torch.randn(2, 3), torch.tensor([3, 4])),
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


@case("x: n, _; languages: n", lambda: (torch.randn(4, 3), torch.tensor([3, 11, 3, 7])))
class ByName(ByLanguage):
    """A key that is no number."""

    def __init__(self) -> None:
        super().__init__()
        self.adapters["other"] = torch.nn.Linear(3, 3)
