"""Effects of a newer torch, or another package, on a survey's models, and the release of each."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from explorer.surveys.comparison import Change, SurveyComparison
from explorer.surveys.environments import (
    InstallError,
    Maker,
    list_versions,
    make_environment,
    version_key,
)
from explorer.surveys.journal import Journal
from explorer.surveys.plan import SurveyError, choose_trials, list_trials, read_survey
from explorer.surveys.result import SurveyResult
from explorer.surveys.running import Report, carry_out
from explorer.text.escape import harmless
from export_engine.defects import log_internal_error

_BISECTED = ("fails now", "cured", "differs now", "other code", "program changed")
"""Kinds of changes whose release is searched for. Seconds vary from run to run."""


class Since(NamedTuple):
    """Between which releases a trial changed."""

    last: str
    """The last that is as before."""
    first: str
    """The first that is not; there is no release between that could be tried."""


class Upgrade:
    """Two surveys of the same models, before and after an upgrade. `print` it."""

    def __init__(
        self,
        package: str,
        versions: tuple[str, str],
        surveys: tuple[SurveyResult, SurveyResult],
        since: Mapping[str, Since],
        problems: Sequence[str] = (),
    ) -> None:
        """Make one.

        Args:
            package: what is upgraded: `torch`.
            versions: from which, and to which.
            surveys: the results in either.
            since: by the name of a change, the releases that it is between.
            problems: what could not be tried, a sentence each.
        """
        self.package, self.versions = package, versions
        self.before, self.after = surveys
        self.comparison = SurveyComparison(self.before.rows, self.after.rows)
        self.since, self.problems = dict(since), tuple(problems)

    @property
    def changes(self) -> list[Change]:
        """The changes, one for each trial."""
        return self.comparison.changes

    @property
    def ok(self) -> bool:
        """Whether no model fails or differs that did not before."""
        return self.comparison.ok

    def __repr__(self) -> str:
        head = f"{self.package} {self.versions[0]} → {self.versions[1]}: {self.comparison}"
        lines = head.splitlines()
        names = {change.name: change for change in self.changes}
        for name, since in self.since.items():
            if name in names:
                lines.append(f"  {name} changed with {self.package} {_release(since)}.")
        return harmless("\n".join([*lines, *self.problems]))

    def to_json(self) -> str:
        """The versions, the changes, and both tables, as JSON."""
        document: dict[str, Any] = {
            "package": self.package,
            "from": self.versions[0],
            "to": self.versions[1],
            "changes": [self._describe(change) for change in self.changes],
            "problems": list(self.problems),
            "before": msgspec.to_builtins(self.before.rows),
            "after": msgspec.to_builtins(self.after.rows),
        }
        return json.dumps(document, indent=1) + "\n"

    def _describe(self, change: Change) -> dict[str, Any]:
        """A change, with the releases that it is between."""
        since = self.since.get(change.name)
        between = {"last": since.last, "first": since.first} if since else None
        return {
            "kind": change.kind,
            "name": change.name,
            "sentence": change.sentence,
            "since": between,
        }

    def save(self, path: str | Path) -> Path:
        """Writes `.json` or `.txt`; returns the path.

        Raises:
            OSError: the file cannot be written.
            ValueError: there is no such format.
        """
        file = Path(path)
        if file.suffix not in (".json", ".txt"):
            raise ValueError(f"{file} must end in .json or .txt.")
        text = self.to_json() if file.suffix == ".json" else f"{self}\n"
        file.write_text(text, encoding="utf-8")
        return file


def _release(since: Since) -> str:
    """`2.14.0`, or between which releases where those between could not be tried."""
    return f"{since.first} (as before with {since.last})"


def upgrade(
    source: str | Path | Mapping[str, Any],
    before: str,
    after: str,
    *,
    folder: str | Path,
    more: Sequence[str] = (),
    workers: int | None = None,
    only: Sequence[str] = (),
    part: tuple[int, int] = (1, 1),
    bisect: bool = True,
    progress: Report | None = None,
    make: Maker = make_environment,
) -> Upgrade:
    """Surveys the same models with two releases of a package, and says what the newer one changes.

    Each release is installed into an environment of its own, beside all that this one has. Each
    trial that changed is repeated with releases in between, to find the first that changes it.
    Environments and journals stay in the folder, so that the same call goes on where it was
    stopped.

    Args:
        source: `survey.toml`, or a dict of the same fields.
        before: the release now: `torch==2.13.0`.
        after: the one to upgrade to: `torch==2.15.0`.
        folder: for environments and journals; made if it is not there.
        more: requirements to install in each environment besides.
        workers: how many trials run at once; by default a core each.
        only: patterns of names, `bert*`.
        part: which part of the survey, from 1, and of how many.
        bisect: whether to look for the release of each change.
        progress: called with each row.
        make: makes the environments.

    Raises:
        SurveyError: the survey is not right, or the releases are not two of one package.
        InstallError: one of the two cannot be installed.
        OSError: the folder cannot be written.
    """
    package, versions = _parse_releases(before, after)
    at = Path(folder)
    (at / "environments").mkdir(parents=True, exist_ok=True)
    plan, home = read_survey(source)
    if plan.pythons:
        raise SurveyError("Leave out `pythons`: an upgrade compares two releases.")

    def run(version: str, names: set[str] | None = None) -> SurveyResult:
        python = make(f"{package}=={version}", more, at / "environments")
        trials = list_trials(msgspec.structs.replace(plan, pythons={"": python}), home)
        chosen = choose_trials(trials, only, part)
        wanted = [trial for trial in chosen if names is None or trial.key in names]
        return carry_out(wanted, Journal(_journal(at, package, version, more)), workers, progress)

    surveys = run(versions[0]), run(versions[1])
    since, problems = dict[str, Since](), list[str]()
    if bisect:
        search = _Bisection(run, surveys[0])
        changed = SurveyComparison(surveys[0].rows, surveys[1].rows).changes
        names = {change.name for change in changed if change.kind in _BISECTED}
        if names:
            try:
                between = _list_releases_between(list_versions(package), versions)
                search.look(versions[0], versions[1], between, names)
            except InstallError as error:
                problems.append(f"No release between the two was tried: {error}")
        since, problems = search.since, [*problems, *search.problems]
    return Upgrade(package, versions, surveys, since, problems)


def _parse_releases(before: str, after: str) -> tuple[str, tuple[str, str]]:
    """The package, and the two versions. Raises SurveyError."""
    read = [re.fullmatch(r"([\w.-]+)\s*==\s*([\w.+!-]+)", text.strip()) for text in (before, after)]
    if not read[0] or not read[1] or read[0][1].lower() != read[1][1].lower():
        raise SurveyError(
            f"{before!r} and {after!r} are not two releases of one package, such as torch==2.13.0 "
            "and torch==2.15.0."
        )
    return read[0][1], (read[0][2], read[1][2])


def _journal(folder: Path, package: str, version: str, more: Sequence[str]) -> Path:
    named = re.sub(r"[^\w.]+", "-", " ".join([package, version, *more]))
    return folder / f"{named}.jsonl"


def _list_releases_between(listed: Sequence[str], ends: tuple[str, str]) -> list[str]:
    """The releases between two; no release candidates or builds of a night."""
    low, high = sorted(map(version_key, ends))
    released = [text for text in listed if re.fullmatch(r"\d+(\.\d+)*", text)]
    texts = [text for text in released if low < version_key(text) < high]
    return texts if version_key(ends[0]) <= version_key(ends[1]) else texts[::-1]


class _Bisection:
    """Finds the first release that changes a trial, all trials together."""

    def __init__(self, run: Callable[[str, set[str]], SurveyResult], before: SurveyResult) -> None:
        self._run, self._before = run, before
        self.since: dict[str, Since] = {}
        self.problems: list[str] = []

    def look(self, last: str, first: str, between: list[str], names: set[str]) -> None:
        """Bisects trials that are as before with `last`, and are not with `first`.

        Args:
            last: a release.
            first: a later one.
            between: the releases between the two, in order.
            names: the keys of the trials.
        """
        if not names:
            return
        if not between:
            self.since |= dict.fromkeys(names, Since(last, first))
            return
        middle = len(between) // 2
        version = between[middle]
        try:
            result = self._run(version, names)
        except InstallError as error:
            log_internal_error(error, f"installing {version}")
            self.problems.append(f"{version} was left out: {error}")
            self.look(last, first, [text for text in between if text != version], names)
            return
        rows = [row for row in self._before.rows if row.key in names]
        changes = SurveyComparison(rows, result.rows).changes
        changed = {change.name for change in changes if change.kind in _BISECTED}
        self.look(last, version, between[:middle], names & changed)
        self.look(version, first, between[middle + 1 :], names - changed)


def remove_environments(folder: str | Path) -> None:
    """Deletes the environments of an upgrade, gigabytes each; the journals stay."""
    shutil.rmtree(Path(folder) / "environments", ignore_errors=True)
