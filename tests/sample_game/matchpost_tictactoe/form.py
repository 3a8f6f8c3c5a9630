"""The options of tic-tac-toe in words."""

from typing import Final

from domain.game.options import OptionField, option
from matchpost_tictactoe.rules import TicTacToeOptions

OPTIONS_FORM: Final[tuple[OptionField, ...]] = (
    option(
        TicTacToeOptions,
        "misere",
        "Misere: three in a row lose",
    ),
)
