"""Pages of what is written elsewhere in the repository."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import explorer
from docs.site.links import DOCS, MADE, MIRRORED, ROOT, site_links
from export_engine.record import record_schema
from export_engine.rules import CODES

GROUPS = {
    "diagnosis": "Why an export failed",
    "finding": "What is wrong or surprising in an export that succeeded",
    "guarantee": "What torch.export guarantees, and Verify checks",
    "set": "What does not fit between the programs of a set",
}


def names() -> set[str]:
    """All pages that are made, relative to `docs/`."""
    mirrored = {page for page in MIRRORED.values() if page.startswith("_made/")}
    codes = {f"_made/codes/{code}.md" for code in CODES}
    others = ("help", "api", "schema", "gallery", "codes/index")
    return mirrored | codes | {f"_made/{each}.md" for each in others}


def write(made: Path = MADE) -> None:
    """Writes them into a folder, all but those with live views."""
    (made / "codes").mkdir(parents=True, exist_ok=True)
    for source, page in MIRRORED.items():
        if source.endswith(".md"):
            text = (ROOT / source).read_text(encoding="utf-8")
            name = "readme.md" if page == "index.md" else Path(page).name
            moved = site_links(text, ROOT / source, DOCS / page)
            (made / name).write_text(moved, encoding="utf-8")
    for code in CODES:
        (made / "codes" / f"{code}.md").write_text(_code_page(code), encoding="utf-8")
    (made / "codes" / "index.md").write_text(_code_index(), encoding="utf-8")
    (made / "help.md").write_text(_help(), encoding="utf-8")
    (made / "api.md").write_text(_api(), encoding="utf-8")
    schema = record_schema()
    (made / "record.schema.json").write_text(json.dumps(schema, indent=1), encoding="utf-8")
    (made / "schema.md").write_text(_schema(schema), encoding="utf-8")


def _code_page(code: str) -> str:
    """The page that `explorer.explain` prints, with its neighbours."""
    group = CODES[code].group
    held = explorer.explain(code)
    return (
        f"{held.text.rstrip()}\n\n## See also\n\n"
        f"`export-explorer --explain {code}` prints this page, as does "
        f'`explorer.explain("{code}")`.\n'
        f"[All codes](index.md) · {_HOW_TO[group]}\n"
    )


_HOW_TO = {
    "diagnosis": "[Fix an export that fails](../../how-to/fix-a-failure.md)",
    "finding": "[Check an export that succeeds](../../how-to/check-a-program.md)",
    "guarantee": "[Check an export that succeeds](../../how-to/check-a-program.md)",
    "set": "[Ship a program](../../how-to/ship-a-language-model.md)",
}


def _code_index() -> str:
    parts = [
        "# Codes\n",
        "Each kind of failure, finding and guarantee has a code. It stands in the view, in JSON",
        "and in SARIF, keeps its meaning, and `export-explorer --explain` explains it, too.\n",
    ]
    for group, title in GROUPS.items():
        parts += [f"## {title}\n", "| code | | |", "|---|---|---|"]
        for code in (each for each in CODES if CODES[each].group == group):
            page = explorer.explain(code)
            parts.append(f"| [{code}]({code}.md) | {page.title} | {' '.join(page.means.split())} |")
        parts.append("")
    return "\n".join([*parts, *_tree(CODES)])


def _tree(pages: Iterable[str]) -> list[str]:
    return [":::{toctree}", ":hidden:", "", *pages, ":::", ""]


def _help() -> str:
    """What `--help` prints, of the command and of its parts."""
    from explorer.cli import main as command_line

    parts = ["# Help of the command line\n"]
    for words in ([], ["check"], ["reproduce"]):
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
            command_line.main([*words, "--help"])
        title = " ".join(["export-explorer", *words])
        parts += [f"## {title}\n", f"```text\n{said.getvalue().strip()}\n```\n"]
    return "\n".join(parts)


def _api() -> str:
    """The public names of `explorer`, with their docstrings."""
    parts = [
        "# The Python interface\n",
        "What `import explorer` gives, from its docstrings. [Examples](../reference/python.md) are",
        "on a page of their own.\n",
    ]
    for name in sorted(explorer.__all__, key=str.lower):
        kind = _kind(getattr(explorer, name))
        options = [] if kind == "function" else ["   :members:"]
        parts += [f"## {name}\n", "```{eval-rst}", f".. auto{kind}:: explorer.{name}"]
        parts += [*options, "```", ""]
    return "\n".join(parts)


def _kind(value: object) -> str:
    if isinstance(value, type):
        return "exception" if issubclass(value, BaseException) else "class"
    return "function" if callable(value) else "module"


def _schema(schema: Mapping[str, Any]) -> str:
    """A section for each type of the Record."""
    parts = [
        "# The Record\n",
        f"{schema['title']}: all that a view shows of one attempt, as plain data. `ex.record` is",
        "one, `ex.save()` writes one, and `export-explorer --schema` prints the [JSON",
        "Schema](record.schema.json) that this page is made from.\n",
    ]
    for name, kind in schema["$defs"].items():
        parts += [f"## {name}\n", _cell(kind.get("description", "")), ""]
        rows = kind.get("properties", {})
        if rows:
            parts += ["| field | type | |", "|---|---|---|"]
            for field, held in rows.items():
                said = _cell(held.get("description", ""))
                parts.append(f"| `{field}` | {_type(held)} | {said} |")
        elif "prefixItems" in kind:
            parts.append(f"An array: {', '.join(map(_type, kind['prefixItems']))}.")
        parts.append("")
    return "\n".join(parts)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")


def _type(held: Mapping[str, Any]) -> str:
    """A type of JSON Schema in few words."""
    if "$ref" in held:
        name = held["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in held:
        return " or ".join(_type(each) for each in held["anyOf"])
    if "enum" in held:
        return " or ".join(f"`{json.dumps(each)}`" for each in held["enum"])
    match held.get("type"):
        case "array":
            items = held.get("items")
            return f"array of {_type(items)}" if items else "array"
        case "object":
            values = held.get("additionalProperties")
            return f"object of {_type(values)}" if values else "object"
        case str(name):
            return name
    return "any"
