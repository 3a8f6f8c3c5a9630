"""Halves once more: slow, by dicts of coordinates and brute force, sharing no code."""

STEPS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1))
FIRST = ((0, 0), (0, 1), (1, 0))


def beside(at):
    return [(at[0] + q, at[1] + r) for q, r in STEPS]


def reading(cells):
    return sorted(cells, key=lambda at: (2 * at[1] + at[0], at[0]))


class Game:
    """A game as it goes on; `how` maps options to values, flags to True."""

    def __init__(self, players, how):
        self.players = players
        self.how = how
        self.each = how.get("tiles_each", 12)
        self.colours = list(range(players))
        self.tiles = {FIRST[seat]: seat for seat in range(players)}
        self.out = set()
        self.phase = "wax"
        self.turn = 0
        self.numbers = {}

    # --- placing

    def cells(self):
        """Return the cells where the player to move can place a tile."""
        touching = {at for tile in self.tiles for at in beside(tile)} - set(self.tiles)

        def qualifies(at, must_touch, touch_any):
            near = [self.tiles[other] for other in beside(at) if other in self.tiles]
            hostile = any(colour != self.turn for colour in near)
            return len(near) >= must_touch and (touch_any or hostile)

        must_touch, touch_any = self.how.get("must_touch", 1), "touch_any" in self.how
        for needed, free in ((must_touch, touch_any), (1, touch_any), (1, True)):
            if found := [at for at in touching if qualifies(at, needed, free)]:
                return reading(found)
        raise AssertionError("a tile can always touch one")

    def place(self, at):
        self.tiles[at] = self.turn
        self.pass_placing(self.turn)

    def pass_placing(self, last):
        colours = list(self.tiles.values())
        for steps in range(1, self.players + 1):
            seat = (last + steps) % self.players
            if seat not in self.out and colours.count(seat) < self.each:
                self.turn = seat
                return
        self.numbers = {at: number for number, at in enumerate(reading(self.tiles), 1)}
        if "no_contract" in self.how or 0 in self.out or 1 in self.out:
            self.begin()
        else:
            self.phase, self.turn = "contract", 0

    def begin(self):
        self.phase = "wane"
        self.pass_removing(-1)

    # --- removing

    def own(self, seat):
        return [at for at, colour in self.tiles.items() if colour == self.colours[seat]]

    def can_go(self, at):
        free = sum(other not in self.tiles for other in beside(at))
        return free >= self.how.get("free_edges", 0)

    def inside(self):
        return [seat for seat in range(self.players) if seat not in self.out]

    def result(self):
        """Return reason and winners once the match is over."""
        left = {seat: len(self.own(seat)) for seat in self.inside()}
        empty = [seat for seat in left if not left[seat]]
        if self.phase != "wane":
            return None
        if "invert_win" in self.how:
            if len(left) - len(empty) == 1:
                return "last-tiles", [seat for seat in left if left[seat]]
            if len(left) == len(empty):
                return "last-tiles", list(left)
        elif empty:
            return "no-tile", empty
        if any(self.can_go(at) for seat in left for at in self.own(seat)):
            return None
        best = (max if "invert_win" in self.how else min)(left.values())
        return "stuck", [seat for seat in left if left[seat] == best]

    def pass_removing(self, last):
        if self.result():
            self.turn = None
            return
        for steps in range(1, self.players + 1):
            seat = (last + steps) % self.players
            if seat not in self.out and any(map(self.can_go, self.own(seat))):
                self.turn = seat
                return

    def groups(self, taken):
        """Return what may survive when a tile is taken away: sets of coordinates."""
        rest, groups = set(self.tiles) - {taken}, []
        while rest:
            group, rim = set(), {min(rest)}
            while rim:
                group |= rim
                rim = {at for tile in rim for at in beside(tile) if at in rest} - group
            groups.append(group)
            rest -= group
        if "keep_chosen" in self.how:
            return groups
        own = set(self.own(self.turn))
        if "keep_most_friendly" in self.how:
            sizes = [len(group & own) for group in groups]
        else:
            sizes = list(map(len, groups))
        return [group for group, size in zip(groups, sizes, strict=True) if size == max(sizes)]

    # --- all together

    def legal(self):
        """Return each legal text and what it does, as a set of cells that stay where tiles go."""
        if self.phase == "wax":
            return {str(number): at for number, at in enumerate(self.cells(), 1)}
        if self.phase == "contract":
            return {"keep": None, "swap": None}
        found = {}
        for at in self.own(self.turn) if self.turn is not None else ():
            if self.can_go(at):
                groups = self.groups(at)
                for group in groups:
                    lowest = min(self.numbers[tile] for tile in group)
                    choice = f",{lowest}" if len(groups) > 1 else ""
                    found[f"{self.numbers[at]}{choice}"] = group
        return found

    def play(self, text):
        effect = self.legal()[text]
        if self.phase == "wax":
            self.place(effect)
        elif self.phase == "contract":
            if text == "swap":
                self.colours[:2] = [1, 0]
            self.phase = "wane"
            self.pass_removing(0)
        else:
            self.tiles = {at: colour for at, colour in self.tiles.items() if at in effect}
            self.pass_removing(self.turn)

    def leave(self, seat):
        self.out.add(seat)
        if self.phase == "wax":
            if seat == self.turn:
                self.pass_placing(seat)
        elif self.phase == "contract":
            if seat in (0, 1):
                self.begin()
        elif seat == self.turn or self.result():
            self.pass_removing(seat)

    def shown(self):
        """Return phase, colours and tiles as the position JSON has them."""
        numbers = {} if self.phase == "wax" else self.numbers
        tiles = [[*at, self.tiles[at], numbers.get(at)] for at in reading(self.tiles)]
        return {"phase": self.phase, "colours": self.colours, "tiles": tiles}
