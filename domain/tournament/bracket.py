"""Knockout tournaments: the rounds of the bracket as they were played, what follows them, and the places."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from domain.errors import Code, Refusal
from domain.tournament.events import SectionPaired
from domain.tournament.form import FormRules, Sections, all_rounds
from domain.tournament.knockout import (
    Tie,
    first_round,
    next_round,
    third_place,
    tie_matches,
    tie_score,
)
from domain.tournament.results import PairResult, ScheduledMatch
from domain.tournament.sentences import SAY
from domain.tournament.standings import SectionTable, TableLine, cells_of, points_of, tally_of
from domain.tournament.state import FinalPlace, PairedSection, Pairing, TournamentState
from domain.tournament.table import PossiblePlaces
from domain.tournament.terms import ONE_POINT, TournamentTerms

MOST_TIE_MATCHES: Final = 6
"""Matches of a tie, and more matches of a drawn one."""


class PlayedTie(msgspec.Struct, frozen=True):
    """A tie of a round, as it stands."""

    tie: Tie
    pairings: tuple[int, ...]
    """The numbers of its matches; none for a bye, and if one of the players had withdrawn before."""
    winner: int | None
    """The player who goes on; None while that is open."""
    drawn: bool = False
    """Whether it gets more matches."""
    for_third: bool = False
    """Whether it is about the third place."""

    @property
    def loser(self) -> int | None:
        """The player who doesn't go on; None while that is open, and for a bye."""
        one, other = self.tie
        if self.winner is None:
            return None
        return other if self.winner == one else one


class Knockout(FormRules):
    """Ties of one or more matches, of which the winners go on."""

    def check(self, terms: TournamentTerms) -> None:
        """Refuse ties that can't be."""
        assert terms.knockout is not None
        extra = terms.knockout.extra
        if not 1 <= terms.cycles <= MOST_TIE_MATCHES or not 0 <= extra <= MOST_TIE_MATCHES:
            raise Refusal(Code.BAD_OPTION, SAY("tie-matches", most=MOST_TIE_MATCHES))

    def next_sections(self, state: TournamentState, terms: TournamentTerms) -> Sections | None:
        """Return more matches of drawn ties, or the next round; None after the final."""
        played = rounds_of(state, terms)
        if played and any(one.drawn for one in played[-1]):
            return (_more_matches(played[-1], state.stage, terms),)
        ties = _next_ties(played, len(state.entrants), third=_with_third(terms))
        if not ties:
            return None
        return (_round(ties, state, terms),)

    def tables(self, state: TournamentState) -> tuple[PairedSection, ...]:
        """Return one table of all rounds."""
        return (all_rounds(state),) if state.sections else ()

    def table(
        self, section: PairedSection, state: TournamentState, terms: TournamentTerms
    ) -> SectionTable:
        """Return the players by the rounds that they have reached, with the points of all their matches."""
        tally, cells = tally_of(section, state, terms), cells_of(section, state)
        lines = []
        for player, place, possible in _placed(state, terms):
            in_order = sorted(cells[player], key=lambda cell: cell.pairing)
            points = tally.in_points(player)
            lines.append(TableLine(player, place, points, (), tuple(in_order), possible))
        return SectionTable(section.players, tuple(lines))

    def places(
        self, section: PairedSection, state: TournamentState, terms: TournamentTerms
    ) -> tuple[FinalPlace, ...]:
        """Return the places, the winner of the final first."""
        tally = tally_of(section, state, terms)
        return tuple(
            FinalPlace(player, place, int(tally.in_points(player) * ONE_POINT))
            for player, place, _ in _placed(state, terms)
        )


def rounds_of(state: TournamentState, terms: TournamentTerms) -> list[list[PlayedTie]]:
    """Return the ties of all rounds that were paired, each round in order of the bracket; that for third place is last."""
    rounds: list[list[PlayedTie]] = []
    for number in range(1, state.stage + 1):
        ties = _next_ties(rounds, len(state.entrants), third=_with_third(terms))
        rounds.append([_played(tie, number, state, terms, for_third=third) for tie, third in ties])
    return rounds


def _with_third(terms: TournamentTerms) -> bool:
    return terms.knockout is not None and terms.knockout.third_place


def _next_ties(
    played: Sequence[Sequence[PlayedTie]], players: int, *, third: bool
) -> list[tuple[Tie, bool]]:
    """Return the ties of the next round, and which is about the third place; none after the final."""
    if not played:
        return [(tie, False) for tie in first_round(players)]
    last = [one for one in played[-1] if not one.for_third]
    winners = [one.winner for one in last if one.winner is not None]
    if len(last) == 1 or len(winners) < len(last):
        return []
    ties = [(tie, False) for tie in next_round(winners)]
    loose = third_place([one.tie for one in last], winners) if third and len(ties) == 1 else None
    return [*ties, (loose, True)] if loose else ties


def _played(
    tie: Tie, number: int, state: TournamentState, terms: TournamentTerms, *, for_third: bool
) -> PlayedTie:
    """Return how a tie of a round stands."""
    pairings = _pairings_of(tie, number, state)
    winner, drawn = _outcome(tie, number, list(pairings.values()), state, terms)
    return PlayedTie(tie, tuple(pairings), winner, drawn, for_third)


def _pairings_of(tie: Tie, number: int, state: TournamentState) -> dict[int, ScheduledMatch]:
    """Return the matches of a tie, by pairing."""
    found = {}
    for section in state.sections:
        if section.stage != number:
            continue
        for pairing, one in enumerate(section.pairings, section.first):
            if {one.first, one.second} == set(tie):
                result = state.result_of(pairing)
                known = PairResult(result) if result else None
                found[pairing] = ScheduledMatch(one.first, one.second, known, pairing)
    return found


def _outcome(  # noqa: PLR0911 - each reason is one
    tie: Tie,
    number: int,
    matches: Sequence[ScheduledMatch],
    state: TournamentState,
    terms: TournamentTerms,
) -> tuple[int | None, bool]:
    """Return who goes on, and whether the tie gets more matches.

    Once the next round is paired it is the one who plays there, whatever a ruling has made of a match afterwards.
    """
    one, other = tie
    if other is None:
        return one, False
    later = _later(number, state)
    if len(later & {one, other}) == 1:
        return (one if one in later else other), False
    score = tie_score(tie, matches, points_of(terms))
    if score.winner is not None:
        return score.winner, False
    left = [player for player in (one, other) if state.has_withdrawn(player)]
    if left:
        return (other if left == [one] else one), False
    if not score.drawn:
        return None, False
    extra = terms.knockout.extra if terms.knockout else 0
    if extra and len(matches) == terms.cycles:
        return None, True
    return one, False


def _later(number: int, state: TournamentState) -> frozenset[int]:
    """Return those who have gone on to the round after one, if it is paired; those who play for third place have not."""
    after = [section for section in state.sections if section.stage == number + 1]
    if not after:
        return frozenset()
    (this, *_) = (section for section in state.sections if section.stage == number)
    ties = (len(this.players) + len(this.byes)) // 2
    return frozenset(after[0].players[:ties])


def _round(
    ties: Sequence[tuple[Tie, bool]], state: TournamentState, terms: TournamentTerms
) -> SectionPaired:
    """Return a round; a tie with somebody who has withdrawn has no matches."""
    pairings: list[Pairing] = []
    for (one, other), _ in ties:
        if other is not None and not state.has_withdrawn(one) and not state.has_withdrawn(other):
            matches = tie_matches((one, other), terms.cycles)
            pairings += [Pairing(state.stage + 1, *pair) for pair in matches]
    players = tuple(player for tie, _ in ties for player in tie if player is not None)
    byes = tuple(one for (one, other), _ in ties if other is None)
    return SectionPaired(
        players=players, pairings=tuple(pairings), stage=state.stage + 1, byes=byes
    )


def _more_matches(ties: Sequence[PlayedTie], stage: int, terms: TournamentTerms) -> SectionPaired:
    """Return more matches of the drawn ties of a round, which go on with the exchange of sides."""
    assert terms.knockout is not None
    pairings: list[Pairing] = []
    players: list[int] = []
    for one in ties:
        first, second = one.tie
        if one.drawn and second is not None:
            matches = tie_matches((first, second), terms.knockout.extra, len(one.pairings))
            pairings += [Pairing(stage, *pair) for pair in matches]
            players += [first, second]
    return SectionPaired(players=tuple(players), pairings=tuple(pairings), stage=stage)


def _placed(
    state: TournamentState, terms: TournamentTerms
) -> Iterator[tuple[int, int, PossiblePlaces]]:
    """Yield the players by place, with the places that are still possible.

    Those who lost in the same round share a place, but for the third, if it is played for.
    """
    rounds = rounds_of(state, terms)
    alive = (len(rounds) + 1, 0)
    reached = dict.fromkeys(range(len(state.entrants)), alive)
    open_thirds: set[int] = set()
    for number, ties in enumerate(rounds, 1):
        for one in ties:
            if not one.for_third:
                if one.loser is not None:
                    reached[one.loser] = (number, 0)
            elif one.winner is not None:
                reached[one.winner] = (number - 1, 1)
            else:
                open_thirds.update(player for player in one.tie if player is not None)
    last = len([one for one in rounds[-1] if not one.for_third]) if rounds else 0
    # who loses a semifinal may lose the tie for third place, too
    worst = last + 1 + (last == 2 and _with_third(terms))  # noqa: PLR2004 - the semifinals
    order = sorted(reached, key=lambda player: reached[player], reverse=True)
    before = {key: sum(other > key for other in reached.values()) for key in set(reached.values())}
    champion = list(reached.values()).count(alive) == 1
    for player in order:
        place = before[reached[player]] + 1
        if reached[player] == alive and not champion:
            possible = PossiblePlaces(1, worst)
        else:
            possible = PossiblePlaces(place, place + (player in open_thirds))
        yield player, place, possible
