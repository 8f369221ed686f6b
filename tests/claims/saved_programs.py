"""Small programs of many kinds, to save and read again: what torch can write, each once."""

from __future__ import annotations

import collections
import dataclasses
import enum
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import nn
from torch._higher_order_ops import associative_scan, scan, while_loop
from torch.testing._internal.two_tensor import TwoTensor

Call = tuple[tuple[Any, ...], dict[str, Any]]
"""Positional and keyword arguments."""


class Program(NamedTuple):
    """A call to export and save."""

    name: str
    target: Callable[[], Callable[..., Any]]
    """Makes what is called."""
    call: Callable[[], Call]
    """Makes its arguments."""
    shapes: Any = None
    """In the short language, or as torch takes it."""


OWN: list[Program] = []


def call(*args: Any, **kwargs: Any) -> Call:
    """A call's arguments."""
    return args, kwargs


def saved(made: Callable[[], Call], shapes: Any = None) -> Callable[[Any], Any]:
    """Lists a function, or a class of modules, as a program that is called with these arguments."""

    def listed(target: Any) -> Any:
        make = target if isinstance(target, type) else lambda: target
        OWN.append(Program(target.__name__, make, made, shapes))
        return target

    return listed


def x43() -> torch.Tensor:
    """Any tensor."""
    return torch.linspace(-1, 2, 12).reshape(4, 3)


# Higher-order operators


@saved(lambda: call(x43()), shapes="x: batch, _")
def branch(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))


@saved(lambda: call(x43()))
def branch_of_two_results(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: (x.sin(), x + 1), lambda x: (x.cos(), x - 1), (x,))


@saved(lambda: call(x43()))
def branch_without_operands(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda: torch.ones(2), lambda: torch.zeros(2), ())


@saved(lambda: call(x43()))
def branch_in_a_branch(x: torch.Tensor) -> Any:
    def up(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.max() > 1, lambda x: x * 2, lambda x: x * 3, (x,))

    return torch.cond(x.sum() > 0, up, lambda x: x.cos(), (x,))


@saved(lambda: call(x43(), torch.randn(4, 3)), shapes="x: n, _; y: n, _")
def branch_on_a_size(x: torch.Tensor, y: torch.Tensor) -> Any:
    return torch.cond(x.shape[0] > 5, lambda x, y: x + y, lambda x, y: x - y, (x, y))


@saved(lambda: call(x43()))
class BranchOfLayers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> Any:
        return torch.cond(x.sum() > 0, self.up, self.down, (x,))


@saved(lambda: call(torch.tensor(0), torch.randn(3)))
def loop(i: torch.Tensor, x: torch.Tensor) -> Any:
    return while_loop(lambda i, x: i < 4, lambda i, x: (i + 1, x * 2), (i, x))


@saved(lambda: call(x43()))
def loop_of_one(x: torch.Tensor) -> Any:
    return while_loop(lambda x: x.sum() < 40, lambda x: (x.abs() + 1,), (x,))


@saved(lambda: call(x43(), torch.tensor(3)), shapes="x: n, _")
def loop_with_inputs_beside(x: torch.Tensor, n: torch.Tensor) -> Any:
    scale = x * 2
    return while_loop(
        lambda i, y: i < n, lambda i, y: (i + 1, y + scale), (torch.tensor(0), torch.zeros_like(x))
    )


@saved(lambda: call(torch.randn(4, 3)))
def scanned(x: torch.Tensor) -> Any:
    return scan(lambda c, v: (c + v, c * v), torch.zeros(3), x)


@saved(lambda: call(torch.randn(4, 3), torch.randn(4, 3)), shapes="x: n, _; y: n, _")
def scanned_trees(x: torch.Tensor, y: torch.Tensor) -> Any:
    def step(carry: Any, each: Any) -> Any:
        total, other = carry
        return (total + each[0], other * 1), (each[1] * 2, total.clone())

    return scan(step, (torch.zeros(3), torch.ones(3)), (x, y))


@saved(lambda: call(torch.randn(4, 3)))
def scanned_backwards(x: torch.Tensor) -> Any:
    return scan(lambda c, v: (c + v, c - v), torch.zeros(3), x, reverse=True)


@saved(lambda: call(torch.randn(4, 3)))
def scanned_in_a_tree(x: torch.Tensor) -> Any:
    return associative_scan(lambda a, b: a + b, x, dim=0, combine_mode="generic")


@saved(lambda: call(x43()))
def mapped(x: torch.Tensor) -> Any:
    return torch._higher_order_ops.map(lambda row: row.sin() + 1, x)


@saved(lambda: call(x43(), torch.randn(3)))
def mapped_with_a_constant(x: torch.Tensor, y: torch.Tensor) -> Any:
    return torch._higher_order_ops.map(lambda row, y: (row + y, row.sum()), x, y)


@saved(lambda: call(*(torch.randn(1, 2, 16, 8) for _ in range(3))))
def attended(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Any:
    from torch.nn.attention.flex_attention import flex_attention

    return flex_attention(q, k, v)


@saved(lambda: call(*(torch.randn(1, 2, 16, 8) for _ in range(3)), torch.randn(2)))
def attended_with_a_score(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bias: torch.Tensor
) -> Any:
    from torch.nn.attention.flex_attention import flex_attention

    return flex_attention(q, k, v, score_mod=lambda s, b, h, i, j: s + bias[h])


@saved(lambda: call(x43()))
def without_gradients(x: torch.Tensor) -> Any:
    with torch.no_grad():
        y = x * 2
        z = y + 1
    return x + y, z


@saved(lambda: call(x43()))
def gradients_inside(x: torch.Tensor) -> Any:
    with torch.no_grad():
        y = x * 2
        with torch.enable_grad():
            z = y * 3
    return y + z


@saved(lambda: call(torch.randn(4, 4)))
def under_autocast(x: torch.Tensor) -> Any:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x @ x
    return y + 1


@saved(lambda: call(x43()))
def printed(x: torch.Tensor) -> Any:
    torch._higher_order_ops.print("the sum is {}", x.sum())
    return x + 1


# Operators of one's own


@torch.library.custom_op("saved_programs::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    """Doubles."""
    return x * 2


@twice.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@torch.library.custom_op("saved_programs::add_in_place", mutates_args={"x"})
def add_in_place(x: torch.Tensor, n: int) -> None:
    """Writes to its argument."""
    x.add_(n)


@add_in_place.register_fake
def _(x: torch.Tensor, n: int) -> None:
    return None


@torch.library.custom_op("saved_programs::several", mutates_args=())
def several(
    xs: list[torch.Tensor],
    scales: list[float],
    mode: str,
    dtype: torch.dtype,
    device: torch.device,
    mask: torch.Tensor | None = None,
    sizes: list[int] | None = None,
    flags: list[bool] | None = None,
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Takes arguments of many kinds."""
    return xs[0].clone(), [x * 2 for x in xs]


@several.register_fake
def _(xs: Any, *args: Any, **kwargs: Any) -> Any:
    return torch.empty_like(xs[0]), [torch.empty_like(x) for x in xs]


@saved(lambda: call(x43()), shapes="x: n, _")
def own_operator(x: torch.Tensor) -> Any:
    return twice(x) + 1


@saved(lambda: call(x43()))
def own_operator_that_writes(x: torch.Tensor) -> Any:
    y = x.clone()
    add_in_place(y, 3)
    return y


@saved(lambda: call(x43()))
def own_operator_that_writes_an_input(x: torch.Tensor) -> Any:
    add_in_place(x, 3)
    return x + 1


@saved(lambda: call(x43()))
def own_operator_of_many_kinds(x: torch.Tensor) -> Any:
    return several([x, x + 1], [0.5, 2.0], "fast", torch.float16, x.device, None, [3], [True])


@saved(lambda: call(x43()))
def own_operator_by_name(x: torch.Tensor) -> Any:
    return several(
        xs=[x], scales=[], mode="{a}", dtype=torch.int8, device=torch.device("cpu"), mask=x
    )


# Containers


class Pair(NamedTuple):
    """A namedtuple."""

    left: torch.Tensor
    right: torch.Tensor


@dataclasses.dataclass
class Batch:
    """A dataclass that torch knows."""

    tokens: torch.Tensor
    mask: torch.Tensor | None = None


torch.export.register_dataclass(Batch, serialized_type_name="saved_programs.Batch")
torch.utils._pytree._register_namedtuple(Pair, serialized_type_name="saved_programs.Pair")
Row = collections.namedtuple("Row", ["a", "b"])


class Cache:
    """A class whose fields only its own functions name."""

    def __init__(self, keys: torch.Tensor, values: torch.Tensor) -> None:
        self.keys, self.values = keys, values


torch.utils._pytree.register_pytree_node(
    Cache,
    lambda cache: ([cache.keys, cache.values], None),
    lambda leaves, _: Cache(*leaves),
    serialized_type_name="saved_programs.Cache",
    flatten_with_keys_fn=lambda cache: (
        [
            (torch.utils._pytree.GetAttrKey("keys"), cache.keys),
            (torch.utils._pytree.GetAttrKey("values"), cache.values),
        ],
        None,
    ),
)


class Colour(enum.Enum):
    """An enum."""

    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    """An int by another name."""

    LOW = 1
    HIGH = 2


@saved(lambda: call({"b": x43(), "a": (x43(), [x43()])}), shapes="d.b: n, _; d.a.0: n, _")
def dicts(d: Any) -> Any:
    return {"out": d["b"] + d["a"][0], "list": [d["a"][1][0] * 2]}


@saved(lambda: call(collections.OrderedDict([("z", x43()), ("a", x43())])))
def ordered(d: Any) -> Any:
    return collections.OrderedDict([("z", d["z"] + 1), ("a", d["a"] + 2)])


@saved(lambda: call(collections.defaultdict(list, {"z": torch.randn(3)})))
def with_defaults(e: Any) -> Any:
    return e["z"] + 1


@saved(
    lambda: call(collections.defaultdict(dict, {"z": torch.randn(3), "a": {"b": torch.randn(3)}}))
)
def with_nested_defaults(e: Any) -> Any:
    return collections.defaultdict(list, {"out": e["z"] + e["a"]["b"], "again": e["z"] * 2})


@saved(lambda: call(collections.defaultdict(None, {"z": torch.randn(3), "0": torch.randn(3)})))
def without_a_factory(e: Any) -> Any:
    return e["z"] + e["0"]


@saved(lambda: call(collections.deque([torch.randn(3), torch.randn(3)], maxlen=4)))
def deques(q: Any) -> Any:
    return q[0] + q[1]


@saved(lambda: call({0: torch.randn(3), 7: torch.randn(3)}))
def dict_of_numbers(d: Any) -> Any:
    return {3: d[0] + 1, 5: d[7]}


@saved(lambda: call({"a.b": torch.randn(3), "a b": torch.randn(3), "": torch.randn(3)}))
def dict_of_odd_keys(d: Any) -> Any:
    return d["a.b"] + d["a b"] * d[""]


@saved(lambda: call({True: torch.randn(3), False: torch.randn(3)}))
def dict_of_bools(d: Any) -> Any:
    return d[True] - d[False]


@saved(lambda: call({1: torch.randn(3), "x": torch.randn(3)}))
def dict_of_mixed_keys(d: Any) -> Any:
    return d[1] - d["x"]


@saved(lambda: call({(0, 1): torch.randn(3)}))
def dict_of_tuples(d: Any) -> Any:
    return d[0, 1] * 2


@saved(lambda: call({1.5: torch.randn(3), 2.5: torch.randn(3)}))
def dict_of_floats(d: Any) -> Any:
    return d[1.5] - d[2.5]


@saved(lambda: call({None: torch.randn(3)}))
def dict_of_none(d: Any) -> Any:
    return d[None] * 2


@saved(lambda: call(Pair(x43(), x43())), shapes="p.left: n, _; p.right: n, _")
def namedtuples(p: Any) -> Any:
    return Pair(p.left + p.right, p.left)


@saved(lambda: call(Row(x43(), 3)))
def old_namedtuples(p: Any) -> Any:
    return Row(p.a * p.b, p.a)


@saved(lambda: call(Batch(x43(), x43() > 0)))
def dataclass(b: Any) -> Any:
    return Batch(b.tokens * b.mask)


@saved(lambda: call(Batch(x43()), [Batch(x43())]))
def dataclass_with_none(b: Any, more: Any) -> Any:
    return {"b": Batch(b.tokens * 2, more[0].tokens)}


@saved(lambda: call(torch.max(x43(), dim=0)))
def return_type(m: Any) -> Any:
    return m.values + m.indices


@saved(
    lambda: call(Cache(x43(), x43()), x43()), shapes="cache.keys: n, _; cache.values: n, _; x: n, _"
)
def class_of_ones_own(cache: Any, x: torch.Tensor) -> Any:
    return {"cache": Cache(cache.keys + x, cache.values)}


torch.serialization.add_safe_globals([TwoTensor])  # as torchao does for its own


class OfASubclass(nn.Module):
    """A weight of a tensor subclass, as torchao's quantized ones, is pickled in a file."""

    def __init__(self) -> None:
        super().__init__()
        part = torch.linspace(0, 1, 9).reshape(3, 3)
        self.weight = nn.Parameter(TwoTensor(part, part.clone()), requires_grad=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight


saved(lambda: call(x43()))(OfASubclass)


class NamesWithMarks(nn.Module):
    """A name may have any character but a dot, also those between which torch's files list them."""

    def __init__(self) -> None:
        super().__init__()
        self.add_module("<b>&amp;", nn.Linear(3, 3))
        self.add_module("a; b", nn.Linear(3, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.children():
            x = layer(x)
        return x


saved(lambda: call(x43()))(NamesWithMarks)


@saved(lambda: call(x43(), Cache(x43(), x43()), Cache(x43(), x43())))
def star_args_of_classes(x: torch.Tensor, *caches: Any) -> Any:
    return [x + each.keys * each.values for each in caches]


@saved(lambda: call(torch.Size([2, 3]), x43()))
def size_as_input(size: Any, x: torch.Tensor) -> Any:
    return x.expand(2, 4, 3) + size[1]


@saved(lambda: call([], {}, (), x43()))
def empty_containers(a: Any, b: Any, c: Any, x: torch.Tensor) -> Any:
    return x + 1, [], {}, ()


@saved(lambda: call((x43(), (x43(), [x43(), {"k": (x43(),)}]))))
def nested(t: Any) -> Any:
    return ((t[0],), [t[1][0], {"k": [t[1][1][0] + t[1][1][1]["k"][0]]}])


@saved(lambda: call(x43(), x43(), x43(), scale=x43()))
def star_args(x: torch.Tensor, *more: torch.Tensor, **named: torch.Tensor) -> Any:
    return x + more[0] + more[1] * named["scale"]


@saved(lambda: call(x43(), y=x43(), flag=True))
def by_name_only(x: torch.Tensor, *, y: torch.Tensor, flag: bool) -> Any:
    return x + y if flag else x


@saved(lambda: call(b=x43(), a=x43()))
def named_in_another_order(a: torch.Tensor, b: torch.Tensor) -> Any:
    return a - b


# What is no tensor


@saved(lambda: call(x43(), 3, 1.5, True, "name", None))
def numbers(x: torch.Tensor, n: int, f: float, flag: bool, text: str, none: None) -> Any:
    return x * n + f if flag else x, n, f, flag, none


@saved(lambda: call(x43(), float("inf"), float("-inf"), float("nan"), -0.0))
def odd_floats(x: torch.Tensor, a: float, b: float, c: float, d: float) -> Any:
    return x.clamp(b, a) + c, torch.full((2,), a), torch.full((2,), c), x * d


@saved(lambda: call(x43(), 2**40, -(2**62), 1e300, 1e-300))
def large_numbers(x: torch.Tensor, a: int, b: int, c: float, d: float) -> Any:
    return x.to(torch.float64) * c + a, b, d


@saved(lambda: call(x43(), "it's \"{quoted}\" \\ ünïcode \n 'x'", "y" * 300))
def odd_texts(x: torch.Tensor, a: str, b: str) -> Any:
    return x + len(a) + len(b)


@saved(lambda: call(x43(), Colour.RED))
def enums(x: torch.Tensor, colour: Colour) -> Any:
    return x * 2 if colour is Colour.RED else x


@saved(lambda: call(x43(), Level.HIGH))
def enums_of_numbers(x: torch.Tensor, level: Level) -> Any:
    return x * int(level)


@saved(
    lambda: call(x43(), 3), shapes={"x": {0: torch.export.Dim("n")}, "k": torch.export.Dim.DYNAMIC}
)
def dynamic_number(x: torch.Tensor, k: int) -> Any:
    return x * k, k, k + 1, x.shape[0] + k


# dtypes, devices, layouts

for _dtype in (
    *(torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.int16, torch.int32),
    *(torch.int64, torch.uint8, torch.bool, torch.complex64, torch.complex128, torch.complex32),
    *(torch.uint16, torch.uint32, torch.uint64, torch.float8_e4m3fn, torch.float8_e5m2),
    *(torch.float8_e4m3fnuz, torch.float8_e5m2fnuz, torch.float8_e8m0fnu),
):

    def _converted(x: torch.Tensor, dtype: torch.dtype = _dtype) -> Any:
        return x.to(torch.float32).clone(), x.clone(), torch.zeros(2, dtype=dtype)

    OWN.append(
        Program(
            str(_dtype),
            lambda f=_converted: f,
            lambda dtype=_dtype: call(torch.ones(4, 3).to(dtype)),
        )
    )


@saved(lambda: call(torch.randn(4, dtype=torch.complex64)))
def complex_parts(z: torch.Tensor) -> Any:
    return z.real, z.imag, z.abs(), torch.view_as_real(z), z.conj() * 2, z * (1 + 2j)


@saved(lambda: call(torch.eye(3).to_sparse()))
def sparse_input(s: torch.Tensor) -> Any:
    return s * 2


@saved(lambda: call(torch.eye(3)))
def sparse_inside(x: torch.Tensor) -> Any:
    return x.to_sparse().to_dense()


@saved(lambda: call(torch.eye(4).to_sparse_csr()))
def csr_input(s: torch.Tensor) -> Any:
    return s @ torch.ones(4, 2)


@saved(lambda: call(torch.randn(2, 3, 4, 4).to(memory_format=torch.channels_last)))
def channels_last(x: torch.Tensor) -> Any:
    return x.contiguous() + 1, x.to(memory_format=torch.channels_last) * 2


@saved(lambda: call(torch.randn(3, 4).t(), torch.randn(8)[::2]))
def strides(x: torch.Tensor, y: torch.Tensor) -> Any:
    return x @ y[:3], x.t(), y + 1


@saved(lambda: call(torch.randn(3, device="meta")))
def meta_input(x: torch.Tensor) -> Any:
    return x * 2


@saved(lambda: call(torch.quantize_per_tensor(torch.randn(4), 0.1, 3, torch.qint8)))
def quantized_input(x: torch.Tensor) -> Any:
    return x.dequantize() + 1


@saved(lambda: call(x43()))
def quantized_inside(x: torch.Tensor) -> Any:
    scale, zero = torch.tensor(0.1), torch.tensor(0)
    return torch.fake_quantize_per_tensor_affine(x, scale, zero, -128, 127)


@saved(lambda: call(torch.randn(4, requires_grad=True), torch.randn(4)))
def wants_gradients(x: torch.Tensor, y: torch.Tensor) -> Any:
    return x * 2, y.detach(), x.detach()


@saved(lambda: call(torch.tensor(2.5), torch.zeros(0, 3), torch.randn(1)))
def scalars_and_empty(s: torch.Tensor, e: torch.Tensor, o: torch.Tensor) -> Any:
    return s * 2, e + 1, torch.cat([e, o.expand(2, 3)])


@saved(lambda: call(torch.randn(2, 3, 1, 1, 2, 1, 1, 1)), shapes="x: n, _, _, _, _, _, _, _")
def many_dims(x: torch.Tensor) -> Any:
    return x.sum(dim=(-1, -2)), x.permute(7, 6, 5, 4, 3, 2, 1, 0)


# Sizes


@saved(lambda: call(torch.randn(5), torch.randn(6)), shapes="x: n; y: n + 1")
def derived(x: torch.Tensor, y: torch.Tensor) -> Any:
    return x + y[1:]


@saved(lambda: call(torch.randn(8, 6)), shapes="x: 4*a, b[2..64]")
def multiples(x: torch.Tensor) -> Any:
    return x.reshape(4, -1), x.reshape(-1, 4, x.shape[1])


@saved(lambda: call(torch.randn(6, 6)), shapes="x: a, a")
def equal_sizes(x: torch.Tensor) -> Any:
    return x @ x, x.shape[0] * x.shape[1] // 2


@saved(lambda: call(torch.randn(8, 7)), shapes="x: a, b")
def arithmetic(x: torch.Tensor) -> Any:
    a, b = x.shape
    parts = [torch.zeros(a // 2 + b), torch.zeros(a % 3 + 1), torch.zeros(torch.sym_max(a, b))]
    return parts, a / 2, a * b - 1, -a, a // b, a**2, (a + 1) // 2 * 3, torch.sym_min(a, b)


@saved(lambda: call(torch.randn(8, 7)), shapes="x: a, b")
def floats_of_sizes(x: torch.Tensor) -> Any:
    a, b = x.shape
    return x * a**0.5, x / (a / b), torch.full((2,), a / b), torch.sym_float(a) * 0.5


@saved(lambda: call(torch.randn(8, 7)), shapes="x: a, b")
def rounded_sizes(x: torch.Tensor) -> Any:
    a = x.shape[0]
    return torch.zeros(-(-a // 3)), torch.zeros(math.floor(a * 1.5)), torch.sym_sqrt(a)


@saved(lambda: call(torch.randn(8, 7)), shapes="x: 2*a, b")
def checked_sizes(x: torch.Tensor) -> Any:
    torch._check(x.shape[0] + x.shape[1] > 4)
    torch._check(x.shape[0] != 3 * x.shape[1])
    return x.reshape(2, -1)


@saved(lambda: call(torch.randn(8, 7)), shapes="x: *, *")
def sizes_left_to_torch(x: torch.Tensor) -> Any:
    return x[: x.shape[0] // 2] + x[x.shape[0] // 2 :] if x.shape[0] % 2 == 0 else x


@saved(lambda: call(torch.randn(8, 7), torch.randn(7)), shapes="x: a, b; y: b")
def products_of_sizes(x: torch.Tensor, y: torch.Tensor) -> Any:
    flat = (x * y).flatten()
    return flat, flat.reshape(x.shape[1], x.shape[0]), torch.cat([flat, flat[:3]])


@saved(lambda: call(torch.randn(2, 3, 20, 20)), shapes="x: n, _, 4*h, 4*w")
class Convolved(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.pool = nn.Conv2d(3, 4, 3, stride=2), nn.MaxPool2d(2)

    def forward(self, x: torch.Tensor) -> Any:
        return self.pool(self.conv(x)), nn.functional.interpolate(x, scale_factor=2.0)


@saved(lambda: call(torch.randn(4, 3)), shapes="x: n, _")
def strided_sizes(x: torch.Tensor) -> Any:
    return x.repeat(2, 3).t(), x.unfold(1, 2, 1), x.expand(2, *x.shape).transpose(0, 1)


@saved(lambda: call(torch.tensor(6)))
def number_from_data(x: torch.Tensor) -> Any:
    return torch.ones(24).view(x.item(), 4)  # type: ignore[arg-type]


@saved(lambda: call(torch.tensor([1, 0, 1])))
def size_from_data(x: torch.Tensor) -> Any:
    found = x.nonzero()
    return found, found * 2, found.shape[0]


@saved(lambda: call(torch.tensor([1, 1, 2])))
def unread_results(x: torch.Tensor) -> Any:
    return torch.unique_consecutive(x, return_inverse=True)


@saved(lambda: call(torch.tensor([1, 1, 2])))
def all_results(x: torch.Tensor) -> Any:
    return torch.unique(x, return_inverse=True, return_counts=True)


@saved(lambda: call(torch.tensor([3, 4]), torch.randn(10)))
def list_from_data(n: torch.Tensor, x: torch.Tensor) -> Any:
    a, b = n.tolist()
    torch._check(a >= 0)
    torch._check(b >= 0)
    torch._check(a + b <= 10)
    return x[:a], torch.zeros(a + b), torch.zeros(max(a, b))


@saved(lambda: call(torch.tensor(2.5), torch.tensor(True)))
def float_from_data(f: torch.Tensor, b: torch.Tensor) -> Any:
    return torch.full((2,), f.item()), f + f.item() * 2, b.item()


@saved(lambda: call(torch.tensor(True), torch.randn(3)))
def bool_from_data(b: torch.Tensor, x: torch.Tensor) -> Any:
    torch._check(b.item())  # type: ignore[arg-type]
    return x + 1


@saved(lambda: call(torch.tensor(3), torch.randn(8)), shapes="x: n")
def compared_numbers(k: torch.Tensor, x: torch.Tensor) -> Any:
    n = k.item()
    torch._check(n >= 0)
    torch._check(n <= x.shape[0])
    torch._check(n != 5)
    return x[:n], x.narrow(0, 0, n), x[n:]  # type: ignore[arg-type, misc]


@saved(lambda: call(torch.randn(5) > 0, torch.randn(5)), shapes="m: n; x: n")
def masked(m: torch.Tensor, x: torch.Tensor) -> Any:
    chosen = x[m]
    return chosen, chosen.sum(), torch.cat([chosen, chosen])


@saved(lambda: call(torch.tensor([2, 3]), torch.randn(5)))
def split_by_data(n: torch.Tensor, x: torch.Tensor) -> Any:
    a, b = n.tolist()
    torch._check(a >= 0)
    torch._check(b >= 0)
    torch._check(a + b == x.shape[0])
    return torch.split(x, [a, b])


@saved(lambda: call(torch.randn(6, 4)), shapes="x: n, _")
def several_results(x: torch.Tensor) -> Any:
    values, _ = x.sort(dim=0)
    first, *_ = x.split(2, dim=1)
    _, at = x.max(dim=1)
    return values, first, at, x.chunk(2, dim=1)[1], x.unbind(1)[2], tuple(torch.topk(x, 2))


@saved(lambda: call(torch.randn(6, 4)))
def indexed(x: torch.Tensor) -> Any:
    i = torch.tensor([0, 2])
    y = x.clone()
    y[i, :2] = 1.0
    y[:, 3] = x[0, 0]
    return x[:, i], x[i, None], x[..., 1], y, torch.index_select(x, 0, i)


@saved(lambda: call(torch.randn(6, 4)))
def arguments_of_all_kinds(x: torch.Tensor) -> Any:
    return (
        nn.functional.pad(x, (1, 2), value=-float("inf")),
        torch.arange(0, 6, 2, dtype=torch.int16),
        nn.functional.gelu(x, approximate="tanh"),
        torch.einsum("ij,kj->ik", x, x),
        torch.linspace(0, 1, 5, dtype=torch.float64),
        torch.zeros_like(x, dtype=torch.bool),
        nn.functional.one_hot(x.argmax(1), 4),
        torch.bucketize(x, torch.tensor([0.0, 1.0]), right=True),
        x.std(dim=(0, 1), correction=0, keepdim=True),
        torch.tensor([1 + 2j]),
    )


# State and aliases


@saved(lambda: call(torch.randn(2, 3)))
class State(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(3))
        self.register_buffer("fleeting", torch.ones(3), persistent=False)
        self.register_buffer("calls", torch.tensor(0))
        self.constant = torch.ones(2, 3)
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x: torch.Tensor) -> Any:
        self.seen.add_(x.sum(0))
        self.calls += 1
        self.fleeting.mul_(2)
        return self.norm(x) + self.seen + self.fleeting + self.constant


@saved(lambda: call(torch.randn(3)))
class ConstantTensor(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.b = torch.randn(3)

    def forward(self, x: torch.Tensor) -> Any:
        return x + self.b + torch.tensor([1.0, 2.0, 3.0])


@saved(lambda: call(torch.randn(3)))
class BufferUnderTwoNames(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("a", torch.zeros(3))
        self.register_buffer("b", self.a)

    def forward(self, x: torch.Tensor) -> Any:
        self.a.add_(x)
        return x + self.b


@saved(lambda: call(torch.randint(0, 5, (2, 3))), shapes="ids: n, _")
class TiedWeights(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(5, 4), nn.Linear(4, 5, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids: torch.Tensor) -> Any:
        return self.head(self.embed(ids))


class Leaf(nn.Module):
    """A module to share."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> Any:
        return self.linear(x)


@saved(lambda: call(torch.randn(4, 3)))
class SharedModule(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.leaf = Leaf()
        self.other = self.leaf

    def forward(self, x: torch.Tensor) -> Any:
        return self.leaf(x) + self.other(x + 2) + self.leaf(x)


@saved(lambda: call(torch.randn(4, 3)))
class UnusedState(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.unused = nn.Linear(3, 3)
        self.register_buffer("idle", torch.ones(2))
        self.used = nn.Linear(3, 3).requires_grad_(False)

    def forward(self, x: torch.Tensor, unread: torch.Tensor | None = None) -> Any:
        return self.used(x)


@saved(lambda: call(torch.randn(4, 3)))
class TransposedWeight(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 5).t())
        self.small = nn.Parameter(torch.randn(3).half(), requires_grad=False)

    def forward(self, x: torch.Tensor) -> Any:
        return x @ self.weight.t() @ self.weight + self.small


@saved(lambda: call(x43()))
def returns_its_input(x: torch.Tensor) -> Any:
    return x


@saved(lambda: call(x43(), x43()))
def returns_twice(x: torch.Tensor, y: torch.Tensor) -> Any:
    z = x + y
    return z, z, x, [z.view(-1), x]


@saved(lambda: call(x43()))
def writes_its_input(x: torch.Tensor) -> Any:
    x.add_(1)
    x[0] = 0
    return x.sum()


@saved(lambda: call({"a": x43(), "b": x43()}))
def writes_inputs_in_a_dict(d: Any) -> Any:
    d["b"].mul_(2)
    d["a"].copy_(d["b"])
    return d["a"] + 1, d["b"]


@saved(lambda: call(x43()))
def returns_nothing(x: torch.Tensor) -> Any:
    x.add_(1)


@saved(lambda: call(x43()))
def returns_none_too(x: torch.Tensor) -> Any:
    return x + 1, None, [None, x * 2]


@saved(lambda: call(x43()))
def returns_a_constant(x: torch.Tensor) -> Any:
    return torch.ones(2), x.shape[0], 2.5, True


@saved(lambda: call(x43()))
def drops_out(x: torch.Tensor) -> Any:
    return nn.functional.dropout(x, 0.5, True) + torch.rand(4, 3), torch.randn_like(x)


@saved(lambda: call(x43()))
class Trained(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Dropout(0.1), nn.ReLU())

    def forward(self, x: torch.Tensor) -> Any:
        return self.net(x)


@saved(lambda: call(torch.randn(5, 2, 3)))
class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(3, 4, num_layers=2, bidirectional=True)

    def forward(self, x: torch.Tensor) -> Any:
        return self.lstm(x)


@saved(lambda: call(torch.randn(2, 5, 8)), shapes="x: n, t[2..64], _")
class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x)


@saved(lambda: call(torch.randn(2, 3)))
class ModuleListOfDicts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.ModuleDict({"odd-key": nn.Linear(3, 3)}) for _ in range(2))
        self.scales = nn.ParameterList([nn.Parameter(torch.ones(3)) for _ in range(2)])
        self.table = nn.ParameterDict({"a": nn.Parameter(torch.ones(3))})

    def forward(self, x: torch.Tensor) -> Any:
        for layer, scale in zip(self.layers, self.scales, strict=True):
            x = layer["odd-key"](x) * scale + self.table["a"]  # type: ignore[index]
        return x


@saved(lambda: call(torch.randn(3), torch.randn(3)))
def checks_values(x: torch.Tensor, y: torch.Tensor) -> Any:
    torch._assert_async((x.sum() < 1000), "the sum is too large")
    torch._assert(x.shape[0] == 3, "three")
    return x + y


@saved(lambda: call(torch.randn(6)))
def functional_vmap(x: torch.Tensor) -> Any:
    return torch.vmap(lambda a: a * 2 + a.sin())(x)


@saved(lambda: call(x43()))
def gradient_inside(x: torch.Tensor) -> Any:
    return torch.func.grad(lambda a: (a**2).sum())(x)


@saved(lambda: call(torch.randn(4, 4)))
def linear_algebra(x: torch.Tensor) -> Any:
    u, s, _ = torch.linalg.svd(x)
    return u, s, torch.linalg.inv(x), torch.linalg.qr(x).R, torch.linalg.eigvals(x)


@saved(lambda: call(torch.randn(8)))
def transformed(x: torch.Tensor) -> Any:
    return torch.fft.rfft(x), torch.stft(x, 4, return_complex=True, window=torch.ones(4))
