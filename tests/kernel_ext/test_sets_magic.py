"""`%export --into` and `--generate` without a notebook: sets of programs from cells."""

from __future__ import annotations

import pytest
from IPython.core.interactiveshell import InteractiveShell

import explorer

from .cells import run, shown

SETUP = """
import logging, torch
from types import SimpleNamespace

class Tiny(torch.nn.Module):
    '''Generates as transformers' models do, with a cache of embeddings.'''

    def __init__(self):
        super().__init__()
        self.generation_config = SimpleNamespace()
        self.embed = torch.nn.Embedding(30, 8)
        self.head = torch.nn.Linear(8, 30)

    def forward(self, input_ids, cache=None):
        new = self.embed(input_ids)
        cache = new if cache is None else torch.cat([cache, new], dim=1)
        return {"logits": self.head(cache.mean(dim=1)), "cache": cache}

    def generate(self, input_ids, generation_config, stopping_criteria=()):
        tokens, cache, given = input_ids, None, input_ids
        logging.getLogger("transformers.tiny").warning("said by transformers")
        for _ in range(generation_config.max_new_tokens):
            if cache is None:
                found = self(given)
            else:
                found = self(given, cache=cache)
            cache = found["cache"]
            given = found["logits"].argmax(-1, keepdim=True)
            tokens = torch.cat([tokens, given], dim=1)
            for each in stopping_criteria:
                each(tokens, None)
        return tokens

torch.manual_seed(0)
model = Tiny().eval()
inputs = {"input_ids": torch.randint(0, 30, (2, 5))}
first, then, x = torch.nn.Linear(4, 8), torch.nn.Linear(8, 4), torch.randn(3, 4)
"""


@pytest.fixture
def shell(shell: InteractiveShell) -> InteractiveShell:
    assert shell.run_cell(SETUP).success
    return shell


@pytest.mark.after_check
def test_a_set_grows_cell_by_cell(shell: InteractiveShell) -> None:
    run(shell, '%export --into kit --name encode -d "input: batch, _" first(x)')
    text = shown(shell, '%export --into kit --name decode -d "input: batch, _" then(first(x))')

    kit = shell.user_ns["kit"]
    assert isinstance(kit, explorer.Programs)
    assert list(kit) == ["encode", "decode"]
    assert "encode → decode" in text
    assert [each.name for each in kit.record.symbols] == ["batch"]
    assert shell.user_ns["_export"].record is kit["decode"].record


def test_a_name_that_holds_something_else_is_not_overwritten(shell: InteractiveShell) -> None:
    _, text = run(shell, "%export --into x --name encode first(x)")

    assert "x is a Tensor, not a set of programs" in text
    assert shell.user_ns["x"].shape == (3, 4)


@pytest.mark.slow
def test_a_model_that_generates_becomes_a_set(shell: InteractiveShell) -> None:
    text = shown(shell, "%export --generate --as kit model(**inputs)")

    kit = shell.user_ns["kit"]
    assert list(kit) == ["prefill", "decode"]
    assert {each.outcome for each in kit.record.trials} == {"same"}
    assert "The same 16 tokens" in text
    assert "prefill → decode  1 cache tensor" in text
    ready = shown(shell, "print(kit.release_report())")
    assert ready.startswith("Nothing wrong so far; still to check: prefill")
    assert ready.count("→ kit['") == 2


def test_generate_takes_bounds_of_what_varies(shell: InteractiveShell) -> None:
    _, text = run(shell, '%export --generate -d "batch[..4], rows[..64]" model(**inputs)')

    assert "There is no dynamic size rows" in text


def test_generate_takes_its_inputs_by_name(shell: InteractiveShell) -> None:
    _, text = run(shell, "%export --generate model(inputs['input_ids'])")

    assert "by name: %export --generate model(**inputs)" in text
