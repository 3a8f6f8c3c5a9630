"""`matchpost verify --mirror DIR|URL`: check published logs without any server, and all matches in them."""

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from email import message_from_bytes
from importlib import import_module
from math import gcd
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from infra.audit.faults import NotCheckableError
from infra.audit.match import CheckedMatches, describe_refusals
from infra.audit.mirror import MirroredLog, MirrorObjects, MirrorReader, notes_in
from infra.log.signed_note import NoteError, VerifierKey
from infra.objects.port import ObjectStoreError
from services.cli.verify import VerifyReport, not_checkable, read_keys
from services.client.connect import log_token

_TOGETHER: Final = 32 << 20
"""Bytes of the matches of one task: their leaves are in memory."""

_MOST_NOTES: Final = 1 << 20
"""The most bytes of a file with an earlier checkpoint."""


class _Mirror:
    """A mirror, as each process reads it."""

    def __init__(self, where: str, kept: Path, keys: Sequence[VerifierKey]) -> None:
        self.objects = MirrorObjects(where, kept, log_token())
        self._keys = keys

    def reader(self, shard: int) -> MirrorReader:
        """Return the reader of a shard."""
        return MirrorReader(self.objects, shard, self._keys)


_mirrors: list[_Mirror] = []


def begin_process(where: str, kept: Path, keys: Sequence[VerifierKey]) -> None:
    """Make the parts of a process."""
    import_module("infra.settings.game_packages").load_games()
    _mirrors[:] = [_Mirror(where, kept, keys)]


def check_log(shard: int, earlier: Sequence[str]) -> MirroredLog:
    """Check the log of a shard."""
    return _mirrors[0].reader(shard).check(earlier)


def check_matches(shard: int, anchors: Mapping[int, int], boards: range) -> CheckedMatches:
    """Check matches of a shard."""
    return _mirrors[0].reader(shard).check_matches(anchors, boards)


def run(where: str, trusted: Sequence[str], checkpoints: Sequence[str]) -> VerifyReport:
    """Check a mirror, and return what holds and what does not."""
    try:
        keys = [key for one in trusted for key in read_keys(one)]
        earlier = [note for file in checkpoints for note in _notes(Path(file))]
        with TemporaryDirectory() as kept:
            shards = MirrorObjects(where, Path(kept), log_token()).shards()
            context = get_context("spawn")
            with ProcessPoolExecutor(
                os.cpu_count(), context, begin_process, (where, Path(kept), keys)
            ) as pool:
                return _report(*check_mirror(pool, shards, earlier), keys, earlier)
    except (NotCheckableError, ObjectStoreError, NoteError) as error:
        return not_checkable(where, error)


def check_mirror(
    pool: Executor, shards: Sequence[int], earlier: Sequence[str]
) -> tuple[list[MirroredLog], CheckedMatches]:
    """Check the logs of a mirror, then all matches in them."""
    logs = [one.result() for one in [pool.submit(check_log, shard, earlier) for shard in shards]]
    _check_division(logs)
    tasks = [
        pool.submit(check_matches, log.shard, log.anchors, boards)
        for log in logs
        for boards in _board_ranges(log.leaf_bytes)
    ]
    found = CheckedMatches()
    for task in tasks:
        found.add(task.result())
    return logs, found


def _check_division(logs: Sequence[MirroredLog]) -> None:
    """Require that no match has leaves in two logs: boards are divided by their remainders."""
    divisor = gcd(*(log.divisor for log in logs))
    most = max(log.shard for log in logs)
    if divisor and divisor <= most:
        logs[0].faults.append("a log has leaves of a match that belongs to another shard's log")


def _board_ranges(leaf_bytes: Mapping[int, int]) -> Iterator[range]:
    """Yield ranges of boards whose leaves are few enough to be in memory together."""
    first, size, last = 0, 0, 0
    for board, more in sorted(leaf_bytes.items()):
        if size and size + more > _TOGETHER:
            yield range(first, board)
            first, size = board, 0
        size += more
        last = board
    if size:
        yield range(first, last + 1)


def _notes(file: Path) -> list[str]:
    """Return the checkpoints in a file; `NotCheckableError` if there are none."""
    try:
        with file.open("rb") as opened:
            data = opened.read(_MOST_NOTES)
    except OSError as error:
        raise NotCheckableError(f"{file}: {error.strerror or error}") from None
    parts = [data, *(part.get_payload(decode=True) for part in message_from_bytes(data).walk())]
    texts = [part.decode(errors="replace") for part in parts if isinstance(part, bytes)]
    found = dict.fromkeys(note for text in texts for note in notes_in(text))
    if not found:
        raise NotCheckableError(f"{file} has no checkpoint in it")
    return list(found)


def _report(
    logs: Sequence[MirroredLog],
    found: CheckedMatches,
    keys: Sequence[VerifierKey],
    earlier: Sequence[str],
) -> VerifyReport:
    """Return what holds and what does not."""
    faults = [fault for log in logs for fault in log.faults]
    faults += found.sentences()
    faults += [
        f"the log {log.origin} is signed by none of the keys"
        for log in logs
        if keys and not log.signed
    ]
    known = {log.origin for log in logs}
    faults += [
        f"the mirror has no log {origin}, of which there is a checkpoint"
        for origin in dict.fromkeys(note.partition("\n")[0] for note in earlier)
        if origin not in known
    ]
    unsigned = "no signature was checked, because no --key was passed"
    good = [log for log in logs if not log.faults]
    held = len(found.faults)
    signed = "signed " if keys and all(log.signed for log in logs) else ""
    summary = (
        f"{len(good)} of {len(logs)} logs have the roots of their {signed}checkpoints, made again from "
        f"{sum(log.size for log in good)} leaves; {found.matches - held} of {found.matches} matches hold: "
        f"{found.events} events in sequence, chained, and decided again with the same result"
        f"{describe_refusals(found.refusals)}"
    )
    return VerifyReport(
        [sentence for log in logs for sentence in log.said],
        [] if keys else [unsigned],
        faults,
        summary=summary,
    )
