"""Hex once more: slow, by a dictionary of letters and coordinates."""

STEPS = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1)]


def name_of(column, row):
    return f"{'abcdefghijklmn'[column]}{row + 1}"


def coordinates(name):
    return "abcdefghijklmn".index(name[0]), int(name[1:]) - 1


def swapped(board):
    """Return the board after White has taken over Black's only stone."""
    ((name, _),) = board.items()
    column, row = coordinates(name)
    return {name_of(row, column): "o"}


def winner(board, size):
    """Return the letter of the player whose stones connect that player's sides; None if none do."""
    for letter, side in (("x", 1), ("o", 0)):
        own = {coordinates(name) for name, there in board.items() if there == letter}
        waiting = [at for at in own if at[side] == 0]
        seen = set(waiting)
        while waiting:
            column, row = waiting.pop()
            found = {(column + across, row + down) for across, down in STEPS} & own - seen
            seen |= found
            waiting += found
        if any(at[side] == size - 1 for at in seen):
            return letter
    return None


def legal(board, size, *, swap):
    """Return the moves of a match that goes on; `swap` is whether the only stone may be taken over."""
    places = [name_of(column, row) for row in range(size) for column in range(size)]
    return [name for name in places if name not in board] + ["swap"] * swap
