"""The steps of a compilation, told as they begin."""

from __future__ import annotations

from export_engine.defects import message_of
from export_engine.process import raise_if_interrupted
from export_engine.progress import Progress, Report

_STEPS = {
    "before_pre_grad_graph": "decomposing",
    "before_post_grad_graph": "post-grad passes",
    "inductor_post_grad_graph": "generating and compiling kernels",
    "inductor_provenance_tracking_node_mappings": "loading the compiled code",
}
_OWN = 3
"""Steps that no artifact tells of: tracing, timing, and one more where code is compiled again."""


class StagesMissing(RuntimeError):
    """Stages cannot be had. The message can be shown unchanged."""


def explain_failure(failed: str, error: Exception) -> StagesMissing:
    """The error to raise for another, with the first line of its message.

    Args:
        failed: the sentence before it: `ONNX Runtime does not convert this program`.
        error: the other.
    """
    return StagesMissing(f"{failed}: {describe_error(error)}")


def describe_error(error: Exception) -> str:
    """An error's type, the first line of its message, and what a C++ compiler says in it."""
    first, *others = message_of(error).strip().splitlines() or [""]
    messages = (line.partition(" error: ")[2].strip() for line in others)
    parts = [type(error).__name__, first, next(filter(None, messages), "")]
    return ": ".join(filter(None, parts))


class Steps:
    """Tells of progress, and lets an interrupt in."""

    def __init__(self, progress: Report | None, passes: int = 1) -> None:
        """Make one.

        Args:
            progress: called before each step.
            passes: how many graphs are compiled.
        """
        self._progress = progress
        self._count = passes * len(_STEPS) + _OWN
        self._done = 0
        self.prefix = ""
        """Before the names of torch's steps: `backward: `."""

    def artifact(self, name: str) -> None:
        """Called as torch makes an artifact."""
        if name in _STEPS:
            self.say(f"{self.prefix}{_STEPS[name]}")

    def say(self, step: str) -> None:
        """A new step begins."""
        raise_if_interrupted()
        if self._progress is not None:
            done = min(self._done, self._count)
            self._progress(Progress(done, self._count, step, "stage"))
        self._done += 1

    def count(self, done: int, total: int) -> None:
        """Within the last step."""
        if self._progress is not None:
            self._progress(Progress(done, total, f"call {done}", "stage"))
