"""Pages of the docs link to what is there and leave nothing out; `make docs-check` walks them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.site import pages
from docs.site.links import DOCS, MADE, MIRRORED, ROOT, site_links
from docs.site.live import GALLERY
from export_engine.rules import CODES
from tests.benchmarks.zoo import MODELS
from tests.kernel_ext.test_readme import DOCS as WRITTEN

PAGES = {DOCS / name for name in (*WRITTEN, "continuous-integration.md")}
OTHERS = {ROOT / name for name in MIRRORED if name.endswith(".md")}


def headings(text: str) -> set[str]:
    """The anchors that GitHub and MyST give to a page's headings."""
    titles = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w -]", "", each.lower()).strip().replace(" ", "-") for each in titles}


@pytest.mark.parametrize("page", sorted(PAGES | OTHERS), ids=lambda path: path.name)
def test_links_between_pages_resolve(page: Path) -> None:
    made = {DOCS / name for name in pages.names()}
    missing = []
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if target in made:
            continue
        there = target.is_file()
        if not there or (anchor and anchor not in headings(target.read_text(encoding="utf-8"))):
            missing.append(link)
    assert not missing


def test_every_page_is_in_a_table_of_contents() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    listed = {
        name for block in re.findall(r"toctree\}\n(.*?):::", index, re.S) for name in block.split()
    }
    wanted = {path.relative_to(DOCS).as_posix() for path in PAGES - {DOCS / "index.md"}}
    wanted |= {name for name in pages.names() if "codes/EX" not in name}

    assert {name.removesuffix(".md") for name in wanted} <= listed


def test_every_code_has_a_page_on_the_site(tmp_path: Path) -> None:
    pages.write(tmp_path / "_made")

    index = (tmp_path / "_made" / "codes" / "index.md").read_text(encoding="utf-8")
    for code in CODES:
        page = (tmp_path / "_made" / "codes" / f"{code}.md").read_text(encoding="utf-8")
        assert page.startswith(f"# {code}: ")
        assert f"[{code}]({code}.md)" in index
        assert f"\n{code}\n" in index
    written = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.md")}
    live = {"_made/tour.md", "_made/gallery.md"}  # they take exports
    assert written - {"_made/readme.md"} == pages.names() - live


def test_the_gallery_is_of_twenty_models_that_there_are() -> None:
    named = [name for names in GALLERY.values() for name in names]
    assert len({*named} & {each.name for each in MODELS}) == len(named) == 20


def test_links_of_a_file_are_right_from_its_page() -> None:
    text = (
        "[a](notebooks/TEACHING.md) [b](docs/reference/view.md#keys) [c](LICENSE) [d](https://e.f)"
    )

    assert site_links(text, ROOT / "README.md", MADE / "x.md") == (
        "[a](teaching.md) [b](../reference/view.md#keys) [c](../../LICENSE) [d](https://e.f)"
    )
