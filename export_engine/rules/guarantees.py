"""Guarantees of torch.export that Verify checks."""

from __future__ import annotations

from export_engine.rules.kinds import Kind
from export_engine.rules.rule import Rule, Sentence


class GuaranteeFlat(Rule, kind=Kind.GUARANTEE_FLAT):
    """No node of the graph calls a module: everything is inlined. If broken, a pass has inserted a
    module call.

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

    Make the pass insert ops, not modules.

    ## Why

    A consumer of the graph does not need Python. Every op belongs to a known set.
    """

    CLAIM = Sentence("The graph is flat: no module is called.")
    HOLDS = Sentence("{calls}.", calls="All 12 calls are ops")
    BROKEN = Sentence("{count} of the calls are modules or methods, not ops.", count=2)
    CALLS = Sentence("{node} calls {target}", node="act", target="layers.0")


class GuaranteeFunctional(Rule, kind=Kind.GUARANTEE_FUNCTIONAL):
    """No op writes to its inputs in place; mutations are outputs. If broken, a pass has
    inserted an in-place op into a decomposed program.

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

    A compiler may reorder functional ops. A hidden write breaks that.
    """

    CLAIM = Sentence(
        "Decomposed, the graph is functional: no op mutates its inputs; mutations are outputs."
    )
    HOLDS = Sentence("None of {count} ops mutates its inputs.", count=12)
    DECOMPOSED = Sentence("Decomposed, none of {count} ops mutates its inputs.", count=12)
    BROKEN = Sentence("{bad} of {count} ops may mutate their inputs.", bad=1, count=12)
    UNDECOMPOSED = Sentence(
        "{bad} of {count} ops write in place, and torch cannot decompose the program to remove "
        "them: {reason}",
        bad=1,
        count=12,
        reason="NotImplementedError: no fake impl",
    )
    WRITES = Sentence("{node}: {op} mutates an argument", node="relu", op="aten.relu_.default")
    NO_OP = Sentence("{node}: {op} is not an op", node="relu", op="relu")
    WRITES_YET = Sentence(
        "{node}: {op} mutates in place until decomposed", node="add_", op="aten.add_.Tensor"
    )
    OUTPUT = Sentence(
        "{target} is mutated through the output {output}", target="calls", output="add"
    )


class GuaranteeLifted(Rule, kind=Kind.GUARANTEE_LIFTED):
    """Parameters, buffers and constants are inputs of the graph, and the signature names every
    input and output. If broken, the program and its state do not match.

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

    CLAIM = Sentence(
        "Parameters, buffers and constants are inputs, and the signature names every input and "
        "output."
    )
    HOLDS = Sentence(
        "{held}, and the signature matches.",
        held="All 4 parameters, buffers and constants are inputs",
    )
    BROKEN = Sentence("The signature and the graph do not match.")
    INPUTS = Sentence("signature and placeholders differ: {where}", where="their order")
    ATTRIBUTE = Sentence("{node} reads the attribute {target}", node="scale", target="scale")
    NOT_HELD = Sentence(
        "{input}: the program has no {target}",
        input="p_linear_weight",
        target="linear.weight",
    )
    OUTPUT = Sentence("the output {output} is not in the signature", output="add")
    OUTPUTS = Sentence("{count} outputs, {named} in the signature", count=2, named=1)


class GuaranteeMapped(Rule, kind=Kind.GUARANTEE_MAPPED):
    """Every op has its source line and its module. If broken, a pass has created ops without
    copying `meta`.

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

    Error messages, profiles and this view find your code through `stack_trace` and
    `nn_module_stack`.
    """

    CLAIM = Sentence("Every op is mapped to its source line and its module.")
    NO_OP = Sentence("The program has no ops.")
    HOLDS = Sentence("{ops}.", ops="All 12 ops have a line and a module")
    OF_TORCH = Sentence(
        "All ops have a module; {ops} come from torch's own modules, not from a line of your code.",
        ops="2 of 12 ops",
    )
    BROKEN = Sentence(
        "{share:.1%} of {count} ops are mapped to a line and a module.", share=0.75, count=12
    )
    SIZES = Sentence(" {calls}.", calls="4 more calls only check or compute sizes")
    LACKS = Sentence("{node} has no {what}", node="relu", what="line")


class GuaranteeOps(Rule, kind=Kind.GUARANTEE_OPS):
    """Each custom op returns what its fake kernel says, and mutates only what its schema declares.
    If broken, the shapes in the program are wrong.

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

    Correct the fake kernel or the schema. `torch.library.opcheck` tests an op on its own.

    ## Why

    Tracing trusts the fake kernel. The ops after it are compiled for the shapes that it promised.
    """

    CLAIM = Sentence(
        "Every custom op returns what its fake kernel says and mutates only what its schema "
        "declares."
    )
    NONE = Sentence("All ops are torch's own.")
    HOLDS = Sentence(
        "{ops} run on real tensors: {names}.", ops="1 custom op was", names="mylib.doubled.default"
    )
    NOT_RUN = Sentence(
        "Not run on real tensors: {names}. {reason}",
        names="mylib.doubled.default",
        reason="The program rejects batch = 0.",
    )
    PROBLEM = Sentence(
        "`{op}` {problem}{where}",
        op="mylib.doubled.default",
        problem="returns shape [3, 4], but its fake kernel says [3, 1]",
        where=" (net.py:12)",
    )
    FAKE_FAILS = Sentence(
        "has a fake kernel that fails for these inputs: {error}", error="IndexError: no dim 2"
    )
    COUNTS = Sentence("returns {real} values, but its fake kernel says {fake}", real=2, fake=1)
    TYPES = Sentence(
        "returns type {real}{which}, but its fake kernel says {fake}",
        real="Tensor",
        which=" as result 1",
        fake="int",
    )
    SHAPES = Sentence(
        "returns shape {real}{which}, but its fake kernel says {fake}",
        real=[3, 4],
        which="",
        fake=[3, 1],
    )
    DTYPES = Sentence(
        "returns {real}{which}, but its fake kernel says {fake}",
        real="torch.float32",
        which="",
        fake="torch.float64",
    )
    DEVICES = Sentence(
        "returns a tensor on {real}{which}, but its fake kernel says {fake}",
        real="cuda:0",
        which="",
        fake="cpu",
    )
    STRIDES = Sentence(
        "returns strides {real}{which}, but its fake kernel says {fake}",
        real=(1, 3),
        which="",
        fake=(4, 1),
    )
    WRITES = Sentence(
        "writes to its argument `{argument}`, but its schema does not declare it", argument="x"
    )
    ALIAS = Sentence(
        "returns an alias of its argument `{argument}`, but its schema does not declare it",
        argument="x",
    )
    RUN_FAILED = Sentence("a run failed: {error}", error="ValueError: batch is 0")


class GuaranteeSound(Rule, kind=Kind.GUARANTEE_SOUND):
    """At every size that it accepts, the program returns what the model returns. If
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

    That is the point of export: one graph for every call that its shapes allow.
    """

    CLAIM = Sentence("At the sizes that were tried, the program agrees with eager.")
    HOLDS = Sentence(
        "Agrees with eager at {sizes}, {how}.{more}",
        sizes="batch 2, 3, 16",
        how="off by at most 1.2e-07",
        more="",
    )
    EAGER_FAILS = Sentence(
        "Eager fails at every tried size. {error}", error="forward() raised ValueError: no rows"
    )
    DIFFERS = Sentence(
        "Differs from eager at {sizes}: {detail}.{line}{more} {agrees}",
        sizes="batch = 4",
        detail="max |Δ| 0.5",
        line=" See net.py:12: `if x.shape[0] == 4:`.",
        more=" Also at 2 more.",
        agrees="Agrees with eager at batch 2, 3, exactly.",
    )
    REJECTS = Sentence(
        "Rejects {sizes}, which eager accepts.{line}{more} {agrees}",
        sizes="batch = 4",
        line="",
        more="",
        agrees="Agrees with eager at batch 2, 3, exactly.",
    )
    AT = Sentence("{sizes}: {how}", sizes="batch = 3", how="off by 1.2e-07")
    WRONG_AT = Sentence("{sizes}: {detail}", sizes="batch = 4", detail="max |Δ| 0.5")
    REJECTED_AT = Sentence(
        "{sizes}: the program rejects it: {detail}",
        sizes="batch = 4",
        detail="Expected input x.shape[0] = 3",
    )
    WITHIN = Sentence("eager ran in the contexts of the export: {contexts}", contexts="no_grad")
    NOT_TRIED = Sentence("not tried, to save time: {sizes}", sizes="batch = 1024")
    STRIDES = Sentence(" Only strides differ: {strides}.", strides="[4, 1], eager [1, 3]")
    DTYPE = Sentence(
        "{dtypes}{context}.",
        dtypes="The output is torch.bfloat16, but the program declares torch.float32",
        context=": the export ran in torch.autocast",
    )


class GuaranteeRefuses(Rule, kind=Kind.GUARANTEE_REFUSES):
    """A call outside the program's shapes is rejected. If broken, the program returns results that
    nothing guarantees.

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

    CLAIM = Sentence("A call outside the program's shapes is rejected, for the expected reason.")
    NONE = Sentence("No input size is excluded.")
    NOT_FOUND = Sentence("No sizes were found that break {rule}.", rule="batch <= 16")
    HOLDS = Sentence("Rejected {calls} outside its shapes.{more}", calls="3 calls", more="")
    TAKEN = Sentence(
        " Eager accepts {count} of them: {example}.",
        count=1,
        example="x.shape[0] = 17 breaks batch <= 16",
    )
    UNTRIED = Sentence(" {count} of {all} rules were not tried.", count=1, all=4)
    BROKEN = Sentence("{bad} of {all} calls outside its shapes are not rejected.", bad=1, all=3)
    BREAKS = Sentence("{change} breaks {rule}", change="x.shape[0] = 17", rule="batch <= 16")
    REFUSED = Sentence(
        "{call}: {reason}{more}",
        call="x.shape[0] = 17 breaks batch <= 16",
        reason="Expected input x.shape[0] <= 16",
        more=" (an op failed, not a check)",
    )
    ACCEPTED = Sentence(
        "{call}, but the program accepts it", call="x.shape[0] = 17 breaks batch <= 16"
    )
    AGREES = Sentence(
        "{call}, but the program accepts it and agrees with eager",
        call="x.shape[0] = 1 breaks 2 <= batch",
    )
    DIFFERS = Sentence(
        "{call}, but the program accepts it and differs from eager: {detail}",
        call="x.shape[0] = 1 breaks 2 <= batch",
        detail="max |Δ| 0.5",
    )
    LEFT = Sentence("not tried: {rule}", rule="a check in the program")


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

    `torch._check` states an assumption. Without the assertion, a value that violates it silently
    returns a wrong result.
    """

    CLAIM = Sentence("Conditions on values that tracing could not decide are runtime assertions.")
    NONE = Sentence("No condition on values was deferred to run time.")
    HOLDS = Sentence("All {count} conditions on values are asserted.", count=2)
    BROKEN = Sentence("{lost} of {count} conditions on values are not asserted.", lost=1, count=2)
    LOST = Sentence("{condition} is not checked by the program", condition="u0 < 4")


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

    A program's only state is its buffers and inputs. A Python attribute is a constant.
    """

    CLAIM = Sentence("Buffers and inputs change as they do in eager, call after call.")
    EAGER_FAILS = Sentence("The model fails in eager: {error}", error="ValueError: no rows")
    HOLDS = Sentence(
        "Agrees with eager over {calls} calls in a row, which change {names}.{more}",
        calls=3,
        names="count",
        more="",
    )
    RETURNED = Sentence(
        " The program returns the new values of {names} instead of writing them.", names="cache"
    )
    BROKEN = Sentence(
        "Diverges from eager at {call} of {calls} in a row.{cause}",
        call="call 2",
        calls=3,
        cause="",
    )
    PROBLEM = Sentence(
        "call {number}: {what} differ: {detail}", number=2, what="buffers", detail="max |Δ| 1"
    )
    LOST = Sentence(
        "call {number}: eager mutates {names}; the program neither mutates nor returns it",
        number=1,
        names="cache",
    )


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

    Use ops of `torch.ops` only, and register pytree classes and custom ops with the functions that
    saving requires.

    ## Why

    The file format knows ATen and registered custom ops, not Python functions.
    """

    CLAIM = Sentence("Saving and loading returns the same program.")
    HOLDS = Sentence(
        "Same graph, signature, ranges and outputs; {bytes:,} bytes.{strides}",
        bytes=20_480,
        strides="",
    )
    NOT_COMPARED = Sentence(
        "Same graph, signature and ranges; {bytes:,} bytes. Outputs were not compared. {reason}",
        bytes=20_480,
        reason="The weights have no values.",
    )
    RANGE = Sentence(
        "{symbol} in {after} instead of {before}", symbol="s0", after=None, before=(2, 16)
    )
    KEYS = Sentence(
        "torch saves tuples that are dict keys as lists, so the loaded program rejects every call: "
        "{keys}. Use strings.",
        keys="`(0, 1)`",
    )
    FAILS = Sentence(
        "torch cannot {step}: {error}", step="save it", error="SerializeError: unsupported op"
    )


class GuaranteeUnflattened(Rule, kind=Kind.GUARANTEE_UNFLATTENED):
    """Unflattened into modules, it runs and agrees. If broken, module paths in the graph are
    wrong.

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

    CLAIM = Sentence("Unflattened into modules, it runs and agrees.")
    HOLDS = Sentence("Agrees, as {modules}.{strides}", modules="3 modules", strides="")
    NOT_COMPARED = Sentence(
        "It unflattens, as {modules}; outputs were not compared. {reason}",
        modules="3 modules",
        reason="The weights have no values.",
    )
    FAILS = Sentence("torch cannot unflatten it: {error}", error="KeyError: layers.0")


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

    Keep sizes symbolic in your passes: read a size with `aten.sym_size`, not from the example.

    ## Why

    A program is itself a module that can be exported. Tools that export it again expect no change.
    """

    CLAIM = Sentence("A second export has the same inputs and agrees.")
    HOLDS = Sentence("The same graph of {ops}.", ops="12 ops")
    HOW = Sentence(
        "Each distinct call, by op, arguments, dtypes and sizes, was re-exported only once."
    )
    AGREES = Sentence(
        "Agrees at {sizes}; the re-exported graph is not the same: {difference}.",
        sizes="batch 2, 3, 16",
        difference="add is missing",
    )
    NOT_COMPARED = Sentence(
        "The re-exported graph differs: {difference}. {reason}",
        difference="add is missing",
        reason="The weights have no values.",
    )
    FAILS = Sentence("The second export fails: {error}", error="RuntimeError: no such shape")
    FIXED = Sentence("{input}: dim {dim} is fixed at {size}", input="x", dim=0, size=3)
    REJECTED_AT = Sentence(
        "{sizes}: it rejects the call: {reason}", sizes="batch = 4", reason="no such shape"
    )
    WRONG_AT = Sentence("{sizes}: {detail}", sizes="batch = 4", detail="max |Δ| 0.5")


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

    Many backends require Core ATen. Decomposition traces the program again with fake tensors.
    """

    CLAIM = Sentence("Decomposed to Core ATen, it agrees.")
    HOLDS = Sentence(
        "Agrees: {before} became {after:,}.{strides}{kept}",
        before="12 ops",
        after=30,
        strides="",
        kept="",
    )
    NOT_COMPARED = Sentence(
        "{before} became {after:,}; outputs were not compared.{kept} {reason}",
        before="12 ops",
        after=30,
        kept="",
        reason="The weights have no values.",
    )
    DISTINCT = Sentence("the {count:,} distinct ops of {every:,}", count=70, every=290)
    HOW = Sentence(
        "Calls of one op with equal arguments, dtypes and sizes were decomposed once. "
        "`decompose()` decomposes the whole program."
    )
    KEPT = Sentence(
        " Not decomposed, because torch cannot do so here: {ops}.", ops="mylib.doubled.default"
    )
    FAILS = Sentence("torch cannot decompose it: {error}", error="no fake kernel")
