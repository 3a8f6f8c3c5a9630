"""The scrubber's notes: how far it is in its round, its last whole round, and what it has found.

| key | what |
|---|---|
| `{scrub}` | hash: `section` and `cursor` of the next step, `round`, `began`, `matches`, `cut`, `keeps` of the present round; `last_began`, `last_ended`, `last_matches` of the last whole one, and `since` before it; times in ms; `macs` once every account has had a MAC |
| `{scrub}:faults` | hash: section and subject -> packed `NotedFault` |
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
import redis

from infra.redis import keys, scripts
from infra.redis.reads import HashRecord

MOST_FAULTS: Final = 1_000
"""Faults that are kept: where there are more, nobody reads them one by one."""


LISTS: Final = "lists"
"""The section that compares projections with rebuilt ones."""

_MACS: Final = "macs"


class ScrubNotes(msgspec.Struct, frozen=True):
    """How far the scrubber is."""

    section: str = ""
    """The part that it checks; empty between two rounds."""
    cursor: str = ""
    """Where it is in there."""
    round: int = 0
    began: int = 0
    """When the present round began, or the last one if there is none, ms."""
    matches: int = 0
    """Matches that were checked in it."""
    last_began: int = 0
    """When the last whole round began, ms; 0 before the first."""
    last_ended: int = 0
    last_matches: int = 0
    cut: bool = False
    """Whether something could not be checked in the present round."""
    keeps: bool = False
    """Whether the present section forgets no fault, because it has not checked everything."""
    since: int = 0
    """When the first round began, if none was whole yet, ms."""

    @property
    def last_ms(self) -> int:
        """Return how long the last whole round took; 0 before the first."""
        return max(0, self.last_ended - self.last_began)

    def oldest_ms(self, now: int) -> int:
        """Return for how long something may not have been checked."""
        since = self.last_began or self.since or self.began
        return max(0, now - since) if since else 0


_NOTES: Final = HashRecord(ScrubNotes)


class NotedFault(msgspec.Struct, frozen=True, array_like=True):
    """A fault that the scrubber has found."""

    section: str
    about: str
    sentence: str
    at: int
    """When it was found last, ms."""
    round: int
    """The round that has found it last."""


class ScrubRecord:
    """Reads and writes the notes; `client` is of the matches' Redis."""

    def __init__(self, client: redis.Redis) -> None:
        # redis-py types no answer precisely
        self._client: Any = client
        self._stored: ScrubNotes | None = None
        """The notes that were read or written last: only one process writes at a time."""

    def read(self) -> ScrubNotes:
        """Return the notes; empty ones before the first round, and in place of damaged ones."""
        try:
            (self._stored,) = _NOTES.read_all(self._client, [keys.SCRUB])
        except msgspec.ValidationError:
            self._stored = None
        return self._stored or ScrubNotes()

    def write(self, notes: ScrubNotes) -> None:
        """Write what is new in the notes since they were read or written here."""
        if fields := _NOTES.fields(notes, self._stored):
            scripts.set_fields(self._client, keys.SCRUB, fields)
        self._stored = notes

    def all_have_macs(self) -> bool:
        """Return whether every account had a MAC before: see `infra.people.account_macs`."""
        return bool(self._client.hexists(keys.SCRUB, _MACS))

    def note_macs(self) -> None:
        """Note that every account has a MAC."""
        scripts.set_fields(self._client, keys.SCRUB, {_MACS: "1"})

    def forget_macs(self) -> None:
        """Note that there is another key, with which no account has a MAC yet."""
        self._client.hdel(keys.SCRUB, _MACS)

    def faults(self) -> list[NotedFault]:
        """Return what was found and is not mended, by section and subject."""
        found = self._client.hgetall(keys.SCRUB_FAULTS)
        return [_decode(found[name]) for name in sorted(found)]

    def add(self, faults: Iterable[NotedFault]) -> list[NotedFault]:
        """Note faults, and return those that were not known."""
        new = []
        for fault in faults:
            name = _name(fault)
            known = self._client.hexists(keys.SCRUB_FAULTS, name)
            if known or self._client.hlen(keys.SCRUB_FAULTS) < MOST_FAULTS:
                self._client.hset(keys.SCRUB_FAULTS, name, msgspec.msgpack.encode(fault))
            if not known:
                new.append(fault)
        return new

    def forget_lists(self, name: str) -> None:
        """Forget that a projection differed from its rebuild: it was compared again, or rebuilt."""
        self.forget([NotedFault(LISTS, name, "", 0, 0)])

    def forget(self, faults: Sequence[NotedFault]) -> None:
        """Forget faults that are mended."""
        if faults:
            self._client.hdel(keys.SCRUB_FAULTS, *map(_name, faults))


def _name(fault: NotedFault) -> str:
    return f"{fault.section} {fault.about}"


_FAULTS: Final = msgspec.msgpack.Decoder(NotedFault)


def _decode(data: bytes) -> NotedFault:
    try:
        return _FAULTS.decode(data)
    except (msgspec.MsgspecError, ValueError):
        return NotedFault("", "", "a fault that the scrubber has noted can't be read", 0, 0)
