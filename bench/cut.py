"""Verb ``cut``: the chosen chunks of a folder, for the user's own ingestion."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.production import Production
from bench.store import to_json, write_bytes


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``bench cut``."""
    parser.add_argument("folder", type=Path, help="documents to cut")
    parser.add_argument("--config", type=Path, required=True, help="production.yaml, as bench decide wrote it")
    parser.add_argument("--include", action="append", metavar="PATTERN", help="only these files, such as '**/*.md'")
    parser.add_argument("-o", "--output", type=Path, help="JSON Lines file (standard output without it)")


def run(arguments: argparse.Namespace) -> int:
    """Cut the folder; one JSON line a chunk, in order of document and start."""
    production = Production.read(arguments.config)
    documents = production.documents(arguments.folder, arguments.include or ("**/*",))

    def lines() -> Iterator[bytes]:
        for document in documents:
            for row in production.rows(document):
                yield (to_json(row) + "\n").encode("utf-8", "surrogatepass")

    if arguments.output is None:
        for line in lines():
            sys.stdout.buffer.write(line)
        return 0
    every = list(lines())
    write_bytes(arguments.output, b"".join(every))
    print(f"{arguments.output}: {len(every)} chunks of {len(documents)} documents")
    return 0
