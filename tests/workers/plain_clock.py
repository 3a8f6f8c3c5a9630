"""A match's clock as plainly as can be: it hears the events, and says what must come, and when.

It keeps every pause and vacation since the match began, cuts time at each of their ends and at
midnights, and asks of each stretch between two cuts whether it counts. Nothing of `domain.clocks`
is used but the terms, which are data.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise

from domain.clocks.time_control import TimeControl
from domain.match.events import (
    Absent,
    Challenged,
    Declined,
    Ended,
    Event,
    Flagged,
    Imported,
    MatchStarted,
    Moved,
    Nagged,
    Paused,
    Resigned,
    Resumed,
    Returned,
    Undone,
)
from domain.match.history import EventEnvelope

DAY = 24 * 60 * 60 * 1000
FAR = 120 * DAY


@dataclass
class Kept:
    """A reminder or a flag that came: when it had to, and when it did."""

    kind: type
    due: int
    at: int


@dataclass
class PlainClock:
    """The clock of one match; `terms` None is a match without clocks."""

    terms: TimeControl | None = None
    mover: int | None = None
    since: int = 0
    turns: list[tuple[int, int]] = field(default_factory=list)
    pauses: list[tuple[int, int]] = field(default_factory=list)
    vacations: list[tuple[int, int, int]] = field(default_factory=list)
    paused: int | None = None
    reminded: int = 0
    over: bool = False
    kept: list[Kept] = field(default_factory=list)

    def hear(self, envelope: EventEnvelope) -> None:
        """Take in the match's next event; it must be one that may come at its time."""
        body, at = envelope.body, envelope.at
        self._check(body, at)
        self._apply(body, at)

    def refused(self, at: int, *, as_late: bool) -> None:
        """A command of a player, but for resigning, was refused."""
        flag = self.flag()
        assert as_late == (flag is not None and at >= flag), f"refused at {at}, the flag: {flag}"

    # what must come

    def flag(self) -> int | None:
        """When the mover's time is over."""
        allowance = None if self.mover is None else self._allowance(self.mover)
        if self.paused is not None or self.mover is None or allowance is None:
            return None
        return self._reached(self.mover, allowance)

    def reminder(self) -> int | None:
        """When the mover is to be reminded; it never is once the time is over."""
        if self.terms is None or self.mover is None:
            return None
        days = self._reminder_days()[self.reminded :]
        if self.paused is not None or not days:
            return None
        instant, flag = self._reached(self.mover, days[0] * DAY), self.flag()
        return None if flag is not None and flag <= instant else instant

    def due(self) -> int:
        """When the next of the two must come; 0 if none."""
        instants = [at for at in (self.reminder(), self.flag()) if at is not None]
        return 0 if self.over else min(instants, default=0)

    # what happens

    def _check(self, body: Event, at: int) -> None:
        flag, reminder = self.flag(), self.reminder()
        assert not self.over, f"{body} after the end"
        match body:
            case Nagged():
                assert body.seat == self.mover
                assert reminder is not None, "a reminder that nobody is due"
                assert reminder <= at, f"a reminder {reminder - at} ms early"
                assert flag is None or at < flag, "a reminder when the time is over"
                self.kept.append(Kept(Nagged, reminder, at))
            case Flagged():
                assert body.seat == self.mover
                assert flag is not None, "a flag where no time is limited"
                assert flag <= at, f"a flag {flag - at} ms early"
                self.kept.append(Kept(Flagged, flag, at))
            case Resigned() | Ended():
                pass
            case _:
                assert flag is None or at < flag, f"{body} taken {at - flag} ms after the flag"

    def _apply(self, body: Event, at: int) -> None:  # noqa: C901, PLR0912 - one case an event
        match body:
            case MatchStarted() | Challenged():
                self.terms = body.terms
                if isinstance(body, Imported):
                    # a byte for the seat, and five for the ms
                    records = [body.turns[i : i + 6] for i in range(0, len(body.turns), 6)]
                    self.turns = [(one[0], int.from_bytes(one[1:])) for one in records]
                self._begin(at, body.next if isinstance(body, MatchStarted) else None)
            case Moved():
                if self.terms:
                    self.turns.append((body.seat, self._running(body.seat, at)))
                self._begin(at, body.next)
            case Undone():
                del self.turns[body.ply :]
                self._begin(at, body.next)
            case Resigned() | Flagged() if body.next != self.mover:
                self._begin(at, body.next)
            case Nagged():
                took = self._running(body.seat, at)
                self.reminded = len([day for day in self._reminder_days() if day * DAY <= took])
            case Paused():
                self.paused = at
            case Resumed():
                assert self.paused is not None
                self.pauses.append((self.paused, at))
                self.paused = None
            case Absent():
                self.vacations.append((at, self._allowed(body, at), body.seat))
            case Returned():
                cut = body.until
                self.vacations = [
                    (a, min(b, cut) if seat == body.seat else b, seat)
                    for a, b, seat in self.vacations
                ]
            case Ended():
                self.over, self.mover = True, None
            case Declined() | _:
                pass

    def _begin(self, at: int, mover: int | None) -> None:
        self.since, self.mover, self.reminded = at, mover, 0

    def _reminder_days(self) -> list[int]:
        terms = self.terms
        return [terms.nag, *terms.options.nags] if terms and terms.nag else []

    def _allowed(self, body: Absent, at: int) -> int:
        """Until when a vacation stops the clock, of which only so many days may."""
        allowed = self.terms.options.vacation if self.terms else None
        if allowed is None:
            return body.until
        own = sorted(one[:2] for one in self.vacations if one[2] == body.seat)
        taken, end = 0, 0
        for begin, until in own:
            taken += max(0, until - max(begin, end))
            end = max(end, until)
        return min(body.until, max(at, end) + allowed * DAY - taken)

    # how time is counted

    def _stretches(self, seat: int, until: int) -> Iterator[tuple[int, int]]:
        """Each stretch of the running turn that counts, in order."""
        off = [*self.pauses, *(one[:2] for one in self.vacations if one[2] == seat)]
        if self.paused is not None:
            off.append((self.paused, until))
        assert self.terms is not None
        midnights = range(self.since - self.since % DAY, until + DAY, DAY)
        cuts = {self.since, until, *(cut for one in off for cut in one)}
        if not self.terms.options.weekends:
            cuts.update(midnights)
        inside = sorted(cut for cut in cuts if self.since <= cut <= until)
        for begin, end in pairwise(inside):
            if not self._weekend(begin) and not any(a <= begin < b for a, b in off):
                yield begin, end

    def _weekend(self, instant: int) -> bool:
        if self.terms is None or self.terms.options.weekends:
            return False
        return datetime.fromtimestamp(instant // 1000, UTC).isoweekday() > 5

    def _running(self, seat: int, now: int) -> int:
        return sum(end - begin for begin, end in self._stretches(seat, now))

    def _reached(self, seat: int, counted: int) -> int:
        """The first instant at which the running turn has taken so much."""
        if counted <= 0:
            return self.since
        for begin, end in self._stretches(seat, self.since + FAR):
            if counted <= end - begin:
                return begin + counted
            counted -= end - begin
        raise AssertionError("it is never reached")

    def _allowance(self, seat: int) -> int | None:
        """What the running turn may take, by whichever limit is nearest."""
        if self.terms is None:
            return None
        terms, took = self.terms, [took for of, took in self.turns if of == seat]
        limits = [days * DAY for days in (terms.forfeit, terms.days) if days]
        if terms.total:
            limits.append(terms.total * DAY - sum(took))
        if terms.bank:
            bank = terms.bank * DAY
            for one in took:
                bank = min(bank - one + terms.increment * DAY, (terms.options.cap or 999) * DAY)
            limits.append(bank)
        return min(limits, default=None)
