"""Tables, schedules and brackets for `matchpost referee`: what is asked, and its answer.

`docs/formats.md` has the protocol, which is stable.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Final, assert_never

import msgspec

from domain.errors import Code, Refusal
from domain.tournament.knockout import first_round
from domain.tournament.results import (
    MOST_PLAYERS,
    USUAL_POINTS,
    PairResult,
    PointScheme,
    ScheduledMatch,
    Tally,
    plain_number,
)
from domain.tournament.schedule import MOST_SCHEDULED, round_robin
from domain.tournament.table import table_of
from domain.tournament.tie_breaks import FROM_RESULTS
from domain.tournament.withdrawals import Withdrawal, after_withdrawals

_MOST_TIE_BREAKS: Final = 16
_MOST_POINTS: Final = 10**12


class _Judged(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="tournament"
):
    """A line that asks about a tournament."""


class JudgedTable(_Judged, frozen=True, kw_only=True, tag="table"):
    """A request for the table of matches."""

    players: Annotated[int, msgspec.Meta(ge=1, le=MOST_PLAYERS)]
    points: PointScheme = USUAL_POINTS
    tiebreaks: tuple[str, ...] = ()
    matches: tuple[tuple[int, int, PairResult | None], ...]
    withdrawn: tuple[Withdrawal, ...] = ()


class JudgedSchedule(_Judged, frozen=True, kw_only=True, tag="schedule"):
    """A request for the rounds of a round robin."""

    players: Annotated[int, msgspec.Meta(ge=2, le=MOST_SCHEDULED)]
    double: bool = False


class JudgedBracket(_Judged, frozen=True, kw_only=True, tag="bracket"):
    """A request for the first round of a knockout."""

    players: Annotated[int, msgspec.Meta(ge=2, le=MOST_PLAYERS)]


TournamentRequest = JudgedTable | JudgedSchedule | JudgedBracket


def judge_tournament(request: TournamentRequest) -> dict[str, Any]:
    """Return the answer to a request; refuses one that contradicts itself as `bad-tournament`."""
    match request:
        case JudgedTable():
            return {"ok": True, "table": _table(request)}
        case JudgedSchedule():
            return {"ok": True, "rounds": round_robin(request.players, double=request.double)}
        case JudgedBracket():
            return {"ok": True, "ties": first_round(request.players)}
        case _:  # pragma: no cover - the union is closed
            assert_never(request)


def _bad(sentence: str, place: str) -> Refusal:
    return Refusal(Code.BAD_TOURNAMENT, f"{sentence} - at `$.{place}`")


def _table(request: JudgedTable) -> list[dict[str, Any]]:
    _check(request)
    scheduled = [ScheduledMatch(*one) for one in request.matches]
    matches = after_withdrawals(scheduled, request.withdrawn)
    rows = table_of(Tally(request.players, request.points, matches), request.tiebreaks)
    return [
        {
            "player": row.player,
            "points": plain_number(row.points),
            "place": row.place,
            "tiebreaks": [plain_number(value) for value in row.tiebreaks],
        }
        for row in rows
    ]


def _check(request: JudgedTable) -> None:
    """Refuse what the types can't say, with its place."""
    for name, number in msgspec.structs.asdict(request.points).items():
        if abs(number) > _MOST_POINTS:
            raise _bad(f"points are at most {_MOST_POINTS}", f"points.{name}")
    if len(request.tiebreaks) > _MOST_TIE_BREAKS:
        raise _bad(f"a table has at most {_MOST_TIE_BREAKS} tie-breaks", "tiebreaks")
    for index, name in enumerate(request.tiebreaks):
        if name not in FROM_RESULTS:
            known = ", ".join(FROM_RESULTS)
            raise _bad(
                f"there is no tie-break {name[:24]!r}; there are {known}", f"tiebreaks[{index}]"
            )
    for index, match in enumerate(request.matches):
        _check_players(match[:2], request.players, f"matches[{index}]")
        if match[0] == match[1]:
            raise _bad(f"player {match[0]} can't play against themselves", f"matches[{index}]")
    left = set[int]()
    for index, one in enumerate(request.withdrawn):
        _check_players([one.player], request.players, f"withdrawn[{index}]")
        if one.player in left:
            raise _bad(f"player {one.player} is named twice", f"withdrawn[{index}]")
        left.add(one.player)


def _check_players(named: Iterable[int], players: int, place: str) -> None:
    for player in named:
        if not 0 <= player < players:
            raise _bad(f"there is no player {player}, only 0 to {players - 1}", place)
