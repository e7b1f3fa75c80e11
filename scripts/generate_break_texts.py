"""Writes `analysis/nonstrict/knowledge/data/break_texts.json`: what the installed torch may say of graph breaks.

Run with an environment that has torch: `python scripts/generate_break_texts.py`. Torch keeps a registry of its graph
breaks, by id, with the texts as they stand in its sources. What is put into a text when it is raised is `{...}` here.
The constructs of `graph_breaks.json` that break are kept as Python, for readers.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph_breaks.reading import read_constructs
from graph_breaks.writing import label_of, lines

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "analysis/nonstrict/knowledge/data"
#: What an f-string puts in, which may hold braces itself.
_PLACE = re.compile(r"\{(?:[^{}]|\{[^{}]*\})*\}")
#: A call or a name that stands where a text is computed.
_COMPUTED = re.compile(r"[\w.]*(?:\(\w*\))?")


def registry() -> dict[str, list[dict[str, Any]]]:
    """Torch's own list: by id the texts, the newest first."""
    import torch._dynamo

    path = Path(torch._dynamo.__file__).with_name("graph_break_registry.json")
    return json.loads(path.read_text(encoding="utf-8"))


def told(forms: list[dict[str, Any]]) -> dict[str, Any]:
    """What torch says of one id: its title, titles of the same that it had before, explanation, hints."""
    titles = list(dict.fromkeys(_placed(one["Gb_type"]) for one in forms if one["Gb_type"] != "_gb_type"))
    explanations = dict.fromkeys(_explanation(one["Explanation"]) for one in forms)
    first = forms[0]
    return {
        "title": titles[0],
        "before": titles[1:],
        "explanations": [text for text in explanations if text],
        "hints": list(_hints(first["Hints"])),
    }


def _explanation(text: str) -> str:
    return "" if _COMPUTED.fullmatch(text) or text.startswith('"') else _placed(text)


def _placed(text: str) -> str:
    return " ".join(_PLACE.sub("{...}", text).split())


def _hints(texts: list[str]) -> Iterator[str]:
    """The hints, of texts that are parts of one where the source has it in several lines."""
    from torch._dynamo import graph_break_hints

    whole = {text for name, known in vars(graph_break_hints).items() if name.isupper() for text in known}
    waiting = ""
    for text in texts:
        if text in whole:
            yield from filter(None, (_placed(waiting), _placed(text)))
            waiting = ""
        elif text.endswith(" "):
            waiting += text
        else:
            yield _placed(waiting + text)
            waiting = ""
    if waiting:
        yield _placed(waiting)


def written(table: dict[str, Any]) -> dict[str, str]:
    """The constructs that break and are no plain names, as Python: by key."""
    breaking = {key for key, entry in table["entries"].items() if label_of(entry)}
    constructs = (one for one in read_constructs() if one.key in breaking)
    return {one.key: one.ways[0] for one in constructs if one.key.partition(":")[0] in ("stmt", "arg", "with")}


def data_text() -> str:
    """The data file: one line an entry, so that a change of torch shows as a readable difference."""
    import torch

    table = json.loads((DATA / "graph_breaks.json").read_text(encoding="utf-8"))
    parts = {
        "torch": json.dumps(torch.__version__.split("+")[0]),
        "breaks": lines({name: told(forms) for name, forms in sorted(registry().items())}),
        "written": lines(written(table)),
    }
    return "{\n" + ",\n".join(f'"{name}": {part}' for name, part in parts.items()) + "\n}\n"


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=DATA / "break_texts.json", help="the data file to write")
    options = parser.parse_args()
    options.output.write_text(data_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
