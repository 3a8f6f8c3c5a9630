"""Directing a tournament: its directors, results of matches that are not over, and all that needs attention.

A match of a tournament is ruled on by those who direct it, too, but by nobody in a section in which they play.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import msgspec

from domain.aggregates import TournamentSnapshot, unpack
from domain.errors import Code, Refusal
from domain.match.disputes import open_case
from domain.match.state import MatchState, deadline
from domain.records import AccountId
from domain.tournament.commands import AdjudicateMatches, AppointDirectors
from domain.tournament.decide import fellow_players
from domain.tournament.forms import form_of
from domain.tournament.state import AdjudicatedPairing
from services.app.context import Actor, App
from services.app.matches import read_snapshot
from services.app.play import Steps, course
from services.app.receipts import Answered
from services.app.sentences import SAY
from services.app.threes import results_of_directors
from services.app.tournaments import (
    TournamentView,
    ask,
    ask_with_reasons,
    check_directs,
    view_of,
    visible_state,
)

MOST_WATCHED: Final = 200
"""Matches that the page of a director reads."""


class DirectedMatch(msgspec.Struct, frozen=True):
    """A match that goes on, or on which a claim waits for a ruling."""

    pairing: int
    board: int
    players: tuple[int, ...]
    """The numbers of its players in the tournament, the first to move first."""
    state: MatchState
    flag_at: int | None
    """When the time of the player to move is over, ms; None without a limit, and once it is over."""
    claim: int | None
    """The number of the case that waits for a ruling."""

    @property
    def mover(self) -> int | None:
        """The number of the player to move; None once it is over."""
        seat = self.state.next
        return None if seat is None or self.state.over else self.players[seat]


class DirectedPlayer(msgspec.Struct, frozen=True):
    """A player with matches that go on."""

    player: int
    left: int
    """How many of the matches that were read go on."""
    on_turn: int
    """In how many of them it is the player's turn."""
    waited_since: int
    """When the event after which the player is to move came, ms, in the match that has waited longest; 0 for none."""


class DirectorView(msgspec.Struct, frozen=True):
    """The matches and players that a director has to look at, in a tournament or in one of its sections."""

    tournament: TournamentView
    matches: tuple[DirectedMatch, ...]
    """Those that go on, whose flag falls first, first; without a limit they come last."""
    players: tuple[DirectedPlayer, ...]
    """Those who have let others wait longest, first."""
    round_ends: int
    """When what is not over counts as drawn, ms; 0 for never."""
    fellows: frozenset[int] = frozenset()
    """The players over whom the account does not rule, because it plays in their sections."""

    @property
    def claims(self) -> tuple[DirectedMatch, ...]:
        """The matches on which a claim waits for a ruling."""
        return tuple(one for one in self.matches if one.claim is not None)

    @property
    def decidable(self) -> tuple[DirectedMatch, ...]:
        """The matches that go on and that the account may decide."""
        going = (one for one in self.matches if not one.state.over)
        return tuple(one for one in going if self.fellows.isdisjoint(one.players))


@course
def appoint(app: App, actor: Actor, number: int, userids: Sequence[str]) -> Steps[Answered]:
    """Appoint those who rule beside the organiser, in place of those before.

    `not-an-organiser`, `unknown-user`, `too-many`.
    """
    if visible_state(app, actor.account, number).organiser != actor.account:
        raise Refusal(Code.NOT_AN_ORGANISER, SAY("tournament-organiser"))
    accounts = tuple(app.accounts.id_of(one) for one in dict.fromkeys(userids))
    return (yield from ask(app, actor, number, AppointDirectors(accounts=accounts)))


@course
def adjudicate(
    app: App, actor: Actor, number: int, board: int, result: str, why: str
) -> Steps[Answered]:
    """Decide a match that is not over as one of `results_of_directors`, with reasons that its players read.

    A ruling ends the match soon after; if it has ended by itself before, its own result counts.
    `not-an-organiser`, `unknown-board`, `too-late` with a result, `against-terms` in the own section.
    """
    state = visible_state(app, actor.account, number)
    check_directs(app, actor.account, state)
    matches = app.tournaments.matches(number)
    pairing = next((n for n, one in matches.items() if one.board == board), None)
    if pairing is None:
        raise Refusal(Code.UNKNOWN_BOARD, SAY("not-of-tournament", board=board))
    known = ", ".join(results_of_directors(state))
    if result not in results_of_directors(state):
        raise Refusal(Code.BAD_REQUEST, SAY("choice", text=result[:24], choices=known))
    given = (AdjudicatedPairing(pairing, result),)

    def command(digest: bytes) -> AdjudicateMatches:
        return AdjudicateMatches(results=given, text=digest)

    return (yield from ask_with_reasons(app, actor, number, why, command))


def directs_match(app: App, account: AccountId, state: MatchState) -> bool:
    """Return whether an account directs the tournament of a match, and plays in no section of its players."""
    if state.pairing is None:
        return False
    number, pairing = state.pairing
    found = unpack(app.store.snapshots([number])[0])
    if not isinstance(found, TournamentSnapshot) or not found.state.directs(account):
        return False
    own = found.state.number_of(account)
    return not any(
        pairing in section.numbers and own in section.players for section in found.state.sections
    )


def director_view(app: App, account: AccountId, number: int, section: int = 0) -> DirectorView:
    """Return what its organiser, a director or an arbiter has to look at; `not-an-organiser` for others.

    `section` as `view_of` takes it. It has up to `MOST_WATCHED` matches, the newest.
    """
    view = view_of(app, account, number, section)
    check_directs(app, account, view.state)
    matches = _watched(app, view)
    form = form_of(view.terms)
    return DirectorView(
        view,
        tuple(sorted(matches, key=lambda one: (one.flag_at is None, one.flag_at or 0, one.board))),
        tuple(_players(matches)),
        form.round_ends(view.state, view.terms) if view.state.open_in_stage else 0,
        fellow_players(account, view.state),
    )


def _watched(app: App, view: TournamentView) -> list[DirectedMatch]:
    """Return the matches that go on or have an open case, read in one round trip; a damaged one is missing."""
    pairings = {
        pairing: seats
        for section in view.sections
        for pairing, seats in zip(section.numbers, section.seats, strict=True)
    }
    boards = [(pairing, one.board) for pairing, one in sorted(view.matches.items()) if one.board][
        -MOST_WATCHED:
    ]
    found = []
    for (pairing, board), data in zip(
        boards, app.store.snapshots([board for _, board in boards]), strict=True
    ):
        with suppress(Refusal):  # its own page says that it is damaged
            state = read_snapshot(app, board, data).state
            case = open_case(state)
            if case is not None or not state.over:
                until = None if state.over else deadline(state)
                claim = None if case is None else case.claim
                found.append(DirectedMatch(pairing, board, pairings[pairing], state, until, claim))
    return found


def _players(matches: Sequence[DirectedMatch]) -> list[DirectedPlayer]:
    left: dict[int, int] = {}
    waits: dict[int, list[int]] = {}
    for one in matches:
        if not one.state.over:
            for player in one.players:
                left[player] = left.get(player, 0) + 1
            if one.mover is not None:
                waits.setdefault(one.mover, []).append(one.state.at)
    players = [
        DirectedPlayer(
            player, count, len(waits.get(player, ())), min(waits.get(player, ()), default=0)
        )
        for player, count in left.items()
    ]
    return sorted(players, key=lambda one: (not one.on_turn, one.waited_since, one.player))
