"""Amazons once more: slow, by a dictionary of letters and coordinates."""

STEPS = [(across, up) for across in (-1, 0, 1) for up in (-1, 0, 1) if across or up]
STARTS = {
    10: ("a4 d1 g1 j4", "a7 d10 g10 j7"),
    8: ("a3 c1 f1 h3", "a6 c8 f8 h6"),
    6: ("a2 b1 e1 f2", "a5 b6 e6 f5"),
    7: ("a2 b1 f1 g2", "a6 b7 f7 g6"),
}


def start(size):
    white, black = STARTS[size]
    return dict.fromkeys(white.split(), "o") | dict.fromkeys(black.split(), "x")


def name_of(column, row):
    return f"{'abcdefghij'[column]}{row + 1}"


def queen(board, size, name):
    """Return the squares to which a queen can go."""
    found = []
    for across, up in STEPS:
        column, row = "abcdefghij".index(name[0]) + across, int(name[1:]) - 1 + up
        while 0 <= column < size and 0 <= row < size and name_of(column, row) not in board:
            found.append(name_of(column, row))
            column, row = column + across, row + up
    return found


def legal(board, size, letter):
    """Return the moves of a player as they are written."""
    found = set()
    for start_ in [name for name, there in board.items() if there == letter]:
        for end in queen(board, size, start_):
            moved = {name: there for name, there in board.items() if name != start_} | {end: letter}
            found |= {f"{start_}-{end}/{arrow}" for arrow in queen(moved, size, end)}
    return found


def after(board, move):
    """Return the board after a move."""
    way, arrow = move.split("/")
    begin, end = way.split("-")
    rest = {name: there for name, there in board.items() if name != begin}
    return rest | {end: board[begin], arrow: "#"}
