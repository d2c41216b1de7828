"""The one console command: ``bench <verb>``. Each verb lives in a module of its own, imported when it is called."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import NoReturn

from bench import __version__
from bench.arguments import Parser
from bench.errors import BenchError

VERBS = {
    "sweep": ("bench.sweep", "run a sweep: settings follow as key=value, several values after one key are swept"),
    "answer": ("bench.answer", "answer and judge points of a finished sweep, from their stored contexts"),
    "decide": ("bench.decide", "say which setting to ship, what it costs, and how sure that is"),
    "cut": ("bench.cut", "make the chosen chunks of a folder"),
    "gate": ("bench.gate", "compare a sweep with thresholds and a baseline, for continuous integration"),
    "history": ("bench.history", "tabulate and draw measures of several sweeps over time"),
    "report": ("bench.report.cli", "write the summary, the figures and the page of a finished sweep again"),
    "figure": ("bench.report.figure_cli", "draw one figure of a sweep"),
    "diagnose": ("bench.diagnose", "name the cause of every miss, with its evidence and the remedy to try"),
    "inspect": ("bench.inspection", "show one document with the borders of its chunks"),
    "golden": ("bench.corpus.cli", "verify, repair or import a golden set"),
    "judge": ("bench.judge_check", "measure a judge against labels of people"),
    "serve": ("bench.serve", "serve a local language model on loopback"),
    "doctor": ("bench.doctor", "say what is installed, which models are found, and what is missing"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit code: 0 good, 2 the user's to mend, 3 some points failed, 130 interrupted.

    SIGTERM interrupts as Ctrl-C does, so that what was begun is put away; the exit code is 143.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    verb = arguments[0] if arguments else ""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    with noted_signals() as came:
        try:
            options = _parser(verb).parse_args(arguments)
            code: int = options.run(options)
            return _interrupted(verb, came) if came else code
        except KeyboardInterrupt:
            return _interrupted(verb, came)
        except SystemExit as stop:
            if isinstance(stop.__context__, BrokenPipeError):  # rich ends the program where nobody reads its table
                return 0
            raise
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except Exception as error:
            if came or _is_interrupt(error):
                return _interrupted(verb, came)
            if "--debug" in arguments:
                raise
            known = f"{error}" if isinstance(error, BenchError) else _unforeseen(error)
            print(f"{_name(verb)}: {known}".encode(errors="backslashreplace").decode(), file=sys.stderr)
            return 2


def _name(verb: str) -> str:
    return f"bench {verb}" if verb in VERBS else "bench"


@contextlib.contextmanager
def noted_signals() -> Iterator[list[int]]:
    """Raise KeyboardInterrupt for SIGINT and SIGTERM, and note which came: libraries turn it into errors of theirs.

    A signal that the caller has ignored or handled stays so.
    """
    came: list[int] = []

    def interrupt(number: int, frame: object) -> NoReturn:
        came.append(number)
        raise KeyboardInterrupt

    defaults = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    if threading.current_thread() is not threading.main_thread():
        defaults = {}
    before = {number: signal.getsignal(number) for number, default in defaults.items()}
    changed = [number for number, default in defaults.items() if before[number] == default]
    for number in changed:
        signal.signal(number, interrupt)
    try:
        yield came
    finally:
        for number in changed:
            signal.signal(number, before[number])


def _interrupted(verb: str, came: Sequence[int]) -> int:
    print(f"\n{_name(verb)}: interrupted; what was finished is kept, run the same command to go on", file=sys.stderr)
    return 128 + (came[0] if came else signal.SIGINT)


def _is_interrupt(error: BaseException | None) -> bool:
    """True where a library turned an interrupt that came in its midst into an error of its own."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _unforeseen(error: Exception) -> str:
    told = " ".join(f"{type(error).__name__}: {error}".split())
    return f"not foreseen: {told[:300]}; the same command with --debug shows where: please report it"


def _parser(chosen: str) -> Parser:
    parser = Parser(prog="bench", description=(sys.modules["bench"].__doc__ or "").strip())
    parser.add_argument("--version", action="version", version=f"bench {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, (module, text) in VERBS.items():
        sub = verbs.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        sub.add_argument("--debug", action="store_true", help="show the traceback of an error")
        if name == chosen:
            verb = importlib.import_module(module)
            verb.configure(sub)
            sub.set_defaults(run=verb.run)
    return parser


if __name__ == "__main__":
    sys.exit(main())
