"""Views in the pages: reports of exports that run while the site is built, each one file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import explorer
from docs.site.links import MADE, ROOT, site_links

LIVE = MADE / "files" / "live"
"""`docs/conf.py` copies what is in `files` to the site as it is."""
TOUR = ROOT / "notebooks" / "00_tour.ipynb"
GALLERY = {
    "Text, encoders": ("bert", "deberta-v2", "distilbert", "longformer", "fnet"),
    "Text, decoders": ("gpt2", "llama with cache", "mistral", "qwen2", "gemma2", "bloom"),
    "Experts and states": ("mixtral", "mamba"),
    "Sequence to sequence": ("t5", "bart"),
    "Images": ("vit", "convnext", "resnet", "segformer", "dinov2"),
}
"""Names in `tests/benchmarks/zoo`, under a heading each."""


def write() -> None:
    """Writes the tour and the gallery, and the reports that they show."""
    shutil.rmtree(LIVE, ignore_errors=True)
    LIVE.mkdir(parents=True)
    (MADE / "tour.md").write_text(tour(), encoding="utf-8")
    (MADE / "gallery.md").write_text(gallery(), encoding="utf-8")


def tour() -> str:
    """The notebook of the tour, run: its text, its cells, and what they show."""
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    try:
        cells = json.loads(TOUR.read_text(encoding="utf-8"))["cells"]
        text = "\n\n".join(part for cell in cells for part in _cell(shell, cell))
    finally:
        InteractiveShell.clear_instance()
    return site_links(text, TOUR, MADE / "tour.md") + "\n"


def _cell(shell: InteractiveShell, cell: dict[str, Any]) -> Iterator[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"```python\n{source}\n```"
    with capture_output() as captured:
        result = shell.run_cell(source, store_history=True)
    result.raise_error()
    shown = shell.user_ns.get("_export")
    if source.startswith("%export") and isinstance(shown, explorer.Exploration):
        name = f"tour-{len(list(LIVE.glob('tour-*'))) + 1}"
        shown.save(LIVE / f"{name}.html")
        yield _view(name)
        return
    said = captured.stdout + "".join(
        each.data.get("text/plain", "") for each in captured.outputs if not source.startswith("%")
    )
    if said.strip():
        yield f"```text\n{said.strip()}\n```"


def _view(name: str) -> str:
    return f":::{{live}} {name}\n:::"


def gallery() -> str:
    """Tiny models with random weights, their natural dims dynamic, each with its report."""
    from tests.benchmarks.zoo import MODELS

    models = {each.name: each for each in MODELS}
    parts = [
        "# Gallery\n",
        "Architectures of transformers, one layer or two of each, made from a config with random",
        "weights. Their natural dims are dynamic. A name opens its view below.\n",
        ":::{live} bert\n:frame: gallery\n:::\n",
    ]
    for heading, names in GALLERY.items():
        parts += [f"## {heading}\n", "| model | dims | program |", "|---|---|---|"]
        parts += [_row(models[name]) for name in names]
        parts.append("")
    return "\n".join(parts)


def _row(model: Any) -> str:
    import torch

    torch.manual_seed(0)
    args, kwargs = model.call(**model.sizes)
    title = f"{model.name}(...)"
    made = explorer.explore(
        model.build(), args, kwargs, dynamic_shapes=model.shapes, fix=True, title=title
    )
    name = model.name.replace(" ", "-")
    made.save(LIVE / f"{name}.html")
    fixes = len(made.attempts) - 1
    note = f", after {fixes} fix{'es' * (fixes > 1)}" if fixes else ""
    return f"| {{open-live}}`{name}` | `{model.shapes}` | {made.record.verdict}{note} |"
