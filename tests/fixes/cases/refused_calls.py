"""Code that rewriters of calls refuse, since their rewrite would not keep its meaning."""

from __future__ import annotations

import math

import numpy as np
import torch

from ..case import case


@case(lambda: (torch.randn(4, 3),))
def a_branch_with_an_effect_is_not_skipped(x):
    if x.sum() > 0:
        x.add_(1)
    return x


@case(lambda: (torch.randn(4, 3), torch.tensor(3)))
def an_index_that_is_alone_or_of_an_unknown_dim_is_kept(x, n):
    return x[n]


@case(lambda: (torch.randn(4), torch.tensor(3)))
def an_index_that_is_alone_or_of_an_unknown_dim_is_kept_2(x, n):
    return x[..., n]


@case(lambda: (torch.randn(4, 3), torch.tensor(3)))
def a_mask_is_no_number_and_one_element_stays_one(x, n):
    return x[x[:, 0] == n]


@case(lambda: (torch.randn(4, 3), torch.tensor(3)))
def a_mask_is_no_number_and_one_element_stays_one_2(x, n):
    return x[~n]


@case(lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def a_plain_index_and_a_written_one_are_kept(x, n):
    return x[0]


@case(lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def a_plain_index_and_a_written_one_are_kept_2(x, n):
    return x[:, 1:]


@case(lambda: (torch.tensor(3),))
def numpy_code_without_a_counterpart_is_refused(x):
    a = np.ones(3)
    if x:
        a[0] = x
    return x


@case(lambda: (torch.randn(4, 3),))
def numpy_code_without_a_counterpart_is_refused_2(x):
    return torch.from_numpy(np.unique(x.numpy()))


@case(lambda: (torch.randn(4, 3), torch.tensor(3)))
def a_type_that_may_be_given_a_size_is_kept(x, n):
    a, b = [], 0
    return torch.LongTensor(n)


@case(lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def a_type_that_may_be_given_a_size_is_kept_2(x, n):
    a, b = [], 0
    return torch.LongTensor(3)


@case(lambda: (torch.randn(4, 3),))
def what_takes_no_number_from_data_is_kept(x):
    return x * math.sqrt(2)


@case(lambda: (torch.randn(4, 3),))
def what_takes_no_number_from_data_is_kept_2(x):
    return x * math.sqrt(math.pi)


@case(lambda: (torch.randn(4, 3), torch.tensor(3), torch.randn(4, 3)))
def other_calls_are_left_alone(x, k, s):
    return torch.nn.functional.max_pool1d(x, k, return_indices=True)


@case(lambda: (torch.randn(4, 3), torch.tensor(3), torch.randn(4, 3)))
def other_calls_are_left_alone_2(x, k, s):
    return torch.max_pool1d_with_indices(x, k)


@case(lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3)))
def other_subscripts_are_left_alone(x, n, mask):
    return x[:]


@case(lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3)))
def other_subscripts_are_left_alone_2(x, n, mask):
    return x[0]


@case(lambda: (torch.tensor([2, 0, 3]),))
def what_is_sorted_otherwise_is_kept(n):
    return sorted(n)


@case(lambda: (torch.randn(4, 3),))
def what_is_sorted_otherwise_is_kept_2(n):
    return n


@case(lambda: (torch.randn(4, 3),))
def what_is_made_otherwise_is_kept(x):
    return torch.tensor(x)


@case(lambda: (torch.randn(4, 3),))
def what_is_made_otherwise_is_kept_2(x):
    return torch.tensor([x[0, 0]], requires_grad=True)
