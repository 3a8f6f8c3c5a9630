"""Mū tōrere once more: slow, by a list of nine letters and a list of lines."""

CIRCLE = [1, 2, 3, 4, 5, 6, 7, 8]
LINES = [{0, kewai} for kewai in CIRCLE] + [{CIRCLE[at - 1], CIRCLE[at]} for at in range(8)]
START = list("*ooooxxxx")


def neighbours(kewai):
    return [other for other in CIRCLE if {kewai, other} in LINES]


def legal(board, letter):
    """Return the moves of a player; `board` lists what stands on the places 0 to 8."""
    moves = []
    for start in range(9):
        for end in range(9):
            if board[start] != letter or board[end] != "*" or {start, end} not in LINES:
                continue
            beside = [board[other] for other in neighbours(start)] if end == 0 else []
            if end != 0 or beside.count(letter) < 2:
                moves.append(f"{start}-{end}")
    return moves


def play(board, text):
    start, end = int(text[0]), int(text[2])
    after = list(board)
    after[start], after[end] = board[end], board[start]
    return after
