"""Agreement: whether a program and the eager model agree at sizes it was not traced at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from export_engine.source import Location

Verdict = Literal["agrees", "differs", "refused", "not checked"]


@dataclass(frozen=True)
class Trial:
    """One run of program and eager, on the same fresh inputs."""

    sizes: dict[str, int]
    """Per symbol, in the user's terms: `batch` → 3. Empty: the example's own sizes."""
    outcome: Literal["agrees", "differs", "refused", "eager-fails"]
    """`refused`:

    the program rejects these sizes though eager accepts them. `eager-fails`: eager also fails, so
    there is no comparison.
    """
    error: float = 0.0
    """Largest absolute difference of any output element."""
    detail: str = ""
    """The condition that failed, the output that differs, or what eager raised."""
    strides: str = ""
    """Of one that agrees but for strides: which output has which, and eager's."""
    reach: float = 0.0
    """The largest absolute value of eager's output that `error` is of."""
    place: Location | None = None
    """Of one that differs, the user's line that asks for the size, if it was looked for."""
    of_inputs: bool = False
    """Of one that differs, whether only inputs after the call do: one of both lacks a write."""

    @property
    def refuses_small(self) -> bool:
        """Whether the program rejects a size of 0 or 1: torch traces as if no size were."""
        return self.outcome == "refused" and any(size < 2 for size in self.sizes.values())


@dataclass(frozen=True)
class Agreement:
    """The trials and their outcomes."""

    trials: tuple[Trial, ...]
    reason: str = ""
    """Why nothing was compared, where nothing was: a clause; a sentence where it is refused."""
    baked: str = ""
    """Why the agreement is a coincidence:

    both baked in the same value. The last trial then also differs.
    """

    @property
    def lacks_writes(self) -> bool:
        """Whether it differs by inputs after the call alone."""
        bad = [trial for trial in self.trials if trial.outcome == "differs"]
        return bool(bad) and all(trial.of_inputs for trial in bad)

    @property
    def verdict(self) -> Verdict:
        """The worst outcome; `not checked` if eager failed at every size.

        A program that agrees elsewhere may reject sizes of 0 and 1: a call at them fails with an
        error, which the sentence mentions.
        """
        outcomes = {trial.outcome for trial in self.trials if not trial.refuses_small}
        outcomes = outcomes if "agrees" in outcomes else {trial.outcome for trial in self.trials}
        for worst in ("differs", "refused", "agrees"):
            if worst in outcomes:
                return worst
        return "not checked"
