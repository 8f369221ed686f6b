"""Cost in JupyterLab: sliders move totals, ranking, heat map and the curve of live memory."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from .axe import Axe
from .lab import Lab, open_tab
from .test_explorer import LOAD, explorer

LLAMA = """
from transformers import LlamaConfig, LlamaForCausalLM
config = LlamaConfig(
    vocab_size=500, hidden_size=64, intermediate_size=256, num_hidden_layers=2,
    num_attention_heads=4, num_key_value_heads=2, use_cache=False,
)
llama = LlamaForCausalLM(config).eval()
input_ids = torch.randint(0, 500, (2, 16))
"""


def _try(root: Locator, name: str, size: int) -> None:
    root.get_by_test_id("cost").get_by_label(f"Value of {name}").fill(str(size))


def test_sizes_are_tried_without_the_kernel(lab: Lab) -> None:
    axe = Axe()
    lab.open([LOAD, LLAMA, '%export -d "input_ids: batch, seq" --as ex llama(input_ids)'])
    lab.run_all(120)
    root = explorer(lab)
    open_tab(root, "Cost")
    cost = root.get_by_test_id("cost")
    expect(cost.get_by_test_id("cost-totals")).to_be_visible()
    first = cost.locator("[data-testid=costs] tr").first
    expect(first).to_contain_text("aten.linear.default")
    lab.screenshot("cost-short", root)
    _try(root, "seq", 2048)
    expect(first).to_contain_text("aten.scaled_dot_product_attention.default")
    lab.screenshot("cost-long", root)
    peak = lab.value("ex.cost().at(batch=2, seq=2048).peak_bytes")
    expect(cost.get_by_test_id("cost-memory")).to_contain_text(f"Peak {peak / 1e6:.1f} MB")
    largest = lab.value("ex.cost().largest('seq', 8, batch=2)")
    expect(cost.get_by_test_id("cost-fits")).to_contain_text(f"= {largest:,}")
    cost.get_by_test_id("cost-roofline").scroll_into_view_if_needed()
    lab.screenshot("cost-roofline", root)
    axe.check(lab.page, "cost", ".tx-root")
    lab.set_theme("dark")
    lab.page.set_viewport_size({"width": 700, "height": 900})
    lab.page.wait_for_timeout(500)  # below the graph, the pane is another
    cost.get_by_test_id("cost-memory").scroll_into_view_if_needed()
    lab.screenshot("cost-dark-700", root)
    axe.check(lab.page, "cost, dark", ".tx-root")
    assert not axe.problems, "\n".join(dict.fromkeys(axe.problems))
