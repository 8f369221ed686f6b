"""Lesson 13: from a model's `generate()` to a package of programs that generates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from explorer.lessons import Answer, Lesson, Wrong

lesson = Lesson(
    "A model that generates",
    name="a_model_that_generates",
    after="Next: `14_the_cost_of_a_program.ipynb`.",
)


@lesson.exercise(
    "1",
    hints=(
        "`%export` has an option for models that generate; `%export?` lists the options.",
        "It is `--generate`, and it accepts the arguments of `generate()`, by name.",
    ),
    solution="%export --generate --no-display --as kit writer(**prompt)",
    wrong=(
        "kit = explorer.explore(writer, (prompt['input_ids'],))",
        """
first = explorer.explore(writer, (prompt["input_ids"],))
kit = explorer.Programs({"prefill": first, "decode": first})
""",
        "kit = writer.generate(**prompt, generation_config=writer.generation_config)",
    ),
)
def is_cut_into_programs(answer: Answer) -> None:
    """Cut `writer` into the programs that its `generate()` needs."""
    kit = _set(answer.value)
    if list(kit) != ["prefill", "decode"] or not kit.ok:
        raise Wrong(
            f"The set has {', '.join(kit)}. Generation needs one program for the first call and "
            "one for later calls."
        )
    if not kit.record.trials:
        raise Wrong("Nothing shows that these programs generate the same tokens as the model.")
    wrong = [trial for trial in kit.record.trials if trial.outcome != "same"]
    if wrong:
        raise Wrong(f"{wrong[0].sizes}: {wrong[0].sentence}")


@lesson.exercise(
    "2",
    hints=(
        "The strip above the graph lists the connections; so does `kit.seams`.",
        "`decode` receives a cache in its first call and in every later one. Two programs return "
        "it.",
    ),
    solution='givers = {"prefill", "decode"}',
    wrong=('givers = {"prefill"}', 'givers = {"decode"}', 'givers = "prefill"'),
)
def knows_who_gives_the_cache(answer: Answer) -> None:
    """Which programs return the cache that `decode` accepts?"""
    value = answer.value
    names = {value} if isinstance(value, str) else set(value)
    if names != {"prefill", "decode"}:
        raise Wrong("Look at every connection that ends at `decode`; one also starts there.")


@lesson.exercise(
    "3",
    hints=(
        "A set is saved like a program: `kit.save(path)`.",
        "`kit.save(path)` writes all programs into one file, and each shared weight once.",
    ),
    solution="""
path = folder / "writer.pt2"
kit.save(path)
""",
    wrong=(
        """
path = folder / "prefill.pt2"
kit["prefill"].save(path)
""",
        'path = folder / "nothing.pt2"',
        """
import copy
path = folder / "twice.pt2"
other = explorer.explore_generation(copy.deepcopy(writer), prompt)
explorer.Programs({"prefill": kit["prefill"], "decode": other["decode"]}).save(path)
""",
    ),
)
def ships_one_file(answer: Answer) -> None:
    """Save both programs into one file, each weight once."""
    if not isinstance(answer.value, str | Path):
        raise Wrong("Pass the path of the file.")
    if not Path(answer.value).exists():
        raise Wrong(f"There is no file `{Path(answer.value).name}`.")
    import explorer

    opened = _set(explorer.load(answer.value))
    if list(opened) != ["prefill", "decode"]:
        raise Wrong(f"The file holds {', '.join(opened)}.")
    if any(weight.state != "shared" for weight in opened.weights):
        raise Wrong("The file stores weights twice: its programs come from different models.")


def _set(value: Any) -> Any:
    """The answer, which is to be a set of programs."""
    import explorer

    if isinstance(value, explorer.Programs):
        return value
    if isinstance(value, explorer.Exploration):
        raise Wrong(
            "That is one program. The model's later calls pass a cache, which it does not accept."
        )
    raise Wrong("That is not a set of programs.")
