"""The progress bar of a sweep: which point, how many, how long still."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress


class Bar(Protocol):
    """What runs points reports to."""

    def start(self, label: str) -> None:
        """The point of this label begins."""

    def done(self) -> None:
        """It has ended, well or not."""


@contextmanager
def progress(total: int) -> Iterator[Bar]:
    """Show a bar on standard error while the block runs; plain lines where that is no terminal."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines(console, total)
        return
    columns = (
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("points"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=console) as shown:
        yield _Shown(shown, total)


class _Shown:
    def __init__(self, shown: Progress, total: int) -> None:
        self._progress = shown
        self._task = shown.add_task("", total=total)

    def start(self, label: str) -> None:
        self._progress.update(self._task, description=label)

    def done(self) -> None:
        self._progress.advance(self._task)


class _Lines:
    def __init__(self, console: Console, total: int) -> None:
        self._console, self._total, self._count = console, total, 0

    def start(self, label: str) -> None:
        self._count += 1
        self._console.print(f"[{self._count}/{self._total}] {label}", markup=False, highlight=False, soft_wrap=True)

    def done(self) -> None:
        """Nothing to show: the next line says it."""
