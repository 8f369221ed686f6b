"""Code that rewriters of sizes refuse, since their rewrite would not keep its meaning."""

from __future__ import annotations

import torch

from ..case import case


@case(
    "kept: rows, _; x: rows2, _; m: rows3, _",
    lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.tensor(3), torch.randn(4, 3)),
)
def a_table_that_is_not_filled_there_is_kept(kept, x, n, m):
    return kept[n]


@case(
    "kept: rows, _; x: rows2, _; m: rows3, _",
    lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.tensor(3), torch.randn(4, 3)),
)
def a_table_that_is_not_filled_there_is_kept_2(kept, x, n, m):
    if n in kept:
        return kept[m]
    kept[n] = 1
    return x


@case("x: rows, _", lambda: (torch.randn(4, 3), torch.tensor([2, 0, 3])))
def what_a_formula_does_not_say_is_left(x, y):
    return torch.cov(x, fweights=y)


@case("x: rows, _; y: rows2, _", lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def what_a_formula_does_not_say_is_left_2(x, y):
    return torch.gradient(x, dim=(0, 1))


@case("x: rows, _", lambda: (torch.randn(4, 3), torch.tensor(3)))
def what_a_formula_does_not_say_is_left_3(x, y):
    return torch.take_along_dim(x, y)


@case("x: rows, _; y: rows2, _", lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def what_a_formula_does_not_say_is_left_4(x, y):
    return x.kron(y)


@case(
    "x: rows, _; m: rows2, _; f: rows3, _; out: rows4, _",
    lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3)),
)
def what_is_not_known_to_be_those_pieces_is_kept(x, m, f, out):
    a = m.chunk(3, 1)  # asked
    return a


@case(
    "x: rows, _; m: rows2, _; f: rows3, _; out: rows4, _",
    lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3)),
)
def what_is_not_known_to_be_those_pieces_is_kept_2(x, m, f, out):
    a, *b, c = m.chunk(3, 1)  # asked
    return a


@case(
    "x: rows, _; m: rows2, _; f: rows3, _; out: rows4, _",
    lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3)),
)
def what_is_not_known_to_be_those_pieces_is_kept_3(x, m, f, out):
    a = m.split([1, 2], 1)[0]  # asked
    return a


@case(
    "x: rows, _; m: rows2, _; f: rows3, _; out: rows4, _",
    lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3)),
)
def what_is_not_known_to_be_those_pieces_is_kept_4(x, m, f, out):
    a = m.split(2, 1)[:2]  # asked
    return a


@case("n: rows, _; share: rows2, _", lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def what_is_no_int_of_an_op_is_left_alone(n, share=0.3):
    return n // 3


@case("n: rows, _; share: rows2, _", lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def what_is_no_int_of_an_op_is_left_alone_2(n, share=0.3):
    return n + 1


@case("n: rows, _; share: rows2, _", lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def what_is_no_int_of_an_op_is_left_alone_3(n, share=0.3):
    return sorted([n])[0]


@case("x: rows, _; n: rows2, _", lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def what_asks_for_no_number_is_kept(x, n):
    return x.sum()


@case("x: rows, _", lambda: (torch.randn(4, 3), torch.tensor(3)))
def what_asks_for_no_number_is_kept_2(x, n):
    return max(n, 2)


@case("x: rows, _; n: rows2, _", lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def what_asks_for_no_number_is_kept_3(x, n):
    return torch.as_tensor(n)


@case("x: rows, _; n: rows2, _", lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def what_asks_for_no_number_is_kept_4(x, n):
    return torch.ceil(x / 2).long()


@case(
    "self: rows, _; y: rows2, _; seen: rows3, _",
    lambda: (torch.randn(4, 3), torch.tensor(3), torch.randn(4, 3), torch.randn(4, 3)),
)
def what_is_read_or_changed_is_no_note(self, n, y, seen):
    seen[n] += 1
    return y


@case(
    "self: rows, _; y: rows2, _; seen: rows3, _",
    lambda: (torch.randn(4, 3), torch.tensor(3), torch.randn(4, 3), torch.randn(4, 3)),
)
def what_is_read_or_changed_is_no_note_2(self, n, y, seen):
    y[n] = 1
    return y
