"""Round robins in sections: their pairings, and the check of recorded ones."""

from collections import Counter
from collections.abc import Sequence

from domain.errors import Code, Refusal
from domain.tournament.events import SectionPaired
from domain.tournament.schedule import round_robin
from domain.tournament.sections import split_sections
from domain.tournament.sentences import SAY
from domain.tournament.state import Pairing
from domain.tournament.terms import TournamentTerms


def paired_sections(players: int, terms: TournamentTerms) -> tuple[SectionPaired, ...]:
    """Return the sections of so many players, the best first, each with all its pairings."""
    return tuple(
        _paired(section, terms.cycles) for section in split_sections(players, terms.section)
    )


def _paired(section: Sequence[int], cycles: int) -> SectionPaired:
    rounds = round_robin(len(section), double=cycles > 1)
    pairings = tuple(
        Pairing(number, section[first], section[second])
        for number, matches in enumerate(rounds, 1)
        for first, second in matches
    )
    return SectionPaired(players=tuple(section), pairings=pairings)


def check_sections(recorded: Sequence[SectionPaired], players: int, terms: TournamentTerms) -> None:
    """Refuse recorded sections that are no round robins of all players.

    It is not asked whether `paired_sections` would give them, because a later version may pair otherwise.
    """
    placed = [player for section in recorded for player in section.players]
    fits = sorted(placed) == list(range(players))
    if not fits or not all(_is_round_robin(section, terms.cycles) for section in recorded):
        raise Refusal(Code.BAD_REQUEST, SAY("pairing"))


def _is_round_robin(section: SectionPaired, cycles: int) -> bool:
    """Return whether each pair meets as often as it should with sides exchanged, and nobody twice in a round."""
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
