"""Code that rewriters of calls refuse, since their rewrite would not keep its meaning."""

from __future__ import annotations

import math

import numpy as np
import torch

from ..case import case


@case(lambda: (torch.randn(4, 3),))
class ABranchWithAnEffectIsNotSkipped(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = 2

    def forward(self, x):
        if x.sum() > 0:
            self.seen = x
        return x


@case(lambda: (torch.randn(4, 3),))
def a_branch_with_an_effect_is_not_skipped_2(x):
    if x.sum() > 0:
        x.add_(1)
    return x


@case(lambda: (torch.randn(4, 3),))
def a_branch_with_an_effect_is_not_skipped_3(x):
    if x.sum() > 0:
        y = print(x)
    return x


@case(lambda: (torch.randn(4, 3), torch.tensor(3)))
def an_index_that_is_alone_or_of_an_unknown_dim_is_kept(x, n):
    return x[n]


@case(lambda: (torch.arange(4), torch.tensor(3)))
def an_index_that_is_alone_or_of_an_unknown_dim_is_kept_2(x, n):
    return x[..., n]


@case(lambda: (torch.randn(4, 3), torch.tensor(3)))
def an_index_that_is_alone_or_of_an_unknown_dim_is_kept_3(x, n):
    return x[None, n]


@case(lambda: (torch.randn(4, 3), torch.tensor(3)))
def a_mask_is_no_number_and_one_element_stays_one(x, n):
    return x[x[:, 0] == n]


@case(lambda: (torch.randn(4, 3), torch.tensor(3)))
def a_mask_is_no_number_and_one_element_stays_one_2(x, n):
    return x[~n]


@case(lambda: (torch.randn(4, 3), torch.tensor(3)))
def a_mask_is_no_number_and_one_element_stays_one_3(x, n):
    return x[n.reshape(1)]


@case(lambda: (torch.randn(4, 3), torch.tensor(3)))
def a_mask_is_no_number_and_one_element_stays_one_4(x, n):
    return x[not n]


@case(lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def a_plain_index_and_a_written_one_are_kept(x, n):
    return x[0]


@case(lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def a_plain_index_and_a_written_one_are_kept_2(x, n):
    return x[:, 1:]


@case(lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def a_plain_index_and_a_written_one_are_kept_3(x, n):
    return x[None]


@case(lambda: (torch.tensor(3),))
def numpy_code_without_a_counterpart_is_refused(x):
    a = np.ones(3)
    if x:
        a[0] = x
    return x


@case(lambda: (torch.randn(4, 3),))
def numpy_code_without_a_counterpart_is_refused_2(x):
    return torch.from_numpy(np.unique(x.numpy()))


@case(lambda: (torch.randn(4, 3),))
def numpy_code_without_a_counterpart_is_refused_3(x):
    a = x.numpy()
    a[0] = 3
    return x


@case(lambda: (torch.randn(4, 3),))
def numpy_code_without_a_counterpart_is_refused_4(x):
    return torch.from_numpy(x.numpy().transpose())


@case(lambda: (torch.randn(4, 3), torch.tensor(3)))
def a_type_that_may_be_given_a_size_is_kept(x, n):
    a, b = [], 0
    return torch.LongTensor(n)


@case(lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def a_type_that_may_be_given_a_size_is_kept_2(x, n):
    a, b = [], 0
    return torch.LongTensor(3)


@case(lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def a_type_that_may_be_given_a_size_is_kept_3(x, n):
    a, b = [], 0
    return torch.LongTensor(x.tolist())


@case(lambda: (torch.randn(4, 3), torch.randn(4, 3)))
def a_type_that_may_be_given_a_size_is_kept_4(x, n):
    a, b = [], 0
    return torch.LongTensor(b)


@case(lambda: (torch.randn(4, 3),))
def what_takes_no_number_from_data_is_kept(x):
    return x * math.sqrt(2)


@case(lambda: (torch.randn(4, 3),))
def what_takes_no_number_from_data_is_kept_2(x):
    return x * math.sqrt(math.pi)


@case(lambda: (torch.tensor(3),))
def what_takes_no_number_from_data_is_kept_3(x):
    return x * math.floor(x)


@case(lambda: (torch.tensor(3),))
def what_takes_no_number_from_data_is_kept_4(x):
    return x * math.pow(x, 2)


@case(lambda: (torch.randn(4, 3), torch.tensor(3), torch.randn(4, 3)))
def other_calls_are_left_alone(x, k, s):
    return torch.nn.functional.max_pool1d(x, k, return_indices=True)


@case(lambda: (torch.randn(4, 3), torch.tensor(3), torch.randn(4, 3)))
def other_calls_are_left_alone_2(x, k, s):
    return torch.max_pool1d_with_indices(x, k)


@case(lambda: (torch.randn(4, 3), torch.tensor(3), torch.randn(4, 3)))
def other_calls_are_left_alone_3(x, k, s):
    return torch.avg_pool1d(x, k)


@case(lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3)))
def other_subscripts_are_left_alone(x, n, mask):
    return x[:]


@case(lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3)))
def other_subscripts_are_left_alone_2(x, n, mask):
    return x[0]


@case(lambda: (torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 3)))
def other_subscripts_are_left_alone_3(x, n, mask):
    return x[::2]


@case(lambda: (torch.randn(4, 3), torch.tensor(3), torch.randn(4, 3)))
def other_subscripts_are_left_alone_4(x, n, mask):
    return x[None, :n]


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


@case(lambda: (torch.randn(4, 3),))
def what_is_made_otherwise_is_kept_3(x):
    return list([x])


@case(lambda: (torch.randn(4, 3),))
def what_is_made_otherwise_is_kept_4(x):
    return torch.tensor((x[0, 0], x[0, 1]))
