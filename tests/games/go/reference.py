"""Go once more: slow, by a dictionary of letters and coordinates."""

COLUMNS = "abcdefghjklmn"


def beside(name, size):
    """Return the names of the points beside one."""
    column, row = COLUMNS.index(name[0]), int(name[1:]) - 1
    for across, down in ((0, 1), (0, -1), (1, 0), (-1, 0)):
        if 0 <= column + across < size and 0 <= row + down < size:
            yield f"{COLUMNS[column + across]}{row + down + 1}"


def region(board, name, size):
    """Return the points that are connected with one and have the same on them, and those around."""
    same, waiting, around = {name}, [name], set()
    while waiting:
        for near in beside(waiting.pop(), size):
            if board.get(near) != board.get(name):
                around.add(near)
            elif near not in same:
                same.add(near)
                waiting.append(near)
    return same, around


def placed(board, letter, name, size):
    """Return the board after a stone was placed; None if it would have no liberty."""
    after = board | {name: letter}
    for near in beside(name, size):
        if after.get(near) not in (None, letter):
            chain, around = region(after, near, size)
            if all(point in after for point in around):
                after = {point: there for point, there in after.items() if point not in chain}
    _, around = region(after, name, size)
    return None if all(point in after for point in around) else after


def legal(board, letter, size, earlier):
    """Return where a stone may be placed, if these boards were there before."""
    everywhere = [f"{column}{row + 1}" for row in range(size) for column in COLUMNS[:size]]
    found = []
    for name in everywhere:
        if name not in board:
            after = placed(board, letter, name, size)
            if after is not None and after not in earlier:
                found.append(name)
    return found


def points(board, size):
    """Return the points of Black and of White."""
    found = {"x": 0, "o": 0}
    for row in range(size):
        for column in COLUMNS[:size]:
            name = f"{column}{row + 1}"
            if name in board:
                found[board[name]] += 1
            else:
                _, around = region(board, name, size)
                owners = {board[point] for point in around}
                if len(owners) == 1:
                    found[owners.pop()] += 1
    return found["x"], found["o"]
