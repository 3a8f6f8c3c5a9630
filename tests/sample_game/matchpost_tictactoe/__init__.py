"""Tic-tac-toe."""

from typing import Final

from domain.rules import Game
from matchpost_tictactoe.drawing import draw_tictactoe, paint_tictactoe
from matchpost_tictactoe.form import OPTIONS_FORM
from matchpost_tictactoe.game import TicTacToe

GAME: Final = Game((TicTacToe(),), draw_tictactoe, paint_tictactoe, __name__, OPTIONS_FORM)
