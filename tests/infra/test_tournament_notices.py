"""Who gets a notice of an event of a tournament: the fold without a store."""

import itertools
from typing import Any

from domain.match.history import EventEnvelope, decode_event
from domain.records import SCHEMA, SERVER_ACCOUNT, AccountId
from domain.tournament import commands
from domain.tournament.commands import CancelTournament, LeaveTournament, StartTournament
from domain.tournament.events import SectionPaired
from domain.tournament.state import Pairing
from infra.projections import notices, tournament_notices
from infra.projections.notices import NoticeKind, TournamentDetail, TournamentNotice
from infra.projections.tournament_notices import notices_by_account
from tests.helpers.tournaments import ORGANISER, PLAYERS, Tournament, terms_of_three

FIRST, SECOND, THIRD, FOURTH = PLAYERS[:4]


def events_of(tournament: Tournament) -> list[EventEnvelope]:
    return [decode_event(data) for data in tournament.events]


def all_notices(events: list[EventEnvelope]) -> list[TournamentNotice]:
    """All notices of a history, in the order of its events."""
    wanted = [event.seq for event in events if tournament_notices.has_notices(event)]
    return [
        one
        for group in tournament_notices.notices_of_tournament(events, wanted).values()
        for one in group
    ]


def last(tournament: Tournament) -> dict[AccountId, list[tuple[str, TournamentDetail | None]]]:
    """The notices of the last command by account."""
    events = events_of(tournament)
    found = notices_by_account(events, events[-1].command)
    return {to: [(one.kind, one.detail) for one in some] for to, some in found.items()}


def opened(count: int, **changes: Any) -> Tournament:
    tournament = Tournament()
    tournament.draft(when_full=False, **changes)
    tournament.enter(count)
    return tournament


def started(**changes: Any) -> Tournament:
    tournament = opened(3, **changes)
    tournament.do(ORGANISER, StartTournament())
    return tournament


def test_who_moves_up_hears_of_it_and_whose_entry_the_organiser_takes_back() -> None:
    for who, moves_up in ((FIRST, FOURTH), (THIRD, FOURTH), (FOURTH, None), (PLAYERS[4], None)):
        tournament = opened(5)
        tournament.do(who, LeaveTournament())
        wanted = {moves_up: [(NoticeKind.MOVED_UP, None)]} if moves_up else {}
        assert last(tournament) == wanted
    tournament = opened(4)
    tournament.do(ORGANISER, LeaveTournament(account=SECOND))
    assert last(tournament) == {
        SECOND: [(NoticeKind.ENTRY_TAKEN_BACK, None)],
        FOURTH: [(NoticeKind.MOVED_UP, None)],
    }


STARTED = NoticeKind.TOURNAMENT_STARTED


def test_a_start_is_one_notice_to_each_player_with_the_number_of_matches() -> None:
    for cycles in (1, 2):
        each = [(STARTED, TournamentDetail(2 * cycles))]
        assert last(started(cycles=cycles)) == dict.fromkeys((FIRST, SECOND, THIRD), each)
    # one by itself is news to the organiser, and not to who made it full
    tournament = Tournament()
    tournament.draft()
    tournament.enter(3)
    two = [(STARTED, TournamentDetail(2))]
    assert last(tournament) == {ORGANISER: [(STARTED, None)], FIRST: two, SECOND: two}
    # an organiser who plays gets the notice of a player alone
    tournament = Tournament(
        (FIRST, commands.DraftTournament(terms=terms_of_three())), (FIRST, commands.OpenEntry())
    )
    tournament.enter(3)
    assert last(tournament)[FIRST] == two


def test_directors_get_the_notices_of_the_organiser_and_one_who_plays_that_of_a_player() -> None:
    tournament = Tournament()
    tournament.draft()
    tournament.do(ORGANISER, commands.AppointDirectors(accounts=(FOURTH, FIRST)))
    tournament.enter(3)
    started = {to: some[0] for to, some in last(tournament).items()}
    assert started[FOURTH] == started[ORGANISER] == (STARTED, None)
    assert started[FIRST] == (STARTED, TournamentDetail(2))
    tournament.report("1-0", "1-0", "1-0")
    over = [(NoticeKind.MATCHES_OVER, None)]
    assert last(tournament) == dict.fromkeys((ORGANISER, FOURTH, FIRST), over)
    cancelled = opened(2)
    cancelled.do(ORGANISER, commands.AppointDirectors(accounts=(FOURTH,)))
    cancelled.do(SERVER_ACCOUNT, CancelTournament())
    assert last(cancelled)[FOURTH] == [(NoticeKind.TOO_FEW_PLAYERS, None)]


def paired_later(
    tournament: Tournament, *sections: tuple[tuple[int, ...], tuple[Pairing, ...]]
) -> list[EventEnvelope]:
    """The events of a tournament, with sections that a later command of the server paired."""
    events = events_of(tournament)
    for players, pairings in sections:
        place = (SCHEMA, tournament.number, len(events) + 1, 9, b"later", SERVER_ACCOUNT, bytes(32))
        events.append(EventEnvelope(*place, SectionPaired(players=players, pairings=pairings)))
    return events


def test_a_further_round_is_one_notice_to_each_with_the_matches_of_all_its_sections() -> None:
    events = paired_later(
        started(), ((0, 1, 2), (Pairing(2, 0, 1),)), ((0, 2), (Pairing(2, 2, 0), Pairing(2, 0, 2)))
    )
    found = notices_by_account(events, b"later")
    assert {to: [(one.kind, one.detail) for one in some] for to, some in found.items()} == {
        # by rating, the third was entered with the highest
        THIRD: [(NoticeKind.PAIRED, TournamentDetail(3))],
        SECOND: [(NoticeKind.PAIRED, TournamentDetail(1))],
        FIRST: [(NoticeKind.PAIRED, TournamentDetail(2))],
    }
    assert len(all_notices(events)) == 3 + 5


def test_a_bye_is_news_and_nothing_to_those_who_have_left() -> None:
    tournament = started()
    tournament.do(ORGANISER, commands.WithdrawPlayer(account=THIRD, kind="silent", text=bytes(32)))
    found = notices_by_account(paired_later(tournament, ((0, 1, 2), ())), b"later")
    assert {to: [one.detail for one in some] for to, some in found.items()} == {
        SECOND: [TournamentDetail(0)],
        FIRST: [TournamentDetail(0)],
    }


def test_who_is_taken_out_and_the_organiser_hear_of_it_once_all_is_over() -> None:
    tournament = started()
    tournament.do(
        ORGANISER, commands.WithdrawPlayer(account=SECOND, kind="accepted", text=bytes(32))
    )
    assert last(tournament) == {SECOND: [(NoticeKind.TAKEN_OUT, None)]}
    unfinished = tournament.state.unfinished
    over = next(number for number, _ in tournament.state.pairings if number not in unfinished)
    tournament.report("1-0", first=over)
    assert last(tournament) == {ORGANISER: [(NoticeKind.MATCHES_OVER, None)]}


def test_final_places_are_news_with_points_and_say_which_are_shared() -> None:
    tournament = started()
    tournament.report("1/2", "1/2", "1/2")
    tournament.do(ORGANISER, commands.ConfirmPlaces())
    detail = TournamentDetail(place=1, shared=True, points=100)
    assert last(tournament) == {
        player: [(NoticeKind.PLACES, detail)] for player in (FIRST, SECOND, THIRD)
    }


def test_a_cancelled_tournament_is_news_to_all_entrants() -> None:
    for by, kind, others in (
        (ORGANISER, NoticeKind.TOURNAMENT_CANCELLED, ()),
        (SERVER_ACCOUNT, NoticeKind.TOO_FEW_PLAYERS, (ORGANISER,)),
    ):
        tournament = opened(4)
        tournament.do(by, CancelTournament())
        assert last(tournament) == {one: [(kind, None)] for one in (*PLAYERS[:4], *others)}


def test_a_notice_is_stored_and_read_with_its_detail() -> None:
    details = (None, TournamentDetail(14), TournamentDetail(place=3, shared=True, points=450))
    for kind, detail in itertools.product(sorted(notices.OF_TOURNAMENTS), details):
        notice = TournamentNotice(FIRST, kind, detail)
        assert TournamentNotice.read(FIRST, notice.text) == notice
        member = notices.PlayerNotice(5, 7, 3, kind, detail).member
        *_, name, text = f"{member}:".split(":")[:4] if detail else [*member.split(":"), ""]
        assert (NoticeKind(name), notices.read_detail(kind, text)) == (kind, detail)
