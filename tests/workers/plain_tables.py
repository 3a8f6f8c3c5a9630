"""The tables of the projections, as a reader of all events would note them down, match by match."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from domain.match import events
from domain.match.history import EventEnvelope, decode_event
from domain.match.state import CurrentOffer, Reason
from domain.ratings import Skill, ranking
from domain.records import SERVER_ACCOUNT
from domain.rules import rules_by_id
from infra.projections.cases import OpenCase
from infra.projections.finished_matches import FinishedMatchRow
from infra.projections.match_lists import MatchListRow
from infra.projections.notices import MOST_NOTICES, NoticeDetail, NoticeKind, PlayerNotice
from infra.projections.ratings import rate
from infra.projections.robots import RobotTurn
from infra.projections.standings import POINT
from tests.fakes.logs import Logs
from tests.workers.random_matches import ROBOTS

Told = tuple[bytes, NoticeKind]


@dataclass
class PlainMatch:
    """A match, by its events so far."""

    board: int
    rules: str = ""
    options: tuple[str, ...] = ()
    seats: tuple[bytes, ...] = ()
    rated: bool = True
    started: bool = True
    sealed: bool = False
    waits: tuple[int, ...] = ()
    invited: tuple[int, ...] = ()
    turn: int | None = None
    ply: int = 0
    seq: int = 0
    at: int = 0
    since: int = 0
    offer: CurrentOffer | None = None
    moved: set[int] = field(default_factory=set)
    left: list[int] = field(default_factory=list)
    result: tuple[int, tuple[int, ...], str] | None = None
    """When it came, who won, and why."""
    times: list[int] = field(default_factory=list)
    """When the start was, and each move that stands."""
    moves: list[str] = field(default_factory=list)
    dealt: bool = False
    refused: list[bytes] = field(default_factory=list)
    """Who refused to play what was dealt, or could have been."""
    cases: dict[int, int] = field(default_factory=dict)
    """When each case that waits for a ruling came to wait."""
    told: list[tuple[bytes, PlayerNotice]] = field(default_factory=list)

    @property
    def game(self) -> str:
        return self.rules.partition("/")[0]

    @property
    def asked(self) -> tuple[int, ...]:
        if self.offer is None:
            return ()
        settled = {self.offer.seat, *self.offer.accepted, *self.left}
        return tuple(seat for seat in range(len(self.seats)) if seat not in settled)

    @property
    def places(self) -> tuple[int, ...] | None:
        """The places of a result that counts: somebody won against others, and all have moved."""
        if not self.result or not self.result[1] or len(self.moved) < max(2, len(self.seats)):
            return None
        return ranking(len(self.seats), self.result[1], self.left)

    def add(self, event: EventEnvelope) -> None:
        """Take in the next event."""
        assert event.seq == self.seq + 1
        detail = self._detail(event.body)
        for account, kind in self._notices(event.actor, event.body):
            notice = PlayerNotice(event.at, self.board, event.seq, kind, detail)
            self.told.append((account, notice))
        before = (self.waits, self.ply, self.invited)
        self._apply(event.body, event.at, event.seq)
        if event.seq == 1 or before != (self.waits, self.ply, self.invited):
            self.since = event.at
        self.seq, self.at = event.seq, event.at

    def _apply(self, body: Any, at: int, seq: int) -> None:  # noqa: C901, PLR0912 - one case an event
        if isinstance(body, events.Accepted | events.Committed | events.Moved):
            self.invited = tuple(seat for seat in self.invited if seat != body.seat)
        match body:
            case events.MatchStarted() | events.Challenged():
                self.rules, self.options, self.seats = body.rules, body.options, body.seats
                self.rated = body.terms is None or body.terms.rated
                self.times = [at]
                self._begin(body)
            case events.OpeningGiven():
                self.moves = body.moves.split()
                self.ply = len(self.moves)
            case events.Sealed():
                self.waits, self.sealed = body.waits, True
            case events.Gathered() | events.Committed() | events.Revealed():
                self.waits = tuple(seat for seat in self.waits if seat != body.seat)
            case events.Moved():
                self.moved.add(body.seat)
                self.times.append(at)
                self.moves.append(body.move)
                self.ply = body.ply
                if self.offer and (self.offer.kind, self.offer.seat) != ("draw", body.seat):
                    self.offer = None
                self._pass_turn(body.next)
            case events.Undone() | events.SetBack():
                self.ply, self.offer = body.ply, None
                del self.times[body.ply + 1 :], self.moves[body.ply :]
                if isinstance(body, events.SetBack):
                    self.result = None
                    self.left = [seat for seat in self.left if seat not in body.back]
                self._pass_turn(body.next)
            case events.Resigned() | events.Flagged():
                self.left.append(body.seat)
                self.offer = None
                self._pass_turn(body.next)
            case events.OfferMade():
                self.offer = CurrentOffer(body.kind, body.seat)
            case events.OfferAnswered():
                self._answered(body)
            case events.Declined() | events.Withheld():
                if self.dealt or isinstance(body, events.Withheld):
                    self.refused.append(self.seats[body.seat])
            case events.Ended() | events.ResultChanged():
                self.result = at, body.winners, body.reason
                self.waits, self.offer, self.invited = (), None, ()
            case events.Claimed():
                self.cases[seq] = at
            case events.Appealed():
                self.cases[body.claim] = at
            case events.Ruled():
                self.cases.pop(body.claim, None)

    def _begin(self, body: Any) -> None:
        match body:
            case events.MatchStarted():
                self.started, self.sealed, self.offer = True, False, None
                self.dealt = body.draw is not None
                self._pass_turn(body.next)
                self.invited = getattr(body, "invited", ())
            case events.Called():
                ready = [seat for seat, one in enumerate(body.commitments) if one.digest]
                self._wait_for(seat for seat in range(len(self.seats)) if seat not in ready)
                if isinstance(body, events.DealProposed):
                    self.invited = self.waits
            case _:
                self._wait_for(range(1, len(self.seats)))

    def _wait_for(self, seats: Iterable[int]) -> None:
        self.started, self.waits = False, tuple(seats)

    def _pass_turn(self, seat: int | None) -> None:
        self.turn, self.waits = seat, () if seat is None else (seat,)

    def _answered(self, body: events.OfferAnswered) -> None:
        if self.offer is None:
            return
        accepted = (*self.offer.accepted, body.seat)
        left_to_ask = set(range(len(self.seats))) - {self.offer.seat, *accepted, *self.left}
        goes_on = body.accept and left_to_ask
        self.offer = CurrentOffer(body.kind, self.offer.seat, accepted) if goes_on else None

    # what is told

    def _notices(self, actor: bytes, body: Any) -> Iterator[Told]:  # noqa: C901, PLR0912 - one case an event
        seats = self.seats or body.seats
        others = [who for who in seats if who != actor]
        staying = [who for who in others if who not in [seats[seat] for seat in self.left]]
        turn = getattr(body, "next", None)
        kinds = {
            events.OfferMade: NoticeKind.OFFER,
            events.OfferAnswered: NoticeKind.ANSWERED,
            events.Resumed: NoticeKind.RESUMED,
            events.Resigned: NoticeKind.RESIGNED,
            events.Flagged: NoticeKind.FLAGGED,
            events.Claimed: NoticeKind.CLAIMED,
            events.Ruled: NoticeKind.RULED,
            events.Appealed: NoticeKind.APPEALED,
        }
        kind, to = kinds.get(type(body)), staying
        match body:
            case events.MatchProposed():
                kind, to, turn = NoticeKind.CHALLENGED, [seats[one] for one in body.invited], None
            case events.Challenged():
                given = [one.digest for one in getattr(body, "commitments", ())]
                ready = [who for who, one in zip(seats, given, strict=False) if one]
                kind, to = NoticeKind.CHALLENGED, [who for who in others if who not in ready]
            case events.MatchStarted():
                kind, to = NoticeKind.STARTED, others
            case events.Accepted() if turn is not None:
                kind, to = NoticeKind.STARTED, others
            case events.Moved() if body.queued:
                kind, to = NoticeKind.REPLIED, [seats[body.seat]]
            case events.Nagged():
                kind, to = NoticeKind.REMINDER, [seats[body.seat]]
            case events.Sealed():
                waits = [seats[seat] for seat in body.waits]
                kind, to = NoticeKind.REVEAL, [who for who in waits if who != actor]
            case events.Claimed() | events.Ruled() | events.Appealed():
                to = others
            case events.Declined() | events.Withheld():
                own = seats[body.seat]
                kind, to = NoticeKind.DECLINED, [who for who in others if who != own]
                if actor == SERVER_ACCOUNT:
                    yield own, NoticeKind.OVER
            case events.Ended() if body.reason != Reason.DECLINED:
                kind, to = NoticeKind.OVER, others
            case events.Resigned() | events.Flagged():
                to = staying if turn is not None else []
                turn = None if turn == self.turn else turn
        if kind is not None:
            yield from ((who, kind) for who in to)
        if turn is not None and seats[turn] != actor:
            yield seats[turn], NoticeKind.YOUR_TURN

    @staticmethod
    def _detail(body: Any) -> NoticeDetail | None:
        match body:
            case events.OfferMade():
                return NoticeDetail(body.seat, body.kind)
            case events.OfferAnswered():
                return NoticeDetail(body.seat, body.kind, body.accept)
            case events.Resigned() | events.Flagged() if body.next is not None:
                return NoticeDetail(body.seat)
            case events.Declined():
                return NoticeDetail(body.seat)
        return None

    # how it is shown

    def row(self) -> MatchListRow:
        """As lists show it while it runs."""
        assert self.result is None
        return MatchListRow(
            board=self.board, seq=self.seq, rules=self.rules, options=self.options,
            seats=self.seats, waits=self.waits, since=self.since, ply=self.ply, at=self.at,
            started=self.started, left=tuple(self.left), offer=self.offer, sealed=self.sealed,
            invited=self.invited,
        )  # fmt: skip

    def finished(self) -> FinishedMatchRow:
        """As it is kept when it is over."""
        assert self.result
        at, winners, reason = self.result
        return FinishedMatchRow(
            board=self.board, at=at, rules=self.rules, options=self.options, seats=self.seats,
            winners=winners, ranks=ranking(len(self.seats), winners, self.left), reason=reason,
            plies=self.ply, rated=self.rated and len(self.moved) == len(self.seats),
            updated=self.at,
        )  # fmt: skip

    def score(self) -> tuple[tuple[int, ...], int]:
        """The best rank of a puzzle, and when it was reached first."""
        rules = rules_by_id(self.rules)
        position, ranks = rules.start(self.options, 1, None), []
        for move in (None, *self.moves):
            if move is not None:
                position = rules.play(position, rules.read(move))
            ranks.append(rules.score(position).rank)
        return min(ranks), self.times[ranks.index(min(ranks))]


class PlainTables:
    """What there is to be read of all matches of some logs."""

    def __init__(self, logs: Logs, *, rates: bool = True) -> None:
        self.events = sorted(
            (decode_event(data) for board in range(1, 60) for data in logs.events(board)),
            key=lambda one: (one.at, one.match, one.seq),
        )
        self.matches: dict[int, PlainMatch] = {}
        self.changes: dict[int, dict[bytes, tuple[Skill, Skill]]] = defaultdict(dict)
        """By match what its last rated result has done to each player."""
        self.skills: dict[tuple[str, bytes], list[tuple[int, int, Skill]]] = defaultdict(list)
        """By game and player the match, the time and the skill after each change."""
        self.rated: Counter[tuple[str, bytes]] = Counter()
        for event in self.events:
            match = self.matches.setdefault(event.match, PlainMatch(event.match))
            before = match.places
            match.add(event)
            kinds = events.SetBack | events.Ended | events.ResultChanged
            if rates and isinstance(event.body, kinds) and match.rated:
                self._rate(match, event.at, counted=before is not None)

    def _skill(self, player: tuple[str, bytes]) -> Skill:
        return self.skills[player][-1][2] if self.skills[player] else Skill()

    def _rate(self, match: PlainMatch, at: int, *, counted: bool) -> None:
        """Take back what a match has changed, and rate its players anew."""
        for who, (old, new) in self.changes.pop(match.board, {}).items() if counted else ():
            player = match.game, who
            self.rated[player] -= 1
            now = self._skill(player)
            sigma = max(1, now.sigma - (new.sigma - old.sigma))
            back = Skill(now.mu - (new.mu - old.mu), sigma) if self.rated[player] else Skill()
            self.skills[player].append((match.board, at, back))
        if match.places is None:
            return
        before = [self._skill((match.game, who)) for who in match.seats]
        after = rate(before, match.places)
        for who, old, new in zip(match.seats, before, after, strict=True):
            self.changes[match.board][who] = old, new
            self.rated[match.game, who] += 1
            self.skills[match.game, who].append((match.board, at, new))

    def of(self, who: bytes) -> list[PlainMatch]:
        """The matches of a player."""
        return [one for one in self.matches.values() if who in one.seats]

    def running(self, who: bytes) -> list[PlainMatch]:
        """Those that go on and that everybody may see, by their boards, the newest first."""
        found = [one for one in self.of(who) if one.result is None and not one.invited]
        return sorted(found, key=lambda one: -one.board)

    def turns(self, who: bytes) -> list[PlainMatch]:
        """Those that wait for a player's move, consent or text, the longest first."""
        found = [one for one in self.running(who) if one.seats.index(who) in one.waits]
        return sorted(found, key=lambda one: (one.since, f"{one.game}:{one.board}"))

    def asked(self, who: bytes) -> list[PlainMatch]:
        """Those in which an offer or an invitation waits for a player."""
        return [
            one
            for one in self.of(who)
            if one.result is None and one.seats.index(who) in (one.invited or one.asked)
        ]

    def proposed(self, who: bytes) -> list[PlainMatch]:
        """Those that not all have accepted, the newest first."""
        return sorted((one for one in self.of(who) if one.invited), key=lambda one: -one.board)

    def finished(self, game: str | None, *players: bytes) -> list[FinishedMatchRow]:
        """Those that are over, of a game and of all these players, the last first."""
        rows = [one.finished() for one in self.matches.values() if one.result]
        found = [row for row in rows if game in (None, row.game) and {*players} <= {*row.seats}]
        return sorted(found, key=lambda row: (row.at, b"%d" % row.board), reverse=True)

    def notices(self, who: bytes) -> list[PlayerNotice]:
        """What a player was told, the newest first."""
        told = [one for match in self.matches.values() for to, one in match.told if to == who]
        found = {(one.at, one.member): one for one in told}
        return [found[place] for place in sorted(found, reverse=True)][:MOST_NOTICES]

    def robots(self) -> list[RobotTurn]:
        """The matches in which a robot is to act, the longest without an event first."""
        found = []
        for one in self.matches.values():
            acting = [one.seats[seat] for seat in {*one.waits, *one.asked} if not one.result]
            if {*acting} & {*ROBOTS}:
                people = tuple(who for who in one.seats if who not in ROBOTS)
                slow = ROBOTS[-1] in acting
                found.append(RobotTurn(one.at, one.board, one.seq, people, slow))
        return sorted(found, key=lambda turn: (turn.since, str(turn.board)))

    def cases(self) -> list[OpenCase]:
        """What waits for an arbiter, the oldest first."""
        return sorted(
            OpenCase(at, one.board, claim)
            for one in self.matches.values()
            for claim, at in one.cases.items()
        )

    def counted(self, game: str) -> Iterator[tuple[PlainMatch, Sequence[int], tuple[int, ...]]]:
        """The matches of a game that count, with winners and places."""
        for one in self.matches.values():
            if one.game == game and one.result and one.places:
                yield one, one.result[1], one.places

    def standings(self, game: str) -> dict[bytes, tuple[int, int, int, int, int, int]]:
        """By player the points in parts, and how many were played, won, shared, lost, and lost on time."""
        found: dict[bytes, list[int]] = defaultdict(lambda: [0] * 6)
        for one, winners, places in self.counted(game):
            for seat, who in enumerate(one.seats if not {*one.seats} & {*ROBOTS} else ()):
                won = seat in winners
                row = found[who]
                row[0] += POINT // len(winners) if won else 0
                row[1] += 1
                row[4 if not won else 2 if len(winners) == 1 else 3] += 1
                row[5] += bool(one.result and one.result[2] == Reason.TIME and places[seat] == 2)
        return {who: (*row,) for who, row in found.items()}  # type: ignore[misc]

    def refused(self, who: bytes) -> int:
        """How often a player refused to play a deal."""
        return sum(
            one.refused.count(who)
            for one in self.matches.values()
            if one.result and one.result[2] == Reason.DECLINED and not {*one.seats} & {*ROBOTS}
        )

    def pairs(self, game: str) -> Counter[tuple[bytes, bytes]]:
        """How often the one was before the other; level ones count for both ways of neither."""
        found: Counter[tuple[bytes, bytes]] = Counter()
        for one, _, places in self.counted(game):
            for (a, x), (b, y) in combinations(zip(one.seats, places, strict=True), 2):
                found[a, b] += x < y
                found[b, a] += y < x
        return found

    def scores(self) -> list[tuple[tuple[int, ...], int, int, bytes]]:
        """The best of each player of the puzzle: rank, time, match and player."""
        best: dict[bytes, tuple[tuple[int, ...], int, int, bytes]] = {}
        for one in self.matches.values():
            if len(one.seats) == 1 and one.result and one.result[2] != Reason.ANNULLED:
                row = (*one.score(), one.board, one.seats[0])
                best[one.seats[0]] = min(row, best.get(one.seats[0], row))
        return sorted(best.values())
