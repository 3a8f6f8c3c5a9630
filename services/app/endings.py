"""How a match ended, in words: one clause for the terminal, mail, pages, drawings and the API."""

from collections.abc import Mapping, Sequence
from typing import Final

from domain.match.state import MatchState, Reason, position_of
from domain.rules import GameOutcome, MissingRules, rules_by_id
from domain.sentences import Sentence
from domain.translation import ENGLISH, Translation
from services.app.sentences import SAY, side_name

_WITHOUT_WINNER: Final[Mapping[str, Sentence]] = {
    Reason.AGREEMENT: SAY("agreement"),
    Reason.REPETITION: SAY("repetition"),
    Reason.ABORTED: SAY("aborted"),
    Reason.TRANSFERRED: SAY("transferred"),
    Reason.DECLINED: SAY("declined"),
    Reason.ANNULLED: SAY("annulled"),
}


_PUZZLE_LEFT: Final[Mapping[str, Sentence]] = {
    Reason.RESIGNATION: SAY("given-up"),
    Reason.TIME: SAY("time-ran-out"),
}
"""Endings without a winner of a match of one."""


def ending_clause(state: MatchState, names: Sequence[str], language: Translation = ENGLISH) -> str:
    """Return how a match that is over ended, such as `Light (alice) has won by resignation`.

    Where the game's rules ended it, their own words stand in brackets.
    """
    assert state.result is not None
    reason, rules = state.result.reason, rules_by_id(state.rules)
    winners = [side_name(rules.sides[seat], names[seat], language) for seat in state.result.winners]
    clause, outcome = _clause(reason, winners), None
    if (
        reason not in set(Reason)
        and not state.has_no_position
        and not isinstance(rules, MissingRules)
    ):
        outcome = rules.outcome(position_of(state))
    if outcome is not None:
        clause = SAY("by-rules", clause=clause, detail=outcome.text)
    return clause.in_language(language)


def ending_in_list(
    reason: str, winners: Sequence[str], seats: int, language: Translation = ENGLISH
) -> str:
    """Return how a match ended, for a list that shows its players beside it.

    A game's own code for an ending is left out, because it is not meant for people.
    """
    if seats == 1 and reason not in set(Reason):
        return SAY("finished").in_language(language)
    return _clause(reason, winners).in_language(language)


def ending_in_drawing(
    state: MatchState, names: Sequence[str], language: Translation = ENGLISH
) -> GameOutcome | None:
    """Return how a match ended, for a drawing; None while it goes on."""
    if state.result is None:
        return None
    clause = ending_clause(state, names, language)
    return GameOutcome(
        state.result.winners, state.result.reason, f"{clause[:1].upper()}{clause[1:]}"
    )


def _clause(reason: str, names: Sequence[str]) -> Sentence:
    if reason in _WITHOUT_WINNER:
        return _WITHOUT_WINNER[reason]
    if not names and reason in _PUZZLE_LEFT:
        return _PUZZLE_LEFT[reason]
    winners, alone = "\n".join(names), len(names) == 1
    match reason:
        case Reason.TIME:
            said = (
                SAY("won-on-time", winners=winners)
                if alone
                else SAY("shared-on-time", winners=winners)
            )
        case Reason.RESIGNATION:
            said = (
                SAY("won-by-resignation", winners=winners)
                if alone
                else SAY("shared-by-resignation", winners=winners)
            )
        case Reason.RULING:
            said = (
                SAY("won-by-ruling", winners=winners)
                if alone
                else SAY("shared-by-ruling", winners=winners)
            )
        case _:
            said = SAY("won", winners=winners) if alone else SAY("shared", winners=winners)
    return said
