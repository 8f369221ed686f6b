"""A saved set generates in another process, without the model; a file that lies does not."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import explorer
from explorer.session.session import FixError
from explorer.sets.loaded_programs import LoadedPrograms
from tests.benchmarks.generating import generative

_ELSEWHERE = """
import sys, torch, explorer
kit = explorer.load(sys.argv[1], trusted=True)
given = torch.load(sys.argv[2])
found = kit.generate(given["inputs"], 6)
assert torch.equal(found, given["wanted"]), (found, given["wanted"])
assert not [name for name in sys.modules if "modeling_llama" in name]
print("same")
"""


@pytest.fixture(scope="module")
def model() -> Any:
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 32, "vocab_size": 60}
    heads = {"num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2}
    return LlamaForCausalLM(LlamaConfig(**sizes, **heads)).eval()


@pytest.fixture(scope="module")
def inputs() -> dict[str, torch.Tensor]:
    tokens = torch.randint(3, 60, (2, 5), generator=torch.Generator().manual_seed(0))
    return {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}


@pytest.fixture(scope="module")
def saved(
    model: Any, inputs: dict[str, torch.Tensor], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    kit = explorer.explore_generation(model, inputs)
    return kit.save(tmp_path_factory.mktemp("set") / "many.pt2")


def _opened(path: Path, trusted: bool = False) -> LoadedPrograms:
    kit = explorer.load(path, trusted=trusted)
    assert isinstance(kit, LoadedPrograms)
    return kit


def _padded(inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Three rows of seven tokens, one of them padded."""
    tokens = torch.cat([inputs["input_ids"], inputs["input_ids"][:, :2]], dim=1)[[0, 1, 1]]
    mask = torch.ones_like(tokens)
    mask[1, :3] = 0
    return {"input_ids": tokens, "attention_mask": mask}


def _own(model: Any, inputs: dict[str, torch.Tensor], tokens: int) -> torch.Tensor:
    found = model.generate(**inputs, max_new_tokens=tokens, do_sample=False)
    assert isinstance(found, torch.Tensor)
    return found


@pytest.mark.slow
def test_a_saved_set_generates_in_another_process(
    saved: Path, model: Any, inputs: dict[str, torch.Tensor], tmp_path: Path
) -> None:
    given = _padded(inputs)
    torch.save({"inputs": given, "wanted": _own(model, given, 6)}, tmp_path / "given")
    done = subprocess.run(
        [sys.executable, "-c", _ELSEWHERE, str(saved), str(tmp_path / "given")],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.strip() == "same", done.stderr[-2000:]


@pytest.mark.slow
def test_a_row_ends_where_the_model_ends_it(
    saved: Path, model: Any, inputs: dict[str, torch.Tensor]
) -> None:
    own = _own(model, inputs, 6)
    kit = _opened(saved)
    ends = int(own[0, 6])
    plan = kit._generation()
    kit._plan = type(plan)(
        **{each: getattr(plan, each) for each in plan.__struct_fields__} | {"end": [ends]}
    )
    before = model.generation_config.eos_token_id
    model.generation_config.eos_token_id = ends
    try:
        wanted = model.generate(**inputs, max_new_tokens=6, do_sample=False, pad_token_id=plan.pad)
    finally:
        model.generation_config.eos_token_id = before

    assert own.tolist() != wanted.tolist()
    assert torch.equal(kit.generate(inputs, 6), wanted)


@pytest.mark.slow
def test_what_generates_is_saved_again(saved: Path, tmp_path: Path) -> None:
    again = _opened(saved).save(tmp_path / "again.pt2")

    assert _opened(again)._generation() == _opened(saved)._generation()


def _rewritten(saved: Path, path: Path, change: Callable[[dict[str, Any]], object] | bytes) -> Path:
    """A copy of a file with what it says of generation changed, or replaced."""
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(path, "w") as new:
        for each in old.infolist():
            data = old.read(each)
            if each.filename.endswith("export_explorer/generation.json"):
                if isinstance(change, bytes):
                    data = change
                else:
                    said = json.loads(data)
                    change(said)
                    data = json.dumps(said).encode()
            new.writestr(each, data)
    return path


def _set(**values: object) -> Callable[[dict[str, Any]], object]:
    return lambda said: said.update(values)


def _in_decode(**values: object) -> Callable[[dict[str, Any]], object]:
    return lambda said: said["later"][0]["inputs"][1].update(values)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (b"{", "not valid"),
        (b"[" * 100_000, "not valid"),
        (_set(first=[]), "it calls no program"),
        (_set(later="decode"), "Expected `array`"),
        (_set(logits=[]), "it does not record which output of 'prefill' has the logits"),
        (_set(prompt=""), "it starts without a token"),
        (_set(end=[-1]), "Expected `int` >= 0"),
        (_set(start=[1] * 5000), "length <= 4096"),
        (_set(run="code"), "unknown field `run`"),
        (_in_decode(dtype="__class__"), "Invalid enum value"),
        (_in_decode(place=0), "'decode' receives the same input twice"),
        (_in_decode(source={"type": "passed", "outputs": [["x", 0]]}), "no program 'x'"),
        (_in_decode(source={"type": "constant", "shape": [9, 9], "values": [1]}), "has 1 values"),
        (_in_decode(source={"type": "eval"}), "Invalid value 'eval'"),
    ],
)
def test_a_file_that_says_something_wrong_opens_without_it(
    saved: Path, tmp_path: Path, change: Any, said: str
) -> None:
    kit = _opened(_rewritten(saved, tmp_path / "wrong.pt2", change), trusted=True)

    assert list(kit) == ["prefill", "decode"]
    with pytest.raises(FixError, match="not valid") as caught:
        kit.generate({})
    assert said in str(caught.value)
    assert "save it again" in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_in_decode(place=9_999), "`decode` lacks the input 9999"),
        (
            _in_decode(source={"type": "passed", "outputs": [["prefill", 7]]}),
            "does not return a tensor",
        ),
        (_set(logits=[["prefill", 900], ["decode", 0]]), "`prefill` does not return the logits"),
        (_in_decode(source={"type": "tokens", "last": True}), "does not accept this call"),
    ],
)
def test_what_does_not_fit_the_programs_is_a_sentence(
    saved: Path, inputs: dict[str, torch.Tensor], tmp_path: Path, change: Any, said: str
) -> None:
    kit = _opened(_rewritten(saved, tmp_path / "wrong.pt2", change), trusted=True)

    with pytest.raises(FixError, match=said):
        kit.generate(inputs, 2)


@pytest.mark.slow
def test_inputs_that_do_not_fit_are_a_sentence(
    saved: Path, inputs: dict[str, torch.Tensor]
) -> None:
    kit = _opened(saved)

    with pytest.raises(FixError, match="require `input_ids`, token ids in rows"):
        kit.generate({"attention_mask": inputs["attention_mask"]})
    with pytest.raises(FixError, match="Expected inputs by name"):
        kit.generate(inputs["input_ids"])  # type: ignore[arg-type]
    with pytest.raises(FixError, match="'x' is not a number of tokens"):
        kit.generate(inputs, "x")  # type: ignore[arg-type]


def test_a_set_that_was_not_cut_says_that_it_does_not_generate(tmp_path: Path) -> None:
    kit = explorer.explore_many({"one": (torch.nn.Linear(2, 2), (torch.ones(1, 2),))})
    kit.add("other", kit["one"])
    loaded = _opened(kit.save(tmp_path / "two.pt2"))

    with pytest.raises(FixError, match=r"two.pt2 does not record how its programs generate. Make"):
        loaded.generate({})


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["WhisperForConditionalGeneration", "LlavaForConditionalGeneration"]
)
def test_what_hears_or_sees_generates_from_its_file(name: str, tmp_path: Path) -> None:
    """What an encoder gives is cut on its way; what the tokens begin with is not in the result."""
    model, inputs = generative(name)
    kit = _opened(explorer.explore_generation(model, inputs).save(tmp_path / "many.pt2"))
    given = {key: torch.cat([each, each[:1]]) for key, each in inputs.items()}
    wanted = model.generate(**given, max_new_tokens=6, min_new_tokens=6, do_sample=False)

    assert not kit.record.notes
    assert torch.equal(kit.generate(given, 6, stop=False), wanted)


@pytest.mark.slow
def test_a_set_that_does_not_generate_says_so_where_it_is_shown(
    saved: Path, tmp_path: Path
) -> None:
    why = "Its image features are cut in Python."
    kit = _opened(_rewritten(saved, tmp_path / "without.pt2", _set(why_not=why)))

    said = f"The set cannot generate without its model. {why}"
    assert kit.record.notes == [said]
    assert said in " ".join(repr(kit).split())
    assert not _opened(saved).record.notes


@pytest.mark.slow
def test_a_set_that_no_longer_generates_says_so(saved: Path) -> None:
    kit = _opened(saved)
    kit.add("more", kit["decode"])

    (said,) = kit.record.notes
    assert "`more` was added to the set after it was loaded" in said
