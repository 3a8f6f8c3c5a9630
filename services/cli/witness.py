"""`matchpost witness`: cosign the logs of another server, and refuse a fork.

It answers the server's requests on a port (C2SP tlog-witness), or with --follow reads the server's log by
itself, or both. Exit codes: 0 done, or stopped; 1 with --once: a log has forked or was rolled back; 2 it can't
work.
"""

import logging
import signal
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Final

import httpx

from infra.log.signed_note import NoteError, VerifierKey
from infra.objects.http import HttpObjects, open_client, read_answer
from infra.process.machine import raise_limit
from infra.process.synced_files import sync_folder, write_synced
from infra.witness.follower import LogFollower
from infra.witness.witness import Witness, WitnessFolderError
from services.app.error_codes import EXIT_OK, EXIT_REFUSED, EXIT_UNKNOWN
from services.client.connect import log_token
from services.http.connections import QuietServer, limits_for, server_config
from services.serve.logging import log_to_stderr
from services.serve.sockets import address_of, listen
from services.witness.app import make_witness_app

logger = logging.getLogger(__name__)

FOLLOW_SECONDS: Final = 60.0
"""Between two looks at a server's logs."""

_KEYS_FILE: Final = "log-keys"
"""The keys of the logs, as they were first seen."""


def run(
    folder: Path,
    name: str,
    keys: str | None,
    http: str | None,
    follow: str | None,
    once: bool,  # noqa: FBT001 - called by keyword
) -> int:
    """Witness until a stop signal, or once; return the exit code."""
    log_to_stderr("witness")
    if http is None and follow is None:
        return _fail("use --http ADDRESS to answer a server, --follow URL to read its log, or both")
    try:
        known = _log_keys(folder, keys, follow)
        witness = Witness.open(folder, name, known)
    except (WitnessFolderError, NoteError, OSError, httpx.HTTPError) as error:
        return _fail(str(error))
    with closing(witness):
        print(f"witness {witness.key}", flush=True)
        follower = follow and LogFollower(
            witness, HttpObjects(f"{follow.rstrip('/')}/log", token=log_token()), known
        )
        if follower and once:
            return EXIT_REFUSED if _look(follower) else EXIT_OK
        if follower and http is None:
            _follow(follower)
        if http is not None:
            if follower:
                threading.Thread(target=_follow, args=(follower,), daemon=True).start()
            return _serve(witness, http)
    return EXIT_OK


def _log_keys(folder: Path, keys: str | None, follow: str | None) -> list[VerifierKey]:
    """Return the keys of the logs: those of `keys`, else those seen first, else the server's own.

    They are kept, because a server that shows other keys later may be another server.
    """
    file = folder / _KEYS_FILE
    if keys is None and file.exists():
        return _parse_keys(file.read_text("utf-8"), str(file))
    place = keys or (follow and f"{follow.rstrip('/')}/log/keys")
    if not place:
        raise NoteError(
            "use --keys to say which logs to cosign: a file or an address of their keys"
        )
    if place.startswith(("http://", "https://")):
        with open_client(log_token()) as client:
            status, body = read_answer(client, place)
        if not httpx.codes.is_success(status):
            raise NoteError(f"{place} has no keys of logs: the answer is {status}")
        text = body.decode(errors="replace")
    else:
        text = Path(place).read_text("utf-8")
    found = _parse_keys(text, place)
    write_synced(file, "".join(f"{key}\n" for key in found).encode())
    sync_folder(folder)
    return found


def _parse_keys(text: str, place: str) -> list[VerifierKey]:
    try:
        found = [VerifierKey.parse(line) for line in text.split()]
    except NoteError as error:
        raise NoteError(f"{place} has no keys of logs: {error}") from None
    if not found:
        raise NoteError(f"{place} has no keys of logs")
    return found


def _look(follower: LogFollower) -> bool:
    """Look at all logs once, and log what was found; return whether one has forked."""
    found = follower.look()
    for one in found:
        if one.forked:
            logger.error("ALARM: %s", one.fault)
        elif one.fault:
            logger.warning("%s was not cosigned: %s", one.origin, one.fault)
    cosigned = [one for one in found if not one.fault]
    leaves = sum(one.size for one in cosigned)
    logger.info("cosigned: %d logs of %d, with %d leaves", len(cosigned), len(found), leaves)
    return any(one.forked for one in found)


def _follow(follower: LogFollower) -> None:
    signalled = threading.current_thread() is threading.main_thread()
    if signalled:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(EXIT_OK))
    while True:
        _look(follower)
        time.sleep(FOLLOW_SECONDS)


def _serve(witness: Witness, address: str) -> int:
    # uvicorn raises the signal again at its end
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(EXIT_OK))
    try:
        listening = listen(address, "--http")
    except OSError as error:
        return _fail(str(error))
    with listening:
        print(f"listening on {address_of(listening)}", flush=True)
        bounds = limits_for(raise_limit())
        config = server_config(make_witness_app(witness), bounds, behind_proxy=False)
        QuietServer(config).run(sockets=[listening])
    return EXIT_OK


def _fail(sentence: str) -> int:
    print(f"matchpost: {sentence}", file=sys.stderr)
    return EXIT_UNKNOWN
