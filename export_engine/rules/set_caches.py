"""Findings on caches and positions between programs of a set."""

from __future__ import annotations

from export_engine.rules.kinds import Kind
from export_engine.rules.rule import Rule, Sentence


class SetInPlace(Rule, kind=Kind.SET_IN_PLACE):
    """A program writes its cache in place and does not return it.

    ## Example

    ```python
    import explorer
    import torch

    class Prefill(torch.nn.Module):
        def forward(self, x):
            return {"cache": torch.nn.functional.pad(x, (0, 0, 0, 11))}


    class Decode(torch.nn.Module):
        def forward(self, x, cache, at):
            cache.index_copy_(1, at, x)
            return cache.mean(dim=1)


    ex = explorer.explore_many({
        "prefill": (Prefill(), (torch.ones(3, 5, 8),)),
        "decode": (Decode(), (torch.ones(3, 1, 8), torch.zeros(3, 16, 8), torch.tensor([5]))),
    })
    ```

    ## What to do

    Also return the cache as an output.

    ## Why

    A runtime may copy inputs, and then the write is lost between calls.
    """

    SENTENCE = Sentence(
        "`{component}` writes {names} in place and does not return {them}{also}.",
        component="decode",
        names="`cache`",
        them="it",
        also="",
    )
    WHY = Sentence(
        "The next call sees the write only if it gets the same tensor: not a copy, and not in "
        "a runtime that keeps its inputs unchanged, such as ONNX Runtime. Also return the "
        "cache."
    )


class SetMissing(Rule, kind=Kind.SET_MISSING):
    """A program expects a cache tensor that no earlier program returns.

    ## Example

    ```python
    import explorer
    import torch

    class Prefill(torch.nn.Module):
        def forward(self, x):
            return {"cache": [x.sin()]}


    class Decode(torch.nn.Module):
        def forward(self, x, cache):
            cache = [torch.cat([cache[0], x], dim=1), torch.cat([cache[1], x], dim=1)]
            return {"logits": cache[0].sum() + cache[1].sum(), "cache": cache}


    x, past = torch.ones(3, 1, 8), torch.ones(3, 5, 8)
    ex = explorer.explore_many({
        "prefill": (Prefill(), (past,), {}, "x: batch, prompt, _"),
        "decode": (
            Decode(),
            (x, [past, past]),
            {},
            "x: batch, _, _; cache.0: batch, past, _; cache.1: batch, past, _",
        ),
    })
    ```

    ## What to do

    Return the missing tensor, or export both programs with the same number of layers.

    ## Why

    The tensors of a container are matched by their names and positions.
    """

    SENTENCE = Sentence(
        "`{component}` expects {names}, which `{source}` does not return.",
        component="decode",
        names="`cache.1`",
        source="prefill",
    )
    WHY = Sentence(
        "`{source}` returns {given} cache tensors, `{component}` expects {taken}. Do both "
        "have the same number of layers?",
        source="prefill",
        given="1",
        component="decode",
        taken="2",
    )


class SetLost(Rule, kind=Kind.SET_LOST):
    """A program extends its cache and does not return the longer one.

    ## Example

    ```python
    import explorer
    import torch

    class Prefill(torch.nn.Module):
        def forward(self, x):
            return {"cache": x.sin()}


    class Decode(torch.nn.Module):
        def forward(self, x, cache):
            return {"logits": torch.cat([cache, x], dim=1).mean(dim=1)}


    ex = explorer.explore_many({
        "prefill": (Prefill(), (torch.ones(3, 5, 8),), {}, "x: batch, prompt, _"),
        "decode": (
            Decode(),
            (torch.ones(3, 1, 8), torch.ones(3, 5, 8)),
            {},
            "x: batch, _, _; cache: batch, past, _",
        ),
    })
    ```

    ## What to do

    Return the new cache.

    ## Why

    Programs keep no state between calls. The next call sees only what is returned.
    """

    SENTENCE = Sentence(
        "`{component}` extends {names} and does not return the result.",
        component="decode",
        names="`cache`",
    )
    WHY = Sentence("The next call gets the cache without the new rows.")


class SetUnused(Rule, kind=Kind.SET_UNUSED):
    """A program returns a cache tensor that no later program accepts.

    ## Example

    ```python
    import explorer
    import torch

    class Prefill(torch.nn.Module):
        def forward(self, x):
            return {"cache": [x.sin(), x.cos()]}


    class Decode(torch.nn.Module):
        def forward(self, x, cache):
            cache = [torch.cat([cache[0], x], dim=1)]
            return {"logits": cache[0].sum(), "cache": cache}


    ex = explorer.explore_many({
        "prefill": (Prefill(), (torch.ones(3, 5, 8),), {}, "x: batch, prompt, _"),
        "decode": (
            Decode(),
            (torch.ones(3, 1, 8), [torch.ones(3, 5, 8)]),
            {},
            "x: batch, _, _; cache.0: batch, past, _",
        ),
    })
    ```

    ## What to do

    Accept the tensor in the next program, or export both with the same number of layers.

    ## Why

    The tensors of a container are matched by their names and positions.
    """

    SENTENCE = Sentence(
        "`{component}` returns {names}, which `{target}` does not accept.",
        component="prefill",
        names="`cache.1`",
        target="decode",
    )
    WHY = Sentence(
        "`{target}` accepts other tensors of the same container. Do both have the same number "
        "of layers?",
        target="decode",
    )


class SetOrder(Rule, kind=Kind.SET_ORDER):
    """Cache tensors come back in a different order than they were passed in, such as values in
    place of keys.

    ## Example

    ```python
    import explorer
    import torch

    class Prefill(torch.nn.Module):
        def forward(self, x):
            return {"cache": [x.sin(), x.cos()]}


    class Decode(torch.nn.Module):
        def forward(self, x, cache):
            first, second = torch.cat([cache[0], x], dim=1), torch.cat([cache[1], x.cos()], dim=1)
            return {"logits": first.sum() + second.sum(), "cache": [second, first]}


    x, past = torch.ones(3, 1, 8), torch.ones(3, 5, 8)
    ex = explorer.explore_many({
        "prefill": (Prefill(), (past,), {}, "x: batch, prompt, _"),
        "decode": (
            Decode(),
            (x, [past, past]),
            {},
            "x: batch, _, _; cache.0: batch, past, _; cache.1: batch, past, _",
        ),
    })
    ```

    ## What to do

    Return the tensors in the order of the inputs.

    ## Why

    Outputs are passed to the next call by position. Sizes match, so nothing fails, but the tokens
    are wrong.
    """

    SWAPPED_WHY = Sentence(
        "Shapes match, so nothing fails, but the tokens are wrong. Return the tensors in the "
        "order of the inputs."
    )
    TAKEN_FOR = Sentence(
        "`{taking}` reads `{target_path}` as {taken}, but {source} returns {given} there.",
        taking="decode",
        target_path="cache.0",
        taken="keys",
        source="`prefill`",
        given="values",
    )
    RETURNED_AS = Sentence(
        "`{giving}` extends `{target_path}` and returns it as `{source_path}`.",
        giving="prefill",
        target_path="cache.0",
        source_path="cache.1",
    )
    ADDED = Sentence(
        "`{taking}` appends the output of `{taken}` to `{target_path}`, but {source} returns "
        "the output of `{given}` there.",
        taking="decode",
        target_path="cache.0",
        taken="k_proj",
        source="`prefill`",
        given="v_proj",
    )
    RETURNED = Sentence(
        "`{component}` accepts {taken} and returns them as {returned}.",
        component="decode",
        taken="`k`, `v`",
        returned="`v`, `k`",
    )
    RETURNED_WHY = Sentence(
        "Its next call receives them by position. Return the tensors in the order of the inputs."
    )


class SetPosition(Rule, kind=Kind.SET_POSITION):
    """A program always uses the positions of the example, however long the cache is.

    ## Example

    ```python
    import explorer
    import torch

    class Prefill(torch.nn.Module):
        def forward(self, x):
            return {"cache": x.sin()}


    class Decode(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.nn.Embedding(64, 8)

        def forward(self, x, cache):
            cache = torch.cat([cache, x + self.table(torch.arange(5, 6))], dim=1)
            return {"logits": cache.mean(dim=1), "cache": cache}


    ex = explorer.explore_many({
        "prefill": (Prefill(), (torch.ones(3, 5, 8),), {}, "x: batch, prompt, _"),
        "decode": (
            Decode(),
            (torch.ones(3, 1, 8), torch.ones(3, 5, 8)),
            {},
            "x: batch, _, _; cache: batch, past, _",
        ),
    })
    ```

    ## What to do

    Compute positions from an input or from the size of the cache: `cache.shape[1]`.

    ## Why

    Plain Python numbers are constants of the program.
    """

    SENTENCE = Sentence(
        "`{component}` {sentence}, regardless of the cache.",
        component="decode",
        sentence="writes to its cache at 5",
    )
    WHY = Sentence("These positions depend neither on an input nor on the length of the cache.")


class SetShift(Rule, kind=Kind.SET_SHIFT):
    """The positions of one call do not continue those of the call before it.

    ## Example

    ```python
    import explorer
    import torch

    table = torch.nn.Embedding(64, 8)


    class Prefill(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = table

        def forward(self, x):
            return {"cache": x + self.table(torch.arange(x.shape[1]))}


    class Decode(Prefill):
        def forward(self, x, cache):
            start = cache.shape[1] + 1
            x = x + self.table(torch.arange(start, start + 1))
            cache = torch.cat([cache, x], dim=1)
            return {"logits": cache.mean(dim=1), "cache": cache}


    ex = explorer.explore_many({
        "prefill": (Prefill(), (torch.ones(3, 5, 8),), {}, "x: batch, prompt[2..60], _"),
        "decode": (
            Decode(),
            (torch.ones(3, 1, 8), torch.ones(3, 6, 8)),
            {},
            "x: batch, _, _; cache: batch, past[2..60], _",
        ),
    })
    ```

    ## What to do

    Start the positions at the length of the cache before this call.

    ## Why

    Each program computes its positions itself. Nothing fails if they are off, but the tokens are
    wrong.
    """

    WHY = Sentence(
        "Each position must be one more than the last, across calls. If not, nothing fails, "
        "but the tokens are wrong."
    )
    SAME_START = Sentence(
        "`{target}` starts its positions at `{start}`, {by}: `{source}` starts at `{other}`.",
        target="decode",
        start="past + 1",
        by="one position too far",
        source="prefill",
        other="past",
    )
    AFTER = Sentence(
        "`{target}` starts its positions at `{start}`, {by}: after `{source}` that is "
        "`{value}`, but the next position is `{after}`.",
        target="decode",
        start="past + 1",
        by="one position too far",
        source="prefill",
        value="prompt + 1",
        after="prompt",
    )
