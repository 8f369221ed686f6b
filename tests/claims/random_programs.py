"""Random programs: a model that does a random list of steps, exported, and run on what it takes."""

import random
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.export import ExportedProgram

from explorer.session.given_program import entry_of
from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.record import Record
from export_engine.shapes import Shapes

WIDTH = 4
ROWS = (3, 5)
T = torch.Tensor
Step = Callable[["Walked", list[T]], T]


def _weight(walked: "Walked", kind: str) -> T:
    names = {"matrix": ("w1", "w2", "same"), "row": ("b1", "b2", "seen")}[kind]
    return getattr(walked, walked.choose(names))


def _linear(walked: "Walked", known: list[T]) -> T:
    return nn.functional.linear(walked.pick(known), _weight(walked, "matrix"))


def _row(walked: "Walked", known: list[T]) -> T:
    return walked.pick(known) + _weight(walked, "row")


def _unary(walked: "Walked", known: list[T]) -> T:
    return walked.choose((torch.sin, torch.tanh, torch.relu, torch.neg, torch.abs))(
        walked.pick(known)
    )


def _binary(walked: "Walked", known: list[T]) -> T:
    op = walked.choose((torch.add, torch.sub, torch.mul, torch.maximum))
    return op(walked.pick(known), walked.pick(known))


def _number(walked: "Walked", known: list[T]) -> T:
    x, number = walked.pick(known), walked.choose((2, 0.5, -1.5))
    return walked.choose((lambda: x * number, lambda: x - number, lambda: x.clamp(min=number)))()


def _view(walked: "Walked", known: list[T]) -> T:
    x = walked.pick(known)
    return walked.choose(
        (
            lambda: x.flip(0),
            lambda: x.flip(1),
            lambda: x.view(-1, 2, 2).transpose(1, 2).reshape(-1, WIDTH),
            lambda: x[:, [1, 0, 3, 2]],
            lambda: x.roll(1, 1),
        )
    )()


def _parts(walked: "Walked", known: list[T]) -> T:
    x = walked.pick(known)
    if walked.choose((True, False)):
        first, second = x.chunk(2, -1)
        return torch.cat(walked.choose(((first, second), (second, first))), -1)
    values, places = x.max(-1, keepdim=True)
    return x - values + places


def _constant(walked: "Walked", known: list[T]) -> T:
    row = walked.choose(([1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0]))
    return walked.pick(known) * torch.tensor(row)


def _sized(walked: "Walked", known: list[T]) -> T:
    x = walked.pick(known)
    return x / (x.shape[0] + walked.choose((1, 2)))


def _in_place(walked: "Walked", known: list[T]) -> T:
    x = walked.pick(known).clone()
    other = walked.pick(known)
    known.append(x.view(-1, 2, 2).flip(1).view(-1, WIDTH))
    for _ in range(2):
        walked.choose((lambda: x.add_(other), lambda: x.mul_(2), lambda: x[:, 0].add_(1)))()
    return x


def _state(walked: "Walked", known: list[T]) -> T:
    x = walked.pick(known)
    walked.seen.add_(x.mean(0))
    return x * walked.seen


def _drawn(walked: "Walked", known: list[T]) -> T:
    x = walked.pick(known)
    return walked.choose(
        (
            lambda: nn.functional.dropout(x, 0.5, True),
            lambda: nn.functional.dropout(x, 0.5, False),
            lambda: x + torch.rand_like(x),
        )
    )()


def _branch(walked: "Walked", known: list[T]) -> T:
    x, y = walked.pick(known), walked.pick(known)
    matrix = _weight(walked, "matrix")
    first = walked.choose((torch.sin, torch.relu))
    return torch.cond(
        x.sum() > walked.choose((0, 1)),
        lambda a, b: (first(a) - b @ matrix,),
        lambda a, b: (a * 2 - b.tanh(),),
        (x.clone(), y.clone()),
    )[0]


def _loop(walked: "Walked", known: list[T]) -> T:
    x, y = walked.pick(known).clone(), walked.pick(known).clone()
    step = walked.choose((1, 2))
    return torch._higher_order_ops.while_loop(
        lambda i, a, b: i < 4,
        lambda i, a, b: (i + step, a.sin() - b, b * 0.5),
        (torch.zeros((), dtype=torch.int64), x, y),
    )[1]


def _scan(walked: "Walked", known: list[T]) -> T:
    x = walked.pick(known)
    sign = walked.choose((1.0, -1.0))
    return torch._higher_order_ops.scan(
        lambda carried, row: (carried + row * sign, carried - row.sin()), torch.zeros(WIDTH), x
    )[1]


def _mapped(walked: "Walked", known: list[T]) -> T:
    x, scale = walked.pick(known).clone(), _weight(walked, "row")
    return torch._higher_order_ops.map(lambda row, by: row.cos() * by, x, scale.clone())


def _chosen_rows(walked: "Walked", known: list[T]) -> T:
    x = walked.pick(known)
    count = (x[0, 0] > 0).int().item() + 1
    torch._check(count <= 2)
    torch._check(count >= 1)
    return x + torch.ones(count, WIDTH).sum(0)


PLAIN: tuple[Step, ...] = (
    *(_linear, _row, _unary, _unary, _binary, _binary, _number, _view, _parts, _constant, _sized),
)
ODD: tuple[Step, ...] = (_in_place, _state, _drawn, _branch, _loop, _scan, _mapped, _chosen_rows)


class Walked(nn.Module):
    """Does steps that its seed chooses, each on what the steps before it left."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.w1, self.w2 = (nn.Parameter(torch.randn(WIDTH, WIDTH)) for _ in range(2))
        self.same = self.w1 if seed % 2 else nn.Parameter(self.w1.detach().clone())
        self.b1 = nn.Parameter(torch.randn(WIDTH))
        self.register_buffer("b2", torch.randn(WIDTH))
        self.register_buffer("seen", torch.ones(WIDTH))
        self.seed = seed
        self._random = random.Random(seed)

    def choose(self, options: Any) -> Any:
        return self._random.choice(options)

    def pick(self, known: list[T]) -> T:
        return known[-1] if self._random.random() < 0.5 else self._random.choice(known)

    def forward(self, x: T, y: T) -> dict[str, T]:
        self._random = random.Random(self.seed)
        known = [x, y]
        odd = [self.choose(ODD) for _ in range(2)]
        steps = [*(self.choose(PLAIN) for _ in range(7)), *odd]
        self._random.shuffle(steps)
        for step in steps:
            known.append(step(self, known))
        return {"last": known[-1], "before": known[-2], "some": self._random.choice(known) * 1}


def export(seed: int) -> Exported:
    """The program of a seed; its number of rows varies."""
    request = Request(
        target=Walked(seed).eval(),
        args=(torch.randn(ROWS[0], WIDTH), torch.randn(ROWS[0], WIDTH)),
        shapes=Shapes.parse("x: rows, _; y: rows, _"),
    )
    attempt = capture(request)
    assert isinstance(attempt, Exported), (seed, attempt)
    return attempt


def record_of(program: ExportedProgram) -> Record:
    """The Record that `explorer.view` shows of a program."""
    return entry_of(program).record


_SECONDS = 0.5
"""Of computing, until a loop that an edit made endless is given up."""


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


Outcome = tuple[Any, ...]
_CALLED = tuple(enumerate((*ROWS, 2)))
"""Seeds of the inputs, and their numbers of rows."""


def outcome(program: ExportedProgram) -> Outcome:
    """What two calls in a row of each of several sizes give and leave; or the error's class."""
    return tuple(_called(program, rows, seed) for seed, rows in _CALLED)


def differs(program: ExportedProgram, known: Outcome) -> bool:
    """Whether a program gives or leaves other values than a known one; the first decides."""
    return any(not same(known[seed], _called(program, rows, seed)) for seed, rows in _CALLED)


def _called(program: ExportedProgram, rows: int, seed: int) -> Any:
    torch.manual_seed(seed)
    inputs = [torch.randn(rows, WIDTH) for _ in range(2)]
    held = {**program.state_dict, **program.constants}
    own = {name: value.detach().clone() for name, value in held.items()}
    given: list[list[Any]] = []
    for _ in range(2):
        users = iter(inputs)
        flat = [
            next(users) if spec.kind.name == "USER_INPUT" else own[spec.target]
            for spec in program.graph_signature.input_specs
        ]
        try:
            with _within(_SECONDS):
                results = torch.fx.Interpreter(program.graph_module).run(*flat)
        except Exception as error:  # noqa: BLE001 - an edit may make it fail
            return type(error).__name__
        specs = program.graph_signature.output_specs
        for spec, value in zip(specs, results, strict=True):
            if spec.kind.name.endswith("MUTATION"):
                own[spec.target] = value
        given.append([value.clone() for value in results])
    return given, [own[name] for name in sorted(own)]


def same(one: Any, other: Any) -> bool:
    """Whether two outcomes are equal, bit by bit."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        equal = one.dtype == other.dtype and one.shape == other.shape
        return equal and torch.allclose(one, other, rtol=0, atol=0, equal_nan=True)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        pairs: Iterator[tuple[Any, Any]] = zip(one, other, strict=True)
        return len(one) == len(other) and all(same(*pair) for pair in pairs)
    return bool(one == other)
