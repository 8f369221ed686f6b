"""Files beside the code that name its versions and its commands are in step with it."""

from __future__ import annotations

import re

from tests.matrix_table import SUPPORTED
from tests.release_check import read, versions


def test_the_version_is_the_same_wherever_it_stands() -> None:
    assert len(set(versions().values())) == 1, versions()


def test_the_workflow_calls_what_there_is_on_every_supported_torch() -> None:
    workflow = read(".github/workflows/tests.yml")
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE))

    assert set(re.findall(r"run: make ([a-z-]+)", workflow)) <= targets
    (listed,) = re.findall(r"torch: \[(.*)\]", workflow)
    pinned = re.findall(r"^torch==(\S+)$", read("constraints.txt"), re.MULTILINE)
    assert {each.strip('" ') for each in listed.split(",")} | set(pinned) == set(SUPPORTED)


def test_a_torch_that_nobody_here_knows_is_tried_each_week() -> None:
    workflow = read(".github/workflows/tests.yml")
    (job,) = re.findall(r"^  unseen:\n((?:    .*\n)+)", workflow, re.MULTILINE)

    assert "schedule:" in workflow
    assert "if: github.event_name == 'schedule'" in job
    assert "make test-torch TORCH=torch TESTS=fast" in job
