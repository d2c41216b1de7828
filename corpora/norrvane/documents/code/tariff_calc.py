"""Price of a booking under the Tariff 2026, as the quote service computes it.

Amounts are integers in cents. The quote service never uses floating point for money; percentages are held in
basis points (1 % = 100) and every step is rounded half up, in the order: base, heavy, train, energy, mixed.

The module knows nothing of rebates, because these are paid in the following year.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from enum import Enum

MIXED_LANES = frozenset({"L01", "L02", "L05", "L06", "L11", "L20", "L22"})
NORTHERN = frozenset({"Kaldfoss", "Brännvik", "Skarsund", "Ulvedal", "Nordholmen"})
WINTER_CENTS = 38_00
MIXED_BP = 18_00
HEAVY_BP_PER_TONNE = 110
EMPTY_BP = 28_00
EMPTY_UNCLEANED_BP = 41_00
FULL_TRAIN_BP = 86_00
FULL_TRAIN_MIN_WAGONS = 22
ENERGY_STEP_BP = 80
ENERGY_CAP_BP = 14_00
ENERGY_THRESHOLD = 110
BLOCK_MINIMUM = 4


class PriceClass(Enum):
    """Column of the tariff table that applies to a wagon."""

    STANDARD = "standard"
    TANK = "tank"
    REEFER = "reefer"


class NoPrice(ValueError):
    """The tariff has no price for this lane and class, for instance reefers on L30."""


@dataclass(frozen=True)
class Lane:
    """One row of the tariff table.

    Attributes:
        code: Lane code, for example ``"L12"``.
        origin: Name of the first terminal.
        destination: Name of the second terminal.
        prices: Cents per wagon for each price class that is offered.
        reverse_standard: Standard price in the opposite direction when it differs; only L17 has one.
    """

    code: str
    origin: str
    destination: str
    prices: dict[PriceClass, int]
    reverse_standard: int | None = None

    def price(self, kind: PriceClass, reverse: bool) -> int:
        """Return cents for one wagon.

        Raises:
            NoPrice: If the class is not carried on the lane.
        """
        if reverse and kind is PriceClass.STANDARD and self.reverse_standard is not None:
            return self.reverse_standard
        if kind not in self.prices:
            raise NoPrice(f"{self.code} does not carry {kind.value} wagons")
        return self.prices[kind]

    @property
    def is_northern(self) -> bool:
        """Whether the winter surcharge can apply. L30 touches Kaldfoss but is exempt."""
        return self.code != "L30" and bool({self.origin, self.destination} & NORTHERN)


@dataclass(frozen=True)
class WagonLine:
    """Wagons of one kind and weight inside a quote."""

    kind: PriceClass
    count: int
    gross_t: float
    empty_private: bool = False
    uncleaned: bool = False


@dataclass
class Quote:
    """Result in cents. ``notes`` are shown to the customer in the order in which they were added."""

    base: int = 0
    energy: int = 0
    winter: int = 0
    mixed: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        """Sum without VAT."""
        return self.base + self.energy + self.winter + self.mixed


def share(amount_cents: int, basis_points: int) -> int:
    """Return ``basis_points`` of an amount, rounded half up.

    >>> share(65_500, 1_800)
    11790
    """
    return (amount_cents * basis_points + 5_000) // 10_000


def energy_bp(index: float) -> int:
    """Energy surcharge in basis points for a traction energy index.

    Nothing below 115: the first full five points above 110 end there. The cap is reached at an index of 200.

    >>> energy_bp(114.9), energy_bp(115), energy_bp(131.2), energy_bp(260)
    (0, 80, 320, 1400)
    """
    if index <= ENERGY_THRESHOLD:
        return 0
    steps = int((index - ENERGY_THRESHOLD) // 5)
    return min(steps * ENERGY_STEP_BP, ENERGY_CAP_BP)


def in_winter(day: date) -> bool:
    """Whether a day of departure lies between 15 November and 31 March, both included."""
    return (day.month, day.day) >= (11, 15) or (day.month, day.day) <= (3, 31)


def wagon_price(lane: Lane, line: WagonLine, reverse: bool) -> int:
    """Cents for one wagon of a line, heavy supplement included.

    Empty private wagons are priced from the standard column, whatever their class, and are never heavy.
    """
    if line.empty_private:
        standard = lane.price(PriceClass.STANDARD, reverse)
        return share(standard, EMPTY_UNCLEANED_BP if line.uncleaned else EMPTY_BP)
    price = lane.price(line.kind, reverse)
    excess_t = max(0, -int(-(line.gross_t - 60) // 1))
    return price + share(price, HEAVY_BP_PER_TONNE * excess_t)


def quote(
    lane: Lane,
    lines: list[WagonLine],
    departure: date,
    energy_index: float,
    *,
    reverse: bool = False,
    full_train: bool = False,
) -> Quote:
    """Price a booking.

    Args:
        lane: The lane.
        lines: One or more lines; empty private wagons may be mixed with loaded ones.
        departure: Day of planned departure, which decides about winter.
        energy_index: Index published for the month of departure, or the latest one for a provisional quote.
        reverse: Whether the journey runs from the lane's destination to its origin.
        full_train: Whether the customer orders a full train.

    Raises:
        ValueError: If the block minimum is not met on a lane without mixed services.
        NoPrice: If a wagon class is not carried.
    """
    wagons = sum(line.count for line in lines)
    result = Quote()
    result.base = sum(wagon_price(lane, line, reverse) * line.count for line in lines)
    if full_train:
        if wagons < FULL_TRAIN_MIN_WAGONS:
            result.base = result.base * FULL_TRAIN_MIN_WAGONS // wagons
            result.notes.append(f"charged as {FULL_TRAIN_MIN_WAGONS} wagons")
        result.base = share(result.base, FULL_TRAIN_BP)
    elif wagons < BLOCK_MINIMUM:
        if lane.code not in MIXED_LANES:
            raise ValueError(f"{lane.code} is a block lane: at least {BLOCK_MINIMUM} wagons")
        result.mixed = share(result.base, MIXED_BP)
        result.notes.append("mixed service")
    result.energy = share(result.base, energy_bp(energy_index))
    if lane.is_northern and in_winter(departure):
        loaded = sum(line.count for line in lines if not line.empty_private)
        result.winter = WINTER_CENTS * loaded
    return result


def demurrage_cents(hours_over: float, kind: PriceClass, *, capped: bool = True) -> int:
    """Demurrage under POL-07 revision 5 for one wagon.

    A period has 12 hours and counts as soon as it has begun. With ``capped=False`` (class 1 and class 7) the sum
    grows without end.

    >>> demurrage_cents(0.5, PriceClass.STANDARD)
    3200
    >>> demurrage_cents(25, PriceClass.TANK)
    17000
    """
    bands = {
        PriceClass.STANDARD: (32_00, 54_00, 89_00, 140_00),
        PriceClass.TANK: (46_00, 78_00, 127_00, 205_00),
        PriceClass.REEFER: (71_00, 118_00, 190_00, 305_00),
    }[kind]
    periods = -int(-hours_over // 12)
    total = 0
    for period in range(1, periods + 1):
        band = 0 if period <= 2 else 1 if period <= 6 else 2 if period <= 14 else 3
        total += bands[band]
    return min(total, 3_600_00) if capped else total
