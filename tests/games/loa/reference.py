"""Lines of Action once more: slow, by a dictionary of letters and coordinates."""

COLUMNS = "abcdefgh"
STEPS = [(across, up) for across in (-1, 0, 1) for up in (-1, 0, 1) if across or up]
START = {f"{column}{row}": "x" for column in "bcdefg" for row in (1, 8)} | {
    f"{column}{row}": "o" for column in "ah" for row in range(2, 8)
}


def way(name, across, up):
    """Return the names of the squares from one to the edge."""
    column, row = COLUMNS.index(name[0]) + across, int(name[1]) + up
    found = []
    while 0 <= column < 8 and 1 <= row <= 8:
        found.append(f"{COLUMNS[column]}{row}")
        column, row = column + across, row + up
    return found


def legal(board, letter):
    """Return the moves of a player, sorted."""
    found = []
    for name in (name for name, there in board.items() if there == letter):
        for across, up in STEPS:
            ahead, behind = way(name, across, up), way(name, -across, -up)
            steps = 1 + sum(square in board for square in ahead + behind)
            if steps <= len(ahead):
                *between, end = ahead[:steps]
                over = {board.get(square) for square in between}
                if over <= {None, letter} and board.get(end) != letter:
                    found.append(f"{name}-{end}")
    return sorted(found)


def play(board, move):
    """Return the letters after a move."""
    begin, end = move.split("-")
    after = board | {end: board[begin]}
    del after[begin]
    return after


def connected(board, letter):
    """Return whether all pieces of a player are connected."""
    own = {name for name, there in board.items() if there == letter}
    waiting = [min(own)]
    seen = set(waiting)
    while waiting:
        name = waiting.pop()
        found = {square for step in STEPS for square in way(name, *step)[:1]} & own - seen
        seen |= found
        waiting += found
    return seen == own
