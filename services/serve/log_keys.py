"""The published log at a start of `serve`: its keys, which `matchpost keygen` makes too, and its sizes."""

import logging
import sys
from collections.abc import Callable
from pathlib import Path

import redis

from infra.health.secrets import Secret, SecretRecord
from infra.log.key_files import (
    LOG_KEY,
    RECEIPTS_KEY,
    LogKeyError,
    generate_keys,
    keys_folder,
    missing_keys,
    named_host,
    read_public_keys,
)
from infra.log.names import shard_key
from infra.log.published_log import PublishedLogs
from infra.log.signed_note import NoteError
from infra.objects.port import ObjectStoreError
from infra.people.account_macs import ACCOUNTS_KEY, make_mac_key, note_all_have_macs
from infra.redis import keys
from infra.redis.clients import time_ms
from infra.settings.settings import Settings
from infra.store.layout import Layout
from infra.store.scrub_notes import ScrubRecord
from infra.store.watermarks import PublishedSizes, read_published_sizes
from services.app.error_codes import EXIT_OK, EXIT_REFUSED

logger = logging.getLogger(__name__)


def run(settings: Settings, host: str | None) -> int:
    """Write the keys that are missing, print where, and the public keys; return the exit code."""
    folder = keys_folder(settings)
    try:
        made = _generate(folder, host or named_host(folder) or settings.mail_domain)
        public, receipts = (read_public_keys(folder, name)[0] for name in (LOG_KEY, RECEIPTS_KEY))
    except LogKeyError as error:
        print(f"matchpost: {error}", file=sys.stderr)
        return EXIT_REFUSED
    for file in made:
        print(f"made {file}; back it up, and let nobody else read it")
    print(
        f"Receipts are verified by keys of this one, as /log/receipts-keys lists them:\n{receipts}"
    )
    print(f"The logs are named {public.name}/s00 and so on; auditors verify them by")
    for shard in range(settings.shards):
        print(shard_key(public, shard))
    return EXIT_OK


def _generate(folder: Path, host: str) -> list[Path]:
    """Write the keys that are missing, and return their files; `LogKeyError` if all are there."""
    try:
        made = generate_keys(folder, host)
    except LogKeyError:
        if missing_keys(folder) or not make_mac_key(folder):
            raise
        return [folder / ACCOUNTS_KEY]
    return [*made, *([folder / ACCOUNTS_KEY] if make_mac_key(folder) else [])]


def make_shared_keys(settings: Settings, data: redis.Redis, report: Callable[[Path], None]) -> None:
    """Make the keys that neither an external server knows of nor this machine has; `report` their files."""
    folder, recorded = keys_folder(settings), SecretRecord(data).read()
    if Secret.ACCOUNTS_KEY not in recorded and make_mac_key(folder):
        report(folder / ACCOUNTS_KEY)
        if not data.exists(keys.USERS):
            # the scrubber has no record to adopt, and may not be able to write to the folder later
            note_all_have_macs(folder, time_ms(data))
            ScrubRecord(data).note_macs()
    absent = set(missing_keys(folder))
    if settings.durability.durable and absent and not absent & recorded.keys():
        for file in generate_keys(folder, named_host(folder) or settings.mail_domain):
            report(file)


def make_first_keys(settings: Settings, data: redis.Redis, shape: Layout) -> None:
    """Make the keys that are missing; log where, or what to do.

    No log key is made where something was published, because another one can't go on with a log. A receipts
    key can: earlier receipts are verified by its public key, which stays. For an external server other machines
    may have them already: see `make_shared_keys`.
    """
    folder = keys_folder(settings)
    missing = missing_keys(folder)
    if not missing or settings.redis_url is not None:
        return
    if LOG_KEY in missing:
        if any(one.size for one in read_published_sizes(data, shape.shards)):
            # the publisher raises the alarm
            return
        _make_keys(folder, settings)
        return
    try:
        _make_keys(folder, settings)
    except (OSError, LogKeyError) as error:
        # as where the folder can't be written; moves and the log go on without receipts
        logger.warning("no receipts are given, because their key can't be made: %s", error)


def _make_keys(folder: Path, settings: Settings) -> None:
    host = named_host(folder) or settings.mail_domain
    made = generate_keys(folder, host)
    names = " and ".join(file.name for file in made)
    logger.info("made %s for %s in %s; back them up", names, host, folder)


def make_accounts_key(settings: Settings, data: redis.Redis) -> None:
    """Make the key of the accounts' MACs if it is missing; log an alarm if accounts had MACs before."""
    folder = keys_folder(settings)
    if not make_mac_key(folder):
        return
    record = ScrubRecord(data)
    if record.all_have_macs():
        record.forget_macs()
        logger.error(
            "ALARM: the key of the accounts' MACs was missing, and is made new in %s; the scrubber takes "
            "the accounts for right as they are now; if that is not what you want, put back %s",
            folder,
            ACCOUNTS_KEY,
        )
    else:
        logger.info("made the key of the accounts' MACs in %s; back it up", folder)


def record_published_sizes(
    settings: Settings, data: redis.Redis, queue: redis.Redis, shape: Layout
) -> None:
    """Record how far the logs are published, before anything can be committed.

    Data that were put back do not know it, and the server of the queue may have been started empty.
    `ObjectStoreError` if it can't be read: then a roll-back could not be noticed.
    """
    logs, sizes = PublishedLogs(settings), PublishedSizes(data, queue)
    for shard in range(shape.shards):
        try:
            log = logs.of(shard)
            log.refresh()
        except LogKeyError:
            # nothing is published, or the publisher raises the alarm
            return
        except NoteError as error:
            raise ObjectStoreError(
                f"the published log of shard {shard} can't be read: {error}"
            ) from error
        if log.checkpoint:
            sizes.record(shard, log.size, log.checkpoint.root)
