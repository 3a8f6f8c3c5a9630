"""The bracket of a knockout, as its page shows it."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import msgspec

from domain.tournament.bracket import PlayedTie, rounds_of
from domain.tournament.standings import SectionTable, TableCell
from infra.languages.wording import Wording
from services.app.tournaments import TournamentView
from services.words.tournaments import points_text, round_name


class TieSide(msgspec.Struct, frozen=True):
    """A player in a tie."""

    player: int
    """The number in the tournament."""
    score: str
    """The points made in the tie; empty without a match."""
    through: bool
    """Whether the player goes on, or has won the final."""


class BracketTie(msgspec.Struct, frozen=True):
    """A tie of a round."""

    sides: tuple[TieSide, ...]
    """One for a bye."""
    matches: tuple[TableCell, ...]
    """Its matches in their order, as the first of the two sees them."""
    for_third: bool
    """Whether it is about the third place."""


class BracketRound(msgspec.Struct, frozen=True):
    """A round of a bracket."""

    name: str
    ties: tuple[BracketTie, ...]
    """In order of the bracket."""


_POINTS = {"1": Fraction(1), "+": Fraction(1), "½": Fraction(1, 2)}


def shown_rounds(
    view: TournamentView, table: SectionTable, words: Wording
) -> Iterator[BracketRound]:
    """Yield the rounds of a knockout."""
    cells = {(line.player, cell.pairing): cell for line in table.lines for cell in line.cells}
    for number, ties in enumerate(rounds_of(view.state, view.terms), 1):
        main = sum(not one.for_third for one in ties)
        name = round_name(main, number, words)
        yield BracketRound(name, tuple(_tie(one, cells.__getitem__, words) for one in ties))


def _tie(
    played: PlayedTie, cell_of: Callable[[tuple[int, int]], TableCell], words: Wording
) -> BracketTie:
    players = [player for player in played.tie if player is not None]
    sides = [
        TieSide(
            player,
            _score([cell_of((player, one)) for one in played.pairings], words),
            player == played.winner,
        )
        for player in players
    ]
    matches = [cell_of((players[0], one)) for one in played.pairings]
    return BracketTie(tuple(sides), tuple(matches), played.for_third)


def _score(cells: Sequence[TableCell], words: Wording) -> str:
    """Return how many matches of a tie a player has won, a draw as a half, whatever points they give."""
    made = sum((_POINTS.get(cell.half, Fraction(0)) for cell in cells), Fraction(0))
    return points_text(made, words) if cells else ""
