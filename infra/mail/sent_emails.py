"""The e-mails that were sent, in a file in the data directory: it does not go back when the data do.

After a restored backup the mailer reads the restored moves again, and the outbox has forgotten what it
sent. The file has only digests of ids and addresses. It may be lost: then those mails are sent once more.
"""

import logging
import sqlite3
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import Final

logger = logging.getLogger(__name__)

SENT_FILE: Final = "mail-sent"
"""The file in the data directory."""

KEPT_MS: Final = 7 * 24 * 3_600_000
"""How long it is known that an e-mail was sent: longer than events are mailed after they happened."""

_EXPIRY_MS: Final = 3_600_000


class SentEmails:
    """Notes e-mails by their keys in the outbox. If the file can't be used, none counts as sent."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._expiry = 0
        """When old notes are deleted next, ms."""
        self._failed = False

    @cached_property
    def _notes(self) -> sqlite3.Connection:
        # a machine on which only a mailer runs has no data directory yet
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # a run may be in another thread than the one before
        found = sqlite3.connect(self._file, isolation_level=None, check_same_thread=False)
        found.execute("PRAGMA journal_mode = WAL")
        found.execute("PRAGMA synchronous = NORMAL")  # a power loss may take back the last notes
        found.execute(
            "CREATE TABLE IF NOT EXISTS sent (key TEXT PRIMARY KEY, at INTEGER) WITHOUT ROWID"
        )
        found.execute("CREATE INDEX IF NOT EXISTS by_time ON sent (at)")
        self._file.chmod(0o600)
        return found

    def has(self, key: str) -> bool:
        """Return whether an e-mail was sent."""
        try:
            with closing(self._notes.execute("SELECT 1 FROM sent WHERE key = ?", [key])) as found:
                return found.fetchone() is not None
        except (sqlite3.Error, OSError) as error:
            self._warn(error)
            return False

    def add(self, key: str, now: int) -> None:
        """Note that an e-mail was sent, at `now` in ms."""
        try:
            self._notes.execute("INSERT OR REPLACE INTO sent VALUES (?, ?)", [key, now])
            if now >= self._expiry:
                self._notes.execute("DELETE FROM sent WHERE at < ?", [now - KEPT_MS])
                self._expiry = now + _EXPIRY_MS
        except (sqlite3.Error, OSError) as error:
            self._warn(error)

    def _warn(self, error: Exception) -> None:
        if not self._failed:
            logger.warning(
                "%s can't be used (%s); after a restored backup mails may be sent once more",
                *(self._file, error),
            )
        self._failed = True
