"""Code that rewriters of branches refuse, since their rewrite would not keep its meaning."""

from __future__ import annotations

import torch

from ..case import case


@case(lambda: (torch.randn(4, 3), torch.tensor(3)))
def the_truth_of_a_number_is_that_it_is_not_0(x, n):
    if n > 0:
        x = x + 1
    return x


@case(lambda: (torch.randn(4, 3), torch.tensor([2, 0, 3])))
def a_line_without_a_question_is_kept(x, n):
    return x + any(n)


@case(lambda: (torch.randn(4, 3), torch.tensor(3)))
def one_way_of_a_branch_is_what_it_guards_or_nothing(x, n):
    if n > 0:
        return x
    return -x


@case(lambda: (torch.randn(4, 3),))
class ABranchThatDoesMoreThanRaiseIsNoCheck(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = None

    def forward(self, x):
        if x.sum() > 0:
            self.seen = 1
            raise ValueError
        return x


@case(lambda: (torch.randn(4, 3),))
class ABranchThatDoesMoreThanRaiseIsNoCheck2(torch.nn.Module):
    def forward(self, x):
        try:
            y = x
        except ValueError:
            if x.sum() > 0:
                raise
        return x


@case(lambda: (torch.randn(4, 3),))
class ABranchThatDoesMoreThanRaiseIsNoCheck3(torch.nn.Module):
    def forward(self, x):
        try:
            if x.sum() > 0:
                raise ValueError
            y = x * 2
        except ValueError:
            y = x
        return y


@case(lambda: (torch.randn(4, 3),))
class ABranchThatDoesMoreThanRaiseIsNoCheck4(torch.nn.Module):
    def forward(self, x):
        y = x.sum() > 0
        return y


@case(lambda: (torch.randn(4, 3),))
def a_choice_that_is_no_selection_is_refused(x):
    y = 1 if x.sum() > 0 else 2.0
    return x * y


@case(lambda: (torch.randn(4, 3),))
def a_choice_that_is_no_selection_is_refused_2(x):
    y = None if x.sum() > 0 else x
    return y


@case(lambda: (torch.randn(4, 3),))
def a_choice_that_is_no_selection_is_refused_3(x):
    y = x.add_(1) if x.sum() > 0 else x
    return y


@case(lambda: (torch.randn(4, 3),))
def a_choice_that_is_no_selection_is_refused_4(x):
    y = (x, x) if x.sum() > 0 else (x, 2 * x)
    return y


@case(lambda: (torch.randn(4, 3), torch.tensor(3)))
def what_chooses_no_module_is_kept(x, n):
    e = x[n]
    return e


@case(lambda: (torch.randn(4, 3),))
class WhatCannotBeDoneSoundlyIsRefusedWithTheReason(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = None

    def forward(self, x):
        if x.sum() > 0:
            self.seen = x
            if x.ndim:
                return x
            return x + 1
        return x + 1


@case(lambda: (torch.randn(4, 3),))
class WhatCannotBeDoneSoundlyIsRefusedWithTheReason2(torch.nn.Module):
    def forward(self, x):
        y = x[0]
        if x.sum() > 0:
            y.add_(1)
            return x * 2
        return x


@case(lambda: (torch.randn(4, 3),))
class WhatCannotBeDoneSoundlyIsRefusedWithTheReason3(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            y = [x]
            y, z = y[0], 1
            y.add_(1)
        else:
            y = x
        return y


@case(lambda: (torch.randn(4, 3),))
class WhatCannotBeDoneSoundlyIsRefusedWithTheReason4(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            raise ValueError
        return x


@case(lambda: (torch.randn(4, 3), torch.tensor(3), torch.randn(4, 3)))
def what_may_be_no_float_or_may_fail_stays(x, s, t):
    s = 1.0 / s if s > 0.0 else 0.0
    return x * s


@case(lambda: (torch.randn(4, 3), torch.tensor(3), torch.randn(4, 3)))
def what_may_be_no_float_or_may_fail_stays_2(x, s, t):
    s = 1 if s == 0.0 else s
    return x * s


@case(lambda: (torch.randn(4, 3), torch.tensor(3), torch.randn(4, 3)))
def what_may_be_no_float_or_may_fail_stays_3(x, s, t):
    s = t.pop() if s == 0.0 else s
    return x * s


@case(lambda: (torch.randn(4, 3), torch.tensor(3), torch.randn(4, 3)))
def what_may_be_no_float_or_may_fail_stays_4(x, s, t):
    s = min(s, 1)
    return x * s


@case(lambda: (torch.tensor(3), torch.randn(4, 3), torch.randn(4, 3)))
def a_match_of_more_than_values_is_kept(x, y, z):
    match x.item():
        case [0, n]:
            x = y
        case _:
            x = z
    return x


@case(lambda: (torch.tensor(3), torch.randn(4, 3), torch.randn(4, 3)))
def a_match_of_more_than_values_is_kept_2(x, y, z):
    match x.item():
        case 0 if y:
            x = y
        case _:
            x = z
    return x


@case(lambda: (torch.tensor(3), torch.randn(4, 3), torch.randn(4, 3)))
def a_match_of_more_than_values_is_kept_3(x, y, z):
    match x.item():
        case None:
            x = y
        case _:
            x = z
    return x


@case(lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3)))
def a_branch_with_effects_does_not_always_run(x, y, z):
    if x.sum():
        w = x + 1
    return x, y, w


@case(lambda: (torch.randn(4, 3), torch.tensor(3)))
class WhatNeedNotBeAListIsNotStacked(torch.nn.Module):
    def forward(self, x, i):
        y = x * 2
        return y[i]


@case(lambda: (torch.randn(4, 3), torch.tensor(3)))
class WhatNeedNotBeAListIsNotStacked2(torch.nn.Module):
    def forward(self, x, i):
        y = [x]
        y = y[0]
        return y[i]


@case(lambda: (torch.randn(4, 3), torch.tensor(3)))
def a_branch_that_may_end_a_loop_stays(x, n):
    while n > 0:
        if x.any():
            n = n - 1
    return x


@case(lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def what_may_be_more_than_ints_and_bools_is_kept(self, x):
    s = 0.5
    if x.sum() > 0:  # which
        s = 1.5
    return x * s


@case(lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def what_may_be_more_than_ints_and_bools_is_kept_2(self, x):
    n = 0
    if x.sum() > 0:  # which
        n = n / 2
    return x * n


@case(lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def what_may_be_more_than_ints_and_bools_is_kept_3(self, x):
    n = 0
    if x.sum() > 0:  # which
        n += 0.5
    return x * n


@case(lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def what_may_be_more_than_ints_and_bools_is_kept_4(self, x):
    n = 0
    if x.sum() > 0:  # which
        n = x.max()
    return x


@case(lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def where_nothing_is_shared_there_is_nothing_to_clone(x, y):
    if x.sum() > 0:
        return x + y
    return x - y


@case(lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3)))
def a_branch_that_does_more_than_turn_something_off_is_kept(x, m, f, out):
    if m.all():  # asked
        m = x
    return x


@case(lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3)))
def a_branch_that_does_more_than_turn_something_off_is_kept_2(x, m, f, out):
    if m.all():  # asked
        k = 1
    else:
        k = 2
    return x * k


@case(lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3)))
def a_branch_that_does_more_than_turn_something_off_is_kept_3(x, m, f, out):
    if m.all():  # asked
        return x
    return x


@case(lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.tensor(3), torch.randn(4, 3)))
def a_branch_that_does_more_than_turn_something_off_is_kept_4(x, m, f, out):
    if f:
        pass
    elif m.all():  # asked
        m = None
    return x


@case(lambda: (torch.randn(4, 3), torch.tensor(3), torch.tensor(3)))
def other_ends_are_left_alone(x, m, k):
    if m > 0:
        x = x[:, :-k]
    return x


@case(lambda: (torch.randn(4, 3), torch.tensor(3), torch.randn(4, 3)))
def other_ends_are_left_alone_2(x, m, k):
    if m > 0:
        x = x[:, :m]
    return x


@case(lambda: (torch.randn(4, 3), torch.tensor(3), torch.randn(4, 3)))
def other_ends_are_left_alone_3(x, m, k):
    if m > 0:
        x = x[:, -m:]
    return x


@case(lambda: ([torch.randn(3), torch.randn(3)], torch.tensor(3)))
def an_early_return_goes_only_where_what_follows_pads(x, n):
    rest = n % 4
    if rest == 0:
        return x
    return x + [0] * rest


@case(lambda: ([torch.randn(3), torch.randn(3)], torch.tensor(3)))
def an_early_return_goes_only_where_what_follows_pads_2(x, n):
    rest = n % 4
    if rest == 0:
        return x
    return x + [0] * (4 - n)


@case(lambda: (torch.randn(4, 3), torch.tensor(3)))
def a_difference_from_anything_else_is_kept(x, n):
    if n % 4:
        x = x - n
    return x


@case(lambda: (torch.randn(4, 3),))
def a_sum_of_everything_is_left(x):
    return sum(v for v in x)


@case(lambda: (torch.tensor([2, 0, 3]),))
def a_sum_of_everything_is_left_2(x):
    return sum((v for v in x if v > 0), 3)


@case(lambda: (torch.tensor([2, 0, 3]),))
def a_sum_of_everything_is_left_3(x):
    return max(v for v in x if v)


@case(lambda: (torch.randn(4, 3),))
def a_sum_of_everything_is_left_4(x):
    return sum(v for w in x for v in w if v > 0)
