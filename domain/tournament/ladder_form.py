"""Ladders: their terms, challenges, silence, and tables.

The challenged has the first move.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import ClassVar, Final

from domain.clocks.time_control import DAY
from domain.errors import Code, Refusal
from domain.records import AccountId
from domain.sentences import Sentence
from domain.tournament.events import SectionPaired
from domain.tournament.form import FormRules, Sections
from domain.tournament.form_terms import LadderTerms
from domain.tournament.ladder import LadderMatch, why_not
from domain.tournament.results import PairResult
from domain.tournament.sentences import SAY
from domain.tournament.standings import CANCELLED, HALVES, SectionTable, TableCell, TableLine
from domain.tournament.state import (
    FinalPlace,
    LadderStandings,
    PairedSection,
    Pairing,
    Phase,
    TournamentState,
)
from domain.tournament.table import PossiblePlaces
from domain.tournament.terms import MOST_IN_ONE_TABLE, ONE_POINT, TournamentTerms

MOST_REACH: Final = 50
MOST_RUNNING: Final = 20
MOST_REST: Final = 365
LEAST_SILENCE: Final = 7
MOST_SILENCE: Final = 365
MOST_DROP: Final = 100


class LadderSection(PairedSection, frozen=True, array_like=True):
    """All players of a ladder, with the matches that it has not forgotten, whose numbers may have gaps."""

    held: tuple[int, ...] = ()
    """The numbers of its pairings."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of its pairings."""
        return self.held


class Ladder(FormRules):
    """Players challenge those above them, and take their places if they win. It goes on until its organiser ends it."""

    late_entry: ClassVar[bool] = True

    def check(self, terms: TournamentTerms) -> None:
        """Refuse a ladder that can't be."""
        rules = terms.ladder
        if rules is None or terms.days or terms.cycles > 1:
            raise Refusal(Code.BAD_OPTION, SAY("terms-of-form"))
        if terms.when_full:
            raise Refusal(Code.BAD_OPTION, SAY("ladder-when-full"))
        if not 1 <= rules.reach <= MOST_REACH or not 1 <= rules.running <= MOST_RUNNING:
            said = SAY("ladder-reach", reach=MOST_REACH, running=MOST_RUNNING)
            raise Refusal(Code.BAD_OPTION, said)
        if not 0 <= rules.rest <= MOST_REST:
            raise Refusal(Code.BAD_OPTION, SAY("ladder-rest", most=MOST_REST))
        silence = rules.silence == 0 or LEAST_SILENCE <= rules.silence <= MOST_SILENCE
        if not silence or not 0 <= rules.drop <= MOST_DROP:
            said = SAY("ladder-silence", least=LEAST_SILENCE, most=MOST_SILENCE, drop=MOST_DROP)
            raise Refusal(Code.BAD_OPTION, said)

    def next_sections(
        self,
        state: TournamentState,
        terms: TournamentTerms,  # noqa: ARG002 - of the base
    ) -> Sections | None:
        """Return nothing, because players challenge each other; None once its organiser has ended it."""
        return None if state.ladder and state.ladder.closed else ()

    def tables(self, state: TournamentState) -> tuple[PairedSection, ...]:
        """Return one table of all its players."""
        if state.ladder is None:
            return ()
        held = dict(state.pairings)
        return (LadderSection(state.ladder.order, 0, tuple(held.values()), held=tuple(held)),)

    def table(
        self, section: PairedSection, state: TournamentState, terms: TournamentTerms
    ) -> SectionTable:
        """Return the players by place, with their points in all matches and the cells of those that are kept."""
        assert state.ladder is not None
        cells: dict[int, list[TableCell]] = {player: [] for player in range(len(state.entrants))}
        for number, one in state.pairings:
            mine, theirs = _halves(number, state)
            cells[one.first].append(TableCell(number, one.second, first=True, half=mine))
            cells[one.second].append(TableCell(number, one.first, first=False, half=theirs))
        lines = []
        for place, player in enumerate(section.players, 1):
            points = Fraction(_points(player, state.ladder, terms), ONE_POINT)
            runs = state.phase is Phase.RUNNING
            possible = PossiblePlaces(1, len(section.players)) if runs else (place, place)
            lines.append(
                TableLine(
                    player, place, points, (), tuple(cells[player]), PossiblePlaces(*possible)
                )
            )
        return SectionTable(section.players, tuple(lines))

    def places(
        self, section: PairedSection, state: TournamentState, terms: TournamentTerms
    ) -> tuple[FinalPlace, ...]:
        """Return the players in their order, none of whom share a place."""
        assert state.ladder is not None
        return tuple(
            FinalPlace(player, place, _points(player, state.ladder, terms))
            for place, player in enumerate(section.players, 1)
        )


def _halves(number: int, state: TournamentState) -> tuple[str, str]:
    if number in state.unfinished:
        return CANCELLED, CANCELLED
    result = state.result_of(number)
    return HALVES[PairResult(result) if result else None]


def _points(player: int, ladder: LadderStandings, terms: TournamentTerms) -> int:
    """Return the points of a player's record, in hundredths."""
    (win, draw, loss), record = terms.points, ladder.players[player]
    return record.won * win + record.drawn * draw + record.lost * loss


def ladder_matches(state: TournamentState) -> list[LadderMatch]:
    """Return the matches of a ladder that are kept."""
    ended = state.ladder.ended if state.ladder else {}
    return [
        LadderMatch(one.second, one.first, None if state.is_open(number) else ended.get(number))
        for number, one in state.pairings
    ]


def reasons(
    state: TournamentState, rules: LadderTerms, challenger: int, others: Iterable[int], now: int
) -> dict[int, Sentence | None]:
    """Return why a player of a ladder that runs can't challenge each of the others now, by numbers; None where it can."""
    order = state.ladder.order if state.ladder else ()
    matches = ladder_matches(state)
    return {one: why_not(rules, order, matches, challenger, one, now) for one in others}


def challenge(
    player: int, actor: AccountId, state: TournamentState, rules: LadderTerms, now: int
) -> SectionPaired:
    """Return the pairing of a challenge; `against-terms` where the ladder forbids it."""
    number = state.number_of(actor)
    challenger = -1 if number is None else number
    if why := reasons(state, rules, challenger, (player,), now)[player]:
        raise Refusal(Code.AGAINST_TERMS, why)
    return SectionPaired(
        players=(challenger, player), pairings=(Pairing(1, first=player, second=challenger),)
    )


def check_open(state: TournamentState) -> None:
    """Refuse a change of a ladder that its organiser has ended: `too-late`."""
    if state.ladder is not None and state.ladder.closed:
        raise Refusal(Code.TOO_LATE, SAY("ladder-ended"))


def check_entry(account: AccountId, state: TournamentState, terms: TournamentTerms) -> None:
    """Refuse an entry to a ladder that runs. A player who has left may come back once the old matches are over."""
    assert state.ladder is not None
    number = state.number_of(account)
    if number in state.ladder.order:
        raise Refusal(Code.ALREADY_ENTERED, SAY("entered"))
    if number is not None and state.has_withdrawn(number):
        raise Refusal(Code.TOO_LATE, SAY("withdrawn"))
    if number is not None and number in _busy(state):
        raise Refusal(Code.TOO_EARLY, SAY("ladder-back"))
    newcomer = number is None
    if len(state.ladder.order) >= terms.room or (
        newcomer and len(state.entrants) >= MOST_IN_ONE_TABLE
    ):
        raise Refusal(Code.TOO_MANY, SAY("ladder-full"))


def _busy(state: TournamentState) -> frozenset[int]:
    """Return the players with a match that runs."""
    return frozenset(
        player
        for number, one in state.pairings
        if state.is_open(number)
        for player in (one.first, one.second)
    )


def _idle(state: TournamentState) -> Iterator[tuple[int, int]]:
    """Yield those who may drop for silence, from the top, and when they were seen last, ms.

    They have no match that runs. Who is first can challenge nobody, and never drops.
    """
    assert state.ladder is not None
    busy = _busy(state)
    for player in state.ladder.order[1:]:
        if player not in busy:
            yield player, state.ladder.players[player].seen


def silent_players(state: TournamentState, rules: LadderTerms, now: int) -> tuple[int, ...]:
    """Return the players of a ladder who drop for their silence, from the top."""
    if not rules.silence:
        return ()
    return tuple(player for player, seen in _idle(state) if now - seen >= rules.silence * DAY)


def silence_due(state: TournamentState, rules: LadderTerms) -> int:
    """Return when players next drop for silence: the first midnight, UTC, after that of one is too long, ms; 0 for never."""
    if not rules.silence or state.ladder is None or state.ladder.closed:
        return 0
    first = min((seen for _, seen in _idle(state)), default=None)
    return 0 if first is None else -(-(first + rules.silence * DAY) // DAY) * DAY
