"""The record of a server's secrets: their fingerprints, which all machines compare with their own.

| key | what |
|---|---|
| `{boards}:secrets` | hash: name of a secret -> its fingerprint |
| `{mail}:key` | the fingerprint of the mail key |

The first process that has a secret records it. A process that has another one must not start: it would make
addresses that nobody else accepts, draw from seeds that nobody else has, or publish another history. A fingerprint
shows nothing of its secret.

The secrets of a server as this machine has them: where each is, and its fingerprint.
"""

import hmac
import logging
import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec
import redis

from infra.mail.addresses import FILE_NAME, ServerAddresses, read_secret
from infra.objects.location import FOLDER_NAME, open_objects
from infra.objects.port import ObjectDiffersError, ObjectNotFoundError, ObjectStore
from infra.people.account_macs import KEYS_FOLDER, MacKeyError, read_mac_key
from infra.process.synced_files import create_once
from infra.redis import keys
from infra.redis.mail_keys import KEY_FINGERPRINT
from infra.settings.settings import Settings

logger = logging.getLogger(__name__)


class Secret(StrEnum):
    """A thing that all machines of a server have to share."""

    SEEDS = "seeds"
    """The folder with the secret ends of the chains of seeds."""
    MAIL_KEY = "mail-key"
    """The key of the addresses of matches."""
    LOG_KEY = "log-key"
    """The key that signs the published log."""
    RECEIPTS_KEY = "receipts-key"
    """The key that signs receipts."""
    ACCOUNTS_KEY = "accounts-key"
    """The key of the accounts' MACs."""
    STORE = "store"
    """The object store: no secret, but another one has another archive and another log."""


SETTINGS: Final[Mapping[Secret, str]] = {
    Secret.SEEDS: "MATCHPOST_SEEDS",
    Secret.MAIL_KEY: "MATCHPOST_MAIL_KEY",
    Secret.LOG_KEY: "MATCHPOST_KEYS",
    Secret.RECEIPTS_KEY: "MATCHPOST_KEYS",
    Secret.ACCOUNTS_KEY: "MATCHPOST_KEYS",
    Secret.STORE: "MATCHPOST_STORE",
}
"""The setting that says where a secret is."""


class SecretCopy(msgspec.Struct, frozen=True):
    """A secret as this machine has it."""

    secret: Secret
    place: str
    """The path, or the URL, where it is looked for."""
    fingerprints: tuple[str, ...] = ()
    """Its own, then those of keys that it has replaced; empty if there is none here."""

    @property
    def missing(self) -> bool:
        """Return whether this machine lacks the secret."""
        return not self.fingerprints


class SecretMismatchError(Exception):
    """This machine has another secret than the server; the message says what to do."""


class SecretRecord:
    """The fingerprints that are recorded in the data."""

    def __init__(self, client: redis.Redis) -> None:
        # redis-py types no answer precisely
        self._client: Any = client

    def read(self) -> dict[Secret, str]:
        """Return the fingerprints of the secrets that were recorded."""
        stored = {name.decode(): value.decode() for name, value in self._hash().items()}
        found = {secret: stored[secret] for secret in Secret if secret in stored}
        mail_key = self._client.get(KEY_FINGERPRINT)
        return found | ({Secret.MAIL_KEY: mail_key.decode()} if mail_key else {})

    def _hash(self) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = self._client.hgetall(keys.SECRETS)
        return found

    def check(self, copy: SecretCopy) -> None:
        """Record a secret if it is the first; `SecretMismatchError` if this machine's is another.

        A key that has replaced the recorded one, and is beside it, is recorded in its place.
        """
        recorded = self.read().get(copy.secret, "")
        if not recorded and not copy.missing:
            self._add(copy)
            recorded = self.read()[copy.secret]
        if fault := mismatch(copy, recorded):
            raise SecretMismatchError(fault)
        if recorded and copy.fingerprints[0] != recorded:
            self.accept(copy)
            logger.info("%s: replaced by a newer one, which all machines need", copy.secret)

    def accept(self, copy: SecretCopy) -> None:
        """Record the secret of this machine, whatever was recorded; nothing if it has none."""
        if copy.secret is Secret.MAIL_KEY:
            if copy.missing:
                self._client.delete(KEY_FINGERPRINT)
            else:
                self._client.set(KEY_FINGERPRINT, copy.fingerprints[0])
        elif copy.missing:
            self._client.hdel(keys.SECRETS, copy.secret)
        else:
            self._client.hset(keys.SECRETS, copy.secret, copy.fingerprints[0])

    def _add(self, copy: SecretCopy) -> None:
        """Record a secret unless another process has just recorded one."""
        if copy.secret is Secret.MAIL_KEY:
            self._client.set(KEY_FINGERPRINT, copy.fingerprints[0], nx=True)
        else:
            self._client.hsetnx(keys.SECRETS, copy.secret, copy.fingerprints[0])


def mismatch(copy: SecretCopy, recorded: str) -> str:
    """Return why a machine with this copy must not use it, as a sentence; empty if it may."""
    if not recorded or recorded in copy.fingerprints:
        return ""
    advice = (
        f"give all machines the same one, see {SETTINGS[copy.secret]}; `matchpost secrets --accept "
        f"{copy.secret}` makes that of this machine the server's"
    )
    if copy.missing:
        return f"{copy.secret} ({copy.place}): missing here, and the server has one; {advice}"
    return f"{copy.secret} ({copy.place}): another one than the server's; {advice}"


STORE_ID: Final = "server-id"
"""The object by which a store is known, and the file by which a folder of seeds is known."""

_ID_BYTES: Final = 16
_FINGERPRINT_LENGTH: Final = 32


def read_copy(secret: Secret, settings: Settings) -> SecretCopy:
    """Return a secret as this machine has it.

    `ObjectStoreError` if the object store can't be asked, OSError and `LostKeyError` if a file can't be used.
    """
    return _READERS[secret](secret, settings)


def make_id(secret: Secret, settings: Settings) -> None:
    """Write the id by which machines compare a folder of seeds or an object store, if it has none."""
    data = secrets.token_hex(_ID_BYTES).encode()
    if secret is Secret.SEEDS:
        create_once(seeds_folder(settings) / STORE_ID, data)
    elif secret is Secret.STORE:
        with suppress(ObjectDiffersError):  # another process made one first, and that is the id
            _objects(settings).create(STORE_ID, data)


def seeds_folder(settings: Settings) -> Path:
    """Return the folder of the secret ends of the chains of seeds."""
    return settings.seeds or settings.data / "seeds"


def _seeds(secret: Secret, settings: Settings) -> SecretCopy:
    folder = seeds_folder(settings)
    file = folder / STORE_ID
    found = [file.read_bytes()] if file.exists() else []
    return SecretCopy(secret, str(folder), _digests(found))


def _store(secret: Secret, settings: Settings) -> SecretCopy:
    place = settings.store or (settings.data / FOLDER_NAME).as_uri()
    found = _id_of(_objects(settings))
    return SecretCopy(secret, place, _digests([] if found is None else [found]))


def _objects(settings: Settings) -> ObjectStore:
    return open_objects(settings.store, settings.data)


def _id_of(objects: ObjectStore) -> bytes | None:
    try:
        return objects.get(STORE_ID)
    except ObjectNotFoundError:
        return None


def _mail_key(secret: Secret, settings: Settings) -> SecretCopy:
    file = settings.mail_key or settings.data / FILE_NAME
    if not file.exists():
        return SecretCopy(secret, str(file))
    addresses = ServerAddresses(read_secret(file), settings.mail_domain)
    return SecretCopy(secret, str(file), (addresses.fingerprint,))


def _signing_key(secret: Secret, settings: Settings) -> SecretCopy:
    """Return a key by the public ones beside it, the newest first."""
    file = _keys_folder(settings) / secret
    public = file.with_name(f"{file.name}.pub")
    found = public.read_bytes().split() if file.exists() and public.exists() else []
    return SecretCopy(secret, str(file), _digests(found))


def _accounts_key(secret: Secret, settings: Settings) -> SecretCopy:
    folder = _keys_folder(settings)
    try:
        key = read_mac_key(folder)
    except MacKeyError:
        return SecretCopy(secret, str(folder / secret))
    print_ = hmac.digest(key.secret, b"fingerprint", sha256).hex()[:_FINGERPRINT_LENGTH]
    return SecretCopy(secret, str(folder / secret), (print_,))


def _keys_folder(settings: Settings) -> Path:
    return settings.keys or settings.data / KEYS_FOLDER


def _digests(texts: Iterable[bytes]) -> tuple[str, ...]:
    return tuple(sha256(text).hexdigest()[:_FINGERPRINT_LENGTH] for text in texts)


_READERS: Final[Mapping[Secret, Callable[[Secret, Settings], SecretCopy]]] = {
    Secret.SEEDS: _seeds,
    Secret.MAIL_KEY: _mail_key,
    Secret.LOG_KEY: _signing_key,
    Secret.RECEIPTS_KEY: _signing_key,
    Secret.ACCOUNTS_KEY: _accounts_key,
    Secret.STORE: _store,
}
