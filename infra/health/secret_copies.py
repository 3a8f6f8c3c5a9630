"""The secrets of a server as this machine has them: where each is, and its fingerprint."""

import hmac
import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from infra.health.secret_record import Secret, SecretCopy
from infra.mail.addresses import FILE_NAME, ServerAddresses, read_secret
from infra.objects.location import FOLDER_NAME, open_objects
from infra.objects.port import ObjectDiffersError, ObjectNotFoundError, ObjectStore
from infra.people.account_macs import KEYS_FOLDER, MacKeyError, read_mac_key
from infra.process.synced_files import create_once
from infra.settings.settings import Settings

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
