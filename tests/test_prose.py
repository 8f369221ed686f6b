"""Prose that nobody would say aloud, found by pattern: "is no table", "refused anew".

Docs, notebooks, docstrings, comments and strings of Python and TypeScript are read by `make lint`
and `make test`: `python -m tests.test_prose` prints each place with what to write instead. The
tests here are of the rules. `python -m tests.test_prose --sentences export_engine/fixes` prints the
strings of a room, to be read as a list.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.syntax import nodes_of

ROOT = Path(__file__).parents[1]
PACKAGES = ("explorer", "export_engine", "ide", "kernel_ext", "widgets")
QUOTES_THEM = "## How we write"
"""The section of CONTRIBUTING whose table shows the old words."""


class Rule(NamedTuple):
    """Words that are not written, and what to write."""

    pattern: str
    instead: str
    example: str
    fine: str


COMPARED = r"(?:\w+er|less) than|(?:longer|more|one|matter)\b"
RULES = [
    Rule(
        rf"(?<![Tt]here )\b(?:is|are|was|were) no (?!{COMPARED})\w+",
        "`is not a …`",
        "'cor' is no table",
        "there is no table; it is no longer than that, and no more",
    ),
    Rule(
        r"\b(?:tied|shown|held|known|is|are) no more\b(?! than| \w+s?\.| room)",
        "`no longer`",
        "weights are tied no more",
        "it is no more than a name",
    ),
    Rule(
        r"\b(?:called|written|computed|imported|meant|used) so\b(?! that| long| far| as)",
        "`like this`, or what is wrong with it",
        "net cannot be called so",
        "it is called so that it returns",
    ),
    Rule(
        r"\b(?:lest|upon|anew|thereof|whereof|whence)\b", "plain words", "made anew", "made again"
    ),
    Rule(r"\bgravest\b", "`most severe`", "the gravest first", "the most severe first"),
    Rule(
        r"(?<![Tt]here )\b(?:is|are) none\b(?! of)",
        "`is not a …`",
        "a text that is none",
        "there is no text",
    ),
    Rule(
        r"\b(?:has|have) not(?=[.,;:])",
        "`does not have`",
        "what the language has not.",
        "it has not run",
    ),
    Rule(r"\banother than\b", "`different from`", "a value another than 0", "another value"),
    Rule(
        r"\bfor want of\b|\bas it were\b|\bof one's own\b",
        "plain words",
        "left out for want of a GPU",
        "left out without a GPU",
    ),
    Rule(
        r"\b(?:values?|runs?) part(?:s|ed)? from\b|\bvalues part\b|\bbackend parts\b",
        "`diverges`",
        "the op at which values part",
        "part of a value",
    ),
    Rule(
        r"\bby what (?:they are|it is)\b|\buntied\b|\btied to where\b",
        "`by structure`, `unmatched`, `matched by provenance`",
        "112 of them by what they are",
        "weights are tied",
    ),
    Rule(
        r"\bBeside (?=[A-Z])|\b[Bb]eside (?:eager|the model|torch\.)",
        "`compared with`",
        "Beside Say that h is 5",
        "the text beside the box",
    ),
    Rule(
        r"\bSay that (?=`?\w+`? (?:is|are)\b)",
        "an order with a formula: `Bound a ≤ 16`",
        "Say that a is at most 16",
        "Say which devices to use",
    ),
    Rule(
        r"\bWhich way this\b|\bgoes which way\b",
        "`This … depends on …`",
        "Which way this `if` goes depends on x",
        "This `if` depends on x",
    ),
    Rule(
        r"\bnobody (?:knows|minds|asks|asked|means|has)\b|\bwhoever's\b",
        "who does it, or the passive",
        "and nobody minds",
        "and it is unknown",
    ),
    Rule(
        r"\b(?:all|nothing|much) came of\b|\bwhat (?:came|comes|has come) of\b",
        "`the result`, `the effect`",
        "a guard and what came of it",
        "a guard and its effect",
    ),
    Rule(
        r"\b(?:CPU|PATH|file|files|forward`?|graph|mode|program|thread) alone(?=[.,;:)]|$)",
        "`only`",
        "it runs on the CPU alone.",
        "it runs only on the CPU.",
    ),
    Rule(
        r"\bin lines? (?=[{\d])",
        "`on line`",
        "the branch in line 12",
        "the branch on line 12",
    ),
    Rule(
        r"\btake[ns]? (?:it |them )?for granted\b",
        "`assume`",
        "the condition is taken for granted",
        "the condition is assumed",
    ),
]
VOICE = [
    Rule(
        r"(?:^|[.;:] )What (?!is\b|are\b|does|did|to\b)\w+",
        "the thing as the subject: a tensor, op, size, branch",
        "What it draws differs.",
        "What to do.",
    ),
    Rule(
        r"\b(?:is|are|was) (?:said|told)\b|\bsays? so\b",
        "`shows`, `reports`, `lists`",
        "a type is told of once",
        "a type is listed once",
    ),
    Rule(
        r"\b[Dd]ata (?:say|choose|end|fill|select|tell|decide)\b|\bnumbers? from data\b",
        "`data-dependent`",
        "a loop that data end",
        "a data-dependent loop",
    ),
    Rule(
        r", too[.,;:]|\balso where\b", "`also` before the verb", "rejected, too.", "also rejected"
    ),
    Rule(
        r"\botherwise(?=[.,;:]| than)|\banother (?:type|way)\b",
        "`if not`, `different`",
        "It fails otherwise.",
        "a different type",
    ),
    Rule(
        r"\bbehind\b|\bstands?\b(?!-| (?:in )?for\b)",
        "`after`, `is`",
        "it stands behind the loop",
        "a stand-in after it, which stands for the loop",
    ),
    Rule(
        r"(?:^|[.;:] )Of (?:a|an|the|what|each)\b",
        "the subject first",
        "Of a branch it is shown.",
        "The branch is shown.",
    ),
    Rule(
        r"\b(?:both|which) ways? (?:runs?|is|are|goes|into|of a branch)\b",
        "`branch`",
        "both ways run",
        "both branches run",
    ),
    Rule(
        r"\bas it (?:is|was)(?=[.,;:)]|$)|\bas any other\b",
        "nothing, or `unchanged`",
        "Yours stays as it is.",
        "Yours is unchanged.",
    ),
]
"""What reads as translated: at 0 in texts for users, and counted in docstrings."""
DOCSTRINGS = (3, 10, 2, 9, 8, 10, 9, 0, 5)
"""How many docstrings match each rule, in the order above; a number only falls."""
JAVASCRIPT = ("explorer/display/report.py",)
"""Files with code of the page in their strings."""
UNICODE_DOTS = str.maketrans("\n", " ")


class Place(NamedTuple):
    """A piece of prose and where it stands."""

    file: str
    line: int
    text: str


STRING_OR_COMMENT = re.compile(
    r"""(?P<quotes>\"{3}|'{3}|"|')(?:\\.|[^\\])*?(?P=quotes)|(?P<comment>\#[^\n]*)""", re.DOTALL
)
"""What Python's tokenizer, which takes seconds for all files, would tell apart."""


def python_strings(file: str, source: str) -> Iterator[Place]:
    """Strings that are not docstrings; an f-string with the source of its fields."""
    inner: set[int] = set()
    for node in nodes_of(source):
        if isinstance(node, ast.Expr):
            inner.add(id(node.value))
        elif isinstance(node, ast.JoinedStr) and id(node) not in inner:
            parts = list(ast.walk(node))
            inner |= {id(part) for part in parts}
            text = "".join(
                str(part.value)
                if isinstance(part, ast.Constant)
                else f"{{{ast.unparse(part.value)}}}"
                for part in node.values
                if isinstance(part, ast.Constant | ast.FormattedValue)
            )
            yield Place(file, node.lineno, text)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            inner_part = id(node) in inner
            if not inner_part:
                yield Place(file, node.lineno, node.value)


def python_prose(file: str, source: str) -> Iterator[Place]:
    """Strings, docstrings among them, and comments; what has no space is not prose."""
    inner = set()
    for node in nodes_of(source):
        if isinstance(node, ast.JoinedStr):
            said = [part for part in node.values if isinstance(part, ast.Constant)]
            inner |= {id(part) for part in said}
            text = "{}".join(str(part.value) for part in said)
            yield Place(file, node.lineno, text)
        elif isinstance(node, ast.Constant) and " " in str(node.value) and id(node) not in inner:
            yield Place(file, node.lineno, str(node.value))
    before = Place(file, -1, "")
    for found in STRING_OR_COMMENT.finditer(source):
        if found["comment"]:
            comment = Place(file, source.count("\n", 0, found.start()) + 1, found[0])
            if before.line + 1 == comment.line:
                yield comment._replace(text=f"{before.text} {comment.text[1:]}")
            yield comment
            before = comment


QUOTED = re.compile(r'"((?:[^"\\\n]|\\.)* (?:[^"\\\n]|\\.)*)"|`([^`]* [^`]*)`|>([^<>{}]+)<')
COMMENT = re.compile(r"//(.*)|/\*(.*?)\*/", re.DOTALL)


def typescript_prose(file: str, source: str) -> Iterator[Place]:
    """Strings and text of elements, as far as a pattern finds them, and comments."""
    for pattern in (QUOTED, COMMENT):
        for found in pattern.finditer(source):
            text = next(group for group in found.groups() if group is not None)
            text = re.sub(r"\s*\n\s*\*?\s*", " ", text)
            yield Place(file, source.count("\n", 0, found.start()) + 1, text)


def page_prose(file: str, text: str) -> Iterator[Place]:
    """Paragraphs and rows of a page; fenced blocks are left out, as is the table of old words."""
    text = re.sub(r"^```.*?^```", lambda cut: "\n" * cut[0].count("\n"), text, flags=re.M | re.S)
    text, _, section = text.partition(QUOTES_THEM)
    rest = section[section.index("\n## ") :] if "\n## " in section else ""
    start = text.count("\n") + section[: len(section) - len(rest)].count("\n")
    for first, part in ((1, text), (start + 1, rest)):
        line = first
        for paragraph in part.split("\n\n"):
            yield Place(file, line, paragraph.translate(UNICODE_DOTS))
            line += paragraph.count("\n") + 2


def notebook_prose(file: str, text: str) -> Iterator[Place]:
    """Markdown cells."""
    for number, cell in enumerate(json.loads(text)["cells"], 1):
        if cell["cell_type"] == "markdown":
            for place in page_prose(file, "".join(cell["source"])):
                yield place._replace(line=number)


READERS = {".py": python_prose, ".md": page_prose, ".ipynb": notebook_prose}
READERS |= {".ts": typescript_prose, ".tsx": typescript_prose}


def is_read(file: str) -> bool:
    """Whether its prose is ours to mend: what is generated repeats it."""
    if file.endswith((".gen.ts", ".test.ts", ".test.tsx")) or "/testing/" in file:
        return False
    return file.endswith((".md", ".ipynb")) or file.startswith(PACKAGES)


def sources() -> list[Path]:
    """The files whose prose is read."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    files = [ROOT / each for each in listed if is_read(each) and Path(each).suffix in READERS]
    return [each for each in files if each.is_file()]


def python_docstrings(file: str, source: str) -> Iterator[Place]:
    """Docstrings, those of attributes too."""
    for node in nodes_of(source):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield Place(file, node.lineno, str(node.value.value))


def user_texts(file: str, source: str) -> Iterator[Place]:
    """Texts that users read: strings of at least four words, and pages."""
    if file.endswith(".py"):
        places = python_strings(file, source)
        yield from (place for place in places if place.text.count(" ") >= 3)
    elif file.endswith((".md", ".ipynb")) and file != "CONTRIBUTING.md":
        yield from READERS[Path(file).suffix](file, source)


def problems(places: Iterator[Place], rules: Sequence[Rule] = RULES) -> Iterator[str]:
    """Each place that a rule finds, with what to write."""
    for place in places:
        text = " ".join(place.text.split())
        for rule in rules:
            found = re.search(rule.pattern, text)
            if found:
                near = text[max(found.start() - 30, 0) : found.end() + 20]
                yield f"{place.file}:{place.line}: … {near} …: write {rule.instead}"


def all_problems() -> list[str]:
    """Every problem of the tree, each place once."""
    found: dict[str, None] = {}
    docstrings: list[str] = []
    for path in sources():
        file, source = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        found.update(dict.fromkeys(problems(READERS[path.suffix](file, source))))
        if file not in JAVASCRIPT:
            found.update(dict.fromkeys(problems(user_texts(file, source), VOICE)))
        if path.suffix == ".py":
            places = python_docstrings(file, source)
            docstrings += [" ".join(place.text.split()) for place in places]
    for rule, most in zip(VOICE, DOCSTRINGS, strict=True):
        count = sum(re.search(rule.pattern, text) is not None for text in docstrings)
        if count > most:
            found[f"{count} docstrings, at most {most}, like {rule.example!r}"] = None
    return list(found)


@pytest.mark.parametrize("rule", RULES + VOICE, ids=lambda rule: rule.example)
def test_a_rule_finds_its_example_and_lets_the_other_pass(rule: Rule) -> None:
    assert re.search(rule.pattern, rule.example)
    assert not re.search(rule.pattern, rule.fine)


def test_every_kind_of_file_is_read() -> None:
    said = "a table that is no table"

    found = [
        list(problems(python_prose("a.py", f'"""It is\n{said}."""\n'))),
        list(problems(python_prose("a.py", f"x = 1  # {said}\n"))),
        list(problems(python_prose("a.py", f'f"{{x}}, {said}"\n'))),
        list(problems(typescript_prose("a.ts", f'const a = "{said}";'))),
        list(problems(typescript_prose("a.tsx", f"<p>{said}</p>"))),
        list(problems(typescript_prose("a.ts", "/** It is\n * no table. */"))),
        list(problems(page_prose("a.md", f"# Title\n\nIt has {said.replace(' ', chr(10))}."))),
        list(problems(notebook_prose("a.ipynb", json.dumps(notebook(said))))),
    ]

    assert [len(each) for each in found] == [1] * len(found)
    assert not list(problems(page_prose("a.md", f"```\n{said}\n```\n")))
    assert not list(problems(page_prose("a.md", f"{QUOTES_THEM}\n\n{said}\n")))
    assert found[6][0].startswith("a.md:3: ")


def notebook(text: str) -> dict[str, object]:
    """A notebook of one Markdown cell."""
    return {"cells": [{"cell_type": "markdown", "source": [text]}]}


def list_sentences(paths: list[str]) -> Iterator[str]:
    """The strings of at least three words below some paths, without docstrings and comments."""
    for path in sources():
        file = path.relative_to(ROOT).as_posix()
        if not file.startswith(tuple(paths)):
            continue
        source = path.read_text(encoding="utf-8")
        read = python_strings if path.suffix == ".py" else READERS[path.suffix]
        places = [place for place in read(file, source) if place.text.count(" ") >= 2]
        if places:
            yield f"{file}:"
            yield from (f"  {place.line:4} {' '.join(place.text.split())}" for place in places)


if __name__ == "__main__":
    if "--sentences" in sys.argv:
        print("\n".join(list_sentences(sys.argv[sys.argv.index("--sentences") + 1 :])))
        sys.exit()
    listed = all_problems()
    print("\n".join(listed))
    sys.exit(bool(listed))
