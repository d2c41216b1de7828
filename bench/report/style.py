"""How every figure looks: readable in grey and by colour-blind readers, labels shown as they are."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito (2008), without yellow (too light on white): told apart under every common colour blindness.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
MARKERS = ("o", "s", "^", "D", "v", "P")
LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)))
MAX_SERIES = len(COLOURS)
FALLBACK_FONTS = ("Noto Sans CJK JP", "Noto Sans CJK SC", "IPAexGothic", "WenQuanYi Zen Hei", "Noto Sans Devanagari")


@lru_cache(maxsize=1)
def _fonts() -> tuple[str, ...]:
    from matplotlib import font_manager

    present = {font.name for font in font_manager.fontManager.ttflist}
    return ("DejaVu Sans", *(name for name in FALLBACK_FONTS if name in present))


@contextmanager
def styled() -> Iterator[None]:
    """Matplotlib settings of every figure. Text stays text in SVG, so that any script shows in the reader's fonts."""
    import matplotlib as mpl

    settings: Any = {
        "font.family": list(_fonts()),
        "font.size": 9.5,
        "text.parse_math": False,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": "#e3e3e3",
        "grid.linewidth": 0.6,
        "axes.axisbelow": True,
        "svg.fonttype": "none",
        "svg.hashsalt": "chunksweep",
        "figure.dpi": 110,
    }
    with mpl.rc_context(settings), warnings.catch_warnings():
        # A PNG can only show the scripts of installed fonts; the SVG shows them all.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def new_figure(width_in: float = 9.0, height_in: float = 5.0) -> tuple[Figure, Axes]:
    """An empty figure with one pair of axes, drawn without a display."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width_in, height_in), layout="constrained")
    return figure, figure.add_subplot()


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write ``stem``.svg and ``stem``.png (150 dpi), the same bytes for the same data."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    written = []
    for suffix, metadata in ((".svg", {"Date": None}), (".png", {"Software": None})):
        path = stem.with_name(stem.name + suffix)
        figure.savefig(path, dpi=150, metadata=metadata)
        written.append(path)
    return written


def shorten(text: str, limit: int = 44) -> str:
    """One line of at most ``limit`` characters; the middle of a longer one becomes an ellipsis."""
    line = " ".join(text.split()) or "(no name)"
    half = (limit - 1) // 2
    return line if len(line) <= limit else f"{line[:half]}…{line[-half:]}"


def spread(positions: Sequence[float], gap: float) -> list[float]:
    """Move label positions apart, so that neighbours are at least ``gap`` from each other, order kept."""
    order = sorted(range(len(positions)), key=lambda i: positions[i])
    placed = [0.0] * len(positions)
    reached = float("-inf")
    for i in order:
        reached = max(positions[i], reached + gap)
        placed[i] = reached
    shift = sum(placed[i] - positions[i] for i in order) / len(order) if order else 0.0
    return [value - shift for value in placed]


def note(axes: Axes, text: str) -> None:
    """Write the caption under the axes: n, budget, what bands are."""
    axes.figure.supxlabel(text, fontsize=8, color="#555555", x=0.01, ha="left")


def series_style(index: int) -> dict[str, Any]:
    """Colour, marker and line of the series of this number."""
    i = index % MAX_SERIES
    return {"color": COLOURS[i], "marker": MARKERS[i], "linestyle": LINES[i]}
