"""How a match ended, in words: one clause for the terminal, mail, pages, drawings and the API."""

from collections.abc import Mapping, Sequence
from typing import Final

from domain.match.state import MatchState, Reason, position_of
from domain.rules import GameOutcome, MissingRules, rules_by_id
from services.app.names import join_names

_WITHOUT_WINNER: Final[Mapping[str, str]] = {
    Reason.AGREEMENT: "it is a draw by agreement",
    Reason.REPETITION: "it is a draw, as the position has stood three times",
    Reason.ABORTED: "it was broken off by agreement, and counts for nothing",
    Reason.TRANSFERRED: "it goes on at another server, and counts for nothing here",
    Reason.DECLINED: "it was declined, and counts for nothing",
    Reason.ANNULLED: "an arbiter annulled it, and it counts for nothing",
}

_BY: Final[Mapping[str, str]] = {
    Reason.TIME: "on time",
    Reason.RESIGNATION: "by resignation",
    Reason.RULING: "by a ruling",
}


def ending_clause(state: MatchState, names: Sequence[str]) -> str:
    """Return how a match that is over ended, such as `Light (alice) has won by resignation`.

    Where the game's rules ended it, their own words stand in brackets.
    """
    assert state.result is not None
    reason, sides = state.result.reason, rules_by_id(state.rules).sides
    winners = [f"{sides[seat]} ({names[seat]})" for seat in state.result.winners]
    return _clause(reason, winners, "" if reason in set(Reason) else _rules_say(state))


def ending_in_list(reason: str, winners: Sequence[str], seats: int) -> str:
    """Return how a match ended, for a list that shows its players beside it.

    A game's own code for an ending is left out, because it is not meant for people.
    """
    if seats == 1 and reason not in set(Reason):
        return "finished"
    return _clause(reason, winners, "")


def ending_in_drawing(state: MatchState, names: Sequence[str]) -> GameOutcome | None:
    """Return how a match ended, for a drawing; None while it goes on."""
    if state.result is None:
        return None
    clause = ending_clause(state, names)
    return GameOutcome(
        state.result.winners, state.result.reason, f"{clause[:1].upper()}{clause[1:]}"
    )


def _clause(reason: str, winners: Sequence[str], detail: str) -> str:
    if reason in _WITHOUT_WINNER:
        return _WITHOUT_WINNER[reason]
    won = f"{join_names(winners)} {'has won' if len(winners) == 1 else 'share the win'}"
    return " ".join(part for part in (won, _BY.get(reason, ""), detail) if part)


def _rules_say(state: MatchState) -> str:
    """Return the words of the game's rules for an ending by them."""
    rules = rules_by_id(state.rules)
    if state.has_no_position or isinstance(rules, MissingRules):
        return ""
    outcome = rules.outcome(position_of(state))
    return f"({outcome.detail})" if outcome else ""
