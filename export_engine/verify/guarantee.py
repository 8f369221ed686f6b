"""The Guarantee: a property that torch.export promises, checked on a program, with evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from export_engine import rules

if TYPE_CHECKING:
    from export_engine.attempt import Trial

Verdict = Literal["holds", "broken", "not applicable", "not checked"]


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """A claim and the result of checking it."""

    rule: type[rules.Rule]
    """Its code, its page and its sentences."""
    verdict: Verdict
    sentence: str
    """The result."""
    evidence: tuple[str, ...] = ()
    """The evidence, a line each; if broken, the violations first."""
    node: str = ""
    """The name of the first node that breaks it."""
    lacking: str = ""
    """If it cannot be checked, what is missing, such as the eager model.

    Empty if it could have been checked.
    """
    report: str = ""
    """If the check itself failed, a defect of Export Explorer: the report."""
    trials: tuple[Trial, ...] = ()
    """For a comparison at several sizes, each of them; where it is broken, what breaks it first."""
    left: tuple[str, ...] = ()
    """The sizes that there was no time for."""

    @property
    def name(self) -> str:
        """Its name: `functional`."""
        return self.rule.kind.slug

    @property
    def claim(self) -> str:
        """torch.export's promise, as a sentence."""
        return self.rule.CLAIM()


def without_eager(rule: type[rules.Rule]) -> Guarantee:
    """A guarantee that cannot be checked of a program without its model."""
    from export_engine.attempt import NO_MODEL

    return Guarantee(rule=rule, verdict="not checked", sentence=NO_MODEL, lacking="the eager model")


def without_weights(rule: type[rules.Rule], reason: str) -> Guarantee:
    """A guarantee that only values could show, of a program whose tensors have none.

    Args:
        rule: the guarantee.
        reason: a sentence: which tensors have no values, and what was checked all the same.
    """
    return Guarantee(rule=rule, verdict="not checked", sentence=reason, lacking="the weights")


@dataclass(frozen=True, repr=False)
class Verified:
    """The guarantees of one program."""

    guarantees: tuple[Guarantee, ...]
    seconds: float = 0.0

    @property
    def broken(self) -> tuple[Guarantee, ...]:
        """Those that do not hold."""
        return tuple(guarantee for guarantee in self.guarantees if guarantee.verdict == "broken")

    @property
    def unchecked(self) -> tuple[Guarantee, ...]:
        """Unchecked guarantees, whether or not they could have been checked."""
        return tuple(
            guarantee for guarantee in self.guarantees if guarantee.verdict == "not checked"
        )

    @property
    def verdict(self) -> Literal["holds", "broken", "not checked"]:
        """`broken` if one is, else `not checked` if one was not, else `holds`."""
        return "broken" if self.broken else "not checked" if self.unchecked else "holds"

    @property
    def trials(self) -> tuple[Trial, ...]:
        """The comparisons with eager, one for each choice of sizes that was run."""
        return tuple(trial for guarantee in self.guarantees for trial in guarantee.trials)

    @property
    def wrong_size(self) -> Trial | None:
        """A choice of sizes at which the program differs from eager though it agrees at others.

        To agree at 0 says little: nothing may be computed there.
        """
        agrees = any(
            trial.outcome == "agrees" and all(trial.sizes.values()) for trial in self.trials
        )
        differs = (trial for trial in self.trials if trial.outcome == "differs" and trial.sizes)
        return next(differs, None) if agrees else None

    @property
    def ok(self) -> bool:
        """Whether none is broken, and none that could be checked was skipped."""
        return not self.broken and all(guarantee.lacking for guarantee in self.unchecked)

    @property
    def sentence(self) -> str:
        """In a line: `10 guarantees hold, 1 is broken, 1 was not checked.`."""
        counts = {
            verdict: sum(guarantee.verdict == verdict for guarantee in self.guarantees)
            for verdict in ("holds", "broken", "not checked")
        }
        parts = [_count_text(counts["holds"], "guarantee holds", "guarantees hold")]
        if counts["broken"]:
            parts.append(_count_text(counts["broken"], "is broken", "are broken"))
        if counts["not checked"]:
            parts.append(_count_text(counts["not checked"], "was not checked", "were not checked"))
        return ", ".join(parts) + "."

    def __str__(self) -> str:
        lines = [self.sentence]
        for guarantee in self.guarantees:
            lines.append(f"  {_MARKS[guarantee.verdict]} {guarantee.name:<11} {guarantee.sentence}")
            if guarantee.verdict == "broken":
                lines += [f"      {line}" for line in guarantee.evidence[:5]]
        return "\n".join(lines)

    __repr__ = __str__


_MARKS = {"holds": "✓", "broken": "✗", "not applicable": "–", "not checked": "?"}


def _count_text(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"


def describe_strides(strides: str) -> str:
    """A sentence on strides that alone differ, with a space before it; empty if none do."""
    return rules.GuaranteeSound.STRIDES(strides=strides) if strides else ""


def verdict_of(problems: Sequence[object]) -> Verdict:
    """`broken` if there are problems."""
    return "broken" if problems else "holds"
