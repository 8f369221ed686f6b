"""Whether a program's guards accept given sizes, and its output sizes, without running it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from export_engine.plain_errors import WrongArgument
from export_engine.record.contract import Probe, Rule
from export_engine.record.record import Record
from export_engine.record.verdicts import TrialRow
from export_engine.sizes import Formula, evaluate_formula


@dataclass(frozen=True)
class ProbeResult:
    """The result of trying sizes."""

    verdict: Literal["accepted", "refused", "unchecked"]
    """`unchecked`:

    the program accepts the sizes although they are outside its contract, so its results are not
    guaranteed.
    """
    broken: tuple[Rule, ...]
    """The broken rules, those that reject first."""
    unknown: tuple[Rule, ...]
    """Rules that cannot be evaluated here; the program may reject because of one."""
    outputs: tuple[int | None, ...]
    """Per entry of `Probe.outputs`, the size; None where it depends on values."""
    trial: TrialRow | None = None
    """A run of the program and of eager at these sizes, just made; None where there was none."""

    def __bool__(self) -> bool:
        """Whether the guards accept the sizes within the contract, and eager agrees where run."""
        agrees = self.trial is None or self.trial.outcome == "agrees"
        return self.verdict == "accepted" and agrees

    @property
    def sentence(self) -> str:
        """The guards' answer, and the result of running both."""
        text = _GUARDS[self.verdict]
        if self.broken:
            text += f" {self.broken[0].text or 'a check in the program'}"
        if self.trial is None:
            return f"{text}. Not run."
        detail = f": {self.trial.detail.rstrip('.')}" if self.trial.detail else ""
        return f"{text}. {_RUN[self.trial.outcome]}{detail}."

    def __str__(self) -> str:
        return self.sentence


_GUARDS = {
    "accepted": "The guards accept it",
    "refused": "The guards reject it:",
    "unchecked": "No guard rejects it, but it is outside the declared ranges:",
}
_RUN = {
    "agrees": "Run just now, the program agrees with eager",
    "differs": "Run just now, the program differs from eager",
    "refused": "Run just now, eager accepts it, but the program does not",
    "eager-fails": "Run just now, eager fails",
}


def probe_sizes(probe: Probe, sizes: Sequence[int]) -> ProbeResult:
    """Tries sizes.

    Args:
        probe: a Record's.
        sizes: one for each of `probe.inputs`.
    """
    broken = [rule for rule in probe.rules if rule.formula and not holds(rule.formula, sizes)]
    refusing = [rule for rule in broken if rule.enforced]
    unknown = tuple(rule for rule in probe.rules if not rule.formula)
    verdict: Literal["accepted", "refused", "unchecked"] = "accepted"
    if broken:
        verdict = "refused" if refusing else "unchecked"
    ordered = (*refusing, *(rule for rule in broken if not rule.enforced))
    outputs = tuple(_size(output.formula, sizes) for output in probe.outputs)
    return ProbeResult(verdict, ordered, unknown, outputs)


def probe_named(record: Record, named: Mapping[str, int]) -> ProbeResult:
    """Tries sizes by name.

    Args:
        record: of a program.
        named: values of symbols, `batch`, and of single places, `x.shape[0]`, which come after.

    Raises:
        ValueError: there is no such symbol or place, or a value is not an int.
    """
    return probe_sizes(record.probe, sizes_named(record, named))


def sizes_named(record: Record, named: Mapping[str, int]) -> list[int]:
    """A size for each of `probe.inputs`; see `probe_named`.

    Raises:
        ValueError: there is no such symbol or place, or a value is not an int.
    """
    probe = record.probe
    places = {size.text: number for number, size in enumerate(probe.inputs)}
    symbols = {
        record.symbols[size.symbol].name: size.symbol for size in probe.inputs if size.symbol >= 0
    }
    unknown = [name for name in named if name not in places and name not in symbols]
    if unknown:
        text = ", ".join([*symbols, *(place for place in places if place not in symbols)]) or "none"
        raise WrongArgument(f"There is no size {unknown[0]!r}. Available: {text}")
    for name, value in named.items():
        if not _is_int(value):
            raise WrongArgument(f"A size must be an int, but {name} is {value!r}.")
    sizes = sizes_of_symbols(
        probe, {symbols[name]: value for name, value in named.items() if name in symbols}
    )
    for name, value in named.items():
        if name in places and name not in symbols:
            sizes[places[name]] = value
    return sizes


def _is_int(value: object) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)


def sizes_of_symbols(probe: Probe, values: Mapping[int, int]) -> list[int]:
    """Every size, where symbols have the given values; others stay as in the example."""
    return [
        size.scale * values[size.symbol] + size.offset if size.symbol in values else size.example
        for size in probe.inputs
    ]


def holds(formula: Formula, sizes: Sequence[int]) -> bool:
    """Whether a condition is true of sizes; one that has no value for them is not."""
    try:
        return bool(evaluate_formula(formula, sizes))
    except (ArithmeticError, ValueError):
        return False  # the program's own check fails as well


def _size(formula: Formula, sizes: Sequence[int]) -> int | None:
    if not formula:
        return None
    try:
        return int(evaluate_formula(formula, sizes))
    except (ArithmeticError, ValueError):
        return None
