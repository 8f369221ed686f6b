"""Findings on how the model was traced."""

from __future__ import annotations

from export_engine.rules.kinds import Kind
from export_engine.rules.rule import Rule, Sentence


class CaughtError(Rule, kind=Kind.CAUGHT_ERROR):
    """`try` or `contextlib.suppress` caught an error that torch raises only while tracing, so the
    program contains only the fallback.

    ## Example

    ```python
    import explorer
    import torch


    def forward(x):
        try:
            if x.sum() > 0:
                return x * 2
        except RuntimeError:
            return x * 3
        return x


    ex = explorer.explore(forward, (torch.ones(3, 4),))
    ```

    ## What to do

    Move the line out of the `try` block and export again. The export then fails at that line, and a
    fix is offered there: `torch.where` or `torch.cond` for a branch, a fake kernel for an operator.

    ## Why

    Tensors have no values while torch traces, so torch raises an error for a condition on data.
    Eager does not, and continues in the block. The program was traced past the error: it always
    takes the `except` branch.

    If the program was compared with eager on fresh inputs and matched, the severity is
    *surprising*, not *wrong*.
    """

    SENTENCE = Sentence(
        "{refused}, and {by} on {where} caught torch's error: the program always {goes}.",
        refused="torch cannot trace `x.max() > 2`",
        by="`except BROKEN`",
        where="line 54",
        goes="takes the `except` branch",
    )
    SAME = Sentence("On fresh inputs the program matched eager; on others it may not. ")
    WHY = Sentence(
        "{same}While tracing, tensors have no values, so torch raised {classes}. Eager does "
        "not raise it. Move the line out of the block and export again: the export then fails "
        "here, with a fix such as `torch.where` or `torch.cond`.",
        same="",
        classes="RuntimeError",
    )


class NameTaken(Rule, kind=Kind.NAME_TAKEN):
    """A weight or a submodule of the model has the name of an attribute of `torch.fx.GraphModule`,
    such as `code`, `graph` or `meta`, so `program.module()` fails.

    ## Example

    ```python
    import explorer
    import torch


    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.graph = torch.nn.Linear(4, 4)

        def forward(self, x):
            return self.graph(x)


    ex = explorer.explore(Model(), (torch.ones(3, 4),))
    ```

    ## What to do

    Rename it in the model, for example `graph` to `graph_layer`. If weights were saved under the
    old name, rename their keys when loading them, or wrap the model in another one, `Outer.inner =
    model`: inside a submodule the name is free.

    ## Why

    torch exports such a model, and saves and loads the program. To call it, `program.module()`
    builds a GraphModule and sets the weights on it by their names. A GraphModule keeps its own
    graph, code and metadata under `graph`, `code` and `meta`, and torch raises `KeyError: attribute
    'graph' already exists`, or fails later.
    """

    SENTENCE = Sentence(
        "The program cannot be called: its {what} `{name}` has the name of an attribute of "
        "torch.fx.GraphModule.",
        what="submodule",
        name="graph",
    )
    WHY = Sentence(
        "`program.module()` makes a GraphModule, which already has a `{name}`. Rename it in "
        "the model; inside a submodule the name is free.",
        name="graph",
    )


class Context(Rule, kind=Kind.CONTEXT):
    """Something around the export changed the program: `torch.autocast`, a default dtype or device,
    a mode, a hook on all modules, or a patch.

    ## Example

    ```python
    import explorer
    import torch

    model = torch.nn.Linear(4, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        ex = explorer.explore(model, (torch.ones(3, 4),))
    ```

    ## What to do

    Enter the context in `forward`: then it is in the program. Or export without it: convert the
    model (`model.bfloat16()`), and name dtypes and devices where tensors are created.

    ## Why

    A program consists only of ops. Exported under autocast it declares bfloat16 and holds no cast,
    so it computes float32 where it runs. The call is exported once more without the context, and
    the two programs are compared: a context that changes nothing, such as `torch.no_grad()`, is not
    a finding.
    """

    AUTOCAST = Sentence(
        "Enter `torch.autocast` in `forward`, or convert the model: `model.bfloat16()`."
    )
    DTYPE = Sentence("Name the dtype where `forward` creates tensors: `dtype=x.dtype`.")
    DEVICE = Sentence("Name the device where `forward` creates tensors: `device=x.device`.")
    MODE = Sentence("Export outside the mode, or write its effect into the model.")
    DETERMINISTIC = Sentence("Also enable it when the program runs.")
    HOOK = Sentence("Remove the hook before the export, or write its effect into the model.")
    ATTENTION = Sentence("Enter the same context when you run the program.")
    REPLACED = Sentence(
        "The export called a patched `{name}`: `{function}`.",
        name="torch.nn.functional.gelu",
        function="double",
    )
    REPLACED_WHY = Sentence(
        "The program has the ops of the patch. If eager runs without it, the two may differ. "
        "Export without the patch, or call it in `forward`."
    )
    CHANGED = Sentence(
        "{names} was active around the export and changed the program: {effect}.",
        names="`torch.device('meta')`",
        effect="`zeros` is on meta with it, and on cpu without",
    )
    CHANGED_WHY = Sentence(
        "The program runs without this context, so it may differ from its export or from "
        "eager. {cure}",
        cure="Name the dtype where `forward` creates tensors: `dtype=x.dtype`.",
    )
    AGREES = Sentence(
        "Verify compared the program with eager without the context, and they agree. "
    )
    NOT_CONTAINED = Sentence(
        "{names} was active around the export; the program does not contain it.",
        names="`torch.nn.attention.sdpa_kernel`",
    )
    NOT_CONTAINED_WHY = Sentence(
        "Attention is one op of the program, and torch chooses its kernel at run time. {cure}",
        cure="Enter the same context when you run the program.",
    )


class TwinDiffers(Rule, kind=Kind.TWIN_DIFFERS):
    """The model has no weights, so Verify runs its small twin. A layer of the whole model has ops
    that no layer of the twin has, so results for the twin do not cover it.

    ## Example

    ```python
    import explorer
    import torch
    import transformers


    class GatedConfig(transformers.PretrainedConfig):
        model_type = "gated"

        def __init__(self, hidden_size=4096, num_hidden_layers=4, vocab_size=64, **others):
            self.hidden_size = hidden_size
            self.num_hidden_layers = num_hidden_layers
            self.vocab_size = vocab_size
            super().__init__(**others)


    class Layer(torch.nn.Linear):
        def forward(self, x):
            if self.in_features > 1024:
                return super().forward(x).sigmoid() * x
            return super().forward(x) + x


    class Gated(transformers.PreTrainedModel):
        config_class = GatedConfig

        def __init__(self, config):
            super().__init__(config)
            size = config.hidden_size
            self.embed = torch.nn.Embedding(config.vocab_size, size)
            self.layers = torch.nn.ModuleList(
                Layer(size, size) for _ in range(config.num_hidden_layers)
            )
            self.post_init()

        def forward(self, input_ids):
            x = self.embed(input_ids)
            for layer in self.layers:
                x = layer(x)
            return x


    transformers.AutoModel.register(GatedConfig, Gated, exist_ok=True)
    ex = explorer.explore_config(GatedConfig())
    ex.verify()
    ```

    ## What to do

    Verify a model that has such a layer: build a small config yourself in which the same branch
    runs, and call `explorer.explore_config(config, small=True).verify()`. Or verify the whole model
    on a machine with its weights.

    ## Why

    Checks that need values cannot run on the meta device. They run on a model of the same
    architecture with few, narrow layers and random weights. They hold for a layer of the whole
    model only if the twin has a layer with the same ops in the same order. Copies that only change
    the memory layout do not count. Equal items of a list in a layer, such as experts, count once.

    If the same ops run in a different order or a different number of times, the finding is a note.
    """

    SENTENCE = Sentence(
        "{count} of {total} layers, first `{path}`, have no counterpart in the small twin: {ops}.",
        count=3,
        total=94,
        path="model.layers.0",
        ops="only in the whole model `aten.sigmoid.default ×1`",
    )
    EXTRA = Sentence(
        "The small twin has a layer `{path}` that the whole model lacks: {ops}.",
        path="encoder.layers.0",
        ops="only in the twin `aten.linear.default ×1`",
    )
    OUTSIDE = Sentence(
        "The model and its small twin differ outside of their layers: {ops}.",
        ops="only in the whole model `aten.tanh.default`",
    )
    WHY = Sentence(
        "Checks that need values ran on the twin, so they do not cover these ops. Verify a small "
        "config that runs them, or the whole model with its weights."
    )
