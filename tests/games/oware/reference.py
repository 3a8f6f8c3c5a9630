"""Oware once more: slow, by dictionaries of names, with every position of a match kept."""

ORDER = ["a1", "b1", "c1", "d1", "e1", "f1", "f2", "e2", "d2", "c2", "b2", "a2"]
OTHER = {"1": "2", "2": "1"}


class Match:
    """A match from the start, whose `scores` and `board` change with each move."""

    def __init__(self):
        self.board = dict.fromkeys(ORDER, 4)
        self.scores = {"1": 0, "2": 0}
        self.row = "1"
        self.seen = [self.now()]
        self.quiet = 0
        self.over = None

    def now(self):
        return self.row, tuple(self.board.values()), tuple(self.scores.values())

    def seeds_of(self, row, board=None):
        return sum(count for name, count in (board or self.board).items() if name[1] == row)

    def legal(self):
        """Return the houses that may be sown: of those that feed a hungry opponent, if the opponent is."""
        if self.over:
            return []
        own = [name for name in ORDER if name[1] == self.row and self.board[name]]
        if self.seeds_of(OTHER[self.row]):
            return own
        return [name for name in own if self.seeds_of(OTHER[self.row], self.sow(name)[0])]

    def sow(self, house):
        """Return the board after sowing, and the houses of the seeds in their order."""
        board = {**self.board, house: 0}
        way = ORDER[ORDER.index(house) + 1 :] + ORDER[: ORDER.index(house)]  # all others in turn
        fallen = [way[seed % 11] for seed in range(self.board[house])]
        for name in fallen:
            board[name] += 1
        return board, fallen

    def captures(self, board, last):
        """Return the houses that are captured when the last seed falls into one of them."""
        other, found = OTHER[self.row], []
        for name in reversed(ORDER[: ORDER.index(last) + 1]):
            if name[1] != other or board[name] not in (2, 3):
                break
            found.append(name)
        slam = sum(board[name] for name in found) == self.seeds_of(other, board)
        return [] if slam else found

    def play(self, house):
        board, fallen = self.sow(house)
        captured = self.captures(board, fallen[-1])
        for name in captured:
            self.scores[self.row] += board[name]
            board[name] = 0
        self.board, self.row = board, OTHER[self.row]
        self.quiet = 0 if captured else self.quiet + 1
        self.seen.append(self.now())
        self.end()

    def end(self):
        if max(self.scores.values()) > 24:
            self.over = "majority"
            return
        if self.now() in self.seen[:-1]:
            self.over = "repeated"
        elif not self.legal():
            self.over = "starved"
        elif self.quiet == 200:
            self.over = "no-capture"
        if self.over:
            for row in self.scores:
                self.scores[row] += self.seeds_of(row)
            self.board = dict.fromkeys(ORDER, 0)
