"""Tournaments of games for three: the matches that end when a player leaves, and the results that directors may give."""

from collections.abc import Sequence
from contextlib import suppress

from domain.errors import Refusal
from domain.records import AccountId
from domain.tournament.results import PairResult
from domain.tournament.state import TournamentState
from domain.tournament.terms import TournamentForm
from domain.tournament.three_results import RULED_RESULTS
from services.app.context import App
from services.app.matches import read_snapshot


def is_of_threes(state: TournamentState) -> bool:
    """Return whether groups of three play a tournament."""
    return state.terms is not None and state.terms.form == TournamentForm.THREES


def ends_with(
    app: App, number: int, state: TournamentState, account: AccountId
) -> tuple[int, ...] | None:
    """Return the open pairings of a player whose matches end when the player leaves; None for all of them.

    A match for three that the player has resigned, or lost on time, goes on between the two others.
    """
    player = state.number_of(account)
    if player is None or not is_of_threes(state):
        return None
    seats = {n: seats.index(player) for n, seats in state.seated if player in seats}
    going = [n for n in seats if state.is_open(n)]
    matches = app.tournaments.matches(number, going)
    begun = {n: one.board for n, one in matches.items() if one.board}
    stored = zip(begun.items(), app.store.snapshots([*begun.values()]), strict=True)
    without = set()
    for (n, board), data in stored:
        with suppress(Refusal):  # a damaged one ends
            if seats[n] not in read_snapshot(app, board, data).state.active_seats:
                without.add(n)
    return tuple(n for n in going if n not in without)


def results_of_directors(state: TournamentState) -> Sequence[str]:
    """Return the results that a director may give: those of a match for two, or the places of one for three."""
    if is_of_threes(state):
        return RULED_RESULTS
    return (PairResult.FIRST_WON, PairResult.SECOND_WON, PairResult.DRAWN)
