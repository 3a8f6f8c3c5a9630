"""Breakthrough once more: slow, by a dictionary of letters and coordinates."""

COLUMNS = "abcdefgh"


def start(size):
    """Return the letters of the first position."""
    rows = {1: "o", 2: "o", size - 1: "x", size: "x"}
    return {f"{column}{row}": letter for column in COLUMNS[:size] for row, letter in rows.items()}


def legal(board, size, letter):
    """Return the moves of a player, sorted."""
    found = []
    for name in (name for name, there in board.items() if there == letter):
        column, row = COLUMNS.index(name[0]), int(name[1:]) + (1 if letter == "o" else -1)
        for across in (-1, 0, 1):
            if 0 <= column + across < size and 1 <= row <= size:
                end = f"{COLUMNS[column + across]}{row}"
                if end not in board or (across and board[end] != letter):
                    found.append(f"{name}-{end}")
    return sorted(found)


def play(board, move):
    """Return the letters after a move."""
    begin, end = move.split("-")
    after = board | {end: board[begin]}
    del after[begin]
    return after


def winner(board, size):
    """Return the letter of the player who has won; None while the match goes on."""
    for letter, other, row in (("o", "x", size), ("x", "o", 1)):
        if other not in board.values() or letter in [
            board.get(f"{column}{row}") for column in COLUMNS
        ]:
            return letter
    return None
