"""Follows the published logs of a server, for a witness that the server can't reach or does not know."""

from collections.abc import Sequence

import msgspec

from infra.log.merkle import consistency_proof
from infra.log.names import folder
from infra.log.published_log import LogDamagedError, PublishedLog
from infra.log.signed_note import NoteError, VerifierKey
from infra.objects.port import ObjectStore, ObjectStoreError
from infra.witness.cosign_request import CosignRequest
from infra.witness.witness import CosignRefusedError, Witness


class Followed(msgspec.Struct, frozen=True):
    """The result of a look at one log."""

    origin: str
    size: int = 0
    """Of the checkpoint that is cosigned now."""
    fault: str = ""
    """Why the newest one was not cosigned; empty if it was."""
    forked: bool = False
    """Whether the log contradicts what was cosigned before: an alarm."""


class LogFollower:
    """Reads the checkpoints of a server's logs, proves by its tiles that each continues, and cosigns."""

    def __init__(self, witness: Witness, objects: ObjectStore, keys: Sequence[VerifierKey]) -> None:
        self._witness = witness
        self._objects = objects
        self._keys = keys

    def look(self) -> list[Followed]:
        """Look at each log once."""
        return [self._look(origin) for origin in self._witness.origins]

    def _look(self, origin: str) -> Followed:
        before = self._witness.cosigned(origin)
        known = before.checkpoint.size if before else 0
        try:
            log = self._open(origin)
            size = log.refresh()
            if log.checkpoint is None or size < known:
                return Followed(
                    origin,
                    known,
                    f"{origin} shows {size} leaves, and {known} were cosigned: it was rolled back",
                    forked=known > 0,
                )
            proof = consistency_proof(known, size, log.node) if 0 < known < size else []
            self._witness.cosign(CosignRequest(known, tuple(proof), log.note.decode()))
        except CosignRefusedError as error:
            return Followed(origin, known, str(error), forked=True)
        except (NoteError, LogDamagedError, ObjectStoreError) as error:
            # also of a tile that was replaced while it was read: the next look reads the newer one
            return Followed(origin, known, str(error))
        return Followed(origin, size)

    def _open(self, origin: str) -> PublishedLog:
        keys = [key for key in self._keys if key.name == origin]
        shard = int(origin.rpartition("/s")[2])
        assert folder(shard) == origin.rpartition("/")[2]
        return PublishedLog(self._objects, shard, keys)
