"""Whether the secrets of this machine are those that the other machines have."""

import redis

from infra.mail.addresses import LostKeyError
from infra.objects.port import ObjectStoreError
from infra.secret_copies import read_copy
from infra.secret_record import Secret, SecretRecord, mismatch
from infra.settings import Settings


def read_other_secrets(settings: Settings, client: redis.Redis) -> tuple[str, ...]:
    """Return why secrets of this machine are not the server's: a sentence for each."""
    recorded = SecretRecord(client).read()
    found = []
    for secret in Secret:
        try:
            copy = read_copy(secret, settings)
        except (ObjectStoreError, LostKeyError, OSError) as error:
            found.append(f"the {secret} can't be read; {error}")
            continue
        # the doctor may run where no process does, so a secret may be missing
        if not copy.missing and (why := mismatch(copy, recorded.get(secret, ""))):
            found.append(why)
    return tuple(found)
