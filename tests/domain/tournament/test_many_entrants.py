"""Tournaments of up to 10,000 players: their events in parts, each of which the log takes, and decided again."""

from typing import Any

import pytest
from msgspec.structs import replace

from domain.aggregates import TournamentSnapshot
from domain.match.history import EVENT_LIMIT, decode_event
from domain.records import SERVER_ACCOUNT
from domain.tournament.commands import ConfirmPlaces, EndRound, StartTournament
from domain.tournament.state import Entrant
from infra.projections.notices import NoticeKind
from infra.projections.tournament_notices import notices_of_tournament
from tests.golden.make_events import small_parts
from tests.helpers.tournaments import ORGANISER, PLAYERS, Tournament

MANY: dict[str, Any] = {"when_full": False, "capacity": 0, "days": 5}


def opened(count: int, **changes: Any) -> Tournament:
    """A tournament with so many entrants, without the events of their entries."""
    found = Tournament()
    found.draft(**MANY, **changes)
    entrants = tuple(Entrant(b"P%07d" % place, 1_000 + place) for place in range(count))
    state = replace(found.state, entrants=entrants)
    found.snapshot = TournamentSnapshot(found.snapshot.head, state)
    return found


@pytest.mark.parametrize("section", [3, pytest.param(15, marks=pytest.mark.long)])
def test_ten_thousand_play_to_the_end_in_events_that_the_log_takes(section: int) -> None:
    found = opened(10_000, section=section, tiebreaks=("wins", "lot"))
    by_rating = tuple(reversed(found.state.entrants))
    found.do(ORGANISER, StartTournament())
    assert found.state.entrants == by_rating
    assert sorted(found.state.lots) == [*range(10_000)]
    assert found.state.volunteers == found.state.numbered == ()
    found.wait(days=5)
    found.do(SERVER_ACCOUNT, EndRound(stage=1))
    found.do(ORGANISER, ConfirmPlaces())
    placed = [one.player for table in found.state.places for one in table]
    assert sorted(placed) == [*range(10_000)]
    assert max(map(len, found.events)) <= EVENT_LIMIT


@small_parts()
def test_a_tournament_in_parts_is_decided_again() -> None:
    found = Tournament()
    found.draft(**MANY, section=3, tiebreaks=("wins", "lot"), seed_by_lot=True)
    found.enter(7)
    drawn, *started = found.do(ORGANISER, StartTournament())
    entered = [Entrant(one, 1_500 + place) for place, one in enumerate(PLAYERS[:7])]
    assert found.state.entrants == tuple(entered[place] for place in drawn.order)
    assert [type(one).__name__ for one in started[:4]] == [
        "PlayersNumbered", "PlayersNumbered", "TournamentStarted", "SectionPaired"
    ]  # fmt: skip
    assert len(started[2].players) == 1
    found.wait(days=5)
    ended = found.do(SERVER_ACCOUNT, EndRound(stage=1))
    # sections of 3 and 4: nine matches
    assert [len(one.results) for one in ended[:-1]] == [4, 4, 1]
    confirmed = found.do(ORGANISER, ConfirmPlaces())
    assert [[len(table) for table in one.sections] for one in confirmed] == [[3], [4]]
    found.holds()
    envelopes = [decode_event(data) for data in found.events]
    last = notices_of_tournament(envelopes, [envelopes[-1].seq])[envelopes[-1].seq]
    assert {one.account for one in last} == set(PLAYERS[:7])
    assert {one.kind for one in last} == {NoticeKind.PLACES}
