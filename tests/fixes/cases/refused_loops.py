"""Code that rewriters of loops refuse, since their rewrite would not keep its meaning."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from ..case import case


@case("x: rows, _", lambda: (torch.randn(4, 3),))
class ALoopThatDoesMoreIsKept(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = torch.nn.Linear(3, 4)
        self.experts = torch.nn.ModuleList(torch.nn.Linear(3, 3) for _ in range(4))

    def forward(self, x):
        w, sel = torch.topk(self.gate(x).softmax(-1), 2)
        mask = F.one_hot(sel, 4).permute(2, 1, 0)
        out = torch.zeros_like(x)
        parts = []
        for e in sel.unique():  # <-
            parts.append(self.experts[e](x).mean())
        return torch.stack(parts)


@case("x: rows, _", lambda: (torch.randn(4, 3),))
class ALoopThatDoesMoreIsKept2(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = torch.nn.Linear(3, 4)
        self.experts = torch.nn.ModuleList(torch.nn.Linear(3, 3) for _ in range(4))

    def forward(self, x):
        w, sel = torch.topk(self.gate(x).softmax(-1), 2)
        mask = F.one_hot(sel, 4).permute(2, 1, 0)
        out = torch.zeros_like(x)
        for e in sel.unique():  # <-
            self.last = self.experts[e](x)
        return self.last


@case("x: rows, _", lambda: (torch.randn(4, 3),))
class ALoopThatDoesMoreIsKept3(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = torch.nn.Linear(3, 4)
        self.experts = torch.nn.ModuleList(torch.nn.Linear(3, 3) for _ in range(4))

    def forward(self, x):
        w, sel = torch.topk(self.gate(x).softmax(-1), 2)
        mask = F.one_hot(sel, 4).permute(2, 1, 0)
        out = torch.zeros_like(x)
        for e in sel.unique():  # <-
            y = self.experts[e](x)
        return y


@case("x: rows, _", lambda: (torch.randn(4, 3),))
class ALoopThatDoesMoreIsKept4(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = torch.nn.Linear(3, 4)
        self.experts = torch.nn.ModuleList(torch.nn.Linear(3, 3) for _ in range(4))

    def forward(self, x):
        w, sel = torch.topk(self.gate(x).softmax(-1), 2)
        mask = F.one_hot(sel, 4).permute(2, 1, 0)
        out = torch.zeros_like(x)
        for e in sel.unique():  # <-
            out[sel[:, 0] == e] = self.experts[e](x[sel[:, 0] == e])
            if e > 2:
                break
        return out


@case("x: rows, _", lambda: (torch.randn(4, 3),))
class AListThatNoTensorCanBeIsLeft(torch.nn.Module):
    def forward(self, x):
        keep = []
        for row in x:
            if row.sum() > 0:  # which
                keep.append(row)
        return keep


@case("x: rows, _", lambda: (torch.randn(4, 3),))
class AListThatNoTensorCanBeIsLeft2(torch.nn.Module):
    def forward(self, x):
        keep = []
        for row in x:
            if row.sum() > 0:  # which
                keep.append(row)
        return keep[0]


@case("x: rows, _", lambda: (torch.randn(4, 3),))
class AListThatNoTensorCanBeIsLeft3(torch.nn.Module):
    def forward(self, x):
        keep = [x[0]]
        for row in x:
            if row.sum() > 0:  # which
                keep.append(row)
        return torch.stack(keep)


@case(
    "x: rows, _; y: rows2, _; z: rows3, _",
    lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3)),
)
def a_loop_with_effects_or_without_an_end_is_kept(x, y, z):
    for n in range(3):
        x = x.mul_(2)
        if x.sum() > n:
            return x
    return x


@case(
    "x: rows, _; y: rows2, _; z: rows3, _",
    lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3)),
)
def a_loop_with_effects_or_without_an_end_is_kept_2(x, y, z):
    for n in range(3):
        x %= 1
        if x.sum() > n:
            return x
    return x


@case("y: rows, _; z: rows2, _", lambda: (torch.tensor(3), torch.randn(4, 3), torch.randn(4, 3)))
def a_loop_with_effects_or_without_an_end_is_kept_3(x, y, z):
    for n in range(3):
        y[n] = x
        if x.sum() > n:
            return x
    return x


@case(
    "x: rows, _; z: rows2, _",
    lambda: (torch.randn(4, 3), [torch.randn(3), torch.randn(3)], torch.randn(4, 3)),
)
def a_loop_with_effects_or_without_an_end_is_kept_4(x, y, z):
    for n in range(3):
        y.append(x)
        if x.sum() > n:
            return x
    return x


@case(
    "x: rows, _; y: rows2, _; z: rows3, _",
    lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3)),
)
def an_iteration_that_leaves_its_loop_besides_is_kept(x, y, z):
    for n in range(3):
        if x.sum() > n:
            continue
        break
    return x


@case("x: rows, _; n: rows2, _", lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def a_list_of_more_than_numbers_of_rows_is_kept(x, n):
    return [c for c in n]


@case("x: rows, _", lambda: (torch.randn(4, 3), torch.tensor([2, 0, 3])))
def a_list_of_more_than_numbers_of_rows_is_kept_2(x, n):
    return torch.tensor([c // n[0] for c in n])


@case("n: rows, _", lambda: (torch.tensor(3), torch.randn(4, 3)))
def a_list_of_more_than_numbers_of_rows_is_kept_3(x, n):
    return torch.tensor([x for c in n])


@case("x: rows, _", lambda: (torch.randn(4, 3), torch.tensor([2, 0, 3])))
def a_list_of_more_than_numbers_of_rows_is_kept_4(x, n):
    return torch.tensor([c for c in n if c > 0])


@case(
    "self: rows, _; x: rows2, _; n: rows3, _",
    lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3)),
)
def a_comprehension_that_is_not_one_plain_loop_is_kept(self, x, n):
    return torch.stack([row for row in x if row.sum() > 0])


@case(
    "self: rows, _; x: rows2, _; n: rows3, _",
    lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3)),
)
def a_comprehension_that_is_not_one_plain_loop_is_kept_2(self, x, n):
    return torch.stack([row for part in x for row in part])


@case("x: rows, _", lambda: (torch.randn(4, 3), torch.tensor(3)))
class AComprehensionThatIsNotOnePlainLoopIsKept3(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(3, 3)

    def forward(self, x, n):
        return torch.stack([self.up(row) for row in x]) if n else x


@case(
    "self: rows, _; x: rows2, _; n: rows3, _",
    lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3)),
)
def a_comprehension_that_is_not_one_plain_loop_is_kept_4(self, x, n):
    return max(row.sum() for row in x)


@case("self: rows, _; x: rows2, _", lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.tensor(3)))
def a_loop_that_reads_more_than_its_last_outputs_is_kept(self, x, n):
    y = x * 2
    for t in range(n):
        y[:, t] = y[:, :t].sum(1) + x[:, t]
    return y


@case("self: rows, _; x: rows2, _", lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.tensor(3)))
def a_loop_that_reads_more_than_its_last_outputs_is_kept_2(self, x, n):
    y = x * 2
    for t in range(n):
        y[:, t] = x[:, t]
        h = y[:, t - 1]
    return y


@case("self: rows, _; x: rows2, _", lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.tensor(3)))
def a_loop_that_reads_more_than_its_last_outputs_is_kept_3(self, x, n):
    y = x * 2
    for t in range(n):
        y[:, t] = y.sum(1)
    return y


@case("self: rows, _; x: rows2, _", lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.tensor(3)))
def a_loop_that_reads_more_than_its_last_outputs_is_kept_4(self, x, n):
    y = x * 2
    for t in range(n):
        y[t, 0] = y[t - 1, 1]
    return y


@case("self: rows, _; x: rows2, _", lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.tensor(3)))
def a_loop_whose_iterations_cannot_be_told_apart_is_kept(self, x, n):
    h = x[:, 0]
    y = x * 2
    outs = []
    for t in range(n):
        outs.insert(t, x[:, t])
    h = torch.stack(outs)
    return h


@case("self: rows, _; x: rows2, _", lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.tensor(3)))
def a_loop_whose_iterations_cannot_be_told_apart_is_kept_2(self, x, n):
    h = x[:, 0]
    y = x * 2
    outs = []
    for t in range(n):
        outs.append(x[:, t])
    h = sum(outs[::2])
    return h


@case("self: rows, _; x: rows2, _", lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.tensor(3)))
def a_loop_whose_iterations_cannot_be_told_apart_is_kept_3(self, x, n):
    h = x[:, 0]
    y = x * 2
    outs = []
    for t in range(n):
        outs.append(h)
    if n:
        outs.reverse()
    h = outs
    return h


@case("self: rows, _; x: rows2, _", lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.tensor(3)))
def a_loop_whose_iterations_cannot_be_told_apart_is_kept_4(self, x, n):
    h = x[:, 0]
    y = x * 2
    for t in range(n):
        if t > 3:
            break
        h = h + x[:, t]
    return h


@case("x: rows, _", lambda: (torch.randn(4, 3),))
class AChoiceThatNoScanHoldsIsKept(torch.nn.Module):
    def forward(self, x):
        s = x[:, 0]
        total = x.sum()
        if s[0] > 0:  # keep
            total = total + 1
        return total


@case("x: rows, _", lambda: (torch.randn(4, 3),))
class AChoiceThatNoScanHoldsIsKept2(torch.nn.Module):
    def forward(self, x):
        s = x[:, 0]
        total = x.sum()
        for i in range(x.shape[0]):
            if s[i] > 0:  # keep
                print(total)
        return total


@case("x: rows, _; n: rows2, _", lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def a_list_may_share_its_name_with_one_of_another_function(x, n):
    def g(y):
        y = outs
        return outs

    outs = []
    for row in x:
        outs.append(row * 2)
    return g(torch.stack(outs))


@case("x: rows, _; s: rows2, _", lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.tensor(3)))
def a_branch_that_does_more_than_to_cut_stays(x, s, k):
    if len(s) >= k:
        s, i = s.topk(k)
        x = x[i]
    x = x * 1
    return x, s


@case("x: rows, _; s: rows2, _", lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.tensor(3)))
def a_branch_that_does_more_than_to_cut_stays_2(x, s, k):
    if len(s) > 2 * k:
        s, i = s.topk(k)
        x = x[i]
    x = x * 1
    return x, s


@case("x: rows, _; s: rows2, _", lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.tensor(3)))
def a_branch_that_does_more_than_to_cut_stays_3(x, s, k):
    if len(x) > k:
        s, i = s.topk(k)
        x = x[i]
    x = x * 1
    return x, s


@case("x: rows, _; s: rows2, _", lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.tensor(3)))
def a_branch_that_does_more_than_to_cut_stays_4(x, s, k):
    if len(s) > k:
        s, i = s.topk(k, largest=False)
        x = x[i]
    x = x * 1
    return x, s


@case("x: rows, _; h: rows2, _", lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def what_the_test_does_not_guard_is_kept(x, h):
    y = h[2] if len(h) > 1 else x[0]
    return y


@case("x: rows, _; h: rows2, _", lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def what_the_test_does_not_guard_is_kept_2(x, h):
    y = h[1] if len(h) > 0 else x[0]
    return y


@case("x: rows, _; h: rows2, _", lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def what_the_test_does_not_guard_is_kept_3(x, h):
    y = h.sum() if len(h) > 0 else x[0]
    return y


@case("x: rows, _; h: rows2, _", lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def what_the_test_does_not_guard_is_kept_4(x, h):
    y = h[0] if len(h) == 3 else x[0]
    return y


@case("x: rows, _", lambda: (torch.randn(4, 3), torch.tensor([2, 0, 3])))
def other_writes_are_left(x, n):
    out = x.clone()
    for i, k in enumerate(n.tolist()):
        out[i, 1:k] = x.flip(0)[i, 1:k]
    return out


@case("x: rows, _", lambda: (torch.randn(4, 3), torch.tensor([2, 0, 3])))
def other_writes_are_left_2(x, n):
    out = x.clone()
    for i, k in enumerate(n):
        out[i + 1, k:] = 0
    return out


@case("x: rows, _", lambda: (torch.randn(4, 3), torch.tensor([2, 0, 3])))
def other_writes_are_left_3(x, n):
    out = x.clone()
    for i, k in enumerate(n):
        out[i, k:] = 0
        x = x + 1
    return out


@case(
    "x: rows, _; m: rows2, _; f: rows3, _; out: rows4, _",
    lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3)),
)
def a_loop_over_pieces_of_other_lengths_is_no_scan(x, m, f, out):
    for part in torch.split(x, 3):  # asked
        m = m + part.sum()
    return m


@case(
    "x: rows, _; f: rows2, _; out: rows3, _",
    lambda: (torch.randn(4, 3), torch.tensor([2, 0, 3]), torch.randn(4, 3), torch.randn(4, 3)),
)
def a_loop_over_numbers_counts_only_where_they_are_a_range(x, m, f, out):
    for i in m.tolist():  # asked
        m = m * 2 + x[i]
    return m


@case(
    "x: rows, _; t: rows2, _",
    lambda: (torch.randn(4, 3), torch.tensor([2, 0, 3]), torch.randn(4, 3)),
)
def a_loop_that_does_more_than_to_drop_stays(x, q, t):
    keep = []
    while q.numel() > 0:
        i = q[0]
        keep.append(i)
        pass_ = t
        near = (x[i] - x[q[1:]]).abs()
        q = q[1:]
    return torch.stack(keep)


@case("x: rows, _", lambda: (torch.randn(4, 3),))
class PairsOfWhichAPartIsKeptAsAListAreLeft(torch.nn.Module):
    def forward(self, x):
        n = x.shape[0]
        found = []
        for i in range(n - 1):
            for j in range(i + 1, n):
                found.append(x[i] - x[j])
        return found[0]


@case("x: rows, _", lambda: (torch.randn(4, 3),))
class AnIterationThatNeedsAnotherIsLeft(torch.nn.Module):
    def forward(self, x):
        h = x[0]
        for row in x:
            h = h * row
        return h


@case("x: rows, _", lambda: (torch.randn(4, 3),))
class AnIterationThatNeedsAnotherIsLeft2(torch.nn.Module):
    def forward(self, x):
        for row in x:
            h = row * 2
        return h


@case("x: rows, _", lambda: (torch.randn(4, 3),))
def the_last_of_a_list_by_number_is_told_from_others(x):
    outs = [x[0], x[1]]
    for t in range(1, x.shape[0]):
        outs.append(x[t] + outs[t - 1])
    return torch.stack(outs)


@case("x: rows, _", lambda: (torch.randn(4, 3),))
def the_last_of_a_list_by_number_is_told_from_others_2(x):
    outs = [x[0]]
    for t in range(1, x.shape[0]):
        outs.append(x[t] + outs[t - 2])
    return torch.stack(outs)


@case("x: rows, _", lambda: (torch.randn(4, 3),))
def the_last_of_a_list_by_number_is_told_from_others_3(x):
    outs = [x[0]]
    for t in range(1, x.shape[0]):
        outs.append(x[t] + outs[0])
    return torch.stack(outs)
