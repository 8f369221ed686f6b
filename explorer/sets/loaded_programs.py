"""A set of programs from a file, which generates by itself if the file has a plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from explorer.exploration import Exploration
from explorer.session.session import FixError
from explorer.sets.programs import Programs, check_name

if TYPE_CHECKING:
    import torch

    from export_engine.generation import FlatProgram
    from export_engine.record import GenerationPlan


class LoadedPrograms(Programs):
    """The programs of a file, which generate if `explore_generation` made the set."""

    def __init__(
        self, programs: Mapping[str, Exploration], plan: GenerationPlan, **options: Any
    ) -> None:
        """Make one; `explorer.load` does.

        Args:
            programs: by name, in the order in which they are called first.
            plan: how they generate.
            options: as `Programs` takes them.
        """
        self._plan = plan
        super().__init__(programs, **options)

    def generate(
        self, inputs: Mapping[str, torch.Tensor], tokens: int = 16, *, stop: bool = True
    ) -> torch.Tensor:
        """Generates greedily; returns the tokens, after the prompt if there is one.

        Args:
            inputs: the arguments of the model's `generate()`: `tokenizer(text,
                return_tensors="pt")`.
            tokens: how many new tokens at most.
            stop: end a row at the model's end-of-text token; if False, that token is never chosen.

        Raises:
            FixError: the file has no generation plan, or a program rejects these inputs.
            NotTrusted: the file is not trusted, so its programs are not loaded.
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        from explorer.text.escape import harmless
        from export_engine.generation import NoProgram, PlanFailed, ProgramFailed, generate_by

        plan = self._generation()
        if plan.why_not:
            raise FixError(harmless(plan.why_not))
        tensors = _tensors(inputs)
        check_tokens(tokens)
        try:
            return generate_by(plan, flat_programs(self, "generate"), tensors, tokens, stop)
        except (PlanFailed, NoProgram, ProgramFailed) as error:
            raise FixError(harmless(str(error))) from error

    def _generation(self) -> GenerationPlan:
        """How they generate, as the file says; not once a program that it calls is another."""
        return self._plan

    def add(self, name: str, exploration: Exploration) -> None:
        """Adds a program, or replaces the one of this name; see `Programs.add`."""
        from export_engine.record import GenerationPlan

        check_name(name)
        is_known = not self._plan.why_not
        self._plan = GenerationPlan(
            why_not=f"`{name}` was added to the set after it was loaded, so the generation plan "
            "does not include it. Export the model again with "
            "explorer.explore_generation."
        )
        if is_known or self._notes:
            self._notes = [says_why_not(self._plan)]
        super().add(name, exploration)


def check_tokens(tokens: object) -> None:
    """Raises FixError where it is not a number of tokens."""
    if not isinstance(tokens, int) or tokens < 0:
        raise FixError(f"{tokens!r} is not a number of tokens. Pass an int of at least 0.")


def says_why_not(plan: GenerationPlan) -> str:
    """The error of a set that cannot generate on its own."""
    return f"The set cannot generate without its model. {plan.why_not}"


def flat_programs(kit: Mapping[str, Exploration], wanted: str) -> dict[str, FlatProgram]:
    """The programs of a set, to be called.

    Args:
        kit: the set.
        wanted: what they are needed for: `generate`.

    Raises:
        FixError: one failed to export.
        NotTrusted: one is in an untrusted file.
    """
    from export_engine.generation import FlatProgram

    result = {}
    for name, exploration in kit.items():
        program = exploration.session.require_exported(exploration.session.current, wanted).program
        result[name] = FlatProgram(program, program.module())
    return result


def _tensors(inputs: object) -> dict[str, torch.Tensor]:
    """The inputs that are tensors.

    Raises:
        FixError: they are not given by name.
    """
    import torch

    if not isinstance(inputs, Mapping):
        raise FixError(
            f"Expected inputs by name, got a {type(inputs).__name__}. Pass a dict, as a tokenizer "
            'returns: {"input_ids": …}.'
        )
    return {name: value for name, value in inputs.items() if isinstance(value, torch.Tensor)}
