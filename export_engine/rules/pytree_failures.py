"""Failures on inputs, outputs and what is exported."""

from __future__ import annotations

from export_engine.rules.kinds import Kind
from export_engine.rules.rule import Rule, Sentence


class UnknownInputType(Rule, kind=Kind.UNKNOWN_INPUT_TYPE):
    """An argument holds an object that torch.export cannot flatten into tensors and plain
    values.

    ## Example

    ```python
    import explorer
    import torch

    class Box:
        def __init__(self, tensor):
            self.tensor = tensor


    def forward(box):
        return box.tensor + 1


    ex = explorer.explore(forward, (Box(torch.ones(3)),))
    ```

    ## What to do

    Pass the tensors themselves, or register the class as a pytree with
    `torch.export.register_dataclass` or `torch.utils._pytree.register_pytree_node`. Export Explorer
    offers the registration.

    ## Why

    A program takes a flat list of tensors and numbers. A pytree registration defines how to
    convert the object to that list and back.
    """

    MISSING_KEY_PATHS = Sentence(
        "`{cls}` is registered as a pytree node without `flatten_with_keys_fn`, which "
        "torch.export needs to name its tensors.",
        cls="Batch",
    )
    MISSING_KEY_PATHS_WHY = Sentence(
        "torch.export flattens inputs and outputs (as pytrees) into tensors and plain values, "
        "and names each input by its key path. Pass `flatten_with_keys_fn` when registering "
        "the class."
    )
    UNKNOWN_INPUT = Sentence(
        "The input `{path}` is of class `{cls}`, which torch.export does not support as an "
        "input type.",
        path="options.parts.0",
        cls="Plain",
    )
    UNKNOWN_INPUT_WHY = Sentence(
        "torch.export flattens inputs and outputs (as pytrees) into tensors and plain values. "
        "Lists, tuples, dicts, tensors, numbers and strings are supported. Register any other "
        "class as a pytree node or as a constant."
    )


class UnknownOutputType(Rule, kind=Kind.UNKNOWN_OUTPUT_TYPE):
    """The model returns an object that torch.export cannot flatten into tensors and plain
    values.

    ## Example

    ```python
    import explorer
    import torch

    class Box:
        def __init__(self, tensor):
            self.tensor = tensor


    def forward(x):
        return Box(x + 1)


    ex = explorer.explore(forward, (torch.ones(3),))
    ```

    ## What to do

    Return tensors in a tuple, list, dict or dataclass that is registered, or register the class as
    a pytree.

    ## Why

    The outputs of a program are also a flat list. The registration rebuilds the object
    for the caller.
    """

    SENTENCE = Sentence(
        "The model returns {of} that torch.export cannot flatten into tensors.",
        of="a `Plain`, a class",
    )
    WHY = Sentence(
        "torch.export flattens inputs and outputs (as pytrees) into tensors and plain values. "
        "Register the class as a pytree node."
    )


class NotAModule(Rule, kind=Kind.NOT_A_MODULE):
    """The target is a scripted module, a compiled one, or something else without Python to trace.

    ## Example

    ```python
    import explorer
    import torch

    scripted = torch.jit.trace(torch.nn.Linear(2, 2), (torch.ones(1, 2),))
    ex = explorer.explore(scripted, (torch.ones(1, 2),))
    ```

    ## What to do

    Export the original module. `explorer.view(program)` shows an ExportedProgram; its `.module()`
    can be exported again.

    ## Why

    torch.export traces Python that calls torch. Something that was traced or compiled before has
    none left.
    """

    CONVERTER = Sentence(
        " If the source is lost, convert it with `{hint}`.",
        hint="TS2EPConverter(mod, args, kwargs).convert()",
    )
    EXPORTED_PROGRAM = Sentence(
        "This is an ExportedProgram already, and an ExportedProgram cannot be called."
    )
    EXPORTED_PROGRAM_WHY = Sentence(
        "`explorer.view(program)` shows it. `program.module()` returns a module that can be "
        "called and exported again."
    )
    TORCH_SCRIPT = Sentence(
        "`{name}` is TorchScript, and torch.export traces Python.", name="layer"
    )
    TORCH_SCRIPT_WHY = Sentence(
        "A scripted or traced module has no Python left to trace. Export the original "
        "module.{converter}",
        converter=" If the source is lost, convert it with `TS2EPConverter(...)`.",
    )
    HELD_SCRIPT_WHY = Sentence(
        "A scripted or traced module has no Python left to trace. Use the original module in "
        "its place."
    )
    PACKED_WEIGHTS = Sentence(
        "`{path}` is an eager mode quantized module, and torch.export cannot read its packed "
        "weights.",
        path="layer.0",
    )
    PACKED_WEIGHTS_WHY = Sentence(
        "Its weights are one opaque C++ object, packed for this machine's kernel. Export the "
        "float model and quantize the program, as torchao's `prepare_pt2e` and `convert_pt2e` "
        "do, or quantize with `torchao.quantize_`, whose weights are tensors."
    )
