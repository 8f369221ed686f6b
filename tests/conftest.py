"""Settings of all Python tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator

import pytest
from hypothesis import settings

from .modes import CHOICES, left_out

# Inductor would compile a program for each instruction set, only to ask the compiler for it.
os.environ.setdefault("TORCHINDUCTOR_VEC_ISA_OK", "1")

# The first example of a property often pays for an import of torch.
settings.register_profile("house", deadline=None, print_blob=True)
settings.load_profile("house")

LOOK_THROUGH_ALL_OBJECTS = (
    *("test_memory", "test_dropped_program"),
    *("test_fixes_", "test_writing", "test_guide", "test_lessons"),
)
"""Files of tests that collect garbage, and those that look for the functions to edit, in order."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`make test-thorough` is called with it."""
    parser.addoption(
        "--thorough",
        action="store_true",
        help="tries every case also where a test tries one of several that are alike",
    )
    parser.addoption(
        "--modes",
        choices=CHOICES,
        default="both",
        help="of a slow test that is tried strict and not: both, one of them, or the other one",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What looks through all objects comes first: the more tests have run, the more there are."""
    out = left_out(items, config.getoption("--modes"))
    if not config.getoption("--thorough"):
        out += [each for each in items if each.get_closest_marker("thorough") is not None]
    if out:
        config.hook.pytest_deselected(items=out)
        gone = {id(each) for each in out}
        items[:] = [each for each in items if id(each) not in gone]
    last = len(LOOK_THROUGH_ALL_OBJECTS)

    def place(item: pytest.Item) -> int:
        if "browser" in item.path.parts:  # the objects are in kernels of their own
            return last
        names = enumerate(LOOK_THROUGH_ALL_OBJECTS)
        return next((at for at, name in names if item.path.name.startswith(name)), last)

    items.sort(key=place)


@pytest.fixture(scope="session")
def one_of(request: pytest.FixtureRequest) -> Callable[[int], int]:
    """The step through cases that are alike: the one that is given, or 1 with `--thorough`."""
    thorough = request.config.getoption("--thorough")
    return lambda step: 1 if thorough else step


@pytest.fixture(scope="session", autouse=True)
def own_data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing of whoever runs the tests is read or written: no progress, no signatures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EXPORT_EXPLORER_DATA", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture
def sigint_heard() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt, also where pytest was started with it ignored, as by `&`."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
