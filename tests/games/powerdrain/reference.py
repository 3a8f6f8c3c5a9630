"""Powerdrain once more: slow, on a drawn-up grid of rows and columns, sharing no code."""

EVEN = [a + b for a in "2468" for b in "2468"]
ODD = [a + b for a in "13579" for b in "13579"]


def legal(shown, turn):
    """Return the legal moves of a position in its JSON form, in order."""
    if len(shown["grid"]) == 16:
        return []
    hand = shown["pool"] if "pool" in shown else shown["hands"][turn]
    return [f"{p}-{s}" for p in EVEN if p in hand for s in ODD if s not in shown["grid"]]


def play(shown, turn, text):
    """Return the JSON form after a legal move."""
    plug, section = text.split("-")
    grid = dict(sorted({**shown["grid"], section: [plug, turn]}.items()))
    after = {**shown, "grid": grid}
    if "pool" in shown:
        after["pool"] = [other for other in shown["pool"] if other != plug]
    else:
        after["hands"] = [[p for p in hand if p != plug] for hand in shown["hands"]]
    return after


def volts(plug, section):
    return sum(abs(int(a) - int(b)) for a, b in zip(plug, section, strict=True))


def drained(shown):
    """Return section -> value left, by walking the grid row by row."""
    rows = [[f"{left}{top}" for top in shown["top"]] for left in shown["left"]]
    found = {}
    for y, row in enumerate(rows):
        for x, section in enumerate(row):
            if section not in shown["grid"]:
                continue
            plug, seat = shown["grid"][section]
            left = volts(plug, section)
            for over, down in ((0, 1), (0, -1), (1, 0), (-1, 0)):
                if 0 <= x + over < 5 and 0 <= y + down < 5:
                    other = shown["grid"].get(rows[y + down][x + over])
                    if other and other[1] != seat:
                        left -= volts(other[0], rows[y + down][x + over])
            found[section] = max(left, 0)
    return found


def result(shown):
    """Return the winners once all plugs are in."""
    active = [[], []]
    for section, left in drained(shown).items():
        if left:
            active[shown["grid"][section][1]].append(left)
    scores = [(len(own), sum(own)) for own in active]
    return tuple(seat for seat in (0, 1) if scores[seat] == max(scores))
