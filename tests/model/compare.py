"""What must be equal in the real match server and in the model, and what must hold by itself."""

from collections.abc import Collection

import msgspec
from hypothesis import event

from domain.match import commands
from domain.match.audit import verify
from domain.match.history import decode_event, decode_refusal, unpack_snapshot
from infra.redis.keys import shard_of
from infra.store.outcomes import parse
from infra.store.port import Store
from tests.helpers.gateways import OutcomeListener
from tests.helpers.writes import attempts_counted, refusals_counted
from tests.model.plain import TRIES, Match, Outcome, Server, Waiting

Place = tuple[int, str]
"""A shard and an inbox entry."""


class Comparison:
    """Holds a store against the model."""

    def __init__(self, store: Store, model: Server, listener: OutcomeListener, shards: int) -> None:
        self._store = store
        self._model = model
        self._listener = listener
        self._shards = shards
        self._tried: dict[Place, int] = {}

    def settle(self, waiting: Collection[Waiting], left: Collection[Place], *, cut: bool) -> None:
        """Let the model do what the drain has done, which is all that it has not `left`.

        `cut` tells that the drain before died: what had its tries by then is refused. Of each
        match the first commands must have been done.
        """
        late: set[int] = set()
        touched: set[int] = set()
        for waits in waiting:
            board = waits.sent.match
            place = (shard_of(board, self._shards), waits.entry)
            # a repetition of what is done already may go before its time, and wait when others go
            repeated = (board, waits.sent.id) in self._model.outcomes
            if place in left:
                if not repeated:
                    late.add(board)
                continue
            assert repeated or board not in late, "a command was done before an earlier one"
            self._model.settle(waits, internal=cut and self._tried.get(place, 0) >= TRIES)
            touched.add(board)
        for board in touched:
            self.check_match(board)
        self.read_tries()
        assert all(0 < tries <= TRIES + 1 for tries in self._tried.values())

    def read_tries(self) -> None:
        """Note how often the entries that wait have been tried."""
        self._tried = {
            (shard, entry): tries
            for shard in range(self._shards)
            for entry, tries in attempts_counted(self._store, shard).items()
        }

    def check_published(self, wanted: Collection[bytes] = ()) -> None:
        """Whatever outcome is published is the stored one; those of the ids that are `wanted` are published."""
        missing = set(wanted)
        # an announcement may still be on its way to us
        while heard := self._listener.poll(5 if missing else 0):
            for id_, stored in heard:
                missing.discard(id_)
                kept = [self._store.outcome(at, i) for at, i in self._model.outcomes if i == id_]
                assert stored in kept
        assert not missing

    def check_outcome(self, stored: bytes | None, expected: Outcome) -> None:
        """A stored outcome is the model's."""
        assert stored is not None
        outcome = parse(stored)
        event(outcome.code or "accepted")
        assert (outcome.code, outcome.seq) == (expected.code, expected.seq)
        assert outcome.digest == commands.command_digest(commands.encode_command(expected.sent))

    def check_match(self, board: int) -> None:
        """Events, state, outcomes and counted refusals of a match are the model's."""
        match = self._model.match(board)
        events = [_body(data) for data in self._store.events(board)]
        assert events == [trimmed(body) for body in match.events]
        self._check_state(board, match)
        for (at, id_), expected in self._model.outcomes.items():
            if at == board:
                self.check_outcome(self._store.outcome(board, id_), expected)
        for (actor, ply), count in match.refusals.items():
            assert refusals_counted(self._store, board, actor, ply) == count

    def _check_state(self, board: int, match: Match) -> None:
        state = unpack_snapshot(self._store.snapshots([board])[0]).state
        assert (state.ply, state.next, state.over) == (match.ply, match.turn, match.over)
        standing = (state.offer.seat, state.offer.kind) if state.offer else None
        assert standing == match.offer
        assert state.seq == len(match.events)

    def check_histories(self) -> None:
        """Every match verifies, and the logs hold each outcome's leaves at its place, no more."""
        logs: list[dict[int, bytes]] = [{} for _ in range(self._shards)]
        for board in self._model.matches:
            events = self._store.events(board)
            if events:
                verify(board, events)
            self._place(board, events, logs[shard_of(board, self._shards)])
        for shard, expected in enumerate(logs):
            leaves = self._store.leaves(shard, 0, 100_000)
            assert dict(leaves) == expected
            assert [index for index, _ in leaves] == list(range(len(expected)))

    def _place(self, board: int, events: list[bytes], log: dict[int, bytes]) -> None:
        """Note where the log of the board's shard must have which leaf."""
        for (at, id_), expected in self._model.outcomes.items():
            if at != board:
                continue
            index = parse(self._store.outcome(board, id_) or b"").index
            own = [data for data in events if decode_event(data).command == id_]
            if expected.code:
                ((_, leaf),) = self._store.leaves(shard_of(board, self._shards), index, 1)
                refusal = decode_refusal(leaf)
                assert (refusal.code, refusal.command) == (expected.code, id_)
                own = [leaf]
            for place, data in enumerate(own, index):
                assert place not in log
                log[place] = data


def _body(data: bytes) -> list[object]:
    """Give an event's body as the list that is stored."""
    return trimmed(msgspec.msgpack.decode(data)[-1])


def trimmed(body: list[object]) -> list[object]:
    """Take empty fields off the end: those that events were given later are empty here."""
    while body and (body[-1] is None or body[-1] is False):
        body = body[:-1]
    return body
