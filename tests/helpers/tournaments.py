"""A tournament without a store: its commands decided, its events chained, and checked again."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from domain import aggregates
from domain.aggregates import TournamentSnapshot
from domain.clocks.time_control import TimeControl
from domain.errors import Code
from domain.fairness import ChainSeed
from domain.match.decision import Decision, DecisionContext, Rejection
from domain.match.events import Event
from domain.match.history import NO_HASH, EventEnvelope, decode_event, encode_event, leaf_hash
from domain.records import SERVER_ACCOUNT, AccountId
from domain.tournament.commands import (
    DraftTournament,
    EnterTournament,
    OpenEntry,
    ReportResults,
    TournamentCommand,
)
from domain.tournament.standings import rows_of
from domain.tournament.state import MatchReport, PairedSection, TournamentState
from domain.tournament.table import TableRow
from domain.tournament.terms import TournamentTerms
from tests.helpers.given import BEGIN, sent

ORGANISER = b"organise"
PLAYERS = tuple(f"player{number:02}".encode() for number in range(20))
NUMBER = 7
SEED = ChainSeed(1, 3, b"a seed of the shard".ljust(32))
OF_THREES: dict[str, Any] = {
    "form": "threes",
    "rules": "halves/1",
    "section": 0,
    "cycles": 3,
    "points": (200, 100, 0),
    "tiebreaks": ("direct", "sonneborn-berger"),
    "capacity": 0,
    "when_full": False,
}
"""What groups of three have otherwise than `terms_of_three`."""


def terms_of_three(**changes: object) -> TournamentTerms:
    """A round robin of one section of three that starts when it is full."""
    given = TournamentTerms(
        "round-robin", "goliath/1", (), TimeControl(), 3, capacity=3, when_full=True
    )
    return replace(given, **changes)


class Tournament:
    """A tournament as its commands come in, each a second after the one before."""

    def __init__(self, *turns: tuple[AccountId, TournamentCommand], number: int = NUMBER) -> None:
        self.number = number
        self.events: list[bytes] = []
        self.snapshot = TournamentSnapshot(NO_HASH, TournamentState())
        self._taken = 0
        for actor, command in turns:
            self.do(actor, command)

    @property
    def state(self) -> TournamentState:
        return self.snapshot.state

    @property
    def bodies(self) -> list[Event]:
        return [decode_event(data).body for data in self.events]

    def decided(self, actor: AccountId, command: TournamentCommand) -> Decision | Rejection:
        """Decide a command, which changes nothing unless it is accepted."""
        self._taken += 1
        order, at = sent(actor, command, self._taken, self.number), BEGIN + 1000 * self._taken
        found = aggregates.decide(order, self.state, DecisionContext(at, SEED))
        if isinstance(found, Decision):
            leaves, after = aggregates.chain(order, found, self.snapshot, at)
            assert isinstance(after, TournamentSnapshot)
            self.events += leaves
            self.snapshot = after
        return found

    def do(self, actor: AccountId, *commands: TournamentCommand) -> list[Event]:
        """Return the events of commands, which have to be accepted."""
        done: list[Event] = []
        for command in commands:
            found = self.decided(actor, command)
            assert isinstance(found, Decision), found
            done += found.events
        return done

    def refuses(self, actor: AccountId, command: TournamentCommand) -> tuple[Code, str]:
        """Return the code and the sentence of a command, which has to be refused."""
        found = self.decided(actor, command)
        assert isinstance(found, Rejection), found
        return Code(found.code), str(found.text)

    @property
    def seconds(self) -> int:
        """When the last command came in, seconds after the beginning."""
        return self._taken

    def wait(self, days: int) -> None:
        """Let days pass before the next command."""
        self._taken += days * 86_400

    def draft(self, **changes: object) -> None:
        self.do(ORGANISER, DraftTournament(terms=terms_of_three(**changes)), OpenEntry())

    def enter(self, count: int) -> None:
        """Enter players, each rated higher than the one before."""
        for place, player in enumerate(PLAYERS[:count]):
            self.do(player, EnterTournament(rating=1500 + place))

    def report(self, *results: str, first: int = 0, seq: int = 9) -> list[Event]:
        """Report results of pairings in their order."""
        reports = tuple(
            MatchReport(pairing, 100 + pairing, seq, result)
            for pairing, result in enumerate(results, first)
        )
        return self.do(SERVER_ACCOUNT, ReportResults(reports=reports))

    def rows(self, section: PairedSection) -> list[TableRow]:
        """Return the rows of a section by place."""
        assert self.state.terms is not None
        return rows_of(section, self.state, self.state.terms)

    def forged(self, seq: int, **changes: object) -> list[bytes]:
        """Return the events with one changed, and all that follow chained again, as a forger would."""
        return chained_again(self.events, seq, changes)

    def holds(self) -> None:
        """Assert that the history verifies to the state there is."""
        found = aggregates.verify(self.number, self.events)
        assert (found.head, found.state) == (self.snapshot.head, self.state)


def chained_again(events: Sequence[bytes], seq: int, changes: dict[str, object]) -> list[bytes]:
    """Return events of which one is changed, each chained to the one before."""
    found = list(events[: seq - 1])
    head = leaf_hash(found[-1]) if found else NO_HASH
    for data in events[seq - 1 :]:
        envelope: EventEnvelope = replace(decode_event(data), prev=head, **changes)
        found.append(encode_event(envelope))
        head, changes = leaf_hash(found[-1]), {}
    return found
