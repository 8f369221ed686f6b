"""All use of torch's private names; nothing else in the project uses them.

`private_names.py` lists each name, and what is lost without it; it is probed on first use. If a
name is missing, the features that need it are left out, and the view lists them.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.torch_internals.capability import Area as Area
    from export_engine.torch_internals.capability import Capability as Capability
    from export_engine.torch_internals.capability import (
        MissingCapabilityError as MissingCapabilityError,
    )
    from export_engine.torch_internals.compiled_buffers import capture_saved as capture_saved
    from export_engine.torch_internals.compiled_buffers import missing_buffers as missing_buffers
    from export_engine.torch_internals.compiled_buffers import printing_package as printing_package
    from export_engine.torch_internals.compiling import compile_watched as compile_watched
    from export_engine.torch_internals.contexts import active_contexts as active_contexts
    from export_engine.torch_internals.contexts import contexts_left as contexts_left
    from export_engine.torch_internals.contexts import device_types as device_types
    from export_engine.torch_internals.contexts import inference_mode_left as inference_mode_left
    from export_engine.torch_internals.contexts import patches_noted as patches_noted
    from export_engine.torch_internals.distinct_ops import keep_distinct_ops as keep_distinct_ops
    from export_engine.torch_internals.dry_runs import NoGraph as NoGraph
    from export_engine.torch_internals.dry_runs import graphs_left_out as graphs_left_out
    from export_engine.torch_internals.dynamic_spec import Container as Container
    from export_engine.torch_internals.dynamic_spec import Variable as Variable
    from export_engine.torch_internals.dynamic_spec import container_of as container_of
    from export_engine.torch_internals.dynamic_spec import container_spec as container_spec
    from export_engine.torch_internals.dynamic_spec import find_attached_spec as find_attached_spec
    from export_engine.torch_internals.dynamic_spec import find_truth as find_truth
    from export_engine.torch_internals.dynamic_spec import ignore_attached as ignore_attached
    from export_engine.torch_internals.dynamic_spec import is_shapes_spec as is_shapes_spec
    from export_engine.torch_internals.dynamic_spec import leaf_specs as leaf_specs
    from export_engine.torch_internals.dynamic_spec import list_assumptions as list_assumptions
    from export_engine.torch_internals.dynamic_spec import (
        missing_shapes_spec as missing_shapes_spec,
    )
    from export_engine.torch_internals.dynamic_spec import shapes_spec as shapes_spec
    from export_engine.torch_internals.dynamic_spec import size_functions as size_functions
    from export_engine.torch_internals.dynamic_spec import spec_variable as spec_variable
    from export_engine.torch_internals.dynamic_spec import tensor_spec as tensor_spec
    from export_engine.torch_internals.dynamo_leftovers import (
        dynamo_leftovers_freed as dynamo_leftovers_freed,
    )
    from export_engine.torch_internals.errors import branch_mismatch as branch_mismatch
    from export_engine.torch_internals.errors import control_flow_operator as control_flow_operator
    from export_engine.torch_internals.errors import find_hashed_size as find_hashed_size
    from export_engine.torch_internals.errors import find_returned_views as find_returned_views
    from export_engine.torch_internals.errors import find_scripted_callee as find_scripted_callee
    from export_engine.torch_internals.errors import (
        find_unregistered_output as find_unregistered_output,
    )
    from export_engine.torch_internals.errors import find_violated_dims as find_violated_dims
    from export_engine.torch_internals.errors import (
        is_constraint_violation as is_constraint_violation,
    )
    from export_engine.torch_internals.errors import is_raised_in as is_raised_in
    from export_engine.torch_internals.errors import node_that_failed as node_that_failed
    from export_engine.torch_internals.errors import operator_without_fake as operator_without_fake
    from export_engine.torch_internals.errors import storage_of as storage_of
    from export_engine.torch_internals.errors import writing_nodes as writing_nodes
    from export_engine.torch_internals.graph_module_names import NO_MODULE as NO_MODULE
    from export_engine.torch_internals.graph_module_names import find_own_names as find_own_names
    from export_engine.torch_internals.hooks import counters_kept as counters_kept
    from export_engine.torch_internals.hooks import module_hooks_left as module_hooks_left
    from export_engine.torch_internals.hooks import recording as recording
    from export_engine.torch_internals.hooks import torch_options as torch_options
    from export_engine.torch_internals.hooks import transforms_left as transforms_left
    from export_engine.torch_internals.inputs import call_leaves as call_leaves
    from export_engine.torch_internals.inputs import deregister_container as deregister_container
    from export_engine.torch_internals.inputs import dim_bounds as dim_bounds
    from export_engine.torch_internals.inputs import dim_hint as dim_hint
    from export_engine.torch_internals.inputs import dynamic_shapes_tree as dynamic_shapes_tree
    from export_engine.torch_internals.inputs import field_names as field_names
    from export_engine.torch_internals.inputs import is_container as is_container
    from export_engine.torch_internals.inputs import is_input_type as is_input_type
    from export_engine.torch_internals.inputs import key_text as key_text
    from export_engine.torch_internals.inputs import keywords_apart as keywords_apart
    from export_engine.torch_internals.inputs import map_call_leaves as map_call_leaves
    from export_engine.torch_internals.inputs import missing_object_dicts as missing_object_dicts
    from export_engine.torch_internals.inputs import module_inputs as module_inputs
    from export_engine.torch_internals.inputs import register_container as register_container
    from export_engine.torch_internals.inputs import signature_of as signature_of
    from export_engine.torch_internals.inputs import specs_of_leaves as specs_of_leaves
    from export_engine.torch_internals.inputs import split_dim as split_dim
    from export_engine.torch_internals.inputs import without_paths as without_paths
    from export_engine.torch_internals.joint import JointCall as JointCall
    from export_engine.torch_internals.joint import JointRole as JointRole
    from export_engine.torch_internals.joint import is_backward as is_backward
    from export_engine.torch_internals.joint import joint_graph as joint_graph
    from export_engine.torch_internals.joint import joint_role as joint_role
    from export_engine.torch_internals.joint_passes import CompiledPass as CompiledPass
    from export_engine.torch_internals.joint_passes import Passes as Passes
    from export_engine.torch_internals.joint_passes import compile_backward as compile_backward
    from export_engine.torch_internals.joint_passes import compile_forward as compile_forward
    from export_engine.torch_internals.joint_passes import compiling_passes as compiling_passes
    from export_engine.torch_internals.joint_passes import missing_passes as missing_passes
    from export_engine.torch_internals.joint_passes import split_joint as split_joint
    from export_engine.torch_internals.library import LibraryCase as LibraryCase
    from export_engine.torch_internals.library import exportdb_cases as exportdb_cases
    from export_engine.torch_internals.library import exportdb_library as exportdb_library
    from export_engine.torch_internals.library import graph_break as graph_break
    from export_engine.torch_internals.library import graph_break_registry as graph_break_registry
    from export_engine.torch_internals.library import whole_explanations as whole_explanations
    from export_engine.torch_internals.library import without_holes as without_holes
    from export_engine.torch_internals.live_program import LiveProgram as LiveProgram
    from export_engine.torch_internals.loading import CodeInside as CodeInside
    from export_engine.torch_internals.loading import UnregisteredContainer as UnregisteredContainer
    from export_engine.torch_internals.loading import load_program as load_program
    from export_engine.torch_internals.loading import nothing_run as nothing_run
    from export_engine.torch_internals.loading import texts_read_once as texts_read_once
    from export_engine.torch_internals.onnx_converters import (
        decompose_for_onnx as decompose_for_onnx,
    )
    from export_engine.torch_internals.onnx_converters import onnx_converts as onnx_converts
    from export_engine.torch_internals.operator_table import operator_lines as operator_lines
    from export_engine.torch_internals.operators import calls_of_op as calls_of_op
    from export_engine.torch_internals.operators import fake_result as fake_result
    from export_engine.torch_internals.operators import fill_memory as fill_memory
    from export_engine.torch_internals.operators import find_aten_op as find_aten_op
    from export_engine.torch_internals.operators import find_decomposition as find_decomposition
    from export_engine.torch_internals.operators import find_python_body as find_python_body
    from export_engine.torch_internals.operators import is_edge_op as is_edge_op
    from export_engine.torch_internals.operators import (
        list_aliased_arguments as list_aliased_arguments,
    )
    from export_engine.torch_internals.operators import (
        list_written_arguments as list_written_arguments,
    )
    from export_engine.torch_internals.operators import op_schema as op_schema
    from export_engine.torch_internals.operators import op_signature as op_signature
    from export_engine.torch_internals.operators import overload_name as overload_name
    from export_engine.torch_internals.operators import register_fake as register_fake
    from export_engine.torch_internals.operators import returns_its_first as returns_its_first
    from export_engine.torch_internals.operators import writes_to_arguments as writes_to_arguments
    from export_engine.torch_internals.packaging import package_programs as package_programs
    from export_engine.torch_internals.patching import replace_attribute as replace_attribute
    from export_engine.torch_internals.private_names import all_capabilities as all_capabilities
    from export_engine.torch_internals.private_names import left_out as left_out
    from export_engine.torch_internals.programs import NameTaken as NameTaken
    from export_engine.torch_internals.programs import NotCallable as NotCallable
    from export_engine.torch_internals.programs import add_constants as add_constants
    from export_engine.torch_internals.programs import callable_module as callable_module
    from export_engine.torch_internals.programs import copy_program as copy_program
    from export_engine.torch_internals.programs import count_nodes as count_nodes
    from export_engine.torch_internals.programs import make_example as make_example
    from export_engine.torch_internals.programs import (
        operators_listed_once as operators_listed_once,
    )
    from export_engine.torch_internals.programs import origins as origins
    from export_engine.torch_internals.programs import set_graph_module as set_graph_module
    from export_engine.torch_internals.programs import with_example as with_example
    from export_engine.torch_internals.reexports import HigherOrderOperator as HigherOrderOperator
    from export_engine.torch_internals.reexports import OpOverload as OpOverload
    from export_engine.torch_internals.reexports import pytree as pytree
    from export_engine.torch_internals.running import announce_exporting as announce_exporting
    from export_engine.torch_internals.running import as_result as as_result
    from export_engine.torch_internals.running import compile_package as compile_package
    from export_engine.torch_internals.running import count_cache_hits as count_cache_hits
    from export_engine.torch_internals.running import flat_inputs as flat_inputs
    from export_engine.torch_internals.running import flat_leaves as flat_leaves
    from export_engine.torch_internals.running import give_own_buffers as give_own_buffers
    from export_engine.torch_internals.running import load_package as load_package
    from export_engine.torch_internals.running import missing_packages as missing_packages
    from export_engine.torch_internals.running import move_program as move_program
    from export_engine.torch_internals.running import put_weights_on_meta as put_weights_on_meta
    from export_engine.torch_internals.running import revealing_program as revealing_program
    from export_engine.torch_internals.running import split_call_spec as split_call_spec
    from export_engine.torch_internals.running import truncate_program as truncate_program
    from export_engine.torch_internals.scans import linear_recurrence as linear_recurrence
    from export_engine.torch_internals.scans import scans_exported as scans_exported
    from export_engine.torch_internals.structured_trace import caches_off as caches_off
    from export_engine.torch_internals.structured_trace import (
        compilation_traced as compilation_traced,
    )
    from export_engine.torch_internals.structured_trace import compiler_options as compiler_options
    from export_engine.torch_internals.structured_trace import (
        find_unknown_options as find_unknown_options,
    )
    from export_engine.torch_internals.structured_trace import (
        kernels_recorded as kernels_recorded,
    )
    from export_engine.torch_internals.structured_trace import (
        missing_provenance as missing_provenance,
    )
    from export_engine.torch_internals.symbols import apply_replacements as apply_replacements
    from export_engine.torch_internals.symbols import asserts_nothing as asserts_nothing
    from export_engine.torch_internals.symbols import expression_of as expression_of
    from export_engine.torch_internals.symbols import find_range as find_range
    from export_engine.torch_internals.symbols import guards_code as guards_code
    from export_engine.torch_internals.symbols import int_bound as int_bound
    from export_engine.torch_internals.symbols import (
        is_asserted_before_replacement as is_asserted_before_replacement,
    )
    from export_engine.torch_internals.symbols import is_implied as is_implied
    from export_engine.torch_internals.symbols import is_relation as is_relation
    from export_engine.torch_internals.symbols import is_truth_value as is_truth_value
    from export_engine.torch_internals.symbols import is_unbacked as is_unbacked
    from export_engine.torch_internals.symbols import keep_sizes as keep_sizes
    from export_engine.torch_internals.symbols import linear_in as linear_in
    from export_engine.torch_internals.symbols import (
        list_asserted_conditions as list_asserted_conditions,
    )
    from export_engine.torch_internals.symbols import list_traced_symbols as list_traced_symbols
    from export_engine.torch_internals.symbols import open_sizes as open_sizes
    from export_engine.torch_internals.symbols import read_size as read_size
    from export_engine.torch_internals.symbols import read_sympy as read_sympy
    from export_engine.torch_internals.symbols import shape_env as shape_env
    from export_engine.torch_internals.symbols import short_dtype as short_dtype
    from export_engine.torch_internals.symbols import size_hint as size_hint
    from export_engine.torch_internals.symbols import symbol_hint as symbol_hint
    from export_engine.torch_internals.symbols import symbol_printer as symbol_printer
    from export_engine.torch_internals.symbols import symbol_value as symbol_value
    from export_engine.torch_internals.symbols import symbols_in as symbols_in
    from export_engine.torch_internals.symbols import symbols_left as symbols_left
    from export_engine.torch_internals.tensors import forward_hooks as forward_hooks
    from export_engine.torch_internals.tensors import is_fake as is_fake
    from export_engine.torch_internals.tensors import plain_tensors as plain_tensors
    from export_engine.torch_internals.tensors import set_times_written as set_times_written
    from export_engine.torch_internals.tensors import times_written as times_written
    from export_engine.torch_internals.tensors import to_strided as to_strided
    from export_engine.torch_internals.value_origins import Depends as Depends
else:
    __getattr__, __dir__ = lazy_names(__name__)
