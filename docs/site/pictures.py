"""Pictures of the view for README and the docs: `python -m docs.site.pictures [NAME…]`.

Each is taken in Chromium. Those of panes are of a report of a program that is exported and measured
here, and go to `docs/pictures`; the others are of a cell in JupyterLab, and go to
`notebooks/images`. Look at what it writes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from playwright.sync_api import Browser, Locator, Page, sync_playwright
from torch import nn

import explorer
from docs.site.links import DOCS
from tests.browser import chromium
from tests.browser.lab import Lab, open_tab
from tests.browser.server import serve

PICTURES = DOCS / "pictures"
IMAGES = DOCS.parent / "notebooks" / "images"
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
    ex.stages()
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


SURVEYED = ("bert", "gpt2", "llama", "mamba", "t5", "lstm cells", "spectra", "windows", "tagger")


def survey(file: Path) -> None:
    """Public architectures, exported with the dynamic dims of their survey."""
    explorer.survey(DOCS.parent / "tests/benchmarks/public.toml", only=SURVEYED).save(file)


TAKEN: dict[str, tuple[Callable[[Path], None], str]] = {
    "verify": (verify, "Verify"),
    "runs": (run, "Runs"),
    "stages": (compile_stages, "Stages"),
    "cost": (count, "Cost"),
    "delegate": (delegate, "Delegate"),
    "training-step": (trace_step, ""),
    "set": (generate, ""),
    "survey": (survey, ""),
}
"""Per picture, what writes its report, and the pane that it opens."""


LOAD = "%load_ext kernel_ext\nimport torch"
BERT = """
from transformers import BertConfig, BertModel
config = BertConfig(
    num_hidden_layers=2, hidden_size=64, num_attention_heads=4, intermediate_size=128,
)
bert, tokens = BertModel(config).eval(), torch.randint(0, 500, (2, 16))
"""
SCALED = """class Scaled(torch.nn.Module):
    def forward(self, x):
        largest = x.abs().max()
        if largest > 1:
            x = x / largest
        return x.relu()

scaled, x = Scaled(), torch.randn(4, 8)"""
BLOCKS = """
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(32)
        self.up, self.down = torch.nn.Linear(32, 64), torch.nn.Linear(64, 32)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))

net, x = torch.nn.Sequential(*(Block() for _ in range(4))), torch.randn(2, 5, 32)
"""
DECOMPOSED = """
import explorer
ex = explorer.explore(net, (x,), dynamic_shapes="input: batch, _, _", title="net(x)")
ex.decompose()
"""


def wait_for_program(view: Locator) -> None:
    """Waits for a program or a failure."""
    view.get_by_test_id("verdict").or_(view.get_by_test_id("failure")).first.wait_for()


def select_attention(view: Locator) -> None:
    """Selects an op of BERT by a search, and puts its source below."""
    wait_for_program(view)
    search = view.get_by_role("combobox", name="Search ops")
    search.fill("op:scaled_dot_product_attention")
    search.press("Enter")
    view.page.wait_for_timeout(1500)
    search.fill("")
    view.get_by_role("button", name="Source and Code below").click()


def compare_with_first(view: Locator) -> None:
    """Compares with the attempt before, as one graph, and goes to the first difference."""
    wait_for_program(view)
    view.get_by_role("button", name="History").click()
    view.get_by_role("button", name="Compare", exact=True).first.click()
    view.get_by_role("button", name="Overlay").click()
    view.get_by_role("button", name="Next difference").click()
    view.page.wait_for_timeout(1500)
    for _ in range(2):
        view.get_by_test_id("graph").press("-")  # what was replaced is in the picture, too
    view.get_by_test_id("graph").blur()


def open_case(view: Locator) -> None:
    """Opens a case of ExportDB among those of its tag."""
    view.get_by_label("Tag", exact=True).select_option("torch.cond")
    view.get_by_text("cond_operands").first.click()
    view.get_by_test_id("case-page").wait_for()


IN_A_CELL: dict[str, tuple[list[str], Callable[[Locator], None]]] = {
    "explore": (
        [LOAD + BERT, '%export -d "input_ids: batch, seq[2..512]" bert(tokens)'],
        select_attention,
    ),
    "failure": ([LOAD, SCALED, "%export scaled(x)"], wait_for_program),
    "examples": ([LOAD, "%exportdb"], open_case),
    "compare": (
        [
            LOAD + BLOCKS,
            DECOMPOSED,
        ],
        compare_with_first,
    ),
}
"""Per picture, the cells of a notebook, and what is done in the view of the last."""


def take_in_cells(browser: Browser, names: list[str]) -> None:
    """Writes pictures of cells in a window of 1200 pixels."""
    with TemporaryDirectory() as home, serve(Path(home), warm=True) as server:
        for name in names:
            cells, act = IN_A_CELL[name]
            context = browser.new_context(
                viewport={"width": 1200, "height": 850}, device_scale_factor=2
            )
            context.add_init_script("localStorage.setItem('export-explorer.visited', '1')")
            lab = Lab(context.new_page(), server)
            lab.open(cells)
            lab.run_all()
            view = lab.cell(len(cells) - 1).locator(".tx-library, .tx-root").last
            act(view)
            lab.page.wait_for_timeout(2000)
            view.screenshot(path=IMAGES / f"{name}.png")
            context.close()


def take(page: Page, name: str) -> None:
    """Writes a picture of a report."""
    write_report, pane = TAKEN[name]
    with TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        write_report(file)
        page.goto(file.as_uri())
        page.locator(".tx-root, #trials").wait_for()
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
        asked = names or [*TAKEN, *IN_A_CELL]
        for name in asked:
            if name in TAKEN:
                take(page, name)
        take_in_cells(browser, [name for name in asked if name in IN_A_CELL])
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
