"""The Rule on a kind: its docstring is the page, its constants are the sentences for users."""

from __future__ import annotations

import inspect
import re
import string
from functools import cache
from typing import ClassVar, NamedTuple

from export_engine.rules.kinds import Kind

_PARTS = re.compile(
    r"(?P<means>.+?)\n\n"
    r"## Example\n\n```python\n(?P<example>.+?)```\n\n"
    r"## What to do\n\n(?P<cure>.+?)\n\n## Why\n\n(?P<why>.+?)\n*",
    re.DOTALL,
)
_FENCED = re.compile(r"(```.*?```)", re.DOTALL)


class CodePage(NamedTuple):
    """The page on a code. `print` shows it; in a notebook it is formatted."""

    code: str
    title: str
    means: str
    example: str
    """Python that runs unchanged, and ends with the Exploration that has the code in `ex`."""
    cure: str
    why: str
    text: str
    """The whole page, in Markdown."""

    def __str__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return self.text


class Sentence:
    """A sentence that users read, with named facts: `The program draws random numbers: {ops}.`.

    Args:
        template: the sentence, in the form of `str.format`.
        sample: a value of each fact, for `python -m export_engine.rules --sentences`.
    """

    def __init__(self, template: str, /, **sample: object) -> None:
        self.template = template
        self.sample = sample

    def __call__(self, **facts: object) -> str:
        """The sentence with its facts."""
        return self.template.format(**facts)

    @property
    def fields(self) -> set[str]:
        """The names of its facts."""
        parsed = string.Formatter().parse(self.template)
        return {name for _, name, _, _ in parsed if name is not None}

    @property
    def example(self) -> str:
        """The sentence with its sample facts."""
        return self(**self.sample)


class Rule:
    """A rule. A subclass has a page as its docstring, in four parts, and Sentences as constants."""

    kind: ClassVar[Kind]
    CLAIM: ClassVar[Sentence]
    """For a guarantee: what torch.export promises."""

    def __init_subclass__(cls, kind: Kind) -> None:
        cls.kind = kind

    @classmethod
    def sentences(cls) -> dict[str, Sentence]:
        """Its sentences by name, in the order in which they are written."""
        return {name: held for name, held in vars(cls).items() if isinstance(held, Sentence)}

    @classmethod
    @cache
    def page(cls) -> CodePage:
        """Its page, with each paragraph in a line."""
        parts = _FENCED.split(inspect.cleandoc(cls.__doc__ or ""))
        text = "".join(part if part.startswith("```") else _unwrap(part) for part in parts)
        match = _PARTS.fullmatch(text)
        assert match is not None, f"the docstring of {cls.__name__} lacks a part of its page"
        code, title = cls.kind.code, cls.kind.value
        return CodePage(code, title, **match.groupdict(), text=f"# {code}: {title}\n\n{text}\n")


def _unwrap(text: str) -> str:
    """Paragraphs, each in a line; items of a list stay apart."""
    return re.sub(r"(?<=[^\n])\n(?=[^\n\-|])", " ", text)
