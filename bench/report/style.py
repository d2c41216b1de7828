"""How every figure looks: readable in grey and by colour-blind readers, labels shown as they are."""

from __future__ import annotations

import io
import math
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.store import write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito (2008), without yellow (too light on white): told apart under every common colour blindness.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
TEXT_COLOURS = ("#00639B", "#A84A00", "#00714F", "#9B4F7B", "#1F6F9F", "#8A5D00")
MARKERS = ("o", "s", "^", "D", "v", "P")
LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)))
METADATA: dict[str, dict[str, Any]] = {".svg": {"Date": None}, ".png": {"Software": None}}
_AROUND = ((0.7, 0.7), (-0.7, 0.7), (0.7, -0.7), (-0.7, -0.7), (0, 1), (1, 0), (-1, 0), (0, -1))
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


def save(figure: Figure, stem: Path, suffixes: Sequence[str] = (".svg", ".png")) -> list[Path]:
    """Write the figure under each suffix (PNG at 150 dpi), the same bytes for the same data.

    Raises:
        StoreError: the folder cannot be written.
    """
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # laid out once, not again for every format
    written = []
    for suffix in suffixes:
        path = stem.with_name(stem.name + suffix)
        content = io.BytesIO()
        figure.savefig(content, format=suffix[1:], dpi=150, metadata=METADATA.get(suffix, {}))
        write_bytes(path, content.getvalue())
        written.append(path)
    return written


def shorten(text: str, limit: int = 44) -> str:
    """One line of at most ``limit`` characters; the middle of a longer one becomes an ellipsis."""
    line = " ".join(text.split()) or "(no name)"
    half = (limit - 1) // 2
    return line if len(line) <= limit else f"{line[:half]}…{line[-half:]}"


def spread(positions: Sequence[float], gap: float, limits: tuple[float, float] = (-math.inf, math.inf)) -> list[float]:
    """Move label positions apart, so that neighbours are at least ``gap`` from each other, order and limits kept."""
    order = sorted(range(len(positions)), key=lambda i: positions[i])
    placed = [0.0] * len(positions)
    reached = float("-inf")
    for i in order:
        reached = max(positions[i], reached + gap)
        placed[i] = reached
    shift = sum(placed[i] - positions[i] for i in order) / len(order) if order else 0.0
    moved = [value - shift for value in placed]
    over = max(0.0, max(moved, default=0.0) - limits[1])
    under = max(0.0, limits[0] - min(moved, default=0.0))
    return [value - over + (under if not over else 0.0) for value in moved]


def note(axes: Axes, text: str) -> None:
    """Write the caption under the axes: n, budget, what bands are."""
    width = axes.figure.get_figure(root=True).get_size_inches()[0]
    lines = textwrap.fill(text, max(40, int(width * 17)))
    axes.figure.supxlabel(lines, fontsize=8, color="#444444", x=0.01, ha="left")


def empty(axes: Axes, why: str) -> None:
    """Say in the middle of the axes why there is nothing to draw."""
    axes.set_axis_off()
    lines = textwrap.fill(why, 60)
    axes.text(0.5, 0.5, lines, transform=axes.transAxes, ha="center", va="center", color="#444444")


def number_points(axes: Axes, places: Sequence[tuple[float, float]], texts: Sequence[str]) -> None:
    """Write short texts beside points so that none lies on another: each takes the first free place around its point.

    Call it once the limits of the axes stand.
    """
    taken: list[tuple[float, float]] = [tuple(axes.transData.transform(place)) for place in places]
    scale = axes.figure.dpi / 72
    rings = [(r * x, r * y) for r in (14, 20, 28) for x, y in _AROUND]
    for place, text in zip(places, texts, strict=True):
        x, y = axes.transData.transform(place)
        spots = [(x + dx * scale, y + dy * scale) for dx, dy in rings]
        gaps = [min(math.hypot((a - c) / 1.4, b - d) for c, d in taken) for a, b in spots]
        best = next(
            (i for i, gap in enumerate(gaps) if gap >= 6.5 * scale), max(range(len(gaps)), key=gaps.__getitem__)
        )
        taken.append(spots[best])
        arrow = {"arrowstyle": "-", "color": "#777777", "linewidth": 0.6} if best >= len(_AROUND) else None
        axes.annotate(
            text, place, xytext=rings[best], textcoords="offset points", fontsize=8.5, weight="bold",
            ha="center", va="center", arrowprops=arrow, zorder=6,
        )  # fmt: skip


def series_style(index: int) -> dict[str, Any]:
    """Colour, marker and line of the series of this number."""
    i = index % MAX_SERIES
    return {"color": COLOURS[i], "marker": MARKERS[i], "linestyle": LINES[i]}


def text_colour(index: int) -> str:
    """The series' colour, dark enough to be read as text on white (contrast 4.5 : 1)."""
    return TEXT_COLOURS[index % MAX_SERIES]
