"""The check of lists, notices and ratings: each projection equals one that is rebuilt from the logs.

The lists of boards of each shard, from their side: what they have of matches that are not there.

The check of texts outside the log of which a match's events have digests: statements, and an imported source.
"""

from hashlib import sha256
from typing import Any, Final

import msgspec
from redis.exceptions import ResponseError

from domain.errors import Refusal
from domain.match.events import Appealed, Claimed, Ruled
from domain.match.history import decode_event
from domain.match.state import MatchState
from infra.objects.port import ObjectNotFoundError
from infra.people.statements import Statements
from infra.projections.generations import BusyError
from infra.redis import keys
from infra.store.closed_shards import ClosedShards
from infra.store.log_gate import read_ends
from infra.store.scrub_notes import LISTS
from workers.projections import PROJECTIONS
from workers.projections.rebuild import StuckError
from workers.projections.verify import ProjectionVerifier
from workers.scrub.scrubber import ScrubFault, ScrubParts, Step

MOST_LEAVES: Final = 2_000_000
"""With more leaves this takes too much memory, and too long for each round: an operator asks for it."""

_PAUSES: Final = 100.0
"""Seconds that it may wait in one step: much longer ones would not end in a run."""

_READ: Final = 1_000
"""Leaves after which it waits."""

_KEYS_PAUSE: Final = 0.02
"""The same after each part of the keys, which are many."""


class TableCheck:
    """One projection in each step."""

    name = LISTS

    def __init__(self, parts: ScrubParts) -> None:
        self._parts = parts

    def step(self, cursor: str) -> Step:  # noqa: PLR0911 - one for each fault
        """Check the next projection."""
        place = int(cursor or 0)
        after = str(place + 1) if place + 1 < len(PROJECTIONS) else None
        parts, projection = self._parts, PROJECTIONS[place]
        name = projection.spec.name
        leaves = sum(read_ends(parts.data, range(parts.shards)))
        if leaves > MOST_LEAVES:
            return Step(None, keeps=True)
        most = _PAUSES / (1 + leaves / _READ)
        if ClosedShards(parts.data).read(range(parts.shards)):
            return Step(None, cut=True)  # leaves are restored, which the lists may have
        try:
            found = ProjectionVerifier(
                parts.store,
                parts.data,
                projection,
                lambda _leaves, keys: parts.pause(min(most, _KEYS_PAUSE) if keys else most),
            ).run()
        except (BusyError, LookupError):
            return Step(after, cut=True)  # they are replaced, or made for the first time
        except StuckError as error:
            return Step(after, [ScrubFault(name, str(error))])
        except (ResponseError, msgspec.MsgspecError, ValueError, TypeError) as error:
            if isinstance(error, ResponseError) and "WRONGTYPE" not in str(error):
                raise
            return Step(after, [ScrubFault(name, f"a key of them can't be read: {error}")])
        except Refusal as refusal:  # the archive, whose own check tells more
            return Step(after, [ScrubFault(name, str(refusal))])
        if not found.difference:
            return Step(after)
        return Step(
            after,
            [
                ScrubFault(
                    name,
                    f"they differ from a rebuild of {found.leaves:,} leaves, first at {found.difference}: "
                    f"`matchpost rebuild {name}` replaces them",
                )
            ],
        )


_COUNT: Final = 200

_LISTS: Final = (
    (keys.due, "due time", "the list of due times"),
    (keys.ended, "end", "the list of matches that are over"),
)


class BoardLists:
    """Due times and ends of matches that do not exist; the others are compared with each match."""

    name = "lists of boards"

    def __init__(self, parts: ScrubParts) -> None:
        self._parts = parts

    def step(self, cursor: str) -> Step:
        """Check the next members of a list."""
        number, at = map(int, cursor.split(":")) if cursor else (0, 0)
        shards = self._parts.shards
        shard, kind = divmod(number, len(_LISTS))
        list_key, what, called = _LISTS[kind]
        client: Any = self._parts.data
        name = list_key(shard)
        if client.type(name) not in (b"zset", b"none"):
            after, rows = 0, []
            faults = [
                ScrubFault(f"key {name}", "it is of another type than this program writes there")
            ]
        else:
            after, rows = client.zscan(name, at, count=_COUNT)
            members = {member.decode(errors="replace") for member, _ in rows}
            faults = [
                ScrubFault(
                    f"{what} of match {member}",
                    f"{called} has it, and there is no such match there",
                )
                for member in sorted(members)
                if not self._exists(shard, member)
            ]
        if after:
            return Step(f"{number}:{after}", faults)
        last = number + 1 == shards * len(_LISTS)
        return Step(None if last else f"{number + 1}:0", faults)

    def _exists(self, shard: int, member: str) -> bool:
        if not (member.isascii() and member.isdigit() and str(int(member)) == member):
            return False
        board = int(member)
        if keys.shard_of(board, self._parts.shards) != shard:
            return False
        return bool(self._parts.data.exists(keys.snapshot(shard, board)))


def text_faults(parts: ScrubParts, board: int, state: MatchState) -> list[ScrubFault]:
    """Return the texts of a match that are missing or changed."""
    shard = keys.shard_of(board, parts.shards)
    faults = _source_fault(parts, board, state)
    if state.cases or parts.data.exists(keys.statements(shard, board)):
        faults += _statement_faults(parts, board, state)
    return faults


def _statement_faults(parts: ScrubParts, board: int, state: MatchState) -> list[ScrubFault]:
    """Compare the statements with the digests in the events; those of deleted accounts are erased.

    The reasons of a ruling that follows from a withdrawal are stored with the tournament.
    """
    statements = Statements(parts.data, lambda: parts.shards)
    try:
        stored = {one.command: one for one in statements.of_match(board)}
        shared = statements.of_match(state.pairing[0]) if state.pairing else []
    except (msgspec.MsgspecError, ValueError) as error:
        return [ScrubFault(f"statements of match {board}", f"one can't be read: {error}")]
    client: Any = parts.data
    faults = []
    for envelope in map(decode_event, parts.store.events(board)):
        if not isinstance(envelope.body, Claimed | Ruled | Appealed):
            continue
        about = f"statement of event {envelope.seq} of match {board}"
        statement = stored.get(envelope.command) or next(
            (one for one in shared if one.digest == envelope.body.text), None
        )
        if statement is None:
            if client.exists(keys.account(envelope.actor)):
                faults.append(ScrubFault(about, "it is missing, and its author is still there"))
        elif (statement.digest, statement.account) != (envelope.body.text, envelope.actor):
            faults.append(
                ScrubFault(
                    about, "its text or its author is not the one whose digest the event has"
                )
            )
    return faults


def _source_fault(parts: ScrubParts, board: int, state: MatchState) -> list[ScrubFault]:
    """Compare the document or record that a match was imported from with its digest."""
    if state.imported is None:
        return []
    digest = state.imported.source.digest
    about = f"source of match {board}"
    try:
        data = parts.objects().get(f"imports/{digest.hex()}")
    except ObjectNotFoundError:
        return [
            ScrubFault(about, f"imports/{digest.hex()}, from which it was imported, is missing")
        ]
    if sha256(data).digest() != digest:
        return [
            ScrubFault(about, f"imports/{digest.hex()}, from which it was imported, was changed")
        ]
    return []
