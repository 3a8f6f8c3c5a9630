"""A filled server: every event is decided, logged and projected as on a server that has run for months."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace
from redis import Redis

from domain.clocks.time_control import DAY
from domain.match.commands import PlayMove
from domain.match.events import (
    SERVER_ACCOUNT,
    Appealed,
    Called,
    Claimed,
    Declined,
    Flagged,
    Moved,
    Nagged,
    OfferMade,
    Resigned,
    Ruled,
    SetBack,
    Undone,
)
from domain.match.history import EventEnvelope, decode_event, unpack_snapshot
from domain.match.state import MatchState, Reason, next_due, robot_level
from infra.audit.stored_match import check
from infra.people.account_macs import KEYS_FOLDER, make_mac_key
from infra.people.accounts import Accounts
from infra.people.statements import Statements
from infra.projections.leaderboards import Leaderboards
from infra.projections.match_lists import MatchFilter, MatchLists
from infra.projections.ratings import RatingsQuery
from infra.settings.settings import Settings
from infra.store.layout import Layout
from infra.store.port import Store
from infra.valkey.server import EmbeddedServer
from services.demo.community import PEOPLE, VISITOR
from services.demo.fill import FillReport, fill
from services.demo.past_server import FillError, PastApp
from services.demo.recorded_matches import SERVER, recorded_games, recorded_matches
from tests.helpers.side import catch_up, contents
from workers.projections import PROJECTIONS
from workers.projections.maintenance import rebuild

HOUR = DAY // 24
pytestmark = pytest.mark.slow

MONDAY = 1_795_392_000_000
"""Monday 2026-11-23 00:00 UTC, in ms."""

PASSWORD = "mad-hatter-7"
GAMES = {"pow2", "goliath", "line", "powerdrain", "halves", "torere", "jump", "one", "two", "duo"}


class Filled:
    """A server that is filled."""

    def __init__(self, client: Redis, app: PastApp, report: FillReport) -> None:
        self.client = client
        self.app = app
        self.report = report
        self.store: Store = app.store
        self.boards = range(1, report.matches + 2)
        self.events: dict[int, list[EventEnvelope]] = {
            board: list(map(decode_event, self.store.events(board))) for board in self.boards
        }

    def bodies(self, *kinds: type) -> list[EventEnvelope]:
        """All events of some kinds."""
        return [
            one for found in self.events.values() for one in found if isinstance(one.body, kinds)
        ]

    def states(self) -> dict[int, MatchState]:
        """All matches as they stand."""
        found = self.store.snapshots(self.boards)
        return {
            board: unpack_snapshot(data).state
            for board, data in zip(self.boards, found, strict=True)
        }


def filled(valkey: EmbeddedServer, client: Redis, folder: Path, now: int) -> Filled:
    """Fill an empty server as of a time."""
    settings = Settings(data=folder, redis_url=valkey.url, queue_url=valkey.url, workers=2)
    make_mac_key(folder / KEYS_FOLDER)
    with PastApp(settings, client, client, now) as app:
        app.store.create(Layout(shards=8, lanes=2))
        return Filled(client, app, fill(app, PASSWORD))


@pytest.fixture(scope="module")
def now() -> int:
    return MONDAY + 9 * HOUR


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, now: int) -> Iterator[Filled]:
    """A server of its own, filled once for these tests, which change nothing."""
    folder = tmp_path_factory.mktemp("demo")
    with EmbeddedServer(folder / "valkey") as valkey, valkey.client() as client:
        yield filled(valkey, client, folder, now)


@pytest.mark.long
def test_every_match_holds(server: Filled):
    for board in server.boards:
        assert "decided again" in check(server.store, board)
    assert server.store.inbox_size(range(8)) == 0


def test_there_is_a_history_of_months(server: Filled, now: int):
    states = server.states()
    over = [state for state in states.values() if state.over]
    running = [state for state in states.values() if not state.over]
    assert len(over) > 140
    assert 25 < len(running) < 50
    assert {state.rules.partition("/")[0] for state in over} == GAMES
    begun = min(found[0].at for found in server.events.values())
    assert now - begun > 180 * DAY


def test_nothing_is_of_the_future_and_each_match_is_in_order(server: Filled, now: int):
    for found in server.events.values():
        times = [one.at for one in found]
        assert times == sorted(times)
        assert times[-1] <= now


def test_no_reminder_and_no_flag_falls_in_the_first_hour(server: Filled, now: int):
    due = [at for state in server.states().values() if (at := next_due(state))]
    assert due
    assert min(due) > now + HOUR


def test_the_clocks_are_of_several_kinds(server: Filled):
    kinds = Counter(state.clock.terms for state in server.states().values() if state.clock)
    assert len(kinds) >= 6
    assert sum(not terms.rated for terms in kinds) >= 1


def test_everything_that_can_happen_has_happened(server: Filled):
    for kind in (Flagged, Nagged, Resigned, Undone, Declined, Claimed, Ruled, Appealed, SetBack):
        assert server.bodies(kind), kind
    assert any(one.body.kind == "draw" for one in server.bodies(OfferMade))
    reasons = {state.result.reason for state in server.states().values() if state.result}
    assert {Reason.TIME, Reason.RESIGNATION, Reason.AGREEMENT, Reason.DECLINED} <= reasons


def test_only_the_server_has_let_flags_fall(server: Filled):
    assert {one.actor for one in server.bodies(Flagged, Nagged)} == {SERVER_ACCOUNT}


def test_a_claim_waits_and_its_text_is_there(server: Filled):
    waiting = [
        (board, case)
        for board, state in server.states().items()
        for case in state.cases
        if not case.ruled_at
    ]
    assert len(waiting) == 1
    (board, _), statements = waiting[0], Statements(server.client, lambda: 8)
    (stated,) = statements.of_match(board)
    assert "dead battery" in stated.text


def test_a_match_gathers_and_waits_for_the_visitor(server: Filled):
    (called,) = server.bodies(Called)
    visitor = server.app.accounts.id_of(VISITOR)
    assert called.body.seats[1] == visitor


def test_the_visitor_can_log_in_and_has_moves_to_make(server: Filled):
    accounts = Accounts(server.client)
    visitor = accounts.verify(VISITOR, PASSWORD)
    to_move = [
        state
        for state in server.states().values()
        if state.next is not None and state.seats[state.next] == visitor
    ]
    assert len(to_move) >= 4
    assert any(map(robot_level, (seat for state in to_move for seat in state.seats)))


def test_no_robot_is_to_move(server: Filled):
    # so that a server without robots is not stuck, and one with them does not begin with a burst
    for state in server.states().values():
        assert state.next is None or robot_level(state.seats[state.next]) is None


def test_matches_with_robots_are_not_rated(server: Filled):
    with_robots = [
        state for state in server.states().values() if any(map(robot_level, state.seats))
    ]
    assert len(with_robots) >= 2
    assert all(state.clock and not state.clock.terms.rated for state in with_robots)


def test_a_robot_has_answered_within_seconds(server: Filled):
    took = [
        one.at - before.at
        for found in server.events.values()
        for before, one in pairwise(found)
        if isinstance(one.body, Moved) and robot_level(one.actor)
    ]
    assert len(took) > 50
    assert 2_000 < min(took) < max(took) < 10_000


def test_nobody_played_before_joining(server: Filled):
    accounts = server.app.accounts
    joined = {
        account: profile.created
        for person in PEOPLE
        if (profile := accounts.record_of(account := accounts.id_of(person.name)))
    }
    for found in server.events.values():
        for seat in found[0].body.seats:
            assert seat not in joined or found[0].at > joined[seat]


def test_people_have_chatted_and_opened_challenges(server: Filled):
    assert len(server.app.challenges.list_open(None)) >= 5
    assert sum(bool(server.app.messages.chat_of(board)) for board in server.boards) > 20
    assert len(server.app.messages.read(server.app.accounts.id_of(VISITOR))) >= 3


def test_projections_follow_from_the_logs_and_a_rebuild_makes_them_again(server: Filled):
    client = server.client
    side = catch_up(server.store, client)
    side.save()
    live = contents(client)
    rebuild(server.store, client, PROJECTIONS, _Silent())
    assert contents(client) == live
    stronger, weaker = (server.app.accounts.id_of(name) for name in ("emre", "quinn"))
    ratings = RatingsQuery(client)
    rated = [ratings.player("pow2", one).display_value for one in (stronger, weaker)]
    assert rated == sorted(rated, reverse=True)
    for puzzle in ("jump", "one", "two", "duo"):
        assert len(Leaderboards(client).best(puzzle)) >= 3, puzzle
    visitor = server.app.accounts.id_of(VISITOR)
    assert len(MatchLists(client).of(visitor, MatchFilter.ACTIVE)) >= 6


class _Silent:
    """Reports of a rebuild that nobody reads."""

    def progress(self, about: str, done: int, total: int) -> None:
        """Do nothing."""

    def line(self, text: str) -> None:
        """Do nothing."""


@pytest.mark.long
@pytest.mark.parametrize("hours", [37, 5 * 24 + 23])
def test_a_server_can_be_filled_on_any_day_and_at_any_hour(
    valkey: EmbeddedServer, redis_client: Redis, tmp_path: Path, hours: int
):
    at = MONDAY + hours * HOUR
    made = filled(valkey, redis_client, tmp_path, at)
    assert made.report.matches > 150
    assert min(due for state in made.states().values() if (due := next_due(state))) > at + HOUR


def test_each_recorded_match_is_of_a_game_of_its_own_and_of_people_who_are_there():
    matches = recorded_matches()
    numbers = [match.game for match in matches if match.game is not None]
    assert len(set(numbers)) == len(numbers)
    there = {SERVER, *(person.name for person in PEOPLE)}
    for match in matches:
        moves = sum(isinstance(step, int) for step in match.steps)
        actors = {step[1] for step in match.steps if not isinstance(step, int)}
        assert all(name in there or name.startswith("robot-") for name in {*match.players, *actors})
        if match.game is None:
            assert match.drawn
        else:
            game = recorded_games()[match.game]
            assert (game.players, moves <= len(game.moves)) == (len(match.players), True)


def test_a_refused_command_ends_the_filling(
    valkey: EmbeddedServer, redis_client: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    first = replace(recorded_matches()[0], steps=((60, VISITOR, PlayMove(text="z99", ply=0)),))
    monkeypatch.setattr("services.demo.fill.recorded_matches", lambda: (first,))
    with pytest.raises(FillError, match="refused"):
        filled(valkey, redis_client, tmp_path, MONDAY)
