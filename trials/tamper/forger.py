"""Somebody who can change all that a server has stored, and knows the program."""

import random
from typing import Any

import msgspec
from msgspec.structs import replace

from domain.match import history
from infra.log.checkpoint import LogCheckpoint
from infra.log.key_files import keys_folder, read_keys
from infra.log.log_writer import LogWriter
from infra.log.names import CHECKPOINT, LogSecret, object_name
from infra.log.signed_note import split_note
from infra.log.tiles import WIDTH, bundle_path, unpack_bundle
from infra.redis import keys
from tests.helpers.match_forger import MatchForger
from tests.helpers.scrubbing import SHARDS, ScrubbedServer
from trials.fuzz.documents import other


class Forger:
    """A server, to be changed."""

    def __init__(self, server: ScrubbedServer) -> None:
        self.server = server
        # redis-py types no answer precisely
        self.client: Any = server.client
        self.here: list[int] = []
        """Boards of matches in Redis."""
        for shard in range(SHARDS):
            for name in self.client.scan_iter(f"{keys.snapshot(shard, 0)[:-1]}*:ev"):
                self.here.append(int(name.decode().split(":")[-2]))
        self.here.sort()

    def match(self, chance: random.Random) -> MatchForger:
        return MatchForger(self.server, chance.choice(self.here))

    def publish_again(
        self, shard: int, leaves: list[bytes], secret: LogSecret | None = None
    ) -> None:
        """Publish a log of these leaves in the place of the shard's, by the server's key or another."""
        secrets = (
            read_keys(keys_folder(self.server.settings)).secrets if secret is None else [secret]
        )
        for file in (self.server.folder / "log" / f"s{shard:02}").rglob("*"):
            if file.is_file() and "boards" not in file.parts:
                file.unlink()
        writer = LogWriter(self.server.objects, shard, [one.signer(shard) for one in secrets])
        writer.load()
        for first in range(0, len(leaves), 1000):
            writer.append(leaves[first : first + 1000])

    def published(self, shard: int) -> list[bytes]:
        objects = self.server.objects
        note = objects.get(object_name(shard, CHECKPOINT))
        size = LogCheckpoint.parse(split_note(note)[0]).size
        found: list[bytes] = []
        for first in range(0, size, WIDTH):
            path = bundle_path(first // WIDTH, min(WIDTH, size - first))
            found += unpack_bundle(objects.get(object_name(shard, path)))
        return found

    def log(self, shard: int) -> list[tuple[bytes, bytes]]:
        """Ids and leaves of a log in Redis."""
        return [(id_, fields[b"l"]) for id_, fields in self.client.xrange(keys.log(shard))]

    def write_log(self, shard: int, rows: list[tuple[bytes, bytes]]) -> None:
        self.client.delete(keys.log(shard))
        for id_, leaf in rows:
            self.client.xadd(keys.log(shard), {b"l": leaf}, id=id_)

    def event_in_place(self, forger: MatchForger, place: int, other: bytes) -> list[bytes]:
        """The events of a match with another one in a place, and all that follow chained to it."""
        events = list(forger.events)
        events[place] = other
        head = history.leaf_hash(events[place - 1]) if place else history.NO_HASH
        for at in range(place, len(events)):
            events[at] = history.encode_event(replace(history.decode_event(events[at]), prev=head))
            head = history.leaf_hash(events[at])
        return events


def other_leaf(leaf: bytes, chance: random.Random) -> bytes:
    """A leaf with one field changed, encoded as leaves are."""
    if not history.is_event(leaf):
        try:
            refusal = history.decode_refusal(leaf)
        except msgspec.MsgspecError:
            place = chance.randrange(len(leaf))
            return (
                leaf[:place] + bytes([leaf[place] ^ 1 << chance.randrange(8)]) + leaf[place + 1 :]
            )
        change: dict[str, Any] = chance.choice(
            [
                {"code": chance.choice(["illegal-move", "usage", "match-over"])},
                {"at": refusal.at + chance.choice([-(10**7), 1])},
                {"actor": b"somebody"},
                {"move": chance.choice([None, "a1-a2", "m13-j7"])},
                {"command": chance.randbytes(16)},
                {"match": refusal.match + SHARDS},
            ]
        )
        return history.encode_event(replace(refusal, **change))
    event = history.decode_event(leaf)
    names = event.body.__struct_fields__
    if names and chance.random() < 0.6:
        name = chance.choice(names)
        body = replace(event.body, **{name: other(getattr(event.body, name), chance)})
        return history.encode_event(replace(event, body=body))
    change = chance.choice(
        [
            {"at": event.at + chance.choice([-1, 1, 86_400_000])},
            {"actor": b"somebody"},
            {"command": chance.randbytes(16)},
            {"match": event.match + SHARDS},
            {"seq": event.seq + 1},
            {"prev": bytes(32)},
        ]
    )
    return history.encode_event(replace(event, **change))
