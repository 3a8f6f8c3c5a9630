"""What is known of a game without asking OpenSpiel: its names, its pieces, its notation, and how it is drawn."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from domain.game.protocol import STONE_PROMPT
from domain.sentences import Text
from matchpost_openspiel.board import Board, Pieces
from matchpost_openspiel.notation import Notation


@dataclass(frozen=True, eq=False)
class Spiel:
    """A game of OpenSpiel."""

    name: str
    """Its name in OpenSpiel."""
    title: str
    sides: tuple[str, str]
    board: Board
    pieces: Pieces
    notation: Notation
    example: str
    """A move, for refusals."""
    longest: int
    """OpenSpiel's limit: no match has more moves."""
    wide: bool = False
    """Whether there are more than 256 actions."""
    begins: int = 0
    """Which of OpenSpiel's players moves first."""
    prompt: Text = STONE_PROMPT
    """What pages ask for."""
    asks: tuple[tuple[str, str], ...] = ()
    """What they ask for instead if a text of OpenSpiel's, of the first legal action or of the board, has these words."""
    parameters: Mapping[str, int | bool | str] = field(default_factory=dict)
    """OpenSpiel's, where its own are not those that people play by."""

    @property
    def key(self) -> str:
        """The key on a matchpost server."""
        return "os" + self.name.replace("_", "")
