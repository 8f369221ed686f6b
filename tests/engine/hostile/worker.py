"""Opens archives in a process of its own and says what each one did.

    python worker.py FOLDER PLAIN EXPLORED < names

`FOLDER` holds the archives, `PLAIN` and `EXPLORED` are harmless ones. A line of JSON per name comes
out. Whatever Python's audit hooks tell of is noted, but for what is named below.
"""

from __future__ import annotations

import json
import math
import os
import resource
import sys
import time
import traceback
import zipfile
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

HARMLESS = {
    "object.__getattr__",
    "object.__setattr__",
    "sys._getframe",
    "sys._current_frames",
    "array.__new__",
    "builtins.id",
    "gc.get_objects",
    "sys.excepthook",
    "code.__new__",
    "re.compile",
    "signal.setitimer",
    "time.sleep",
    "resource.setrlimit",
}
"""Of these, none reaches out of the process, and none runs text."""
_PACKAGE = find_spec("export_engine")
assert _PACKAGE is not None
assert _PACKAGE.origin is not None
OUR_PAGES = str(Path(_PACKAGE.origin).parent / "codes" / "pages")
"""What a report shows of codes: our own files, of which an archive chooses by a number."""
MOST_MEMORY = 500 * 2**20
"""Bytes, beyond what opening the clean one takes."""


class Watch:
    """What was done while an archive was open."""

    def __init__(self) -> None:
        self.seen: list[str] | None = None
        """None: nobody looks."""
        self.may_read: tuple[str, ...] = ()
        self.may_write: tuple[str, ...] = ()

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """An audit hook."""
        if self.seen is None or event in HARMLESS:
            return
        if event == "open" and self._may_open(*arguments):
            return
        kept, self.seen = self.seen, None  # to say what it was may raise events too
        try:
            kept.append(f"{event} {str(arguments)[:200]}")
        finally:
            self.seen = kept

    def _may_open(self, path: Any, mode: Any, flags: Any) -> bool:
        if path in self.may_read or str(Path(str(path)).parent) == OUR_PAGES:
            return not flags & (os.O_WRONLY | os.O_RDWR)
        return path in self.may_write


def looked_at(path: Path, clean: Any, folder: Path) -> str:
    """Everything that is made of what was read; the sentence, where it is refused."""

    import explorer
    from explorer.display.pane_view import View
    from explorer.text.escape import harmless
    from export_engine.archive import ArchiveError
    from export_engine.source import SourceMissing, source_lines

    try:
        ex = explorer.load(path)
    except ArchiveError as error:
        said = str(error) or "no sentence"
        return said if harmless(said) == said else control_characters(said)
    several = [repr(ex)] if isinstance(ex, explorer.Programs) else []
    if isinstance(ex, explorer.Programs):
        ex = next(iter(ex.values()))
    texts = [*several, repr(ex), repr(explorer.diff(ex, clean)), repr(explorer.diff(clean, ex))]
    texts += [repr(View(ex.session, pane)) for pane in PANES]
    assert all(harmless(text) == text for text in texts), "a text has control characters"
    ex.save(folder / "record.json")
    json.loads((folder / "record.json").read_bytes())
    page = ex.save(folder / "report.html").read_text(encoding="utf-8")
    assert "<img src=x" not in page, "markup from the archive is markup in the page"
    assert "\x1b" not in page
    for number in range(len(ex.record.files)):
        with suppress(SourceMissing):
            source_lines(ex.record, number)
    assert ex.session.state()["attempts"][0]["untrusted"]
    return ""


def memory(field: str) -> int:
    """Bytes that this process has: `VmRSS` now, `VmHWM` at its peak."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise LookupError(field)


def forget_peak() -> int:
    """Lets the peak begin anew; returns what the process has."""
    Path("/proc/self/clear_refs").write_text("5")
    return memory("VmRSS")


def control_characters(text: str) -> str:
    """Raises."""
    raise AssertionError(f"control characters in {text!r}")


PANES = ("graph", "signature", "source", "shapes", "code")


def main() -> None:
    """See above."""
    folder, *harmless = map(Path, sys.argv[1:])
    names = [line.rstrip("\n") for line in sys.stdin]
    import explorer
    import widgets
    from export_engine import source

    coloured = cache(source.python_lines)  # most archives print the same code
    source.python_lines = lambda text, seconds=math.inf: coloured(text, seconds)
    widgets.front_end = lambda: b""  # type: ignore[assignment]  # packing it takes a second
    clean = explorer.load(harmless[0])
    made = folder / f"made-{os.getpid()}"
    made.mkdir()
    several = made / "several.pt2"
    several.write_bytes(harmless[0].read_bytes())
    with zipfile.ZipFile(several, "a") as archive:
        model = next(each for each in archive.namelist() if each.endswith("models/model.json"))
        archive.writestr(model.replace("model.json", "other.json"), archive.read(model))
    for path in (*harmless, several):  # whatever is imported and made once is there then
        assert looked_at(path, clean, made) == ""
    broken = made / "broken.pt2"
    broken.write_bytes(b"broken")
    assert looked_at(broken, clean, made)
    assert "torch" not in sys.modules, "torch was imported"
    os.chdir(made)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MOST_MEMORY,) * 2)
    watch = Watch()
    watch.may_write = tuple(str(made / name) for name in ("record.json", "report.html"))
    sys.addaudithook(watch)
    for name in names:
        path = folder / name
        before = forget_peak()
        watch.may_read, watch.seen = (str(path), str(harmless[0])), []
        started, fault, refused = time.process_time(), "", ""
        try:
            refused = looked_at(path, clean, made)
        except BaseException:  # noqa: BLE001 - whatever it is, it is told
            fault = traceback.format_exc()[-3000:]
        seen, watch.seen = watch.seen, None
        took = time.process_time() - started
        grew = memory("VmHWM") - before
        said = {"name": name, "refused": refused, "fault": fault, "seen": seen, "took": took}
        said["grew"] = grew
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
