"""Every private name of torch that Export Explorer uses, and what is lost without it.

`without` is shown to the user; it is empty if there is a replacement. Names that torch documents
without listing them as public (ShapeEnv, the tracers, `torch.utils._pytree`) are also here: they
may move as well.
"""

from __future__ import annotations

from export_engine.torch_internals.capability import REGISTRY, Area, Capability

_SHAPES = "torch.fx.experimental.symbolic_shapes"
_PROXY = "torch.fx.experimental.proxy_tensor"
_FAKE = "torch._subclasses.fake_tensor"
_DIMS = "torch.export.dynamic_shapes"
_PYTREE = "torch.utils._pytree"
_PROGRAM = "torch.export.ExportedProgram"
_FRAMES = "torch._dynamo.convert_frame"
_C_FRAMES = "torch._C._dynamo.eval_frame"
_SERDE = "torch._export.serde.serialize"


# Sizes, while tracing and after

EXPORTING_FLAGS = tuple(
    Capability(
        f"torch.compiler._is_{doing}_flag",
        "Verify does not name a line that checks whether the model is being exported.",
        area="run",
    )
    for doing in ("compiling", "exporting")
)
LOG_GUARD = Capability(
    f"{_SHAPES}.ShapeEnv._log_guard",
    "The guards that tracing makes are not listed with their lines.",
    begins="self prefix g",
)
EVALUATE = Capability(
    f"{_SHAPES}.ShapeEnv.evaluate_expr",
    "Only Verify finds branches that only sizes 0 and 1 take.",
    begins="self orig_expr",
)
COMPARISONS = tuple(
    Capability(
        f"torch.fx.experimental.sym_node.SymNode.{name}",
        "Only Verify finds branches that only size 0 takes.",
        begins="self other",
    )
    for name in ("eq", "ne", "lt", "le", "gt", "ge")
)
CREATE_SYMBOL = Capability(
    f"{_SHAPES}.ShapeEnv.create_symbol",
    "The timeline does not show where the symbols of inputs come from.",
    begins="self val source",
)
LOG_UNBACKED = Capability(
    f"{_SHAPES}.ShapeEnv._log_create_unbacked_symbol",
    "Data-dependent symbols have no line.",
    begins="self prefix symbol",
)
UPDATE_RANGE = Capability(
    f"{_SHAPES}.ShapeEnv._update_var_to_range",
    "The timeline does not show which guard narrowed a range.",
    begins="self symbol",
)
SET_REPLACEMENT = Capability(
    f"{_SHAPES}.ShapeEnv._set_replacement",
    "The timeline does not show which guard made sizes equal.",
    begins="self a",
)
VAR_TO_RANGE = Capability(
    f"{_SHAPES}.ShapeEnv().var_to_range", "The ranges of a failed trace are not known."
)
REPLACEMENTS = Capability(
    f"{_SHAPES}.ShapeEnv().replacements", "The timeline does not show which sizes became equal."
)
REPLACE = Capability(
    f"{_SHAPES}.ShapeEnv().replace",
    "Sizes that are equal keep separate symbols.",
    takes="expression",
)
HINTS = Capability(
    f"{_SHAPES}.ShapeEnv().backed_var_to_val",
    "Symbols have no example values.",
    older="var_to_val",
)
SYM_EXPR = Capability(
    "torch.fx.experimental.sym_node.SymNode.expr", "Sizes are written with torch's symbols."
)
SYM_SHAPE_ENV = Capability(
    "torch.fx.experimental.sym_node.SymNode.shape_env",
    "Symbols have no example values if the first graph value is a SymInt.",
)
IS_FAKE = Capability(f"{_FAKE}.is_fake", "", takes="value")
FAKE_MODES = Capability(
    f"{_FAKE}.FakeTensorMode",
    "Fake kernels of custom ops are not compared with the real ones.",
    "run",
    takes="shape_env= allow_non_fake_inputs=",
)
SHAPE_ENV = Capability(
    f"{_SHAPES}.ShapeEnv", "Fake kernels of custom ops are not compared with the real ones.", "run"
)
FAKE_MODE = Capability(f"{_FAKE}.FakeTensor.fake_mode", "Symbols have no example values.")
MODE_SHAPE_ENV = Capability(
    f"{_FAKE}.FakeTensorMode.shape_env", "Symbols have no example values, and few have names."
)
DISPATCH = Capability(f"{_FAKE}.FakeTensorMode.dispatch", "Guards do not show which op added them.")
CHECK = Capability(
    "torch._check_with",
    "Guards do not show that a torch._check added them.",
    probe=lambda function: function.__code__,
)
EXTRACT_STACK = Capability(
    "torch._guards.TracingContext.extract_stack",
    "In strict mode, guards have no lines.",
    "strict",
    takes="",
)
INSTRUCTION = Capability(
    "torch._dynamo.symbolic_convert.InstructionTranslatorBase.current_instruction", "", "strict"
)
OBJECT_DICTS = Capability(
    "torch._dynamo.variables.dicts.DunderDictVariable",
    "In strict mode, a program cannot return objects of a class that a fix registers.",
    "strict",
    until=(2, 11),
)
_NO_CONTEXTS = "Modes around an export, such as `torch.device(...)`, are not detected."
_OVERRIDES, _DISPATCHING = "torch.overrides", "torch.utils._python_dispatch"
FUNCTION_MODES = Capability(
    f"{_OVERRIDES}._get_current_function_mode_stack", _NO_CONTEXTS, takes=""
)
POP_FUNCTION_MODE = Capability(f"{_OVERRIDES}._pop_mode", _NO_CONTEXTS, takes="")
PUSH_FUNCTION_MODE = Capability(f"{_OVERRIDES}._push_mode", _NO_CONTEXTS, takes="mode")
DISPATCH_MODES = Capability(
    f"{_DISPATCHING}._get_current_dispatch_mode_stack", _NO_CONTEXTS, takes=""
)
POP_DISPATCH_MODE = Capability(f"{_DISPATCHING}._pop_mode", _NO_CONTEXTS, takes="")
PUSH_DISPATCH_MODE = Capability(f"{_DISPATCHING}._push_mode", _NO_CONTEXTS, takes="mode")
DTYPES = Capability("torch.utils._dtype_abbrs.dtype_abbrs", "Dtypes are written out in full.")
GLOBAL_HOOKS = tuple(
    Capability(
        f"torch.nn.modules.module._global_{kind}_hooks",
        "Hooks on all modules are not detected around an export.",
    )
    for kind in ("forward_pre", "forward")
)
GUARDS_CODE = Capability(
    f"{_PROGRAM}._guards_code", "The guards that a saved program carries are not listed."
)

# Graphs, while tracing

CREATE_NODE = Capability(
    f"{_PROXY}.PythonKeyTracer.create_node",
    "Ops of helper functions have no lines: torch keeps only those of `forward`.",
    begins="self",
)
STACK_TRACES = Capability(
    f"{_PROXY}.PythonKeyTracer().record_stack_traces",
    "Ops of helper functions have no lines: torch keeps only those of `forward`.",
)
CALL_MODULE = Capability(
    f"{_PROXY}._ModuleStackTracer.call_module",
    "There is no progress by module, and writes of the model to its inputs are not detected.",
    begins="self m forward args kwargs",
)
DISPATCH_TRACE = Capability(
    f"{_PROXY}.dispatch_trace",
    "A failed export has no partial graph, and side effects of the model are not detected.",
    begins="root tracer",
)
PROXY_SLOT = Capability(
    f"{_PROXY}.get_proxy_slot",
    "Values that the model stores are not checked for dependence on its inputs.",
)
LINE_NUMBERS = Capability(
    "torch.fx.GraphModule._lineno_map",
    "Ops in a retraced torch.cond branch may have no source lines.",
)
STRICT_MODULES = Capability(
    "torch._dynamo.variables.nn_module.UnspecializedNNModuleVariable.call_function",
    "In strict mode there is no progress by module.",
    "strict",
    begins="self",
)
CLEANUP = Capability(
    "torch._dynamo.output_graph.OutputGraph.cleanup",
    "A failed export has no partial graph in strict mode.",
    "strict",
    takes="self",
)
RESET = Capability(
    "torch._dynamo.reset",
    "A strict export makes torch.compile recompile.",
    "strict",
    takes="",
)
OBSERVED = Capability(
    "torch._dynamo.exc.ObservedException.__init__",
    "In strict mode, errors of the model itself may have no line.",
    "strict",
)
_CAUGHT = "Tracing errors that the model's own code catches are not reported."
_FAKE = "torch._subclasses.fake_tensor"
ERRORS_OF_TRACING = (
    Capability(
        "torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode.__init__", _CAUGHT
    ),
    Capability(f"{_FAKE}.DataDependentOutputException.__init__", _CAUGHT),
    Capability(f"{_FAKE}.DynamicOutputShapeException.__init__", _CAUGHT),
    Capability(f"{_FAKE}.UnsupportedOperatorException.__init__", _CAUGHT),
    Capability("torch._dynamo.exc.UserError.__init__", _CAUGHT),
)
NON_STRICT_FUNCTIONS = Capability(
    "torch._export.non_strict_utils._NonStrictTorchFunctionHandler.__torch_function__",
    _CAUGHT,
    begins="self func types args kwargs",
)
DYNAMO_CONFIG = Capability(
    "torch._dynamo.config.patch", "Fixes that enable an option of torch are not offered."
)
FX_CONFIG = Capability(
    "torch.fx.experimental._config.patch", "Fixes that enable an option of torch are not offered."
)

_LEVELS = "After a failed export of a model that uses torch.func, its state may leak."
TRANSFORM_DEPTH = Capability("torch._C._functorch.get_dynamic_layer_stack_depth", _LEVELS, takes="")
LEAVE_TRANSFORMS = Capability(
    "torch._C._functorch.pop_dynamic_layer_stack_and_undo_to_depth", _LEVELS
)

_AUTOGRAD = "torch._C._autograd._saved_tensors_hooks_"
REFUSES_HOOKS = Capability(f"{_AUTOGRAD}get_disabled_error_message", _LEVELS, takes="")
REFUSE_HOOKS = Capability(f"{_AUTOGRAD}disable", _LEVELS)
ALLOW_HOOKS = Capability(f"{_AUTOGRAD}enable", _LEVELS, takes="")

BUFFER_HOOKS = Capability(
    "torch.nn.modules.module._global_buffer_registration_hooks",
    "torch before 2.12 may leave its own hook on modules if an export fails.",
)

# What Dynamo keeps of a trace

_KEPT = "The model and Dynamo's trace may stay in memory after an export."
INSTALL_GLOBAL = Capability(
    "torch._dynamo.output_graph.OutputGraph.install_global_unsafe",
    _KEPT,
    "strict",
    begins="self name value",
)
CLEANUPS = Capability("torch._dynamo.output_graph.OutputGraph.cleanups", _KEPT, "strict")
CLEANUP_MANAGER = Capability(
    "torch._dynamo.utils.CleanupManager.instance",
    _KEPT,
    "strict",
    probe=lambda manager: manager.values is not None,
)
CACHED_BACKENDS = Capability(
    "torch._dynamo.eval_frame.cached_backends",
    _KEPT,
    probe=lambda backends: isinstance(backends, dict),  # an empty one is one
)
BRANCH_BACKEND = Capability(
    "torch._dynamo.backends.debugging.make_eager_backend_with_torch_function_modes",
    "",
    begins="modes",
)
CHECK_FUNCTIONS = Capability(
    "torch._dynamo.guards.CheckFunctionManager.__init__",
    "A model whose dynamic shapes are rejected may stay in memory.",
    "strict",
    begins="self f_code output_graph",
)

# Inputs, and the trees that they come in

TRACING_KEYWORDS = Capability(f"{_DIMS}._combine_args_for_tracing", "")
SOURCED_PREFIXES = Capability(
    "torch._export.non_strict_utils.make_sourced_prefixes",
    "In non-strict mode, programs with inputs in **kwargs may fail to check their guards.",
    begins="nn_module args kwargs",
)
_NO_KEYWORDS = "Sizes of inputs in **kwargs cannot be dynamic."
COMBINE_ARGS = Capability(
    f"{_DIMS}._combine_args",
    _NO_KEYWORDS,
    begins="f args kwargs",
    spared_by=TRACING_KEYWORDS,
)
COMBINE_IN_TRACE = Capability(
    "torch.export._trace._combine_args",
    _NO_KEYWORDS,
    begins="f args kwargs",
    spared_by=TRACING_KEYWORDS,
)
COMBINE_NON_STRICT = Capability(
    "torch._export.non_strict_utils._combine_args",
    "Sizes of inputs in **kwargs cannot be dynamic, or their guards cannot be checked.",
    begins="f args kwargs",
)
COMBINE_STRICT = Capability(
    "torch._dynamo.eval_frame._combine_args",
    _NO_KEYWORDS,
    begins="f args kwargs",
    spared_by=TRACING_KEYWORDS,
)
SPECS_WITH_PATH = Capability(
    f"{_DIMS}._tree_map_with_path", "", takes="function tree spec tree_name="
)
TREE_FLATTEN = Capability(f"{_PYTREE}.tree_flatten", "", takes="tree")
TREE_STRUCTURE = Capability(f"{_PYTREE}.tree_structure", "", takes="tree")
TREE_UNFLATTEN = Capability(f"{_PYTREE}.tree_unflatten", "", takes="leaves spec")
TREE_LEAVES = Capability(f"{_PYTREE}.tree_leaves", "", takes="tree")
TREE_MAP = Capability(f"{_PYTREE}.tree_map", "", takes="function tree")
TREESPEC_DUMPS = Capability(
    f"{_PYTREE}.treespec_dumps",
    "Whether two programs take lists or tuples is not compared.",
    takes="treespec",
)
FLATTEN_WITH_PATH = Capability(
    f"{_PYTREE}.tree_flatten_with_path",
    "Inputs in containers other than lists, tuples and dicts have numbers as names.",
    takes="tree is_leaf=",
)
SUPPORTED_NODES = Capability(
    f"{_PYTREE}.SUPPORTED_NODES",
    "Containers that you registered yourself count as unknown.",
)
REGISTER_NODE = Capability(
    f"{_PYTREE}.register_pytree_node",
    "Containers that torch does not know cannot be registered by a fix.",
    takes="cls flatten unflatten serialized_type_name= to_dumpable_context= "
    "from_dumpable_context= flatten_with_keys_fn=",
)
DEREGISTER_NODE = Capability(
    f"{_PYTREE}._deregister_pytree_node",
    "Containers that torch does not know cannot be registered by a fix.",
    takes="cls",
)
MODULES_AS_INPUTS = Capability(
    "torch._export.non_strict_utils._enable_graph_inputs_of_type_nn_module",
    "Programs that take a module as an input cannot be shown.",
    takes="args",
)
ATTRIBUTE_KEY = Capability(
    f"{_PYTREE}.GetAttrKey",
    "Containers that torch does not know cannot be registered by a fix.",
    takes="name",
)
FX_NODES = Capability("torch.fx._pytree.SUPPORTED_NODES", "")
FX_NODES_EXACT = Capability("torch.fx._pytree.SUPPORTED_NODES_EXACT_MATCH", "")
WAITING_NODES = Capability(f"{_PYTREE}._cxx_pytree_pending_imports", "")

TAKES_SPECS = Capability(
    "torch.export._trace.ShapesSpec",
    "Exports support only Dims, not ShapesSpec.",
    since=(2, 14),
)
ATTACHED_SPECS = Capability("torch.fx.experimental.dynamic_spec._resolve_dynamic_shapes", "")

# Operators

SCHEMA = Capability(
    "torch._ops.OpOverload._schema",
    "Arguments of ops have no names, and whether an op mutates one is guessed from its name.",
)
DISPATCH_MODE = Capability(
    "torch.utils._python_dispatch.TorchDispatchMode",
    "Fake kernels for custom ops are not offered as fixes; uninitialized memory is compared.",
)
DESTROY_LIBRARY = Capability("torch.library.Library._destroy", "", takes="self")
CUSTOM_OP = Capability(
    "torch._library.custom_ops.CustomOpDef",
    "Fake kernels are not offered for ops made by torch.library.custom_op.",
)
CUSTOM_OPS = Capability(
    "torch._library.custom_ops.OPDEFS",
    "A fake kernel that was tried for an op made by torch.library.custom_op stays registered.",
)
CUSTOM_OP_FAKE = Capability(
    "torch._library.custom_ops.CustomOpDef._abstract_fn",
    "Fake kernels are not offered for ops made by torch.library.custom_op.",
)
CUSTOM_OP_NAME = Capability(
    "torch._library.custom_ops.CustomOpDef._qualname",
    "Fake kernels are not offered for ops made by torch.library.custom_op.",
)
CUSTOM_OP_BODY = Capability(
    "torch._library.custom_ops.CustomOpDef._init_fn",
    "No fix runs a custom op outside a delegate as the ops of its Python code.",
    "delegate",
)
DECOMPOSITION_TABLE = Capability(
    "torch._decomp.decomposition_table",
    "No fix decomposes an op outside a delegate.",
    "delegate",
)

# Tensors

VERSION = Capability("torch.Tensor._version", "")
STORAGE = Capability(
    "torch.UntypedStorage._cdata",
    "A branch that returns a view of its input is not reported.",
    "strict",
)

# Programs that are run, moved and verified

GRAPH_MODULE = Capability(f"{_PROGRAM}._graph_module", "", "run")
ONNX_CONVERTERS = Capability(
    "torch.onnx._internal.exporter._registration.ONNXRegistry",
    "Whether ONNX Runtime can take an op is known only after a conversion.",
    "delegate",
)
ONNX_DECOMPOSED = Capability(
    "torch.onnx._internal.exporter._fx_passes.decompose_with_registry",
    "Whether ONNX Runtime can take an op is known only after a conversion.",
    "delegate",
)
GRAPH_SIGNATURE = Capability(
    f"{_PROGRAM}._graph_signature",
    "A program cannot be truncated to find where values diverge.",
    "run",
)
RUN_NODE = Capability(
    "torch.fx.Interpreter.run_node", "Decomposition shows no progress.", "run", begins="self n"
)
LIST_OPERATORS = Capability("torch._export.utils._materialize_cpp_cia_ops", "", "run", takes="")
STATE_DICT = Capability(
    f"{_PROGRAM}._state_dict", "A program cannot be moved to another device.", "run"
)
CONSTANTS = Capability(
    f"{_PROGRAM}._constants", "A program cannot be moved to another device.", "run"
)
CALL_GRAPH = Capability(
    f"{_PROGRAM}._module_call_graph",
    "A program cannot be truncated to find where values diverge.",
    "run",
)
MOVE = Capability(
    "torch.export.passes.move_to_device_pass",
    "A program cannot be moved to another device.",
    "run",
    takes="program device",
)
COMPILE_PACKAGE = Capability(
    "torch._inductor.aoti_compile_and_package",
    "AOTInductor is left out of the backends.",
    "run",
    takes="program package_path= inductor_configs=",
)
LOAD_PACKAGE = Capability(
    "torch._inductor.aoti_load_package",
    "AOTInductor is left out of the backends.",
    "run",
    takes="path",
)
PRINTER_OF_BUFFERS = Capability(
    "torch._inductor.config.aot_inductor.debug_intermediate_value_printer",
    "AOTInductor exposes no per-op values.",
    "run",
)
AFTER_FUSION = Capability(
    "torch._inductor.config._post_fusion_custom_pass",
    "AOTInductor exposes no per-op values.",
    "run",
)
SCAN = Capability(
    "torch._higher_order_ops.scan",
    "State-space models are exported with a static prompt length.",
    takes="combine_fn init xs dim=",
)
MAKE_GRAPH = Capability(
    "torch.export._trace._export_to_aten_ir_make_fx",
    "",
    begins="mod fake_args fake_kwargs fake_params_buffers",
)
REPARAMETRIZE = Capability(
    "torch.nn.utils.stateless._reparametrize_module",
    "",
    takes="module weights tie_weights= strict= stack_weights=",
)
PYTHON_DISPATCHER = Capability("torch._dispatch.python.enable_python_dispatcher", "")
ASSOCIATIVE_SCAN = Capability(
    "torch._higher_order_ops.associative_scan",
    "State-space models are exported with a static prompt length.",
)
COUNTERS = Capability(
    "torch._dynamo.utils.counters",
    "Runs do not show if inductor used its cache.",
    "run",
)
FORWARD_HOOKS = Capability("torch.nn.Module()._forward_hooks", "", "compile")
FORWARD_PRE_HOOKS = Capability("torch.nn.Module()._forward_pre_hooks", "", "compile")

# Files

LOAD = Capability(
    "torch.load", "Program files cannot be opened.", "load", takes="file weights_only="
)
UNPICKLER = Capability(
    "torch.export.pt2_archive._package.pickle",
    "Program files cannot be opened.",
    "load",
    since=(2, 13),
)
LOAD_LIBRARIES = Capability(
    "torch.export.pt2_archive._package._load_aoti", "Program files cannot be opened.", "load"
)
IMPORTER = Capability(f"{_PYTREE}.importlib", "Program files cannot be opened.", "load")
PARSE_SIZE = Capability(
    f"{_SERDE}.GraphModuleDeserializer._parse_sym_expr",
    "Program files cannot be opened.",
    "load",
    takes="self text",
)
ANNOTATIONS = Capability(
    f"{_SERDE}.typing", "", "load", probe=lambda module: callable(module.get_type_hints)
)
DESERIALIZE = Capability(
    f"{_SERDE}.GraphModuleDeserializer.deserialize",
    "A file with unreadable example inputs is not opened.",
    "load",
    begins="self",
)
ARTIFACT = Capability(
    f"{_SERDE}.deserialize_torch_artifact",
    "Example inputs in files are left out.",
    "load",
    takes="artifact",
)
PACKAGE_PROGRAMS = Capability(
    "torch.export.pt2_archive._package.package_pt2",
    "Several programs are not saved into one file.",
    "load",
    takes="f exported_programs= extra_files=",
)
SAVE_TENSORS = Capability(
    "torch.export.pt2_archive._package._save_raw_tensors",
    "In a file of several programs, each has a copy of the weights that they share.",
    "load",
    begins="raw_items model_name archive_writer config directory filename_prefix idx",
)
LOAD_ARCHIVE = Capability(
    "torch.export.pt2_archive._package.load_pt2",
    "Only the program called `model` is loaded from a file with several.",
    "load",
    takes="f",
)

# What torch ships that explains failures

EXAMPLES_FOLDER = Capability(
    "torch/_export/db/examples/__init__.py", "ExportDB is empty.", "library"
)
EXAMPLES = Capability(
    "torch._export.db.examples.all_examples", "ExportDB is empty.", "library", takes=""
)
GRAPH_BREAKS = Capability(
    "torch/_dynamo/graph_break_registry.json",
    "torch's explanations of graph breaks are not shown.",
    "library",
)

# Comparison with torch.compile

_NO_COMPARISON = "The comparison with torch.compile is left out."
BYTECODE_HOOK = Capability(
    f"{_FRAMES}.register_bytecode_hook", _NO_COMPARISON, "compile", takes="hook"
)
INPUT_CODES = Capability(
    f"{_FRAMES}.input_codes",
    _NO_COMPARISON,
    "compile",
    probe=lambda codes: (codes.seen, codes.seen_ids) is not None,
)
CACHE_ENTRIES = Capability(f"{_C_FRAMES}._debug_get_cache_entry_list", _NO_COMPARISON, "compile")
RESET_CODE = Capability(f"{_C_FRAMES}.reset_code", _NO_COMPARISON, "compile")
RESET_SIZES = Capability("torch._dynamo.pgo.reset_code_state", _NO_COMPARISON, "compile", takes="")
SIZES_SEEN = Capability("torch._dynamo.pgo._CODE_STATE", "", "compile")
FIRST_SIZES_SEEN = Capability("torch._dynamo.pgo._INIT_CODE_STATE", "", "compile")
FRAME_COUNTER = Capability(f"{_FRAMES}.FRAME_COUNTER", "", "compile")
FRAME_COMPILE_COUNTER = Capability(f"{_FRAMES}.FRAME_COMPILE_COUNTER", "", "compile")
BREAK_REASONS = Capability("torch._dynamo.utils.graph_break_reasons", "", "compile")
LOG_BREAK = Capability(
    "torch._dynamo.symbolic_convert.InstructionTranslatorBase.log_graph_break",
    "Graph breaks are not listed.",
    "compile",
    begins="self code_options reason exc",
)
RECOMPILE_REASONS = Capability(
    f"{_FRAMES}.get_and_maybe_log_recompilation_reasons",
    "Recompilations are listed without the guards that failed.",
    "compile",
    begins="cache_entries|cache_entry frame",
)
RECOMPILE_LIMIT = Capability(
    f"{_FRAMES}.exceeds_recompile_limit",
    "The view does not show when torch.compile stops recompiling.",
    "compile",
)
COMPILE_ID = Capability(
    "torch._guards.CompileContext.current_compile_id", _NO_COMPARISON, "compile", takes=""
)
TRACING_CONTEXT = Capability(
    "torch._guards.TracingContext.try_get",
    "Compiled graphs do not show which sizes they accept.",
    "compile",
    takes="",
)
_NO_JOINT = "A training step cannot be shown as a joint graph."
CAPTURE_FOR_JOINT = Capability(
    "torch._dynamo.functional_export.dynamo_graph_capture_for_export",
    _NO_JOINT,
    "joint",
    takes="module",
    older="_dynamo_graph_capture_for_export",
)
AOT_JOINT = Capability(
    "torch._functorch.aot_autograd.aot_export_joint_with_descriptors",
    _NO_JOINT,
    "joint",
    takes="stack module args kwargs",
)


# Stages of a compilation

_NO_STAGES = "Stages after export are not shown: torch does not report them."
TRACE_LOG = Capability("torch._logging._internal.trace_log", _NO_STAGES, "run")
INTERNED = Capability("torch._logging.structured.INTERN_TABLE", "", "run")
INDUCTOR_CONFIG = Capability("torch._inductor.config.patch", _NO_STAGES, "run")
INDUCTOR_OPTIONS = Capability(
    "torch._inductor.list_options", "Options of Inductor are not checked by name.", "run", takes=""
)
PROVENANCE_LEVEL = Capability(
    "torch._inductor.config.trace.provenance_tracking_level", _NO_STAGES, "run"
)
KERNEL_PROFILE = Capability(
    "torch._inductor.config.cpp.enable_kernel_profile",
    "Fused kernels are not timed on the CPU.",
    "run",
)
CPP_WRAPPER = Capability("torch._inductor.config.cpp_wrapper", "", "run")
GENERATED_MODULES = Capability("torch._inductor.codecache.PyCodeCache.modules", "", "run")
KERNEL_EVENT = Capability("torch._C._profiler._RecordFunctionFast", "", "run")

# Stages of a training step

_NO_PASSES = "The passes of a training step are not compiled as stages."
DECOMPOSITIONS = Capability(
    "torch._inductor.decomposition.select_decomp_table", _NO_PASSES, "joint", takes=""
)
PARTITION = Capability(
    "torch._inductor.compile_fx.partition_fn",
    _NO_PASSES,
    "joint",
    takes="graph inputs num_fwd_outputs=",
)
COMPILE_GRAPH = Capability(
    "torch._inductor.compile_fx.compile_fx_inner",
    _NO_PASSES,
    "joint",
    takes="graph inputs is_inference= is_backward=",
)
PROVENANCE_RESET = Capability(
    "torch._inductor.debug.reset_provenance_globals", _NO_PASSES, "joint", takes=""
)
FIRST_GRAPH = Capability("torch._inductor.debug._pre_grad_graph_id", _NO_PASSES, "joint")
SET_FAKE_MODE = Capability("torch._inductor.virtualized.V.set_fake_mode", _NO_PASSES, "joint")
NEW_TRACING_CONTEXT = Capability(
    "torch._guards.TracingContext", _NO_PASSES, "joint", takes="fake_mode"
)
TRACING = Capability("torch._guards.tracing", _NO_PASSES, "joint", takes="context")
OF_PASSES = (
    DECOMPOSITIONS, PARTITION, COMPILE_GRAPH, PROVENANCE_RESET, FIRST_GRAPH, SET_FAKE_MODE,
    NEW_TRACING_CONTEXT, TRACING, FAKE_MODE,
)  # fmt: skip
"""Without one of these, the passes of a training step are not compiled."""

OF_COMPARISON = (
    BYTECODE_HOOK, INPUT_CODES, CACHE_ENTRIES, RESET_CODE, RESET_SIZES, COMPILE_ID
)  # fmt: skip
"""Without one of these, torch's state could not be restored."""


def left_out(*areas: Area) -> list[str]:
    """Sentences on what this torch lacks; of all areas if none is named."""
    return [
        capability.sentence
        for capability in REGISTRY.values()
        if (not areas or capability.area in areas) and capability.sentence
    ]


def all_capabilities() -> tuple[Capability, ...]:
    """Each private name that Export Explorer uses."""
    return tuple(REGISTRY.values())
