"""Values in JupyterLab: a NaN hunted to its line, a tensor in slices, two runs side by side."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from .lab import Lab, open_tab
from .test_explorer import LOAD, explorer

NET = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(8, 16)
        self.norm = torch.nn.LayerNorm(16)
    def forward(self, x):
        y = self.norm(self.up(x))
        z = torch.log(y - 1)
        return torch.nan_to_num(z).softmax(-1)

torch.manual_seed(0)
net, x = Net().eval(), torch.randn(4, 3, 8)
"""
EXPORT = '%export -d "x: batch[2..512], _, _" --as ex net(x)'


def test_a_nan_is_hunted_to_its_line_and_two_runs_stand_side_by_side(lab: Lab) -> None:
    lab.open([LOAD, NET, EXPORT])
    lab.run_all(60)
    root = explorer(lab)
    open_tab(root, "Values")
    values = root.get_by_test_id("values")
    expect(values).to_contain_text("Nothing was recorded yet")

    root.get_by_test_id("watch").click()
    odd = root.get_by_test_id("nonfinite")
    expect(odd).to_contain_text("log")
    expect(odd).to_contain_text(re.compile(r"makes \d+ NaN of sub"))
    expect(root.get_by_test_id("scale")).to_contain_text("Largest |value|")
    lab.screenshot("values-watched", root)
    lab.page.set_viewport_size({"width": 1200, "height": 900})
    pane = root.locator(".tx-values")
    assert pane.evaluate("pane => pane.scrollWidth <= pane.clientWidth"), "the table is cut off"
    lab.page.set_viewport_size({"width": 1400, "height": 900})

    odd.get_by_role("button", name="log", exact=True).click()
    tensor = root.get_by_test_id("tensor")
    expect(tensor).to_contain_text("NaN")
    place = root.get_by_test_id("place-0")
    first = root.get_by_test_id("near").inner_text()
    place.fill("2")
    expect(root.get_by_test_id("near")).not_to_have_text(first, use_inner_text=True)
    told = lab.value("'%.5g' % ex.record_values().tensor('log')[2, 0, 0]")
    expect(root.get_by_test_id("near")).to_contain_text(str(told))
    odd.get_by_role("button", name=re.compile("Cell")).click()
    expect(root.get_by_role("region", name="Source")).to_contain_text("torch.log")
    open_tab(root, "Values")

    root.get_by_test_id("against").select_option("bfloat16")
    root.get_by_test_id("compare-values").click()
    expect(root.get_by_test_id("pairs")).to_contain_text("bfloat16 against program")
    tensor.get_by_role("button", name="difference").click()
    expect(tensor.get_by_role("button", name="difference")).to_have_attribute(
        "aria-pressed", "true"
    )
    assert lab.value("ex.record.pairs.one") == "bfloat16"
    for theme in ("light", "dark"):
        lab.set_theme(theme)
        lab.screenshot(f"values-pairs-{theme}", root)
    lab.page.set_viewport_size({"width": 700, "height": 900})
    open_tab(root, "Values")
    expect(place).to_have_value("2")  # the panes changed places, and the tensor stays as it was
    expect(tensor.get_by_role("button", name="difference")).to_have_attribute(
        "aria-pressed", "true"
    )
    lab.screenshot("values-narrow-dark", root)


QUANTIZED = """
import torchao.quantization as ao
class Two(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3)
        self.fc, self.out = torch.nn.Linear(8, 32), torch.nn.Linear(32, 32)
    def forward(self, x):
        x = torch.relu(self.conv(x)).mean((2, 3))
        return self.out(torch.relu(self.fc(x))).softmax(-1)

two, image = Two().eval(), torch.randn(2, 3, 8, 8)
%export --no-display --as plain two(image)
ao.quantize_(two, ao.Int8DynamicActivationInt8WeightConfig())
"""


def test_a_quantized_program_is_drawn_as_its_layers(lab: Lab) -> None:
    pytest.importorskip("torchao", reason="torchao quantizes the model")
    lab.open([LOAD, QUANTIZED, "%export --as ex two(image)"])
    lab.run_all(120)
    root = explorer(lab)
    open_tab(root, "Values")
    table = root.get_by_test_id("quantization")
    expect(table).to_contain_text("2 quantized ops")
    expect(table).to_contain_text("dynamic int8 per token")
    expect(root.get_by_test_id("in-float")).to_contain_text("no convolution of the program")
    lab.value("ex.quantization.accuracy(plain) and 1")
    expect(table).to_contain_text("dB")
    table.get_by_role("button", name="_int_mm", exact=True).click()
    for theme in ("light", "dark"):
        lab.set_theme(theme)
        lab.screenshot(f"quantized-{theme}", root)
    lab.page.set_viewport_size({"width": 700, "height": 900})
    lab.screenshot("quantized-narrow-dark", root)
