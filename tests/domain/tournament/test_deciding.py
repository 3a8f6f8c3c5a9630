"""The decider of tournaments: each refusal once, the same decision from the record, and pairings that are checked."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from domain.aggregates import verify
from domain.errors import Code
from domain.match.history import BrokenHistory, decode_event
from domain.records import SERVER_ACCOUNT
from domain.tournament.commands import (
    CancelTournament,
    ConfirmPlaces,
    DraftTournament,
    EnterTournament,
    LeaveTournament,
    OpenEntry,
    ReportResults,
    StartTournament,
    TournamentCommand,
    WithdrawPlayer,
)
from domain.tournament.decide import decide, due_command, next_due
from domain.tournament.events import (
    Entered,
    PlacesConfirmed,
    SectionPaired,
)
from domain.tournament.evolve import evolve
from domain.tournament.state import MatchReport, Pairing, TournamentState
from tests.golden.make_events import TOURNAMENTS
from tests.helpers.given import BEGIN
from tests.helpers.tournaments import NUMBER, ORGANISER, PLAYERS, Tournament, terms_of_three

DIGEST = bytes(32)
STRANGER = b"stranger"


def drafted(**changes: Any) -> Tournament:
    """A tournament that is not open yet."""
    return Tournament((ORGANISER, DraftTournament(terms=terms_of_three(**changes))))


def opened(count: int = 0, **changes: Any) -> Tournament:
    """A tournament with entrants that its organiser has to start."""
    found = Tournament()
    found.draft(**{"when_full": False, **changes})
    found.enter(count)
    return found


def running() -> Tournament:
    found = opened(3)
    found.do(ORGANISER, StartTournament())
    return found


def finished() -> Tournament:
    found = running()
    found.report("1-0", "1/2", "+-")
    return found


def confirmed() -> Tournament:
    found = finished()
    found.do(ORGANISER, ConfirmPlaces())
    return found


def cancelled() -> Tournament:
    found = opened()
    found.do(ORGANISER, CancelTournament())
    return found


ENTER, LEAVE, START = EnterTournament(rating=1500), LeaveTournament(), StartTournament()
LATE_REPORT = ReportResults(reports=(MatchReport(0, 100, 9, "0-1"),))
NO_PAIRING = ReportResults(reports=(MatchReport(3, 100, 9, "0-1"),))

REFUSED: list[tuple[Callable[[], Tournament], bytes, TournamentCommand, Code, str]] = [
    (Tournament, ORGANISER, OpenEntry(), Code.UNKNOWN_TOURNAMENT, "there is no such tournament"),
    (Tournament, ORGANISER, DraftTournament(terms=terms_of_three(starts=BEGIN)), Code.BAD_OPTION, "the start is in the past"),
    (drafted, ORGANISER, DraftTournament(terms=terms_of_three()), Code.ALREADY_STARTED, "this number is taken"),
    (drafted, STRANGER, OpenEntry(), Code.NOT_AN_ORGANISER, "only the organiser"),
    (drafted, STRANGER, ENTER, Code.NOT_STARTED, "entry isn't open yet"),
    (opened, ORGANISER, OpenEntry(), Code.ALREADY_STARTED, "entry is open already"),
    (opened, STRANGER, CancelTournament(), Code.NOT_AN_ORGANISER, "only the organiser"),
    (opened, STRANGER, START, Code.NOT_AN_ORGANISER, "only the organiser"),
    (opened, ORGANISER, ConfirmPlaces(), Code.NOT_STARTED, "hasn't started yet"),
    (opened, STRANGER, ConfirmPlaces(), Code.NOT_AN_ORGANISER, "only the organiser"),
    (lambda: opened(2), ORGANISER, START, Code.TOO_EARLY, "3 players are needed to start, and 2"),
    (lambda: opened(2), PLAYERS[0], ENTER, Code.ALREADY_ENTERED, "already entered"),
    (lambda: opened(2), PLAYERS[5], LEAVE, Code.NOT_ENTERED, "no such entry"),
    (lambda: opened(2), PLAYERS[0], LeaveTournament(account=PLAYERS[1]), Code.NOT_AN_ORGANISER, "only the organiser"),
    (opened, ORGANISER, EnterTournament(rating=1500, account=PLAYERS[0]), Code.AGAINST_TERMS, "robots can't enter"),
    (lambda: opened(robots=True), STRANGER, EnterTournament(rating=1500, account=PLAYERS[0]), Code.NOT_AN_ORGANISER, "only the organiser"),
    (lambda: opened(least_rating=1501), STRANGER, ENTER, Code.AGAINST_TERMS, "1501 or higher; you have 1500"),
    (lambda: opened(most_rating=1499), STRANGER, ENTER, Code.AGAINST_TERMS, "1499 or lower; you have 1500"),
    (running, STRANGER, ENTER, Code.TOO_LATE, "the tournament has started"),
    (running, PLAYERS[0], LEAVE, Code.TOO_LATE, "the tournament has started"),
    (running, ORGANISER, CancelTournament(), Code.TOO_LATE, "the tournament has started"),
    (running, ORGANISER, ConfirmPlaces(), Code.TOO_EARLY, "3 are still to be played"),
    (running, ORGANISER, LATE_REPORT, Code.NOT_ALLOWED, "only the server itself"),
    (running, SERVER_ACCOUNT, NO_PAIRING, Code.UNKNOWN_PAIRING, "no pairing 3"),
    (finished, SERVER_ACCOUNT, LATE_REPORT, Code.TOO_LATE, "the result of pairing 0 is known"),
    (confirmed, SERVER_ACCOUNT, LATE_REPORT, Code.TOO_LATE, "the places have been confirmed"),
    (cancelled, STRANGER, ENTER, Code.TOO_LATE, "the tournament was cancelled"),
    (running, ORGANISER, WithdrawPlayer(account=STRANGER, kind="silent", text=DIGEST), Code.NOT_ENTERED, "no such entry"),
    (running, ORGANISER, WithdrawPlayer(account=PLAYERS[0], kind="sudden", text=DIGEST), Code.BAD_REQUEST, "a withdrawal is accepted or silent"),
    (running, PLAYERS[1], WithdrawPlayer(account=PLAYERS[0], kind="silent", text=DIGEST), Code.AGAINST_TERMS, "nobody rules over a section"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "actor", "command", "code", "said"), REFUSED)
def test_a_command_is_refused_and_changes_nothing(
    given: Callable[[], Tournament], actor: bytes, command: TournamentCommand, code: Code, said: str
) -> None:
    tournament = given()
    before = list(tournament.events)
    found, sentence = tournament.refuses(actor, command)
    assert (found, said in sentence) == (code, True), sentence
    assert tournament.events == before


@pytest.mark.parametrize("name", TOURNAMENTS)
def test_the_record_leads_to_the_same_decisions_and_the_same_state(name: str) -> None:
    found = TOURNAMENTS[name]()
    found.holds()
    state = TournamentState()
    for data in found.events:
        one = decode_event(data)
        state = evolve(state, one.body, one.at, one.actor)
    assert state == found.state
    assert verify(NUMBER, found.events, range(len(found.events))).events == len(found.events)


def section_of(found: Tournament) -> tuple[int, SectionPaired]:
    """The event of the section, with its number."""
    seq = next(n for n, body in enumerate(found.bodies, 1) if isinstance(body, SectionPaired))
    body = found.bodies[seq - 1]
    assert isinstance(body, SectionPaired)
    return seq, body


@pytest.mark.parametrize(
    "change",
    [
        lambda pairings: (Pairing(1, 0, 1), Pairing(2, 0, 1), *pairings[2:]),
        lambda pairings: pairings[:-1],
        lambda pairings: (*pairings, pairings[0]),
        lambda pairings: (Pairing(1, 0, 0), *pairings[1:]),
        lambda pairings: (replace(pairings[0], second=7), *pairings[1:]),
    ],
    ids=["a pair twice", "one missing", "one more", "against oneself", "a player who is none"],
)
def test_recorded_pairings_that_are_no_round_robin_are_found(
    change: Callable[[tuple[Pairing, ...]], tuple[Pairing, ...]],
) -> None:
    found = running()
    seq, body = section_of(found)
    forged = found.forged(seq, body=replace(body, pairings=change(body.pairings)))
    with pytest.raises(BrokenHistory, match="break the rules of the tournament"):
        verify(NUMBER, forged)


def test_a_forged_entry_and_forged_places_are_found() -> None:
    found = confirmed()
    bodies = found.bodies
    entry = next(n for n, body in enumerate(bodies, 1) if isinstance(body, Entered))
    again = replace(bodies[entry - 1], account=PLAYERS[1])
    with pytest.raises(BrokenHistory):
        verify(NUMBER, found.forged(entry, body=again))
    last = bodies[-1]
    assert isinstance(last, PlacesConfirmed)
    ((best, *others),) = last.sections
    forged = replace(last, sections=((replace(best, points=300), *others),))
    with pytest.raises(BrokenHistory):
        verify(NUMBER, found.forged(len(bodies), body=forged))


def test_the_scheduler_starts_at_the_date_and_cancels_with_too_few() -> None:
    starts = BEGIN + 1_000_000
    few, enough = opened(2, starts=starts), opened(3, starts=starts)
    assert {next_due(few.state), next_due(enough.state)} == {starts}
    assert (due_command(few.state), due_command(enough.state)) == (CancelTournament(), START)
    for one in (few, enough):
        one.do(SERVER_ACCOUNT, due_command(one.state))
        assert next_due(one.state) == 0
        one.holds()
    assert few.state.over


def test_a_decision_with_the_recorded_pairings_makes_none_of_its_own() -> None:
    found = opened(3)
    section = SectionPaired(
        players=(0, 1, 2), pairings=(Pairing(1, 2, 1), Pairing(2, 1, 0), Pairing(3, 0, 2))
    )
    events = decide(StartTournament(), ORGANISER, found.state, BEGIN, [section])
    assert events[1:] == (section,)
