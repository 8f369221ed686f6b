"""What is left of memory: what a container leaves, where that is less than the machine has."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from export_engine.run.free_memory import free_memory

GB = 10**9
V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
V2 = ("memory.max", "memory.current", "inactive_file")


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of which 64 GB are free."""
    free = psutil.virtual_memory()._replace(available=64 * GB)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: free)


def _told(root: Path, cgroup: str) -> None:
    file = root / "proc/self/cgroup"
    file.parent.mkdir(parents=True)
    file.write_text(cgroup, encoding="utf-8")


def _group(folder: Path, names: tuple[str, str, str], limit: str, used: int, idle: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / names[0]).write_text(f"{limit}\n", encoding="ascii")
    (folder / names[1]).write_text(f"{used}\n", encoding="ascii")
    stat = f"anon 12\n{names[2]} {idle}\nslab 3\n"
    (folder / "memory.stat").write_text(stat, encoding="ascii")


def test_without_groups_it_is_the_machines(tmp_path: Path) -> None:
    assert free_memory(tmp_path) == 64 * GB


def test_a_limit_counts_what_is_used_but_for_idle_files(tmp_path: Path) -> None:
    _told(tmp_path, "0::/\n")
    _group(tmp_path / "sys/fs/cgroup", V2, str(8 * GB), 5 * GB, GB)

    assert free_memory(tmp_path) == 4 * GB


def test_the_narrowest_of_nested_groups_holds(tmp_path: Path) -> None:
    _told(tmp_path, "0::/user.slice/job.scope\n")
    groups = tmp_path / "sys/fs/cgroup"
    _group(groups / "user.slice", V2, str(6 * GB), 4 * GB, 0)
    _group(groups / "user.slice/job.scope", V2, "max", 4 * GB, 0)

    assert free_memory(tmp_path) == 2 * GB


def test_groups_of_the_first_version_are_read(tmp_path: Path) -> None:
    _told(tmp_path, "9:name=systemd:/\n4:memory:/docker/ab:c\n1:cpu,cpuacct:/docker\n")
    groups = tmp_path / "sys/fs/cgroup/memory"
    _group(groups, V1, str(2**63 - 4096), 30 * GB, 0)
    _group(groups / "docker/ab:c", V1, str(3 * GB), GB, 0)

    assert free_memory(tmp_path) == 2 * GB


def test_nothing_is_left_beyond_a_limit(tmp_path: Path) -> None:
    _told(tmp_path, "0::/\n")
    _group(tmp_path / "sys/fs/cgroup", V2, str(GB), 2 * GB, 0)

    assert free_memory(tmp_path) == 0
