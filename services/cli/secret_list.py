"""`matchpost secrets`: whether this machine has the server's secrets.

Exit codes: 0 none differs; 1 one differs, or can't be accepted; 2 the server does not answer.
"""

import sys
from typing import Final

from infra.health.secrets import Secret, SecretCopy, SecretRecord, mismatch, read_copy
from infra.mail.addresses import LostKeyError
from infra.objects.port import ObjectStoreError
from infra.settings.settings import Settings
from services.app.context import App
from services.app.error_codes import EXIT_OK, EXIT_REFUSED

_WIDTH: Final = max(map(len, Secret))


def run(accept: str | None, settings: Settings) -> int:
    """Print each secret with its place, or record that of this machine; return the exit code."""
    with App(settings) as parts:
        parts.store.layout()
        record = SecretRecord(parts.data)
        if accept is not None:
            return _accept(settings, record, Secret(accept))
        recorded = record.read()
        differ = False
        for secret in Secret:
            try:
                copy = read_copy(secret, settings)
                words = _words(copy, recorded.get(secret, ""))
                differ |= words == _OTHER
            except (ObjectStoreError, LostKeyError, OSError) as error:
                copy, words, differ = SecretCopy(secret, ""), str(error), True
            print(f"{secret:{_WIDTH}}  {words}{copy.place and f': {copy.place}'}")
    return EXIT_REFUSED if differ else EXIT_OK


_OTHER: Final = "another than the server's"


def _words(copy: SecretCopy, recorded: str) -> str:
    if copy.missing:
        return "not here" if recorded else "not here, and the server has none"
    if not recorded:
        return "here, and not recorded yet"
    return _OTHER if mismatch(copy, recorded) else "the server's"


def _accept(settings: Settings, record: SecretRecord, secret: Secret) -> int:
    copy = read_copy(secret, settings)
    if copy.missing:
        print(f"matchpost: {secret}: there is none here ({copy.place})", file=sys.stderr)
        return EXIT_REFUSED
    record.accept(copy)
    print(
        f"{secret}: that of this machine is the server's now; processes with another one refuse to start"
    )
    return EXIT_OK
