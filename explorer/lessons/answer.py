"""The learner's answer, and the checks that a lesson can make on it.

A checker is a function that takes an Answer. It returns if the answer is right; else it raises
Wrong with a plain reason, fails an `assert` that has one, or calls a method below, which does so.
Each looks at the export itself: runs it, tries sizes on it, reads its graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from explorer.exploration import Exploration

if TYPE_CHECKING:
    import torch

    from export_engine.attempt import Exported
    from export_engine.record import OutputEntry, Record, SizeInput, ValueType


class Wrong(Exception):
    """Why an answer is wrong: a sentence for the learner; backticks mark code."""


class Answer:
    """The learner's answer."""

    def __init__(self, value: Any) -> None:
        """Make one.

        Args:
            value: an Exploration, or any other value.
        """
        self.value = value
        """The answer as given."""

    @property
    def exploration(self) -> Exploration:
        """The export.

        Raises:
            Wrong: the answer is not a result of `%export`.
        """
        if isinstance(self.value, Exploration):
            return self.value
        raise Wrong(
            f"This is a `{type(self.value).__name__}`, not an export. Pass the result of "
            "`%export`: with `--as mine` it is stored as `mine`."
        )

    @property
    def record(self) -> Record:
        """The Record of the export."""
        return self.exploration.record

    @property
    def program(self) -> torch.export.ExportedProgram:
        """torch's program. Raises Wrong if it did not export."""
        self.exported()
        return self.exploration.program

    def exported(self) -> None:
        """The attempt on the learner's screen exported."""
        failure = self.exploration.record.failure
        if failure is not None:
            raise Wrong(f"It does not export yet. {failure.sentence}")

    def by_hand(self) -> None:
        """It exported without an applied fix."""
        self.exported()
        if self.record.fixed_by:
            raise Wrong("A fix did that. Read its code, then write your own into the cell.")

    def mode(self, wanted: str) -> None:
        """It was traced in this mode, `strict` or `non-strict`."""
        self.exported()
        if self.record.mode != wanted:
            raise Wrong(
                f"It was traced in {self.record.mode} mode, but should be traced in {wanted} mode."
            )

    def varies(self, name: str, dim: int) -> None:
        """A size of an input is dynamic: `varies("x", 0)` checks `x.shape[0]`."""
        size = self._size(name, dim)
        if isinstance(size.size, int):
            raise Wrong(f"`{size.text}` is fixed at {size.size}. It should vary.")

    def fixed(self, name: str, dim: int) -> None:
        """A size of an input is static, as in the example."""
        size = self._size(name, dim)
        if not isinstance(size.size, int):
            raise Wrong(f"`{size.text}` varies, as `{size.size}`. It should stay {size.example}.")

    def takes(self, **shapes: Sequence[int]) -> None:
        """The program accepts inputs of these shapes: `takes(x=(3, 100))`."""
        from export_engine.record import probe_named

        result = probe_named(self.record, self._sizes(shapes))
        if result.verdict != "accepted":
            asks = (
                f"it requires `{result.broken[0].text}`"
                if result.broken
                else "the reason is unknown"
            )
            raise Wrong(f"The program does not accept {_describe_shapes(shapes)}: {asks}.")

    def refuses(self, **shapes: Sequence[int]) -> None:
        """The program rejects inputs of these shapes."""
        from export_engine.record import probe_named

        if probe_named(self.record, self._sizes(shapes)).verdict != "refused":
            raise Wrong(f"The program accepts {_describe_shapes(shapes)}, but should reject it.")

    def agrees_with_eager(self, trials: int = 4) -> None:
        """The program agrees with the model at sizes and values other than the example's."""
        from export_engine.verify import check

        agreement = check(self._require_exported(), trials)
        for trial in agreement.trials:
            if trial.outcome in ("differs", "refused"):
                raise Wrong(_trial(trial.sizes, trial.outcome, trial.detail))
        if agreement.verdict == "not checked":
            raise Wrong(
                "The model itself fails at every other size that the program claims to accept."
            )

    def agrees_with(self, reference: Callable[..., Any], *calls: Sequence[Any]) -> None:
        """The program agrees with another callable for each of these arguments."""
        from export_engine.attempt import Request
        from export_engine.verify import compare, run

        program = self.program.module()
        for number, args in enumerate(calls):
            request = Request(target=reference, args=tuple(args))
            wanted = run(reference, request, number)
            try:
                value = run(program, request, number)
            except Exception as error:
                raise Wrong(
                    f"The program rejects {_call(args)}, which it should accept: "
                    f"{_first_line(error)}"
                ) from error
            difference = compare(value, wanted)
            if not difference.same:
                lone = len(self.record.signature.outputs) == 1
                detail = difference.detail.removeprefix("output 0: ") if lone else difference.detail
                raise Wrong(f"For {_call(args)} the result is wrong: {detail}.")

    def has_op(self, *names: str) -> None:
        """The program calls these ops: `cond`, or in full `aten.relu.default`."""
        missing = [name for name in names if not self._calls(name)]
        if missing:
            raise Wrong(f"There is no `{missing[0]}` in the program.")

    def has_no_op(self, *names: str) -> None:
        """The program calls none of these ops."""
        present = [name for name in names if self._calls(name)]
        if present:
            raise Wrong(f"There is still a `{present[0]}` in the program.")

    def no_finding(self, *kinds: str) -> None:
        """No finding of these kinds, such as `baked-value`; without any, no finding at all."""
        self.exported()
        for finding in self.record.findings:
            if not kinds or finding.kind in kinds:
                raise Wrong(f"Look at Findings: {finding.sentence}")

    def equals(self, wanted: Any, otherwise: str) -> None:
        """A plain answer equals this value.

        Args:
            wanted: the right answer.
            otherwise: the hint for any other answer; it should not give the answer away.
        """
        if type(self.value) is not type(wanted):
            raise Wrong(
                f"This is a `{type(self.value).__name__}`; expected a `{type(wanted).__name__}`."
            )
        if self.value != wanted:
            raise Wrong(otherwise)

    def ops(self) -> list[str]:
        """The ops of the program by name, nested graphs included: `aten.relu.default`."""
        self.exported()
        record = self.record
        return [
            record.targets[target].name
            for graph in record.graphs
            for target in graph.target
            if target >= 0
        ]

    def outputs(self) -> list[tuple[OutputEntry, ValueType]]:
        """The outputs and mutations of the program, each with its type."""
        self.exported()
        return [
            (output, self.record.types[output.type]) for output in self.record.signature.outputs
        ]

    def _calls(self, name: str) -> bool:
        return any(name in (op, *op.split(".")) for op in self.ops())

    def _require_exported(self) -> Exported:
        self.exported()
        session = self.exploration.session
        attempt = session.require_exported(session.current, "check")
        if attempt.request is None:
            raise Wrong("This program was opened without its model. Export the model itself.")
        return attempt

    def _size(self, name: str, dim: int) -> SizeInput:
        self.exported()
        sizes = {size.text: size for size in self.record.probe.inputs}
        size = sizes.get(f"{name}.shape[{dim}]")
        if size is None:
            message = ", ".join(f"`{text}`" for text in sizes) or "none"
            raise Wrong(f"There is no `{name}.shape[{dim}]` in this export. Its sizes: {message}.")
        return size

    def _sizes(self, shapes: dict[str, Sequence[int]]) -> dict[str, int]:
        return {
            self._size(name, dim).text: size
            for name, sizes in shapes.items()
            for dim, size in enumerate(sizes)
        }


def _describe_shapes(shapes: dict[str, Sequence[int]]) -> str:
    return " and ".join(f"`{name}` of shape {list(sizes)}" for name, sizes in shapes.items())


def _call(args: Sequence[Any]) -> str:
    """The arguments of a call: `shape [6, 8] and 3`."""
    import torch

    texts = []
    for argument in args:
        is_large = isinstance(argument, torch.Tensor) and argument.dim()
        value = argument.item() if isinstance(argument, torch.Tensor) and not is_large else argument
        texts.append(f"shape {list(argument.shape)}" if is_large else f"{value!r}")
    return f"an input of {' and '.join(texts)}"


def _trial(sizes: dict[str, int], outcome: str, detail: str) -> str:
    where = ", ".join(f"{name} = {size}" for name, size in sizes.items()) or "other values"
    if outcome == "refused":
        return f"The program rejects {where}, which the model accepts: {detail}"
    return f"The program and the model differ at {where}: {detail}."


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
