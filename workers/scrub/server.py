"""The check of what a server has once: its layout, its keys, its leases, and the seeds of each shard."""

from pathlib import Path
from typing import Any, Final

from redis.exceptions import ResponseError

from domain.fairness import CHAIN_LENGTH, previous_seed
from infra.log.key_files import (
    LOG_KEY,
    RECEIPTS_KEY,
    LogKeyError,
    keys_folder,
    missing_keys,
    read_keys,
)
from infra.log.names import LogSecret
from infra.log.signed_note import NoteError, VerifierKey
from infra.projections.buckets import SPECS
from infra.redis import keys
from infra.store.board_numbers import BoardNumbers
from infra.store.closed_shards import ClosedShards
from infra.store.layout import read_layout
from infra.store.seed_chains import read_mark
from infra.store.watermarks import PublishedSizes
from workers.scrub.scrubber import ScrubFault, ScrubParts, Step

LONGEST_LEASE_MS: Final = 600_000
"""More than any lease lasts."""


class ServerCheck:
    """One part of a server in each step."""

    name = "server"

    def __init__(self, parts: ScrubParts) -> None:
        self._parts = parts
        # redis-py types no answer precisely
        self._client: Any = parts.data
        self._checks = [
            self._layout,
            self._counters,
            self._key_files,
            self._leases,
            self._pointers,
        ]

    def step(self, cursor: str) -> Step:
        """Check the next part."""
        place = int(cursor or 0)
        seeds = place - len(self._checks)
        faults = self._checks[place]() if seeds < 0 else self._seeds(seeds)
        last = place + 1 == len(self._checks) + self._parts.shards
        return Step(None if last else str(place + 1), faults)

    def _layout(self) -> list[ScrubFault]:
        try:
            layout = read_layout(self._parts.data)
        except (LookupError, ValueError) as error:
            return [ScrubFault("layout", f"it can't be read: {error}")]
        if layout.shards != self._parts.shards or not 1 <= layout.lanes <= layout.shards:
            return [ScrubFault("layout", f"it has {layout.shards} shards and {layout.lanes} lanes")]
        return []

    def _counters(self) -> list[ScrubFault]:
        try:
            BoardNumbers(self._parts.data, self._parts.store.layout()).highest()
        except (ValueError, ResponseError) as error:
            return [ScrubFault("counter of boards", f"it can't be read: {error}")]
        return []

    def _key_files(self) -> list[ScrubFault]:
        """Check that each secret key is there, and is that of the newest public key beside it."""
        folder = keys_folder(self._parts.settings)
        recorded = any(self._size(shard) for shard in range(self._parts.shards))
        if LOG_KEY in missing_keys(folder) and not recorded:
            return []
        try:
            read_keys(folder)
        except LogKeyError as error:
            return [ScrubFault("log key", str(error))]
        return [fault for name in (LOG_KEY, RECEIPTS_KEY) if (fault := _pair_fault(folder / name))]

    def _size(self, shard: int) -> int:
        data, queue = PublishedSizes(self._parts.data, self._parts.queue).recorded([shard])[shard]
        return max(data.size, queue.size)

    def _leases(self) -> list[ScrubFault]:
        """Find leases that last longer than any can: nobody works while they do."""
        client: Any = self._parts.queue
        faults = []
        for name in sorted(client.scan_iter("{lease:*}", count=1_000)):
            left = client.pttl(name)
            if left == -1 or left > LONGEST_LEASE_MS:
                ends = "never ends" if left == -1 else f"has {left // 1000} s left"
                what = name.decode(errors="replace")
                faults.append(
                    ScrubFault(
                        f"lease {what}",
                        f"it {ends}, longer than a lease lasts: delete the key {what}",
                    )
                )
        return faults

    def _pointers(self) -> list[ScrubFault]:
        """Check that the projections have a generation that is read, if anything is in the logs."""
        faults = []
        for spec in SPECS:
            value = self._client.get(keys.projection(spec.name, "live"))
            parts = (value or b"").split(b":")
            if value is not None and not (len(parts) == 3 and all(map(bytes.isdigit, parts))):  # noqa: PLR2004
                faults.append(
                    ScrubFault(
                        spec.name,
                        f"which of their generations is read can't be told: `matchpost rebuild {spec.name}`",
                    )
                )
        return faults

    def _seeds(self, shard: int) -> list[ScrubFault]:  # noqa: PLR0911 - one for each fault
        """Compare a shard's chain of seeds with its secret and with the mark of the seeds that were shown."""
        if ClosedShards(self._parts.data).read([shard]):
            return []  # its log was rolled back, which the doctor reports, and is restored
        folder = self._parts.settings.seeds or self._parts.settings.data / "seeds"
        about = f"seeds of shard {shard}"
        try:
            chain = self._parts.store.seed_chain(shard)
        except (ValueError, TypeError, ResponseError, LookupError) as error:
            return [ScrubFault(about, f"the chain in use can't be read: {error}")]
        if not folder.is_dir():
            return []  # it is on the workers' machine
        if chain is None:
            return []
        file = folder / f"s{shard:02}-{chain.chain}-{chain.anchor.hex()[:16]}"
        if not file.exists():
            return [ScrubFault(about, f"the secret of chain {chain.chain} is missing: {file}")]
        if fault := _seed_fault(file, chain.anchor):
            return [ScrubFault(about, fault)]
        first, last = read_mark(
            file.with_suffix(".used")
        )  # after the chain, because it is written first
        if first > CHAIN_LENGTH:
            return [
                ScrubFault(about, f"the mark of the seeds that were shown is damaged: {file}.used")
            ]
        if chain.used > last:
            return [
                ScrubFault(
                    about,
                    f"seeds up to number {chain.used} of chain {chain.chain} are used, and by the "
                    f"mark {file}.used up to {last}: the mark or the data was changed",
                )
            ]
        if chain.used < first - 1:
            return [
                ScrubFault(
                    about,
                    f"seeds up to number {last} of chain {chain.chain} were shown, and the data "
                    f"knows of {chain.used}: it was put back",
                )
            ]
        return []


def _seed_fault(file: Path, anchor: bytes) -> str:
    """Return what is wrong with a chain's secret; empty if it leads to the anchor."""
    seed = file.read_bytes()
    for _ in range(CHAIN_LENGTH):
        seed = previous_seed(seed)
    return "" if seed == anchor else f"its secret does not lead to the anchor: {file}"


def _pair_fault(file: Path) -> ScrubFault | None:
    """Return the fault of a key and its public one; None if they fit."""
    about, public = f"key {file.name}", file.with_name(f"{file.name}.pub")
    try:
        secret = LogSecret.parse(file.read_text("ascii"))
        text = public.read_text("utf-8")
        listed = [VerifierKey.parse(line) for line in text.split()]
    except (OSError, UnicodeDecodeError, NoteError) as error:
        return ScrubFault(about, f"it or its public key can't be used: {error}")
    if not listed or listed[0] != secret.public:
        return ScrubFault(about, f"it is not the key of the first line of {public}")
    if text != "".join(f"{one}\n" for one in listed) or file.read_text("ascii") != f"{secret}\n":
        return ScrubFault(
            about, "the bytes of it or of its public key are not those that this program writes"
        )
    return None
