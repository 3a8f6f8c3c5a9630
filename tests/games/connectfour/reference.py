"""Four in a Row once more: slow, by a string for each column and coordinates."""

STEPS = [(0, 1), (1, -1), (1, 0), (1, 1)]
START = [""] * 7


def letters(columns):
    """Return the letters by their squares."""
    return {
        f"{'abcdefg'[column]}{row + 1}": letter
        for column, discs in enumerate(columns)
        for row, letter in enumerate(discs)
    }


def legal(columns):
    """Return the squares in which a disc can land."""
    return [
        f"{'abcdefg'[column]}{len(discs) + 1}"
        for column, discs in enumerate(columns)
        if len(discs) < 6
    ]


def play(columns, move, letter):
    """Return the columns after a disc."""
    return [discs + letter * ("abcdefg"[column] == move[0]) for column, discs in enumerate(columns)]


def at(columns, column, row):
    """Return the letter there; empty where there is none."""
    inside = 0 <= column < 7 and 0 <= row < len(columns[column])
    return columns[column][row] if inside else ""


def winner(columns):
    """Return the letter of four in a row; empty if there are none."""
    for column in range(7):
        for row in range(6):
            for across, up in STEPS:
                four = [at(columns, column + n * across, row + n * up) for n in range(4)]
                if four[0] and len(set(four)) == 1:
                    return four[0]
    return ""
