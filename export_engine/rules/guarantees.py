"""What torch.export guarantees, and Verify checks."""

from __future__ import annotations

from export_engine.rules.kinds import Kind
from export_engine.rules.rule import Rule


class GuaranteeFlat(Rule, kind=Kind.GUARANTEE_FLAT):
    """No node of the graph calls a module: everything is inlined. If broken, a pass has put a call
    of a module into the graph.

    ## Example

    ```python
    import explorer
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)

        def forward(self, x):
            return self.linear(x).relu()


    ex = explorer.explore(Model(), (torch.ones(3, 4),), dynamic_shapes="x: batch[2..16], _")
    nodes = {node.name: node for node in ex.program.graph.nodes}
    ex.program.graph_module.add_submodule("act", torch.nn.ReLU())
    nodes["relu"].op, nodes["relu"].target = "call_module", "act"
    ex.verify()
    ```

    ## What to do

    Let the pass insert ops, not modules.

    ## Why

    A consumer of the graph does not need Python. Every op is one of a known set.
    """


class GuaranteeFunctional(Rule, kind=Kind.GUARANTEE_FUNCTIONAL):
    """No op writes to its inputs in place; mutations are outputs. If broken, a pass has put an
    in-place op into a decomposed program.

    ## Example

    ```python
    import explorer
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)

        def forward(self, x):
            return self.linear(x).relu()


    ex = explorer.explore(Model(), (torch.ones(3, 4),), dynamic_shapes="x: batch[2..16], _")
    nodes = {node.name: node for node in ex.program.graph.nodes}
    ex.decompose("core")
    relu = next(node for node in ex.program.graph.nodes if node.name == "relu")
    relu.target = torch.ops.aten.relu_.default
    ex.verify()
    ```

    ## What to do

    Use the op's functional overload.

    ## Why

    A compiler may reorder functional ops. A hidden write makes that wrong.
    """


class GuaranteeLifted(Rule, kind=Kind.GUARANTEE_LIFTED):
    """Parameters, buffers and constants are inputs of the graph, and the signature names every
    input and output. If broken, the program and its state do not belong together.

    ## Example

    ```python
    import explorer
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)

        def forward(self, x):
            return self.linear(x).relu()


    ex = explorer.explore(Model(), (torch.ones(3, 4),), dynamic_shapes="x: batch[2..16], _")
    nodes = {node.name: node for node in ex.program.graph.nodes}
    del ex.program.state_dict["linear.weight"]
    ex.verify()
    ```

    ## What to do

    Change the state dict and the signature together.

    ## Why

    The graph itself holds no tensors. The signature says which input is which weight.
    """


class GuaranteeMapped(Rule, kind=Kind.GUARANTEE_MAPPED):
    """Every op knows its source line and its module. If broken, a pass has made ops without copying
    `meta`.

    ## Example

    ```python
    import explorer
    import torch

    class Model(torch.nn.Module):
        def forward(self, x):
            return x.sin().relu()


    program = torch.export.export(Model(), (torch.ones(3, 4),))
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)
    torch.export.save(program, "edited.pt2")
    ex = explorer.load("edited.pt2", trusted=True)
    ex.verify()
    ```

    ## What to do

    Copy `node.meta` from the op that is replaced.

    ## Why

    Error messages, profiles and this view lead back to your code by `stack_trace` and
    `nn_module_stack`.
    """


class GuaranteeOps(Rule, kind=Kind.GUARANTEE_OPS):
    """Each custom op returns what its fake kernel says, and mutates only what its schema declares.
    If broken, the program's shapes are not those of its values.

    ## Example

    ```python
    import explorer
    import torch

    @torch.library.custom_op("ex305::doubled", mutates_args=())
    def doubled(x: torch.Tensor) -> torch.Tensor:
        return x * 2


    @doubled.register_fake
    def _(x):
        return x.new_empty(x.shape[0], 1)


    def forward(x):
        return doubled(x).sum()


    ex = explorer.explore(forward, (torch.ones(3, 4),))
    ex.verify()
    ```

    ## What to do

    Correct the fake kernel or the schema. `torch.library.opcheck` tests an op by itself.

    ## Why

    Tracing believes the fake kernel. The ops after it are compiled for the shapes that it promised.
    """


class GuaranteeSound(Rule, kind=Kind.GUARANTEE_SOUND):
    """At every size that the contract admits, the program returns what the model returns. If
    broken, something was lost or baked in while tracing.

    ## Example

    ```python
    import explorer
    import torch

    import time


    def forward(x):
        return x + time.perf_counter() % 1


    ex = explorer.explore(forward, (torch.ones(3, 4),))
    ex.verify()
    ```

    ## What to do

    See the findings for what was baked in. The evidence names the sizes and the first op that
    diverges.

    ## Why

    This is what export is for: one graph for all calls that its shapes admit.
    """


class GuaranteeRefuses(Rule, kind=Kind.GUARANTEE_REFUSES):
    """A call outside the contract is rejected. If broken, the program returns results where nothing
    is promised.

    ## Example

    ```python
    import explorer
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)

        def forward(self, x):
            return self.linear(x).relu()


    ex = explorer.explore(Model(), (torch.ones(3, 4),), dynamic_shapes="x: batch[2..16], _")
    nodes = {node.name: node for node in ex.program.graph.nodes}
    for symbol, bounds in list(ex.program.range_constraints.items()):
        ex.program.range_constraints[symbol] = type(bounds)(2, 64)
    ex.verify()
    ```

    ## What to do

    Do not widen ranges by hand. Export with the shapes that you need.

    ## Why

    A program is correct because it rejects all other calls: it checks what tracing assumed.
    """


class GuaranteeChecks(Rule, kind=Kind.GUARANTEE_CHECKS):
    """Each condition on values that tracing assumed is an assertion of the program. If broken, a
    pass has removed one.

    ## Example

    ```python
    import explorer
    import torch

    class Model(torch.nn.Module):
        def forward(self, x, k):
            n = k.item()
            torch._check(n >= 0)
            torch._check(n < 4)
            return x.narrow(1, n, 1)


    ex = explorer.explore(Model(), (torch.ones(3, 4), torch.tensor(2)))
    for node in list(ex.program.graph.nodes):
        if "_assert_scalar" in str(node.target):
            ex.program.graph.erase_node(node)
    ex.verify()
    ```

    ## What to do

    Keep the asserts, or check the condition before the call.

    ## Why

    `torch._check` says what may be assumed. Without the assertion, a wrong value returns a wrong
    result.
    """


class GuaranteeState(Rule, kind=Kind.GUARANTEE_STATE):
    """Buffers and inputs change as they do in eager, call after call. If broken, a side effect was
    lost.

    ## Example

    ```python
    import explorer
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            return x + self.calls


    ex = explorer.explore(Model(), (torch.ones(3, 4),))
    ex.verify()
    ```

    ## What to do

    Keep state in buffers and write to them in place.

    ## Why

    Only buffers and inputs are state of a program. An attribute of Python is a constant.
    """


class GuaranteeSaved(Rule, kind=Kind.GUARANTEE_SAVED):
    """Saved and loaded, it is the same program. If broken, torch cannot save it, or something is
    lost.

    ## Example

    ```python
    import explorer
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)

        def forward(self, x):
            return self.linear(x).relu()


    ex = explorer.explore(Model(), (torch.ones(3, 4),), dynamic_shapes="x: batch[2..16], _")
    nodes = {node.name: node for node in ex.program.graph.nodes}
    nodes["relu"].target = torch.relu
    ex.verify()
    ```

    ## What to do

    Use ops of `torch.ops` only, and register pytree classes and custom ops with what saving needs.

    ## Why

    The file format knows ATen and registered custom ops, not Python functions.
    """


class GuaranteeUnflattened(Rule, kind=Kind.GUARANTEE_UNFLATTENED):
    """Unflattened into modules, it runs and agrees. If broken, the paths of modules in the graph
    are wrong.

    ## Example

    ```python
    import explorer
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)

        def forward(self, x):
            return self.linear(x).relu()


    ex = explorer.explore(Model(), (torch.ones(3, 4),))
    for node in ex.program.graph.nodes:
        node.meta.pop("nn_module_stack", None)
    ex.verify()
    ```

    ## What to do

    Keep `nn_module_stack` of each op correct in your passes.

    ## Why

    `torch.export.unflatten` builds the module tree from the ops' metadata.
    """


class GuaranteeReExported(Rule, kind=Kind.GUARANTEE_RE_EXPORTED):
    """Exported again, it becomes a program with the same inputs that agrees at several sizes; its
    graph may compute a size with a different op. If broken, it does not export, a size that was
    dynamic is fixed, or results differ.

    ## Example

    ```python
    import explorer
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)

        def forward(self, x):
            return self.linear(x).reshape(x.shape[0], 2, 2)


    ex = explorer.explore(Model(), (torch.ones(3, 4),), dynamic_shapes="x: batch[2..16], _")
    nodes = {node.name: node for node in ex.program.graph.nodes}
    nodes["reshape"].args = (nodes["linear"], [3, 2, 2])
    ex.verify()
    ```

    ## What to do

    Let passes keep what is symbolic: a size comes from `aten.sym_size`, not from the example.

    ## Why

    A program is itself a module that can be exported. Tools that do so expect nothing to change.
    """


class GuaranteeDecomposed(Rule, kind=Kind.GUARANTEE_DECOMPOSED):
    """Decomposed to Core ATen, it agrees. If broken, torch cannot decompose it, or the result
    differs.

    ## Example

    ```python
    import explorer
    import torch

    @torch.library.custom_op("ex313::doubled", mutates_args=())
    def doubled(x: torch.Tensor) -> torch.Tensor:
        return x * 2


    class Model(torch.nn.Module):
        def forward(self, x):
            return x.relu()


    ex = explorer.explore(Model(), (torch.ones(3, 4),))
    relu = next(node for node in ex.program.graph.nodes if node.name == "relu")
    relu.target = torch.ops.ex313.doubled.default
    ex.verify()
    ```

    ## What to do

    Give custom ops a fake kernel, or keep the op whole: `ex.decompose("core -name")`.

    ## Why

    Backends take Core ATen. Decomposition traces the program again with fake tensors.
    """
