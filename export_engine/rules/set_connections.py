"""Findings on what flows between programs of a set."""

from __future__ import annotations

from export_engine.rules.kinds import Kind
from export_engine.rules.rule import Rule, Sentence


class SetSizes(Rule, kind=Kind.SET_SIZES):
    """A program returns a tensor of a size that the next program does not accept.

    ## Example

    ```python
    import explorer
    import torch

    class Encode(torch.nn.Module):
        def forward(self, x):
            return {"cache": x.sin()}


    class Decode(torch.nn.Module):
        def forward(self, x, cache):
            return x + cache.mean(dim=1, keepdim=True)


    ex = explorer.explore_many({
        "prefill": (Encode(), (torch.ones(3, 5, 8),)),
        "decode": (Decode(), (torch.ones(3, 1, 8), torch.ones(3, 6, 8))),
    })
    ```

    ## What to do

    Export both programs with examples of the same sizes, or make the dim dynamic in the program
    that rejects it.

    ## Why

    Each program checks the sizes of its inputs. A static dim accepts only the size of its example.
    """

    RANK = Sentence(
        "{named} has {taken} dims, but {giver} returns {given}.",
        named="`cache` of `decode`",
        taken="4",
        giver="`prefill`",
        given="3",
    )
    RANK_WHY = Sentence("The program rejects a tensor of a different rank.")
    SIZE = Sentence(
        "{dim} is {taken} in `{taking}`, but {giver} returns {given}.",
        dim="`cache.shape[1]`",
        taken="6",
        taking="decode",
        giver="`prefill`",
        given="5",
    )
    SIZE_WHY = Sentence(
        "Dim {dim}: {given} is returned, {taken} is accepted.", dim="1", given="5", taken="6"
    )


class SetDtypes(Rule, kind=Kind.SET_DTYPES):
    """A program returns a tensor of one dtype, and the next program expects a different one.

    ## Example

    ```python
    import explorer
    import torch

    class Encode(torch.nn.Module):
        def forward(self, x):
            return {"cache": x.half()}


    class Decode(torch.nn.Module):
        def forward(self, x, cache):
            return x + cache.mean(dim=1, keepdim=True)


    ex = explorer.explore_many({
        "prefill": (Encode(), (torch.ones(3, 5, 8),)),
        "decode": (Decode(), (torch.ones(3, 1, 8), torch.ones(3, 5, 8))),
    })
    ```

    ## What to do

    Convert the tensor in one of the models, or export both with the same dtype.

    ## Why

    Dtypes of inputs are fixed at export. The program fails, or reads wrong values, with any other.
    """

    SENTENCE = Sentence(
        "{named} accepts {taken}, but {giver} returns {given}.",
        named="`cache` of `decode`",
        taken="float32",
        giver="`prefill`",
        given="float16",
    )
    WHY = Sentence(
        "`{giving}` returns {given} and `{taking}` accepts {taken}.",
        giving="prefill",
        given="float16",
        taking="decode",
        taken="float32",
    )


class SetRanges(Rule, kind=Kind.SET_RANGES):
    """The range of sizes that a program returns exceeds the range that the next program accepts.

    ## Example

    ```python
    import explorer
    import torch

    class Encode(torch.nn.Module):
        def forward(self, x):
            return {"cache": x.sin()}


    class Decode(torch.nn.Module):
        def forward(self, x, cache):
            cache = torch.cat([cache, x], dim=1)
            return {"logits": cache.mean(dim=1), "cache": cache}


    ex = explorer.explore_many({
        "prefill": (Encode(), (torch.ones(3, 5, 8),), {}, "x: batch, prompt[2..512], _"),
        "decode": (
            Decode(),
            (torch.ones(3, 1, 8), torch.ones(3, 5, 8)),
            {},
            "x: batch, _, _; cache: batch, past[2..256], _",
        ),
    })
    ```

    ## What to do

    Give both dims the same range in their dynamic shapes.

    ## Why

    Each program is exported on its own, so torch.export does not compare their ranges. Sizes
    outside the second range are rejected at run time.
    """

    SENTENCE = Sentence(
        "{upper}{from_} returns {dim} in {given}, but `{taking}` accepts {accepted}.",
        upper="`",
        from_="prefill`",
        dim="`cache.shape[1]`",
        given="[2, 512]",
        taking="decode",
        accepted="[2, 256]",
    )
    WHY = Sentence(
        "Dim {dim}: {given} is returned and {accepted} is accepted; other sizes are rejected.",
        dim="1",
        given="[2, 512]",
        accepted="[2, 256]",
    )


class SetState(Rule, kind=Kind.SET_STATE):
    """A program updates a buffer, and another program has its own copy of it.

    ## Example

    ```python
    import explorer
    import torch

    class Held(torch.nn.Module):
        def __init__(self, writes):
            super().__init__()
            self.writes = writes
            self.register_buffer("kv", torch.zeros(3, 8))

        def forward(self, x):
            if self.writes:
                self.kv.add_(x)
            return x + self.kv


    x = torch.ones(3, 8)
    ex = explorer.explore_many({"prefill": (Held(True), (x,)), "decode": (Held(False), (x,))})
    ```

    ## What to do

    Pass the state as an input and return it, instead of keeping it in a buffer.

    ## Why

    Buffers are stored in each program. No program sees another one's buffers.
    """

    SENTENCE = Sentence(
        "`{giving}` writes the buffer {names}, but `{taking}` has its own copy.",
        giving="prefill",
        names="`kv`",
        taking="decode",
    )
    WHY = Sentence(
        "Programs share no buffers at run time, so `{taking}` does not see the write. Pass "
        "the state as an input and return it.",
        taking="decode",
    )


class SetMutated(Rule, kind=Kind.SET_MUTATED):
    """A program mutates its input in place, and another program reads the same tensor and expects
    it unchanged.

    ## Example

    ```python
    import explorer
    import torch

    class Encoder(torch.nn.Module):
        def forward(self, x):
            return {"last_hidden_state": x * 3.0}


    class Writing(torch.nn.Module):
        def forward(self, last_hidden_state):
            last_hidden_state.mul_(2.0)
            return last_hidden_state.sum(dim=1)


    class Reading(torch.nn.Module):
        def forward(self, last_hidden_state):
            return last_hidden_state.sum(dim=1)


    x = torch.ones(3, 5, 8)
    ex = explorer.explore_many({
        "encoder": (Encoder(), (x,)),
        "prefill": (Writing(), (x * 3.0,)),
        "decode": (Reading(), (x * 3.0,)),
    })
    ```

    ## What to do

    Work on a copy, `x.clone()`, in the program that writes.

    ## Why

    Tensors are passed by reference, so the order of the calls determines what the second
    program reads.
    """

    SENTENCE = Sentence(
        "`{component}` mutates `{path}`, which `{reader}` expects unchanged from `{source}`.",
        component="prefill",
        path="last_hidden_state",
        reader="decode",
        source="encoder",
    )
    WHY = Sentence(
        "The program that runs second reads the mutated values, unless each gets a copy."
    )


class SetRounded(Rule, kind=Kind.SET_ROUNDED):
    """A tensor between programs is converted to a lower precision although its dtype says
    otherwise.

    ## Example

    ```python
    import explorer
    import torch

    class Encode(torch.nn.Module):
        def forward(self, x):
            return {"cache": x.sin().bfloat16().float()}


    class Decode(torch.nn.Module):
        def forward(self, x, cache):
            return x + cache.mean(dim=1, keepdim=True)


    ex = explorer.explore_many({
        "prefill": (Encode(), (torch.ones(3, 5, 8),)),
        "decode": (Decode(), (torch.ones(3, 1, 8), torch.ones(3, 5, 8))),
    })
    ```

    ## What to do

    Keep the tensor in its full precision in the model, or accept the rounding.

    ## Why

    Eager may keep the full precision between the same modules, so outputs can differ.
    """

    SENTENCE = Sentence(
        "`{component}` {verb} `{path}`{more} as {wide} and rounds it to {narrow}.",
        component="prefill",
        verb="returns",
        path="cache",
        more="",
        wide="float32",
        narrow="bfloat16",
    )
    WHY = Sentence(
        "The dtype is {wide}, but the values are already rounded to {narrow}.",
        wide="float32",
        narrow="bfloat16",
    )


class SetLength(Rule, kind=Kind.SET_LENGTH):
    """A dim that varies between calls was exported static, so the set works for one length only.

    ## Example

    ```python
    import explorer
    import torch

    class Encode(torch.nn.Module):
        def forward(self, x):
            return {"cache": x.sin()}


    class Decode(torch.nn.Module):
        def forward(self, x, cache):
            cache = torch.cat([cache, x], dim=1)
            return {"logits": cache.mean(dim=1), "cache": cache}


    ex = explorer.explore_many({
        "prefill": (Encode(), (torch.ones(3, 5, 8),), {}, "x: batch, prompt, _"),
        "decode": (
            Decode(),
            (torch.ones(3, 1, 8), torch.ones(3, 5, 8)),
            {},
            "x: batch, _, _; cache: batch, _, _",
        ),
    })
    ```

    ## What to do

    Make the dim dynamic: name it in the dynamic shapes of that program.

    ## Why

    torch.export specializes each dim without a Dim to the size of the example.
    """

    OBSERVED = Sentence(
        "`{component}` fixes {dims}, but its calls use several sizes.",
        component="decode",
        dims="`x.shape[1]` at 5",
    )
    OBSERVED_WHY = Sentence(
        "Calls were observed at several sizes; the program accepts one of them."
    )
    FIXED_DIM = Sentence(
        "{dim} is fixed at {lower} in `{taking}`, but {giver} returns sizes in {given}.",
        dim="`cache.shape[1]`",
        lower="5",
        taking="decode",
        giver="`prefill`",
        given="[0, ∞)",
    )
    FIXED_DIM_WHY = Sentence(
        "`{taking}` was exported with dim {dim} static, so it accepts only one length.",
        taking="decode",
        dim="1",
    )
    FIXED_ROWS = Sentence(
        "`{giving}` is fixed at {lower} row{s}, but `{taking}` accepts {accepted}.",
        giving="prefill",
        lower="3",
        s="s",
        taking="decode",
        accepted="[0, ∞)",
    )
    FIXED_ROWS_WHY = Sentence(
        "`{giving}` was exported with dim 0 static, so the set runs at only one batch size.",
        giving="prefill",
    )


class SetArgument(Rule, kind=Kind.SET_ARGUMENT):
    """An argument that changes from call to call is a constant of the program.

    ## Example

    ```python
    import explorer
    import torch

    class Decode(torch.nn.Module):
        def forward(self, x, scale):
            return x * scale


    ex = explorer.explore_many({"decode": (Decode(), (torch.ones(3), 2.0))})
    ```

    ## What to do

    Pass it as a tensor.

    ## Why

    Python numbers, bools and strings are specialized while tracing. The program rejects other
    values.
    """

    SENTENCE = Sentence(
        "`{path}` is fixed at {constant} in `{component}`, but calls passed {names}.",
        path="scale",
        constant="2",
        component="decode",
        names="2, 3",
    )
    WHY = Sentence("A value that is not a tensor is a constant of the program.")


class SetQuantization(Rule, kind=Kind.SET_QUANTIZATION):
    """A program quantizes a tensor with one scale or zero point, and the next program reads it with
    another.

    ## Example

    ```python
    import explorer
    import torch

    class Encode(torch.nn.Module):
        def forward(self, x):
            return {"cache": (x / 0.05).round().clamp(-128, 127).to(torch.int8)}


    class Decode(torch.nn.Module):
        def forward(self, cache):
            return (cache.to(torch.float32) * 0.04).mean(dim=1)


    ex = explorer.explore_many({
        "prefill": (Encode(), (torch.ones(3, 5, 8),)),
        "decode": (Decode(), (torch.ones(3, 5, 8, dtype=torch.int8),)),
    })
    ```

    ## What to do

    Use the same scale and zero point in both programs.

    ## Why

    The tensor between them has integers only. Each program multiplies by its own scale.
    """

    SENTENCE = Sentence(
        "`{giving}` quantizes `{source_path}` with {written}, but `{taking}` reads it with {read}.",
        giving="prefill",
        source_path="cache",
        written="scale 0.05",
        taking="decode",
        read="scale 0.04",
    )
    WHY = Sentence("The same integers mean different values in the two programs.")
