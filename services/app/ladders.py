"""A ladder as an account sees it: places, records, matches that run, and whom the account may challenge."""

from collections.abc import Sequence

import msgspec

from domain.records import AccountId
from domain.sentences import Sentence
from domain.tournament.ladder_form import reasons
from domain.tournament.state import LadderPlayer, Phase
from services.app.tournaments import TournamentView


class LadderLine(msgspec.Struct, frozen=True):
    """A player's place on a ladder."""

    player: int
    """The number in the tournament."""
    place: int
    record: LadderPlayer
    running: tuple[int, ...]
    """The pairings of the player's matches that run."""
    possible: bool
    """Whether the account may challenge the player now."""
    why_not: Sentence | None
    """Why it may not; None for the account itself, and for one that is not on the ladder or a ladder that is over."""


def ladder_lines(
    view: TournamentView, viewer: AccountId | None, now: int, start: int = 0, count: int = 10**6
) -> Sequence[LadderLine]:
    """Return `count` places of a ladder that has started, from the one after `start`; `now` is in ms since 1970."""
    state, rules = view.state, view.terms.ladder
    ladder = state.ladder
    if ladder is None or rules is None:
        return ()
    shown = ladder.order[start : start + count]
    running: dict[int, list[int]] = {player: [] for player in range(len(state.entrants))}
    for number, one in state.pairings:
        if state.is_open(number):
            running[one.first].append(number)
            running[one.second].append(number)
    own = state.number_of(viewer) if viewer else None
    judged: dict[int, Sentence | None] = {}
    if own in ladder.order and state.phase is Phase.RUNNING and not ladder.closed:
        assert own is not None
        judged = reasons(state, rules, own, [one for one in shown if one != own], now)
    return [
        LadderLine(
            player=player,
            place=place,
            record=ladder.players[player],
            running=tuple(running[player]),
            possible=player in judged and judged[player] is None,
            why_not=judged.get(player),
        )
        for place, player in enumerate(shown, start + 1)
    ]
