"""Tic-tac-toe."""

from domain.rules import GamePackage
from matchpost_tictactoe import drawing, form, rules

GAME = GamePackage((rules.TicTacToe(),), drawing.draw, drawing.paint, __name__, form.OPTIONS_FORM)
