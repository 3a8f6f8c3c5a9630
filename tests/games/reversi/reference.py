"""Reversi once more: slow, by a dictionary of letters and coordinates."""

COLUMNS = "abcdefgh"
START = {"d4": "o", "e5": "o", "e4": "x", "d5": "x"}
STEPS = [(across, down) for across in (-1, 0, 1) for down in (-1, 0, 1) if across or down]
EVERYWHERE = [f"{column}{row}" for row in range(1, 9) for column in COLUMNS]


def way(name, across, down):
    """Return the names of the squares from one to the edge."""
    column, row = COLUMNS.index(name[0]) + across, int(name[1:]) + down
    found = []
    while 0 <= column < 8 and 1 <= row <= 8:
        found.append(f"{COLUMNS[column]}{row}")
        column, row = column + across, row + down
    return found


def turned(board, letter, name):
    """Return the discs that one on a square turns over."""
    found = set()
    if name in board:
        return found
    for step in STEPS:
        squares = way(name, *step)
        letters = [board.get(square) for square in squares]
        if letter in letters:
            between = letters[: letters.index(letter)]
            if None not in between:
                found.update(squares[: len(between)])
    return found


def legal(board, letter):
    return [name for name in EVERYWHERE if turned(board, letter, name)]


def play(board, letter, name):
    return board | dict.fromkeys(turned(board, letter, name), letter) | {name: letter}


def next_letter(board, letter):
    """Return who moves after a move of `letter`; None at the end."""
    other = "xo"["ox".index(letter)]
    if legal(board, other):
        return other
    return letter if legal(board, letter) else None
