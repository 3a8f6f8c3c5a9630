"""David and Goliath once more: slow, by sets of names, on the lines of the other reference."""

from tests.games.pow2.reference import BOARD_LINES, NEAR, OUTER_LINES

EDGE = {name for line in OUTER_LINES for name in line}
FIGURES = "DG"
STONES = "ox"
MOVES = (7, 2)
THROWS = (2, 7)


def where(board, letter):
    return [name for name, there in board.items() if there == letter]


def ways(taken, start, farthest):
    """Yield what is reached along lines over intersections that are not taken."""
    for line in BOARD_LINES:
        if start in line:
            here = line.index(start)
            for way in (line[here + 1 :], line[:here][::-1]):
                for name in way[:farthest]:
                    if name in taken:
                        break
                    yield name


def legal(board, seat):
    """Return the legal moves as canonical texts; `board` maps names to letters."""
    [origin] = where(board, FIGURES[seat])
    stones = where(board, STONES[seat])
    found = set()
    for place in ways(board, origin, MOVES[seat]):
        moved = f"{origin}-{place}"
        taken = (set(board) - {origin}) | {place}
        if len(stones) < 15:
            found |= {f"{moved}:{to}" for to in ways(taken, place, THROWS[seat])}
        elif set(stones) <= EDGE:
            found.add(moved)
        else:
            for stone in set(stones) - EDGE:
                thrown = set(ways(taken - {stone}, place, THROWS[seat])) - {stone}
                found |= {f"{moved}:{stone}>{to}" for to in thrown}
    return found


def play(board, seat, text):
    """Return the board after a legal move."""
    movement, _, throw = text.partition(":")
    origin, place = movement.split("-")
    after = dict(board)
    after[place] = after.pop(origin)
    stone, _, target = throw.rpartition(">")
    if stone:
        del after[stone]
    if target:
        after[target] = STONES[seat]
    return after


def region(board, seat):
    """Return the empty intersections joined to a figure, and whether the other figure is."""
    [start] = where(board, FIGURES[seat])
    found, waiting = {start}, [start]
    while waiting:
        for name in NEAR[waiting.pop()]:
            if board.get(name) not in ("o", "x") and name not in found:
                found.add(name)
                waiting.append(name)
    return found - set(board), where(board, FIGURES[1 - seat])[0] in found


def counted(board):
    """Return the seat that wins a count, None where there is none."""
    (david, joined), (goliath, _) = region(board, 0), region(board, 1)
    if joined or len(david) == len(goliath):
        return None
    return int(len(goliath) > len(david))


def winner(board, seat, *, count):
    """Return the winning seat when it is a seat's turn, None while the match goes on."""
    if count and counted(board) is not None:
        return counted(board)
    return None if legal(board, seat) else 1 - seat
