"""That's My Line once more: slow, by sets of names, on the lines of the other reference."""

from tests.games.pow2.reference import BOARD_LINES, NAMES, order


def places(board, letter, limit):
    """Return where a player may place; `board` maps names to letters."""
    if limit and sum(stone == letter for stone in board.values()) >= limit:
        return []
    return [
        name
        for name in NAMES
        if name not in board
        and all(
            board.get(other, letter) == letter
            for line in BOARD_LINES
            if name in line
            for other in line
        )
    ]


class Game:
    """A match that keeps its whole story, and looks back to see who placed last."""

    def __init__(self, limit=0):
        self.limit = limit
        self.placed = []  # pairs of a letter and a name

    @property
    def board(self):
        return {name: letter for letter, name in self.placed}

    @property
    def turn(self):
        """The letter of who is to place; None after the end."""
        last = self.placed[-1][0] if self.placed else "x"
        other = "x" if last == "o" else "o"
        for letter in (other, last):
            if places(self.board, letter, self.limit):
                return letter
        return None

    @property
    def legal(self):
        return order(places(self.board, self.turn, self.limit)) if self.turn else []

    def place(self, name):
        self.placed.append((self.turn, name))

    @property
    def winner(self):
        letters = [letter for letter, _ in self.placed]
        light, dark = letters.count("o"), letters.count("x")
        if light == dark:
            return letters[-1]
        return "o" if light > dark else "x"
