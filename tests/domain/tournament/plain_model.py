"""Tournaments once more, with lists and dicts: written from docs/formats.md, without the product's code.

Requests and answers are those of `matchpost referee`.
"""

from fractions import Fraction

PLAYED = ("1-0", "0-1", "1/2")


def as_written(number):
    return Fraction(str(number))


def in_json(number):
    return int(number) if number == int(number) else float(number)


LETTERS = {"1-0": "wl", "+-": "wl", "0-1": "lw", "-+": "lw", "1/2": "dd", "--": "ll"}


def struck_players(request):
    """Those who left with leave, and of whose matches less than half were played."""
    struck = set()
    for one in request.get("withdrawn", []):
        own = [match for match in request["matches"] if one["player"] in match[:2]]
        share = len([1 for match in own if match[2] in PLAYED])
        if one["kind"] == "accepted" and share < len(own) / 2:
            struck.add(one["player"])
    return struck


def sheets_of(request):
    """A score sheet for each player: a list of `(other, letter)`, where the letter is w, d or l."""
    gone = {one["player"] for one in request.get("withdrawn", [])}
    struck = struck_players(request)
    sheets = {player: [] for player in range(request["players"])}
    for a, b, result in request["matches"]:
        letters = LETTERS.get(result, "")
        if not letters and (a in gone) != (b in gone):
            letters = "lw" if a in gone else "wl"
        if letters and not {a, b} & struck:
            sheets[a].append((b, letters[0]))
            sheets[b].append((a, letters[1]))
    return sheets


def tie_break(name, player, equals, sheets, total, worth):
    """The number of a tie-break for a player among equals, the player included."""
    sheet = sheets[player]
    if name == "wins":
        return Fraction([letter for _, letter in sheet].count("w"))
    if name == "buchholz":
        return sum((total[other] for other, _ in sheet), Fraction(0))
    if name == "sonneborn-berger":
        shares = {"w": Fraction(1), "d": Fraction(1, 2), "l": Fraction(0)}
        return sum((shares[letter] * total[other] for other, letter in sheet), Fraction(0))
    for one in equals:
        for two in equals:
            if one != two and two not in [other for other, _ in sheets[one]]:
                return Fraction(0)
    return sum((worth[letter] for other, letter in sheet if other in equals), Fraction(0))


def plain_table(request):
    """The table of a request, as the referee answers it."""
    scheme = request.get("points", {"win": 1, "draw": 0.5, "loss": 0})
    worth = {name[0]: as_written(scheme[name]) for name in ("win", "draw", "loss")}
    sheets = sheets_of(request)
    everybody = list(sheets)
    total = {one: sum((worth[letter] for _, letter in sheets[one]), Fraction(0)) for one in sheets}
    keys = {player: [total[player]] for player in everybody}
    for name in request.get("tiebreaks", []):
        before = {player: list(key) for player, key in keys.items()}
        for player in everybody:
            equals = [one for one in everybody if before[one] == before[player]]
            keys[player].append(tie_break(name, player, equals, sheets, total, worth))
    rows = [
        {
            "player": player,
            "points": in_json(total[player]),
            "place": 1 + len([one for one in everybody if keys[one] > keys[player]]),
            "tiebreaks": [in_json(value) for value in keys[player][1:]],
        }
        for player in everybody
    ]
    return sorted(rows, key=lambda row: (row["place"], row["player"]))


def plain_season(divisions, size, up, down, leavers, newcomers):
    """The divisions of the next season: places are filled one by one, from the top."""
    moves = {}
    for number, division in enumerate(divisions):
        for place, player in enumerate(division):
            if number < len(divisions) - 1 and place >= len(division) - down:
                moves[player] = number + 1
        if number > 0:
            staying = [player for player in division if player not in leavers]
            for player in staying[:up]:
                moves[player] = number - 1
    pools = []
    for number, division in enumerate(divisions):
        here = [player for player in division if player not in moves]
        falling = [
            player
            for above in divisions[:number]
            for player in above
            if moves.get(player) == number
        ]
        rising = [
            player
            for below in divisions[number + 1 :]
            for player in below
            if moves.get(player) == number
        ]
        pools.append([one for one in here + falling + rising if one not in leavers])
    waiting = [player for pool in pools for player in pool] + list(newcomers)
    new = []
    while waiting:
        if new and len(waiting) < 3:
            new[-1] += waiting
            break
        new.append(waiting[:size])
        waiting = waiting[size:]
    return new


def better(one, two):
    """Whether a row is better than one of another section."""
    if one["place"] != two["place"]:
        return one["place"] < two["place"]
    shares = [as_written(row["points"]) / (row["counted"] or 1) for row in (one, two)]
    if shares[0] != shares[1]:
        return shares[0] > shares[1]
    if one["tiebreaks"] != two["tiebreaks"]:
        return one["tiebreaks"] > two["tiebreaks"]
    return one["player"] < two["player"]


def picked(rows):
    """The players of rows, the best first, picked one by one."""
    left, players = list(rows), []
    while left:
        best = left[0]
        for each in left[1:]:
            if better(each, best):
                best = each
        left.remove(best)
        players.append(best["player"])
    return players


def plain_qualifiers(tables, first, total):
    """Who goes on by right, and the best next ones.

    A row is a dict with place, points, counted, tiebreaks and player.
    """
    right, rest = [], []
    for table in tables:
        right += table[:first]
        rest += table[first:]
    return picked(right), picked(rest)[: max(0, total - len(right))]


def plain_knockout(players, meets):
    """The places of a knockout without draws, as a list of groups from the winner down.

    `meets` answers who wins of two. Seeds meet as they should if the better always wins: the best against the last.
    """
    size = 1
    while size < players:
        size *= 2
    seats = [1, 2]
    while len(seats) < size:
        both = 2 * len(seats) + 1
        seats = [one for seat in seats for one in (seat, both - seat)]
    field = [seat - 1 for seat in seats[: max(size, 2)]]
    groups = []
    while len(field) > 1:
        winners, lost = [], []
        for at in range(0, len(field), 2):
            there = sorted(one for one in field[at : at + 2] if one < players)
            won = there[0] if len(there) == 1 else meets(*there)
            winners.append(won)
            lost += [one for one in there if one != won]
        groups.insert(0, sorted(lost))
        field = winners
    return [field, *groups]


class PlainLadder:
    """A ladder of names, with times in seconds; written from docs/tournaments.md."""

    def __init__(self, names, rules, now):
        self.order = list(names)
        self.reach, self.running, self.rest = (
            rules["reach"],
            rules["running"],
            rules["rest"] * 86_400,
        )
        self.insertion, self.drop = rules["insertion"], rules["drop"]
        self.silence = rules["silence"] * 86_400
        self.games = []
        self.quiet = dict.fromkeys(names, now)
        self.out = set()
        self.ended = False

    def live(self, name):
        return [g for g in self.games if name in (g["below"], g["above"]) and g["live"]]

    def may_challenge(self, below, above, now):
        if self.ended or below not in self.order or above not in self.order:
            return False
        gap = self.order.index(below) - self.order.index(above)
        if not 0 < gap <= self.reach:
            return False
        if max(len(self.live(below)), len(self.live(above))) >= self.running:
            return False
        same = [g for g in self.games if {g["below"], g["above"]} == {below, above}]
        return all(not g["live"] and now - g["ended"] >= self.rest for g in same)

    def challenge(self, below, above):
        game = {"below": below, "above": above, "live": True, "result": "", "ended": None}
        self.games.append(game | {"void": False})

    def result(self, number, result, now):
        """The first result of a game moves places; any later one only says who won."""
        game = self.games[number]
        if game["void"]:
            return
        game["result"], game["live"] = result, not result
        if not result or game["ended"] is not None:
            return
        game["ended"] = now
        below, above = game["below"], game["above"]
        self.quiet[below] = self.quiet[above] = now
        if result not in ("0-1", "-+") or not {below, above} <= set(self.order):
            return
        low, high = self.order.index(below), self.order.index(above)
        if low > high:
            if self.insertion:
                self.order = [n for n in self.order if n != below]
                self.order.insert(high, below)
            else:
                self.order[low], self.order[high] = above, below

    def enter(self, name, now):
        free = name not in self.order and name not in self.out and not self.live(name)
        if self.ended or not free:
            return False
        self.order.append(name)
        self.quiet[name] = now
        return True

    def leave(self, name):
        self.order = [n for n in self.order if n != name]

    def take_out(self, name, now):
        self.leave(name)
        self.out.add(name)
        for game in self.live(name):
            game.update(live=False, void=True)
            if game["ended"] is None:
                game["ended"] = now
                self.quiet[game["below"]] = self.quiet[game["above"]] = now

    def drop_silent(self, now):
        """The lowest of the silent drops first, and no silent player passes another."""
        late = [
            n for n in self.order[1:] if not self.live(n) and now - self.quiet[n] >= self.silence
        ]
        floor = len(self.order) - 1
        for name in reversed(late):
            here = self.order.index(name)
            there = floor if not self.drop else min(here + self.drop, floor)
            self.order.remove(name)
            self.order.insert(there, name)
            self.quiet[name] = now
            floor = there - 1
        return late

    def record(self, name):
        """Won, drawn and lost."""
        counts = [0, 0, 0]
        for game in self.games:
            if game["result"] and not game["void"] and name in (game["below"], game["above"]):
                letters = LETTERS[game["result"]]
                counts["wdl".index(letters[0 if name == game["above"] else 1])] += 1
        return tuple(counts)
