"""Tic-tac-toe."""

from domain.rules import Game
from matchpost_tictactoe import drawing, form, game

GAME = Game((game.TicTacToe(),), drawing.draw, drawing.paint, __name__, form.OPTIONS_FORM)
