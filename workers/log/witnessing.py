"""Asks witnesses to cosign the checkpoints of all logs, apart from the publisher, which never waits for them.

The last checkpoint that a witness has cosigned is an object beside the log's own, `witnessed`, with the
signatures of the log and of all witnesses that answered.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Final

from infra.log.key_files import LogKeyError
from infra.log.merkle import consistency_proof
from infra.log.names import WITNESSED, object_name
from infra.log.published_log import LogDamagedError, PublishedLog
from infra.log.signed_note import NoteError
from infra.objects.port import ObjectNotFoundError, ObjectStore, ObjectStoreError
from infra.witness.follower import WitnessClient, WitnessError, WitnessForkError
from infra.witness.witnesses import WitnessAddress

logger = logging.getLogger(__name__)

WITNESS_SECONDS: Final = 10.0
"""Between two rounds: a fork that lasts shorter is not seen, and a witness costs the other server little."""

_FILE: Final = "the file of witnesses"

_FAILURES: Final = (LogKeyError, LogDamagedError, NoteError, ObjectStoreError)


class Witnessing:
    """Asks the witnesses in rounds. `of` returns the published log of a shard."""

    def __init__(
        self,
        objects: ObjectStore,
        of: Callable[[int], PublishedLog],
        shards: Callable[[], int],
        read_witnesses: Callable[[], Sequence[WitnessAddress]],
    ) -> None:
        self._objects = objects
        self._of = of
        self._shards = shards
        self._read_witnesses = read_witnesses
        self._clients: dict[str, WitnessClient] = {}
        self._done: dict[int, bytes] = {}
        """The checkpoint of each shard that all witnesses have cosigned."""
        self._faults: dict[str, str] = {}
        """The last fault of each witness and log, so that each is logged once."""

    def round(self) -> int:
        """Ask for cosignatures of all new checkpoints, and return how many shards have them now."""
        try:
            addresses = self._read_witnesses()
        except (NoteError, OSError) as error:
            self._note(_FILE, f"{_FILE} can't be used: {error}")
            return 0
        self._note(_FILE, "")
        if not addresses:
            return 0
        clients = [self._client(address) for address in addresses]
        return sum(self._cosign(shard, clients) for shard in range(self._shards()))

    def close(self) -> None:
        """Close the connections to the witnesses."""
        for client in self._clients.values():
            client.close()

    def _client(self, address: WitnessAddress) -> WitnessClient:
        id_ = f"{address.key} {address.url}"
        if id_ not in self._clients:
            self._clients[id_] = WitnessClient(address)
        return self._clients[id_]

    def _cosign(self, shard: int, clients: Sequence[WitnessClient]) -> bool:
        """Have a shard's checkpoint cosigned; return whether a new one was."""
        try:
            log = self._of(shard)
            log.refresh()
        except _FAILURES as error:
            self._note(f"shard {shard}", str(error))
            return False
        self._note(f"shard {shard}", "")
        if log.checkpoint is None or self._done.get(shard) == log.note:
            return False
        lines = [line for client in clients if (line := self._ask(client, log))]
        if not lines:
            return False
        if len(lines) == len(clients):
            self._done[shard] = log.note
        return self._write(shard, log.note + "".join(lines).encode())

    def _ask(self, client: WitnessClient, log: PublishedLog) -> str:
        """Return the cosignature line of a witness; empty, with a warning or an alarm, without one."""
        assert log.checkpoint is not None
        size, origin = log.size, log.checkpoint.origin
        subject = f"{client.address.key.name} {origin}"
        try:
            line = client.cosign(
                origin,
                size,
                log.note.decode(),
                lambda old: consistency_proof(old, size, log.node) if old < size else [],
            )
        except WitnessForkError as error:
            self._note(
                subject, f"ALARM: {error}; nobody who trusts it accepts this log", alarm=True
            )
            return ""
        except (WitnessError, *_FAILURES) as error:
            self._note(subject, str(error))
            return ""
        self._note(subject, "")
        return line

    def _write(self, shard: int, note: bytes) -> bool:
        name = object_name(shard, WITNESSED)
        try:
            try:
                before = self._objects.get(name)
            except ObjectNotFoundError:
                before = None
            self._objects.replace(name, note, before)
        except ObjectStoreError as error:  # also of another publisher that was faster
            logger.warning("the cosigned checkpoint of shard %d is not kept: %s", shard, error)
            return False
        return True

    def _note(self, subject: str, fault: str, *, alarm: bool = False) -> None:
        """Log a fault once, and its end."""
        if fault == self._faults.get(subject, ""):
            return
        self._faults[subject] = fault
        if alarm:
            logger.error(fault)
        elif fault:
            logger.warning("not cosigned: %s", fault)
        else:
            logger.warning("%s: all is well again", subject)


class WitnessThread:
    """Runs the rounds beside the publisher until it is stopped."""

    def __init__(self, witnessing: Witnessing) -> None:
        self._witnessing = witnessing
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="witnesses", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Stop after the request that goes on."""
        self._stopping.set()
        self._thread.join(2 * WITNESS_SECONDS)
        self._witnessing.close()

    def _run(self) -> None:
        while not self._stopping.wait(WITNESS_SECONDS):
            try:
                self._witnessing.round()
            except Exception:
                # a failure here must not end the asking, nor the publishing beside it
                logger.exception("asking the witnesses failed")
