"""Runs a program on devices with backends, and profiles it: Exported → one RunRow each.

Backends that come with Export Explorer are in `builtin_backends`, listed in `backend_registry`.
`verify` checks whether a program is correct.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.run.backend import Backend as Backend
    from export_engine.run.backend import Job as Job
    from export_engine.run.backend import Ready as Ready
    from export_engine.run.backend import RepeatedBackend as RepeatedBackend
    from export_engine.run.backend import RuntimeBackend as RuntimeBackend
    from export_engine.run.backend import RuntimeNode as RuntimeNode
    from export_engine.run.backend import WatchedBackend as WatchedBackend
    from export_engine.run.backend_registry import backends as backends
    from export_engine.run.backend_registry import check_names as check_names
    from export_engine.run.backend_registry import choose_backends as choose_backends
    from export_engine.run.backend_registry import collect_backends as collect_backends
    from export_engine.run.backend_registry import missing_for as missing_for
    from export_engine.run.backend_values import op_values as op_values
    from export_engine.run.backend_values import without_values as without_values
    from export_engine.run.builtin_backends.eager_layouts import replace_views as replace_views
    from export_engine.run.builtin_backends.executorch import edge_options as edge_options
    from export_engine.run.builtin_backends.executorch_trace import (
        iter_instructions as iter_instructions,
    )
    from export_engine.run.builtin_backends.executorch_trace import (
        pair_instructions as pair_instructions,
    )
    from export_engine.run.builtin_backends.executorch_trace import trace_calls as trace_calls
    from export_engine.run.builtin_backends.needs import packages as packages
    from export_engine.run.check_call import Rejected as Rejected
    from export_engine.run.check_call import find_refusal as find_refusal
    from export_engine.run.check_call import refusing_first as refusing_first
    from export_engine.run.device_speed import measure_speed as measure_speed
    from export_engine.run.eager_baseline import Bench as Bench
    from export_engine.run.eager_baseline import name_symbols as name_symbols
    from export_engine.run.failure_text import sentence_of as sentence_of
    from export_engine.run.op_origins import Origins as Origins
    from export_engine.run.op_profile import ProgramFailed as ProgramFailed
    from export_engine.run.op_profile import profile as profile
    from export_engine.run.plan import Plan as Plan
    from export_engine.run.plan import run as run
    from export_engine.run.remote import pack_program as pack_program
    from export_engine.run.remote import run_packed as run_packed
    from export_engine.run.run_inputs import Call as Call
    from export_engine.run.run_inputs import Inputs as Inputs
    from export_engine.run.run_inputs import Sizes as Sizes
    from export_engine.run.run_inputs import calls_of as calls_of
    from export_engine.run.run_record import with_runs as with_runs
    from export_engine.run.run_row import unavailable as unavailable
    from export_engine.run.torch_devices import devices as devices
    from export_engine.run.torch_devices import full_name as full_name
    from export_engine.run.torch_devices import missing_device as missing_device
    from export_engine.run.torch_devices import present_device as present_device
    from export_engine.run.torch_devices import synchronize as synchronize
else:
    __getattr__, __dir__ = lazy_names(__name__)
