"""Pictures of panes for the how-to pages: `python -m docs.site.pictures [NAME…]`.

Each is taken in Chromium of a report of a program that is exported and measured here. Look at what
it writes to `docs/pictures`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from playwright.sync_api import Page, sync_playwright
from torch import nn

import explorer
from docs.site.links import DOCS
from tests.browser import chromium
from tests.browser.lab import open_tab

PICTURES = DOCS / "pictures"
SIZE = {"width": 1100, "height": 640}
"""CSS pixels of a view; its picture has twice as many."""


class Classifier(nn.Module):
    """Two layers of attention over tokens, and a head."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
        self.embed = nn.Embedding(1000, 64)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(64, 10)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Scores of ten classes, `[batch, 10]`."""
        hidden = self.encoder(self.embed(tokens))
        return self.head(hidden.mean(dim=1))


def classify() -> explorer.Exploration:
    """Exports the classifier for any batch, and 2 to 512 tokens."""
    torch.manual_seed(0)
    return explorer.explore(
        Classifier().eval(),
        (torch.randint(0, 1000, (4, 32)),),
        dynamic_shapes="tokens: batch, seq[2..512]",
        title="classifier(tokens)",
    )


def verify(file: Path) -> None:
    """Verified."""
    ex = classify()
    ex.verify()
    ex.save(file)


def run(file: Path) -> None:
    """Run on four backends."""
    ex = classify()
    ex.run("cpu", ["eager", "program", "inductor", "onnx"])
    ex.save(file)


def compile_stages(file: Path) -> None:
    """Compiled, with its kernels timed."""
    ex = classify()
    ex.compile_stages()
    ex.save(file)


def count(file: Path) -> None:
    """Not run: its cost is counted from its graph."""
    classify().save(file)


def delegate(file: Path) -> None:
    """Lowered for XNNPACK."""
    ex = classify()
    ex.delegate("xnnpack")
    ex.save(file)


def trace_step(file: Path) -> None:
    """A training step, forward and backward in one graph."""
    model, inputs = Classifier(), (torch.randint(0, 1000, (4, 32)), torch.randint(0, 10, (4,)))

    def loss_fn(model: nn.Module, tokens: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(model(tokens), labels)

    explorer.explore(loss_fn, (model, *inputs), joint=True).save(file)


def generate(file: Path) -> None:
    """A small Llama, cut into prefill and decode."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=500,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
    )
    prompt = {"input_ids": torch.randint(0, 500, (2, 8))}
    explorer.explore_generation(LlamaForCausalLM(config).eval(), prompt).save(file)


TAKEN: dict[str, tuple[Callable[[Path], None], str]] = {
    "verify": (verify, "Verify"),
    "runs": (run, "Runs"),
    "stages": (compile_stages, "Stages"),
    "cost": (count, "Cost"),
    "delegate": (delegate, "Delegate"),
    "training-step": (trace_step, ""),
    "set": (generate, ""),
}
"""Per picture, what writes its report, and the pane that it opens."""


def take(page: Page, name: str) -> None:
    """Writes a picture."""
    write_report, pane = TAKEN[name]
    with TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        write_report(file)
        page.goto(file.as_uri())
        root = page.locator(".tx-root")
        root.wait_for()
        if pane:
            open_tab(page, pane)
        page.wait_for_timeout(2000)  # the graph is laid out, and in its place
        page.screenshot(path=PICTURES / f"{name}.png")


def main(names: list[str]) -> None:
    """Writes the pictures of these names, or all."""
    PICTURES.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=[*chromium.ARGS])
        page = browser.new_page(viewport=SIZE, device_scale_factor=2)
        for name in names or TAKEN:
            take(page, name)


if __name__ == "__main__":
    main(sys.argv[1:])
