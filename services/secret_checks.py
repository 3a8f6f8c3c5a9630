"""The secrets that each process needs, and the check that those of this machine are the server's."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import redis

from infra.health.secrets import (
    Secret,
    SecretCopy,
    SecretMismatchError,
    SecretRecord,
    make_id,
    mismatch,
    read_copy,
)
from infra.mail.addresses import LostKeyError, read_secret
from infra.objects.port import ObjectStoreError
from infra.settings.settings import Settings

logger = logging.getLogger(__name__)

NEEDED: Final[Mapping[str, tuple[Secret, ...]]] = {
    "worker": (Secret.SEEDS, Secret.STORE),
    "side": (Secret.STORE,),
    "scheduler": (Secret.STORE,),
    "publisher": (Secret.LOG_KEY, Secret.STORE),
    "robots": (Secret.ACCOUNTS_KEY, Secret.STORE),
    "maintenance": (Secret.LOG_KEY, Secret.ACCOUNTS_KEY, Secret.STORE),
    "web": (Secret.RECEIPTS_KEY, Secret.ACCOUNTS_KEY, Secret.STORE),
    "mail": (Secret.MAIL_KEY, Secret.ACCOUNTS_KEY, Secret.STORE),
    "mailer": (Secret.MAIL_KEY, Secret.RECEIPTS_KEY, Secret.ACCOUNTS_KEY, Secret.STORE),
}
"""The secrets that a process needs, by the subcommand that runs it."""


def check_secrets(settings: Settings, data: redis.Redis, role: str) -> None:
    """Check that this machine has the server's secrets, as far as a role needs them.

    The first that has one records it. `SecretMismatchError` where one is another or is missing here.
    """
    record = SecretRecord(data)
    for secret in NEEDED[role]:
        check_secret(settings, record, secret)


def check_secret(settings: Settings, record: SecretRecord, secret: Secret) -> SecretCopy | None:
    """Check one secret, and return this machine's; None if it can't be read now, which is logged."""
    try:
        copy = read_copy(secret, settings)
        if copy.missing and secret not in record.read():
            _make(settings, secret)
            copy = read_copy(secret, settings)
    except ObjectStoreError as error:
        # what reads it later says so, and nothing is written there without it
        logger.warning("the object store can't be compared with the server's: %s", error)
        return None
    except (LostKeyError, OSError) as error:
        raise SecretMismatchError(str(error)) from error
    record.check(copy)
    return copy


def _make(settings: Settings, secret: Secret) -> None:
    """Make what any process may make if the server has none; `matchpost keygen` makes the other keys."""
    if secret is Secret.MAIL_KEY:
        read_secret(Path(read_copy(secret, settings).place))
    else:
        make_id(secret, settings)


def accept_secrets(settings: Settings, data: redis.Redis) -> None:
    """Record the secrets of the machine that has the data, and log where another was recorded.

    Its data directory is the whole server: a key that is not there is lost, or was removed by the operator.
    """
    record = SecretRecord(data)
    for secret in Secret:
        try:
            copy = read_copy(secret, settings)
            if copy.missing and secret is Secret.STORE:
                make_id(secret, settings)
                copy = read_copy(secret, settings)
        except (ObjectStoreError, LostKeyError, OSError) as error:
            logger.warning("%s: it can't be compared with the one before: %s", secret, error)
            continue
        if recorded := record.read().get(secret, ""):
            if mismatch(copy, recorded):
                logger.warning(
                    "%s: replaced or lost since the last start; look at %s", secret, copy.place
                )
            record.accept(copy)


def read_other_secrets(settings: Settings, client: redis.Redis) -> tuple[str, ...]:
    """Return why secrets of this machine are not the server's: a sentence for each."""
    recorded = SecretRecord(client).read()
    found = []
    for secret in Secret:
        try:
            copy = read_copy(secret, settings)
        except (ObjectStoreError, LostKeyError, OSError) as error:
            found.append(f"{secret}: it can't be read; {error}")
            continue
        # the doctor may run where no process does, so a secret may be missing
        if not copy.missing and (why := mismatch(copy, recorded.get(secret, ""))):
            found.append(why)
    return tuple(found)
