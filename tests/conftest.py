"""Settings of all Python tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator

import pytest
from hypothesis import settings

# Inductor would compile a program for each instruction set, only to ask the compiler for it.
os.environ.setdefault("TORCHINDUCTOR_VEC_ISA_OK", "1")

# The first example of a property often pays for an import of torch.
settings.register_profile("house", deadline=None, print_blob=True)
settings.load_profile("house")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`make test-thorough` is called with it."""
    parser.addoption(
        "--thorough",
        action="store_true",
        help="tries every case also where a test tries one of several that are alike",
    )


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
