"""The published log at a start of `serve`: its keys, which `matchpost keygen` makes too, and its sizes."""

import logging
import sys
from pathlib import Path

import redis

from infra.log.key_files import (
    FOLDER_NAME,
    LogKeyError,
    generate_keys,
    has_keys,
    read_public_keys,
)
from infra.log.names import shard_key
from infra.log.published_logs import PublishedLogs
from infra.log.signed_note import NoteError
from infra.objects.port import ObjectStoreError
from infra.people.account_seals import ACCOUNTS_KEY, keys_folder, make_seal_key
from infra.settings import Settings
from infra.store.layout import Layout
from infra.store.published_sizes import PublishedSizes, read_published_sizes
from infra.store.scrub_notes import ScrubRecord
from services.app.error_codes import EXIT_OK, EXIT_REFUSED

logger = logging.getLogger(__name__)


def run(settings: Settings, host: str | None) -> int:
    """Write the keys that are missing, print where, and the public keys; return the exit code."""
    folder = settings.keys or settings.data / FOLDER_NAME
    try:
        made = _generate(folder, host or settings.mail_domain)
        public = read_public_keys(folder)[0]
    except LogKeyError as error:
        print(f"matchpost: {error}", file=sys.stderr)
        return EXIT_REFUSED
    for file in made:
        print(f"made {file}; back it up, and let nobody else read it")
    print(f"The logs are named {public.name}/s00 and so on; auditors verify them by")
    for shard in range(settings.shards):
        print(shard_key(public, shard))
    return EXIT_OK


def _generate(folder: Path, host: str) -> list[Path]:
    """Write the keys that are missing, and return their files; `LogKeyError` if all are there."""
    try:
        made = generate_keys(folder, host)
    except LogKeyError:
        if not has_keys(folder) or not make_seal_key(folder):
            raise
        return [folder / ACCOUNTS_KEY]
    return [*made, *([folder / ACCOUNTS_KEY] if make_seal_key(folder) else [])]


def make_first_keys(settings: Settings, data: redis.Redis, shape: Layout) -> None:
    """Make keys if there are none and nothing was ever published; log where, or what to do.

    For an external server the operator makes them, because other machines may have them already.
    """
    folder = settings.keys or settings.data / FOLDER_NAME
    if has_keys(folder):
        return
    published = any(one.size for one in read_published_sizes(data, shape.shards))
    if published or settings.redis_url is not None:
        # the publisher raises the alarm
        return
    generate_keys(folder, settings.mail_domain)
    logger.info(
        "made keys for the published log of %s in %s; back them up", settings.mail_domain, folder
    )


def make_accounts_key(settings: Settings, data: redis.Redis) -> None:
    """Make the key of the accounts' seals if it is missing; log an alarm if accounts had seals before.

    For an external server the operator makes it, because other machines may have it already.
    """
    folder = keys_folder(settings)
    if settings.redis_url is not None or not make_seal_key(folder):
        return
    record = ScrubRecord(data)
    if record.all_sealed():
        record.forget_sealed()
        logger.error(
            "ALARM: the key of the accounts' seals was missing, and is made new in %s; the scrubber takes "
            "the accounts for right as they are now; if that is not what you want, put back %s",
            folder,
            ACCOUNTS_KEY,
        )
    else:
        logger.info("made the key of the accounts' seals in %s; back it up", folder)


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
