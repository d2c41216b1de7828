"""A corpus small enough to sweep in a test: four documents, eight questions, written for the tests."""

from __future__ import annotations

import json
from pathlib import Path

DOCUMENTS = {
    "ferry.md": (
        "# Ferry\n\nThe ferry to Aldmoor leaves at 06:40 on working days.\n\n## Fares\n\n"
        "A single crossing costs 4.20. Bicycles travel free, but not before nine o'clock.\n\n"
        "| ticket | price |\n|---|---|\n| single | 4.20 |\n| return | 7.10 |\n| ten rides | 31.00 |\n"
    ),
    "harbour.txt": (
        "The harbour office answers letters within five days.\r\nIt is shut on the second Monday of March.\r\n\r\n"
        "Boats over twelve metres need a pilot. The pilot's fee is paid at the office.\r\n"
    ),
    "storm.md": (
        "# Storm rules\n\nWhen the red flag is up no boat may leave.\n\nThe flag goes up at wind force eight. "
        "It comes down one hour after the wind falls.\n\n## Fines\n\nLeaving under the red flag costs 250.\n"
    ),
    "light.html": (
        "<html><head><title>Light</title></head><body><h1>The lighthouse</h1><p>The lamp was lit in 1871.</p>"
        "<h2>Visits</h2><p>Visits are on Sundays at three, ten people at most.</p></body></html>\n"
    ),
}
QUESTIONS: list[tuple[str, str | None, list[tuple[str, str]], str]] = [
    (
        "When does the ferry to Aldmoor leave?",
        "At 06:40.",
        [("ferry.md", "leaves at 06:40 on working days")],
        "single_fact",
    ),
    ("How much are ten rides?", "31.00", [("ferry.md", "| ten rides | 31.00 |")], "table_lookup"),
    (
        "Do bicycles pay on the ferry?",
        "No.",
        [("ferry.md", "Bicycles travel free, but not before nine o'clock.")],
        "single_fact",
    ),
    (
        "Which boats need a pilot?",
        "Over twelve metres.",
        [("harbour.txt", "Boats over twelve metres need a pilot.")],
        "single_fact",
    ),
    (
        "When is the harbour office shut?",
        "Second Monday of March.",
        [("harbour.txt", "second Monday of March")],
        "single_fact",
    ),
    (
        "What does it cost to leave under the red flag, and when does the flag go up?",
        "250; at wind force eight.",
        [("storm.md", "Leaving under the red flag costs 250."), ("storm.md", "The flag goes up at wind force eight.")],
        "multi_span",
    ),
    ("When was the lamp of the lighthouse lit?", "1871", [("light.html", "The lamp was lit in 1871.")], "single_fact"),
    ("Who built the ferry?", None, [], "unanswerable"),
]


def write_corpus(folder: Path) -> tuple[Path, Path]:
    """Write the documents and the golden set below ``folder``; return their paths."""
    documents = folder / "documents"
    documents.mkdir(parents=True)
    for name, text in DOCUMENTS.items():
        (documents / name).write_bytes(text.encode())
    golden = folder / "golden.jsonl"
    golden.write_text("".join(json.dumps(row(i)) + "\n" for i in range(len(QUESTIONS))), encoding="utf-8")
    return documents, golden


def row(number: int) -> dict[str, object]:
    """One golden question as a row."""
    question, answer, evidence, category = QUESTIONS[number]
    quotes = [{"doc_id": doc_id, "quote": quote} for doc_id, quote in evidence]
    own = {
        "question_id": f"q{number}",
        "question": question,
        "answer": answer,
        "evidence": quotes,
        "category": category,
    }
    return own if evidence else own | {"answerable": False, "document": "ferry.md"}
