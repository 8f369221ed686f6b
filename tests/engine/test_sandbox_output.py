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
