"""Round robins in sections and stages: their pairings, and the check of recorded ones."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from domain.errors import Code, Refusal
from domain.tournament.events import SectionPaired
from domain.tournament.form import FormRules, Sections
from domain.tournament.schedule import round_robin
from domain.tournament.sections import qualifiers, split_sections
from domain.tournament.sentences import SAY
from domain.tournament.standings import rows_of
from domain.tournament.state import Pairing, TournamentState
from domain.tournament.table import TableRow
from domain.tournament.terms import (
    MOST_CYCLES,
    SECTION_SIZES,
    TournamentTerms,
)

MOST_STAGES: Final = 3


class RoundRobin(FormRules):
    """Everybody plays everybody in their section; the best of each may go on to the next stage."""

    def check(self, terms: TournamentTerms) -> None:
        """Refuse sections that can't be."""
        check_section(terms.section, terms.cycles)
        if len(terms.stages) >= MOST_STAGES:
            raise Refusal(Code.BAD_OPTION, SAY("stages", most=MOST_STAGES))
        for stage in terms.stages:
            check_section(stage.section, stage.cycles)
            if not 1 <= stage.first <= stage.total or stage.total < min(SECTION_SIZES):
                raise Refusal(Code.BAD_OPTION, SAY("qualifiers", least=min(SECTION_SIZES)))

    def next_sections(self, state: TournamentState, terms: TournamentTerms) -> Sections | None:
        """Return the sections of the first stage, or of the next one; None after the last.

        Nobody goes on who has withdrawn. There is no next stage for fewer than three.
        """
        going = _going_on(state, terms)
        if going is None:
            return None
        size, cycles = _stage(state.stage + 1, terms)
        return tuple(
            paired_section([going[one] for one in section], cycles, state.stage + 1)
            for section in split_sections(len(going), size)
        )

    def check_recorded(
        self, recorded: Sections, state: TournamentState, terms: TournamentTerms
    ) -> None:
        """Refuse sections that are no round robins of all players who go on."""
        going = _going_on(state, terms) or []
        placed = [player for section in recorded for player in section.players]
        _, cycles = _stage(state.stage + 1, terms)
        fits = sorted(placed) == sorted(going)
        if not fits or not all(
            is_round_robin(section, cycles, state.stage + 1) for section in recorded
        ):
            raise Refusal(Code.BAD_REQUEST, SAY("pairing"))


def check_section(size: int, cycles: int) -> None:
    """Refuse a section that can't be."""
    if size not in SECTION_SIZES:
        least, most = min(SECTION_SIZES), max(SECTION_SIZES)
        raise Refusal(Code.BAD_OPTION, SAY("section", least=least, most=most))
    if cycles not in range(1, MOST_CYCLES + 1):
        raise Refusal(Code.BAD_OPTION, SAY("cycles", most=MOST_CYCLES))


def _stage(number: int, terms: TournamentTerms) -> tuple[int, int]:
    """Return the size of the sections of a stage, from 1, and how often each pair plays there."""
    if number == 1:
        return terms.section, terms.cycles
    return terms.stages[number - 2].section, terms.stages[number - 2].cycles


def _going_on(state: TournamentState, terms: TournamentTerms) -> list[int] | None:
    """Return the players of the next stage, the best first; None if there is none."""
    if not state.sections:
        return list(range(len(state.entrants)))
    if state.stage > len(terms.stages):
        return None
    stage = terms.stages[state.stage - 1]
    tables = [
        [*_staying(rows_of(section, state, terms), state)]
        for section in state.sections
        if section.stage == state.stage
    ]
    through, others = qualifiers(tables, stage.first, stage.total)
    going = [row.player for row in (*through, *others)]
    if len(going) < min(SECTION_SIZES):
        return None
    return sorted(going) if stage.by_rating else going


def _staying(rows: Sequence[TableRow], state: TournamentState) -> Iterator[TableRow]:
    """Yield the rows of those who have not withdrawn, with the places that they have among themselves."""
    before = 0
    for row in rows:
        if state.has_withdrawn(row.player):
            before += 1
        else:
            yield row._replace(place=max(1, row.place - before))


def paired_section(section: Sequence[int], cycles: int, stage: int) -> SectionPaired:
    """Return a section with all its pairings."""
    rounds = round_robin(len(section), double=cycles > 1)
    pairings = tuple(
        Pairing(number, section[first], section[second])
        for number, matches in enumerate(rounds, 1)
        for first, second in matches
    )
    return SectionPaired(players=tuple(section), pairings=pairings, stage=stage)


def is_round_robin(section: SectionPaired, cycles: int, stage: int) -> bool:
    """Return whether each pair meets as often as it should with sides exchanged, and nobody twice in a round."""
    if section.stage != stage or section.byes:
        return False
    pairs = Counter(frozenset((one.first, one.second)) for one in section.pairings)
    wanted = {
        frozenset((one, other)): cycles
        for place, one in enumerate(section.players)
        for other in section.players[place + 1 :]
    }
    first_moves = Counter(one.first for one in section.pairings)
    seconds = Counter(one.second for one in section.pairings)
    busy = Counter(
        (one.round, player) for one in section.pairings for player in (one.first, one.second)
    )
    even = all(abs(first_moves[one] - seconds[one]) <= 1 for one in section.players)
    return pairs == wanted and even and max(busy.values(), default=1) == 1
