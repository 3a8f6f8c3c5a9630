"""`matchpost completion boards`: the account's running matches, for the completion of shells.

It prints at once the list that was read before, as one line of words such as `pow2:12`, and reads the list again in
the background for the next time: a shell waits for it while a line is typed. The list is in a file, so that a shell
that finds one need not wait at all. Without a login there is none.
"""

import json
import os
import select
import time
from pathlib import Path
from typing import Final
from urllib.parse import urlencode, urlsplit

from services.client.login_file import boards_file, login_file

_FRESH_SECONDS: Final = 10.0

_WAIT_SECONDS: Final = 0.05
"""How long to wait for a list that was never read before."""

_ANSWER_SECONDS: Final = 10.0

_MOST: Final = 50


def run() -> int:
    """Print the boards as far as they are known, and return the exit code."""
    if not login_file().exists():
        return 0
    file = boards_file()
    known = _age(file) is not None
    if known:
        print(file.read_text(), flush=True)
    age = _age(file)
    if age is None or age > _FRESH_SECONDS:
        end = _refresh_in_background()
        if not known and select.select([end], [], [], _WAIT_SECONDS)[0] and _age(file) is not None:
            print(file.read_text(), flush=True)
    return 0


def _age(file: Path) -> float | None:
    """Return the age of a file in seconds; None if it is not there."""
    try:
        return time.time() - file.stat().st_mtime
    except FileNotFoundError:
        return None


def _refresh_in_background() -> int:
    """Start a process that reads the list; return a file descriptor that closes when it has ended."""
    end, held = os.pipe()
    if os.fork():
        os.close(held)
        return end
    try:
        os.setsid()  # so that the shell's time limit does not end it
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)
        _refresh()
    finally:
        # an error has nobody to read it: there are no boards to complete then
        os._exit(0)


def _refresh() -> None:
    # slow to import, and not needed where the list is fresh
    from http.client import HTTPConnection, HTTPSConnection  # noqa: PLC0415

    from services.client.login_file import read_login  # noqa: PLC0415

    login = read_login()
    if login is None:
        return
    parts = urlsplit(login.url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.netloc, timeout=_ANSWER_SECONDS)
    query = urlencode({"player": login.userid, "state": "active", "limit": _MOST})
    headers = {"Authorization": f"Bearer {login.token}"}
    rows = []
    for path in (f"/api/matches?{query}", f"/api/account/invitations?limit={_MOST}"):
        connection.request("GET", f"{parts.path}{path}", headers=headers)
        rows += json.loads(connection.getresponse().read()).get("matches", [])
    file = boards_file()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = file.with_name(f"{file.name}.{os.getpid()}.new")
    new.write_text(" ".join(f"{row['game']}:{row['board']}" for row in rows))
    new.replace(file)
