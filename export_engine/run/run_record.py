"""Runs and a profile as the Record has them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from export_engine.record import Profile, Record, RunRow


def with_runs(record: Record, runs: Sequence[RunRow], profile: Profile | None) -> Record:
    """A Record with what running its program gave; a run that was done again is there once."""
    if not runs and profile is None:
        return record
    kept = {_key(row): row for row in (*record.runs, *runs)}
    return msgspec.structs.replace(
        record, runs=list(kept.values()), profile=profile or record.profile
    )


def _key(row: RunRow) -> tuple[str, ...]:
    return row.backend, row.device, row.inputs, row.where
