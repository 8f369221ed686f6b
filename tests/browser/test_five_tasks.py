"""Five questions that one comes with, each answered in at most three presses from a fresh view.

What is typed is not a press, the Enter after it is one. `tests/benchmarks/five_tasks.py` adds how
many seconds each takes.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from playwright.sync_api import Locator, expect

from .lab import Lab
from .test_explorer import LOAD

MOST_PRESSES = 3
PATIENCE = 60_000
"""Milliseconds until an answer, on a machine that does other things."""
MODELS = """
from transformers import LlamaConfig, LlamaModel
llama = LlamaModel(LlamaConfig(
    num_hidden_layers=12, hidden_size=32, num_attention_heads=2, num_key_value_heads=2,
    intermediate_size=64, vocab_size=100, use_cache=False,
)).eval()
tokens = torch.randint(0, 100, (1, 8))

class Net(torch.nn.Module):
    def __init__(self, act):
        super().__init__()
        self.wide, self.narrow, self.act = torch.nn.Linear(8, 512), torch.nn.Linear(512, 4), act
    def forward(self, x, y):
        x = x + y
        return self.narrow(self.act(self.wide(x)))

x, y = torch.ones(8, 8), torch.ones(8, 8)
old, new = Net(torch.relu), Net(torch.nn.functional.gelu)
"""
CELLS = [
    f"{LOAD}\n{MODELS}",
    "%export llama(tokens)",
    '%export -d "x: batch, _; y: batch, _" --as before old(x, y)',
    '%export -d "x: batch, _; y: batch, _" --as after --no-display new(x, y)',
    "",
]
LLAMA, NET, COMPARED = 1, 2, 4
"""The cells in which each task is done."""


@dataclass
class Hand:
    """What a person does in one view, counted."""

    lab: Lab
    view: Locator
    presses: int = 0
    began: float = field(default_factory=time.perf_counter)

    def click(self, name: str) -> None:
        """Presses a tab or a button by its name; one in the menu of tabs takes two presses."""
        tab = self.view.get_by_role("tab", name=name).or_(
            self.view.get_by_role("button", name=name, exact=True)
        )
        if self.view.locator(".tx-tab-out", has_text=re.compile(f"^{name}")).count() > 0:
            self.presses += 1
            self.view.get_by_role("button", name="Other tabs").first.click()
            tab = self.view.locator(".tx-tab-other", has_text=re.compile(f"^{name}"))
        self.presses += 1
        tab.first.click()

    def key(self, key: str) -> None:
        """Presses a key."""
        self.presses += 1
        self.lab.page.keyboard.press(key)

    def type(self, text: str) -> None:
        """Types where the focus is."""
        self.lab.page.keyboard.type(text)

    def sees(self, answer: Locator, text: str) -> None:
        """The answer is on screen."""
        expect(answer.first).to_contain_text(text, timeout=PATIENCE)
        expect(answer.first).to_be_in_viewport()


def find_attention(hand: Hand) -> None:
    hand.view.get_by_test_id("graph").focus()
    hand.key("/")
    hand.type("layers.11 attention")
    hand.key("Enter")
    inspector = hand.view.get_by_test_id("inspector")
    hand.sees(inspector, "scaled_dot_product_attention")
    hand.sees(inspector, "layers.11")


def find_line_of_guard(hand: Hand) -> None:
    hand.click("Shapes")
    row = hand.view.get_by_test_id("guards").locator("tbody tr", has_text="y.shape[0]")
    hand.sees(row, "Cell In[1]:16")


def find_dearest_line(hand: Hand) -> None:
    hand.click("Runs")
    hand.click("Profile")
    hand.sees(hand.view.get_by_test_id("dearest-line"), ":")


def find_what_changed(hand: Hand) -> None:
    hand.lab.page.locator(".jp-Notebook .jp-Cell").last.locator(".cm-content").click()
    hand.presses += 1
    hand.type("%export_diff before after")
    hand.key("Shift+Enter")
    differences = hand.lab.page.get_by_test_id("differences").last
    hand.sees(differences, "relu")
    hand.sees(differences, "gelu")


def find_why_a_size_is_refused(hand: Hand) -> None:
    hand.click("Shapes")
    box = hand.view.get_by_test_id("probe").locator(".tx-boxes input").nth(2)
    hand.presses += 1
    box.click(click_count=3)
    hand.type("7")
    hand.sees(hand.view.get_by_test_id("probe-verdict"), "Refused")
    hand.sees(hand.view.get_by_test_id("probe-verdict"), "Cell In[1]:16")


TASKS: dict[str, tuple[int, Callable[[Hand], None]]] = {
    "find layer 11's attention": (LLAMA, find_attention),
    "find the line of a guard": (NET, find_line_of_guard),
    "find why a size is refused": (NET, find_why_a_size_is_refused),
    "find the most expensive line": (NET, find_dearest_line),
    "find what changed between two programs": (COMPARED, find_what_changed),
}


@contextmanager
def opened(lab: Lab) -> Iterator[Callable[[str], Hand]]:
    """A notebook with the views of all tasks; called with a task, does it in its own view."""
    lab.open(CELLS)
    lab.run_all()

    def do(task: str) -> Hand:
        number, act = TASKS[task]
        cell = lab.cell(number)
        if number != COMPARED:
            expect(cell.get_by_test_id("verdict")).to_be_visible()
        hand = Hand(lab, cell)
        act(hand)
        return hand

    yield do


def test_five_tasks_take_three_presses_each(lab: Lab) -> None:
    lab.page.set_viewport_size({"width": 1200, "height": 900})
    with opened(lab) as do:
        for task in TASKS:
            hand = do(task)
            seconds = time.perf_counter() - hand.began
            print(f"{task}: {hand.presses} presses, {seconds:.1f} s")
            assert hand.presses <= MOST_PRESSES, task
