"""What is kept out of the user's cell while torch works, and handed over."""

import logging

import pytest
import torch

from export_engine.capture import quiet


def test_what_torch_logs_wrongly_is_handed_over_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(logging.getLogger(torch.__name__), "propagate", False)  # to pytest's own
    message, said = "Loaded object of type %s after initial failure: %s", "Loaded %s"
    logger = logging.getLogger("torch._export.serde.serialize")
    with quiet() as heard:
        logger.warning(message, tuple)
        logger.warning(said, "it")
    assert heard.warnings == [message, "Loaded it"]


def test_what_torch_writes_for_tlparse_reaches_its_own_log() -> None:
    """A handler that got nothing would stay, and each guard would be worded for it."""
    heard: list[logging.LogRecord] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            heard.append(record)

    log, handler = logging.getLogger("torch.__trace"), Handler()
    log.addHandler(handler)
    try:
        with quiet() as said:
            log.debug("a guard")
        assert [each.getMessage() for each in heard] == ["a guard"]
        assert not said.warnings
    finally:
        log.removeHandler(handler)
