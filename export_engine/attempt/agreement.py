"""Agreement: whether a program and the eager model agree at sizes it was not traced at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Trial:
    """One run of both, on the same fresh inputs."""

    sizes: dict[str, int]
    """Per symbol, in the user's terms: `batch` → 3. Empty: the example's own sizes."""
    outcome: Literal["agrees", "differs", "refused", "eager-fails"]
    """`refused`: the program does not take these sizes though eager does. `eager-fails`: eager does
    not take them either, so nothing can be said."""
    error: float = 0.0
    """Largest absolute difference of any output element."""
    detail: str = ""
    """The condition that refused, the output that differs, or what eager raised."""


@dataclass(frozen=True)
class Agreement:
    """What was tried, and what came of it."""

    trials: tuple[Trial, ...]
    reason: str = ""
    """Why nothing was compared, where nothing was: a clause."""
    baked: str = ""
    """What makes an agreement worth nothing: that both have the same value of the moment. The last
    trial says so, too, as one that differs."""

    @property
    def verdict(self) -> Literal["agrees", "differs", "refused", "not checked"]:
        """The worst outcome; `not checked` if eager took none of the sizes."""
        outcomes = {trial.outcome for trial in self.trials}
        for worst in ("differs", "refused", "agrees"):
            if worst in outcomes:
                return worst
        return "not checked"
