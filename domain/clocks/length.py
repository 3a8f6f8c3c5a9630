"""The worst-case length of a match, which its time control decides before the first move.

Tournaments are announced with it, and an agreement can be judged by it.
"""

from collections.abc import Iterator
from typing import Final

from domain.clocks.time_control import TimeControl
from domain.clocks.vacation import DAYS_A_YEAR

_YEAR: Final = 365
_WORKING_WEEK: Final = 5
_WEEKEND: Final = 2


def longest(terms: TimeControl, plies: int, seats: int = 2) -> int | None:
    """Return the days that a match of so many plies takes if each move takes all it may.

    The seats move in turns. Of vacations each seat takes all that it can, always while it is to move;
    pauses are not counted, because the players agree to them. None without a limit: where no turn is
    limited, and where vacations are not, of so many seats that one may always be away.
    """
    if plies and not (terms.turn or terms.bank or terms.total):
        return None
    turns = [(plies - seat + seats - 1) // seats for seat in range(seats)]
    counted = sum(sum(_longest_turns(terms, count)) for count in turns)
    if not counted:
        return 0  # no turn that a vacation could stop
    allowed = terms.options.vacation
    movers = sum(count > 0 for count in turns)
    if allowed is not None:
        return _with_weekends(terms, counted + movers * allowed)
    away = movers * DAYS_A_YEAR
    if _with_weekends(terms, away) >= _YEAR:
        return None
    # a match may begin as a year ends, and each year that it reaches has vacations of its own
    days, years = _with_weekends(terms, counted), 0
    while years < (reached := days // _YEAR + 2):
        years = reached
        days = _with_weekends(terms, counted + years * away)
    return days


def _longest_turns(terms: TimeControl, count: int) -> Iterator[int]:
    """Yield the days of a seat's turns; none is saved up, because a bank with a cap might lose it."""
    left, bank = terms.total, terms.bank
    for _ in range(count):
        limits = ((terms.turn, terms.turn), (terms.total, left), (terms.bank, bank))
        took = min(most for limited, most in limits if limited)
        yield took
        left -= took
        bank += terms.increment - took
        bank = min(terms.options.cap or bank, bank)


def _with_weekends(terms: TimeControl, days: int) -> int:
    """Return the days on the calendar of days that count: they begin on a Saturday."""
    if terms.options.weekends:
        return days
    return days + _WEEKEND * -(-days // _WORKING_WEEK)
