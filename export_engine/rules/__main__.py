"""`python -m export_engine.rules --sentences`: every sentence of every rule, with sample facts."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterator

from export_engine.rules.pages import RULES


def format_sentences() -> Iterator[str]:
    """The sentences of all rules, each rule below its code and heading."""
    for code, rule in RULES.items():
        sentences = rule.sentences()
        if sentences:
            yield f"{code}: {rule.kind}"
            for name, sentence in sentences.items():
                yield textwrap.fill(
                    sentence.example,
                    100,
                    initial_indent=f"  {name:<22} ",
                    subsequent_indent=" " * 25,
                )
            yield ""


def main(words: list[str] | None = None) -> int:
    """Prints what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m export_engine.rules", description=__doc__)
    parser.add_argument("--sentences", action="store_true", required=True)
    parser.parse_args(words)
    sys.stdout.writelines(f"{line}\n" for line in format_sentences())
    return 0


if __name__ == "__main__":
    sys.exit(main())
