"""The order of a ladder after each event, the records of its players, and what it forgets.

Places move by the first result of a match alone. A ruling that changes it later changes the records, and no place.

A ladder has no end, so its state forgets a match that was over long ago: the cool-down of its two has passed, and
at least `LEAST_KEPT` days. Its points stay in the records. What a ruling makes of it later is in the log, and changes
nothing here.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from domain.clocks.time_control import DAY
from domain.tournament.events import (
    Entered,
    EntryTakenBack,
    LadderEnded,
    MatchesAdjudicated,
    PlayerWithdrawn,
    ResultsCounted,
    SectionPaired,
    SilentDropped,
    TournamentEvent,
    TournamentStarted,
)
from domain.tournament.form_terms import LadderTerms
from domain.tournament.ladder import after_silence, after_win
from domain.tournament.results import PairResult
from domain.tournament.state import LadderPlayer, LadderStandings, Pairing, Phase, TournamentState

LEAST_KEPT: Final = 30
"""Days for which a match that is over is kept at least."""

_WON: Final = frozenset({PairResult.FIRST_WON, PairResult.FIRST_BY_FORFEIT})
_LOST: Final = frozenset({PairResult.SECOND_WON, PairResult.SECOND_BY_FORFEIT})
"""The results of a challenge in which the challenged, who has the first move, won or lost."""


def evolve(  # noqa: C901, PLR0911 - one case an event
    before: TournamentState, after: TournamentState, event: TournamentEvent
) -> TournamentState:
    """Return the state of a ladder after an event; `after` is that of any tournament."""
    if isinstance(event, TournamentStarted):
        players = tuple(LadderPlayer(seen=after.at) for _ in after.entrants)
        return replace(after, ladder=LadderStandings(tuple(range(len(players))), players))
    ladder, rules = before.ladder, after.terms.ladder if after.terms else None
    if ladder is None or rules is None:
        return after
    match event:
        case Entered():
            return _entered(before, after, ladder, event)
        case EntryTakenBack():
            known = replace(after, entrants=before.entrants)
            return replace(known, ladder=_without(known, ladder, before.number_of(event.account)))
        case PlayerWithdrawn():
            pairings = dict(after.pairings)
            for number in event.unfinished:
                ladder = _over(ladder, number, pairings[number], after.at)
            return replace(after, ladder=_without(after, ladder, event.player))
        case SectionPaired():
            return _forgotten(after, ladder, rules)
        case ResultsCounted():
            held = dict(after.pairings)
            reports = {number: one for number, one in after.reports.items() if number in held}
            counted = replace(after, reports=reports)
            # a match that is forgotten opens no ladder again
            opened = counted.left or not all(one.result for one in event.reports)
            counted = replace(counted, phase=Phase.RUNNING if opened else before.phase)
            return _settled(before, counted, ladder, [one.pairing for one in event.reports])
        case MatchesAdjudicated():
            return _settled(before, after, ladder, [one.pairing for one in event.results])
        case SilentDropped():
            return replace(after, ladder=_dropped(ladder, rules, event.players, after.at))
        case LadderEnded():
            return replace(after, ladder=replace(ladder, closed=True))
        case _:
            return after


def _entered(
    before: TournamentState, after: TournamentState, ladder: LadderStandings, event: Entered
) -> TournamentState:
    """Put a player at the bottom; one who was there before has the same number."""
    known = before.number_of(event.account)
    if known is None:
        number, players = len(before.entrants), (*ladder.players, LadderPlayer(seen=after.at))
    else:
        number, players = known, _seen(ladder.players, [known], after.at)
        after = replace(after, entrants=before.entrants)
    return replace(
        after, ladder=replace(ladder, order=(*ladder.order, number), players=tuple(players))
    )


def _without(
    state: TournamentState, ladder: LadderStandings, player: int | None
) -> LadderStandings:
    return _placed(ladder, [one for one in ladder.order if one != player], state.at)


def _placed(ladder: LadderStandings, order: Sequence[int], at: int) -> LadderStandings:
    """Return a ladder in a new order."""
    old = {player: place for place, player in enumerate(ladder.order)}
    players = list(ladder.players)
    for place, player in enumerate(order):
        if up := old[player] - place:
            players[player] = replace(players[player], change=up, changed=at)
    return replace(ladder, order=tuple(order), players=tuple(players))


def _seen(
    players: Sequence[LadderPlayer], seen: Iterable[int], at: int
) -> tuple[LadderPlayer, ...]:
    found = list(players)
    for player in seen:
        found[player] = replace(found[player], seen=at)
    return tuple(found)


def _over(ladder: LadderStandings, number: int, one: Pairing, at: int) -> LadderStandings:
    """Return a ladder after a match is over for the first time."""
    players = _seen(ladder.players, (one.first, one.second), at)
    return replace(ladder, ended=ladder.ended | {number: at}, players=players)


def _settled(
    before: TournamentState, after: TournamentState, ladder: LadderStandings, numbers: Iterable[int]
) -> TournamentState:
    """Return a ladder after new results of some pairings, in their order."""
    assert after.terms is not None
    assert after.terms.ladder is not None
    pairings = dict(after.pairings)
    for number in dict.fromkeys(numbers):
        one = pairings.get(number)
        if one is None:
            continue
        result = after.result_of(number)
        ladder = _recorded(ladder, one, before.result_of(number), -1)
        ladder = _recorded(ladder, one, result, 1)
        if result and number not in ladder.ended:
            ladder = _over(ladder, number, one, after.at)
            if result in _LOST:
                insertion = after.terms.ladder.insertion
                order = after_win(ladder.order, one.second, one.first, insertion=insertion)
                ladder = _placed(ladder, order, after.at)
    return replace(after, ladder=ladder)


def _recorded(ladder: LadderStandings, one: Pairing, result: str, by: int) -> LadderStandings:
    """Return a ladder with a result in the records of both players, or taken out of them."""
    if not result:
        return ladder
    players = list(ladder.players)
    for player, won, lost in ((one.first, _WON, _LOST), (one.second, _LOST, _WON)):
        had = players[player]
        if result in won:
            players[player] = replace(had, won=had.won + by)
        elif result in lost or result == PairResult.BOTH_FORFEITED:
            players[player] = replace(had, lost=had.lost + by)
        else:
            players[player] = replace(had, drawn=had.drawn + by)
    return replace(ladder, players=tuple(players))


def _dropped(
    ladder: LadderStandings, rules: LadderTerms, silent: Sequence[int], at: int
) -> LadderStandings:
    seen = dict.fromkeys(ladder.order, at) | dict.fromkeys(silent, at - rules.silence * DAY)
    new = _placed(ladder, after_silence(ladder.order, seen, rules, at), at)
    return replace(new, players=_seen(new.players, silent, at))


def _forgotten(
    state: TournamentState, ladder: LadderStandings, rules: LadderTerms
) -> TournamentState:
    """Return a ladder without the matches that were over long ago; one that was adjudicated has to end first."""
    before = state.at - max(rules.rest, LEAST_KEPT) * DAY
    old = {
        number
        for number, at in ladder.ended.items()
        if at <= before and number in state.reports and state.reports[number].result
    }
    if not old:
        return state
    return replace(
        state,
        sections=tuple(one for one in state.sections if one.first not in old),
        reports={number: one for number, one in state.reports.items() if number not in old},
        adjudicated={number: one for number, one in state.adjudicated.items() if number not in old},
        unfinished=tuple(number for number in state.unfinished if number not in old),
        ladder=replace(
            ladder, ended={number: at for number, at in ladder.ended.items() if number not in old}
        ),
    )
