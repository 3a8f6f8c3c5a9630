"""Checks that all processes have the same mail key, because each must accept the others' addresses."""

import logging
from typing import Any

import redis

from infra.heartbeats import read_heartbeats
from infra.mail import keys

logger = logging.getLogger(__name__)


class MailKeyMismatchError(Exception):
    """Another running process has another mail key; the message says what to do."""


def check_mail_key(client: redis.Redis, fingerprint: str, now: int) -> None:
    """Check that this process has the mail key of the others; `MailKeyMismatchError` if not.

    A key that no running process has is replaced, because its file may have been lost.
    """
    found: Any = client.get(keys.KEY_FINGERPRINT)
    kept = "" if found is None else bytes(found).decode()
    if kept == fingerprint:
        return
    others = [
        one for one in read_heartbeats(client) if one.mail_key == kept and not one.is_silent(now)
    ]
    others = [one for one in others if not one.is_gone]
    if kept and others:
        raise MailKeyMismatchError(
            f"the mail key here differs from that of the {others[0].role} on {others[0].host}; "
            "give all machines the same file, see MATCHPOST_MAIL_KEY"
        )
    if kept:
        logger.warning("the mail key is new: replies to older mail are refused from now on")
    client.set(keys.KEY_FINGERPRINT, fingerprint)
