"""`matchpost backup [TARGET]`: copy the server, while people play, and try the copy.

Exit codes: 0 made, and it holds; 1 refused, or it does not hold; 2 the store can't be reached.
"""

import os
import sys
import time
from typing import Final

from msgspec.structs import replace
from redis.exceptions import RedisError

from infra.backup.notes import BackupPlace
from infra.backup.port import BackupError
from infra.log.key_files import LogKeyError
from infra.log.signed_note import NoteError
from infra.objects.location import store_url
from infra.objects.port import ObjectStoreError
from infra.settings.settings import Settings
from infra.valkey.process import LockedError
from infra.valkey.server import EmbeddedError
from services.app.backups import check_places, make_backup, thin_out
from services.app.error_codes import EXIT_OK, EXIT_REFUSED, EXIT_UNKNOWN
from services.cli.backup_trial import try_backup

_NICENESS: Final = 10
"""The server that runs comes first."""


def run(
    *,
    target: str | None,
    keys_to: str | None,
    encrypt_to: str | None,
    is_tried: bool,
    settings: Settings,
) -> int:
    """Make a backup, try it, and return the exit code; the result is noted for the doctor."""
    given = {"backup": target, "backup_keys": keys_to, "backup_encrypt_to": encrypt_to}
    settings = replace(settings, **{name: one for name, one in given.items() if one is not None})
    place = BackupPlace(settings.data)
    try:
        check_places(settings)
        if not settings.data.is_dir():
            return _end(f"there is no data directory {settings.data}", EXIT_REFUSED)
        lock = place.lock()
        lock.acquire()
    except (BackupError, ValueError) as error:
        return _end(str(error), EXIT_REFUSED)
    except LockedError as error:
        return _end(f"process {error.owner} is making a backup now", EXIT_REFUSED)
    os.nice(_NICENESS)
    place.note(begun=time.time_ns() // 1_000_000)
    try:
        fault = _make(settings, place, is_tried=is_tried)
        code = EXIT_REFUSED if fault else EXIT_OK
    except (BackupError, LogKeyError, NoteError, OSError) as error:
        fault, code = str(error), EXIT_REFUSED
    except (ObjectStoreError, EmbeddedError, RedisError) as error:
        fault, code = str(error), EXIT_UNKNOWN
    finally:
        lock.release()
    place.note(fault=fault)
    return _end(fault, code) if fault else code


def _make(settings: Settings, place: BackupPlace, *, is_tried: bool) -> str:
    """Make and try a backup; return why it does not hold, empty if it does."""
    id_, made = make_backup(settings)
    place.note(made=made.begun, id=id_, size=made.size)
    print(
        f"backup {id_}: {len(made.files)} files, {made.size / (1 << 20):.1f} MiB, in "
        f"{store_url(settings.backup or '')}"
    )
    if not made.has_log:
        print(f"the published log is not in it: it stays in {settings.store}")
    if settings.backup_keys is None:
        print(
            "keys, seeds and mail-key are not in it: copy them to another place once, or name one by --keys-to"
        )
    if not is_tried:
        print("it was not tried")
        return ""
    report = try_backup(settings, id_)
    if report.exit_code != EXIT_OK:
        report.print()
        place.note(failed=(*place.read().failed, id_))
        return [*report.faults, *report.unchecked, "it does not hold"][0]
    place.note(tried=made.begun, found=report.summary)
    thin_out(settings, failed=place.read().failed)
    place.note(failed=())
    print(f"tried: {report.summary}")
    return ""


def _end(sentence: str, code: int) -> int:
    print(f"matchpost: {sentence}", file=sys.stderr)
    return code
