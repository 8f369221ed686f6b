"""Which rewriters a reported failure or a model of a real package needs.

    python -m tests.benchmarks.attribution record reports/ zoo/     # who takes part in which fix
    python -m tests.benchmarks.attribution without reports/ zoo/    # each of those switched off
    python -m tests.benchmarks.attribution table                    # the table, beside this file

A rewriter takes part if the text it gave is one of those that the final text was made from, or if
it was called for one of them. It is needed if some case ends worse without it. What was run is kept
in `.pytest_cache`, so that a call goes on where the last one ended.
"""

from __future__ import annotations

import ast
import functools
import importlib.abc
import importlib.machinery
import inspect
import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import CodeType
from typing import Any

_ROOT = Path(__file__).parents[2]
_FIXES = "export_engine.fixes"
_KEPT = _ROOT / ".pytest_cache" / "attribution"
_TABLE = Path(__file__).with_suffix(".tsv")
_LOWEST = (f"{_FIXES}.code.editing",)
"""Shared by all rewriters; none of them is one."""

Log = list[tuple[str, str, str, int]]
"""Who was called, the text it was given, the text it gave or "", and who called: an index or -1."""
LOG: Log = []
TRIED: set[str] = set()
OFFERED: dict[str, str] = {}
"""Per title of a fix, the provider."""
_CALLERS: list[int] = []
_OFF: set[str] = set()
"""Modules that are switched off."""


# Watching: each function at the top of a module of fixes is decorated when it is imported


class _Watcher(importlib.machinery.SourceFileLoader):
    def source_to_code(  # type: ignore[override]
        self, data: bytes, path: str, *, _optimize: int = -1
    ) -> CodeType:
        tree = ast.parse(data)
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and not node.decorator_list:
                node.decorator_list.append(ast.Name("_watched_by_benchmark", ast.Load()))
        ast.fix_missing_locations(tree)
        return compile(tree, path, "exec", dont_inherit=True)

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)

    def exec_module(self, module: Any) -> None:
        vars(module)["_watched_by_benchmark"] = watched
        super().exec_module(module)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if not fullname.startswith(f"{_FIXES}.") or fullname.startswith(_LOWEST):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or not spec.origin or spec.submodule_search_locations is not None:
            return None
        spec.loader = _Watcher(fullname, spec.origin)
        return spec


_PROVIDERS = {"assume_branch_on_data", "keeping_all_sizes", "without_bounds"}
"""Those that no name tells, beside `suggest_...`."""


def watched(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which says when it is called, and refuses where its module is off."""
    module = function.__module__.removeprefix(f"{_FIXES}.")
    if function.__name__.startswith("suggest_") or function.__name__ in _PROVIDERS:
        return _watched_provider(function, module)
    if inspect.isgeneratorfunction(function) or function.__name__.startswith("_"):
        return function
    if not module.startswith("code."):
        return function

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        from export_engine.fixes.code.editing.text_edits import CannotRewrite

        if module in _OFF:
            raise CannotRewrite("switched off")
        TRIED.add(module)
        index = len(LOG)
        text = args[0] if args and isinstance(args[0], str) and "\n" in args[0] else ""
        LOG.append((module, text, "", _CALLERS[-1] if _CALLERS else -1))
        _CALLERS.append(index)
        try:
            result = function(*args, **kwargs)
        finally:
            _CALLERS.pop()
        given = next(_texts(result), None if result in (None, False) else "\0")
        LOG[index] = (*LOG[index][:2], given or "", LOG[index][3])
        return result

    return called


def _texts(result: Any) -> Iterator[str]:
    if hasattr(result, "text") and hasattr(result, "function"):
        yield result.text
    elif isinstance(result, tuple):
        for each in result:
            yield from _texts(each)


def _watched_provider(function: Callable[..., Any], module: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def offering(*args: Any, **kwargs: Any) -> Iterator[Any]:
        if module in _OFF:
            return
        TRIED.add(module)
        for fix in function(*args, **kwargs):
            if hasattr(fix, "title"):
                OFFERED.setdefault(fix.title, module)
            yield fix

    return offering


# Runs


def _run(case: Any, strict: bool, off: Sequence[str] = ()) -> dict[str, Any]:
    """The outcome, and who took part."""
    from tests.fixes import outcomes

    LOG.clear(), TRIED.clear(), OFFERED.clear(), _CALLERS.clear()
    _OFF.clear()
    _OFF.update(off)
    ends: list[Any] = []
    real = outcomes.autofix

    def kept(*args: Any) -> Any:
        ends.append(real(*args))
        return ends[-1]

    outcomes.autofix = kept
    try:
        outcome = outcomes.measure_limited(case, strict)
    finally:
        outcomes.autofix = real
    taking = set[str]()
    for report in ends:
        taking |= {OFFERED[s.fix.title] for s in report.kept if s.fix.title in OFFERED}
        edits = report.attempt.request.edits if report.attempt.request else ()
        taking |= _behind({each.after for each in edits}, {each.before for each in edits})
    import msgspec

    return {
        "outcome": msgspec.to_builtins(outcome),
        "taking_part": sorted(taking),
        "tried": sorted(TRIED),
    }


def _behind(texts: set[str], originals: set[str]) -> set[str]:
    """The modules whose calls led to some texts, and those that they called to good effect."""
    calls = set[int]()
    open_texts = set(texts)
    while open_texts:
        found = {n for n, each in enumerate(LOG) if each[2] in open_texts and n not in calls}
        calls |= found
        open_texts = {LOG[n][1] for n in found} - originals - {""}
    modules = {LOG[n][0] for n in calls}
    for module, _, given, called_by in LOG:
        caller = called_by
        while caller >= 0 and caller not in calls:
            caller = LOG[caller][3]
        if caller >= 0 and given:
            modules.add(module)
    return modules


def _kept(name: str, mode: str, off: str = "") -> Path:
    file = f"{name.replace('/', '.')}.{mode}{'.' if off else ''}{off}.json"
    return _KEPT / file


def _cases(names: Sequence[str]) -> list[tuple[Any, bool, str]]:
    from tests.fixes.sources import all_cases

    zoo = any(each.startswith("zoo") for each in names)
    modes = {"--strict": (True,), "--non-strict": (False,)}
    wanted = next((modes[each] for each in names if each in modes), (False, True))
    return [
        (case, strict, "strict" if strict else "non-strict")
        for case in all_cases(zoo=zoo)
        if case.name.startswith(tuple(names))
        for strict in case.modes
        if strict in wanted
    ]


def _record(names: Sequence[str]) -> None:
    import msgspec

    from tests.fixes import outcomes

    for case, strict, mode in _cases(names):
        file = _kept(case.name, mode)
        if not file.exists():
            said = _run(case, strict)
            file.write_text(json.dumps(said))
            outcome = said["outcome"]
            outcomes.keep(case, strict, msgspec.convert(outcome, outcomes.Outcome))
            print(case.name, mode, outcome["ended"], *said["taking_part"], flush=True)


def _without(names: Sequence[str]) -> None:
    for case, strict, mode in _cases(names):
        file = _kept(case.name, mode)
        if not file.exists():
            continue
        said = json.loads(file.read_text())
        if said["outcome"]["ended"] != "exports":
            continue
        for module in said["taking_part"]:
            other = _kept(case.name, mode, module)
            if not other.exists() and module not in _needed():
                now = _run(case, strict, [module])
                worse = _find_worse(said["outcome"], now["outcome"])
                other.write_text(json.dumps({**now, "worse": worse}))
                print(case.name, mode, "without", module, *worse, flush=True)


def _find_worse(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What is worse but for the number of exports."""
    import msgspec

    from tests.fixes.outcomes import Outcome, find_worse

    old, new = (msgspec.convert(each, Outcome) for each in (before, now))
    new.exports = min(new.exports, old.exports)
    return find_worse(old, new)


_NEEDED: dict[str, int] = defaultdict(int)
_ENOUGH = 2


def _needed() -> set[str]:
    """The modules of which enough cases are known that need them."""
    _NEEDED.clear()
    for file in _KEPT.glob("*.json"):
        parts = file.name.removesuffix(".json").split("strict.", 1)
        if len(parts) == 2 and json.loads(file.read_text())["worse"]:
            _NEEDED[parts[1]] += 1
    return {module for module, count in _NEEDED.items() if count >= _ENOUGH}


def _table() -> str:
    """A row for each module of fixes: who takes part in how many fixes, and who is needed.

    One that is gone since the cases were run is said to be.
    """
    taking: dict[str, list[str]] = defaultdict(list)
    tried: dict[str, int] = defaultdict(int)
    needing: dict[str, list[str]] = defaultdict(list)
    without: dict[str, int] = defaultdict(int)
    for file in sorted(_KEPT.glob("*.json")):
        said = json.loads(file.read_text())
        name, off = re.split(r"\.(?:non-)?strict\.?", file.name.removesuffix(".json"), maxsplit=1)
        if off:
            without[off] += 1
            if said["worse"]:
                needing[off].append(f"{name} ({said['worse'][0]})")
            continue
        for module in said["tried"]:
            tried[module] += 1
        if said["outcome"]["ended"] == "exports":
            for module in said["taking_part"]:
                taking[module].append(name)
    folder = _ROOT / "export_engine" / "fixes"
    lines = {
        ".".join(path.relative_to(folder).with_suffix("").parts): str(
            len(path.read_text(encoding="utf-8").splitlines())
        )
        for path in sorted(folder.rglob("*.py"))
        if path.stem != "__init__" and "editing" not in path.parts
    }
    rows = ["module\tlines\ttried in\ttakes part in\tswitched off in\tneeded by\twhich"]
    for module in sorted({*lines, *tried}):
        names = sorted(set(needing[module])) or [f"takes part: {n}" for n in taking[module][:2]]
        counts = (tried[module], len(taking[module]), without[module], len(needing[module]))
        size = lines.get(module, "gone")
        rows.append("\t".join([module, size, *map(str, counts), "; ".join(names[:3])]))
    return "\n".join(rows) + "\n"


def main(arguments: Sequence[str]) -> None:
    """Does one of the three, for the cases whose names begin as said."""
    sys.meta_path.insert(0, _Finder())
    _KEPT.mkdir(parents=True, exist_ok=True)
    what, *names = arguments
    if what == "record":
        _record(names)
    elif what == "without":
        _without(names)
    else:
        _TABLE.write_text(_table(), encoding="utf-8")
        print(_TABLE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main(sys.argv[1:])
