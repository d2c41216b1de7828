"""``bench golden``: verify and repair a golden set, or import one of another tool."""

from __future__ import annotations

import argparse
from pathlib import Path

from bench.corpus.golden import read_golden
from bench.corpus.importers import IMPORTERS, run_import
from bench.corpus.load import HTML_MODES, load_documents
from bench.corpus.verify import repair, summary
from bench.errors import GoldenError
from bench.types import Document


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the actions of ``bench golden``."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    verify = actions.add_parser("verify", help="check a golden set against its documents, character by character")
    verify.add_argument("golden", type=Path, metavar="GOLDEN", help="JSON Lines file of questions")
    verify.add_argument("--documents", type=Path, required=True, metavar="FOLDER", help="folder of the documents")
    verify.add_argument("--include", nargs="+", default=["**/*"], metavar="PATTERN", help="which files (default: all)")
    verify.add_argument("--html", choices=HTML_MODES, default="source", help="how HTML is loaded (default: source)")
    verify.add_argument("--repair", type=Path, metavar="OUT", help="write a copy with evidence moved to its quotes")
    verify.set_defaults(act=_verify)
    fetch = actions.add_parser("import", help="turn a set of another format into documents and a golden set")
    fetch.add_argument("format", metavar="FORMAT", help=f"one of {', '.join(IMPORTERS)}")
    fetch.add_argument("source", type=Path, metavar="SOURCE", help="file or folder of the set")
    fetch.add_argument("target", type=Path, metavar="TARGET", help="new folder for documents/ and golden.jsonl")
    fetch.set_defaults(act=_import)


def run(arguments: argparse.Namespace) -> int:
    """Carry out one action; 0 if all is good, 2 if the golden set has problems."""
    code: int = arguments.act(arguments)
    return code


def _verify(arguments: argparse.Namespace) -> int:
    documents = load_documents(arguments.documents, include=arguments.include, html=arguments.html)
    reading = read_golden(arguments.golden, documents)
    if not reading.questions and not reading.problems:
        raise GoldenError(f"{arguments.golden}: no questions; write one JSON object a line")
    for line in summary(reading.questions, documents):
        print(line)
    print(f"problems: {len(reading.problems)}")
    for problem in reading.problems:
        print(problem)
    if arguments.repair:
        return _repair(arguments.golden, documents, arguments.repair)
    return 2 if reading.problems else 0


def _repair(golden: Path, documents: tuple[Document, ...], target: Path) -> int:
    done = repair(golden, documents, target)
    print(f"evidence items moved: {len(done.moves)}")
    for move in done.moves:
        print(move)
    print(f"{target}: {len(done.lines)} rows written")
    if done.lost:
        print(f"rows kept out, as they could not be repaired: {done.rows_lost}")
        for problem in done.lost:
            print(problem)
    return 2 if done.lost else 0


def _import(arguments: argparse.Namespace) -> int:
    result = run_import(arguments.format, arguments.source, arguments.target)
    print(f"{arguments.target}: {len(result.documents)} documents, {len(result.questions)} questions")
    print(f"not as stated in the source: {len(result.problems)}")
    for problem in result.problems:
        print(problem)
    return 0
