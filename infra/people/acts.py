"""The record of acts: what operators, moderators and arbiters have done, and why.

| key | what |
|---|---|
| `{site}:acts` | stream: an entry for each act, with the fields of `RecordedAct` |

The stream is only ever appended to. It names players by account id, so what an erased account did stays, without its userid.
"""

from enum import StrEnum
from typing import Any, Final

import msgspec
import redis

from domain.records import AccountId
from infra.redis import keys

TERMINAL: Final[AccountId] = b""
"""In place of an account: the terminal of the server's machine, where nobody logs in."""

MOST_OF_REASON: Final = 500


class Act(StrEnum):
    """Acts of operators, moderators and arbiters. A value is never changed or used again."""

    ACCOUNT_MADE = "account-made"
    PASSWORD_REPLACED = "password-replaced"  # noqa: S105 - no password
    LOGGED_OUT = "logged-out"
    SUSPENDED = "suspended"
    REINSTATED = "reinstated"
    ROLE_GIVEN = "role-given"
    ROLE_TAKEN = "role-taken"
    ADMISSION_CHANGED = "admission-changed"
    LINK_MADE = "link-made"
    LINK_REVOKED = "link-revoked"
    TEXT_ERASED = "text-erased"
    RULED = "ruled"
    BROADCAST = "broadcast"
    REPORT_DECIDED = "report-decided"
    TEXT_REMOVED = "text-removed"
    SANCTIONED = "sanctioned"
    SANCTION_LIFTED = "sanction-lifted"
    APPEAL_TURNED_DOWN = "appeal-turned-down"
    FIRST_OPERATOR = "first-operator"
    BACKUP_ASKED = "backup-asked"
    DATA_EXPORTED = "data-exported"
    SITE_CHANGED = "site-changed"
    CLUB_CLOSED = "club-closed"
    GAMES_SWITCHED = "games-switched"


class RecordedAct(msgspec.Struct, frozen=True, kw_only=True):
    """An act in the record."""

    id: str = ""
    """Its place in the record, such as `1764331200000-0`."""
    at: int = 0
    """Milliseconds since 1970 by Redis's clock."""
    by: AccountId
    """An account, or `TERMINAL`."""
    act: str
    """An `Act`; of a later version perhaps another."""
    account: AccountId = b""
    """The account that it was done to; empty for none."""
    what: str = ""
    """A role, the id of a link, the number of a match, and the like."""
    why: str = ""
    """The reason that was given."""


class ActRecord:
    """The record of acts of a server."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def append(
        self, by: AccountId, act: Act, account: AccountId = b"", what: str = "", why: str = ""
    ) -> None:
        """Record an act, for good."""
        fields = {"by": by, "act": act, "account": account, "what": what, "why": why}
        entry: Any = {name: value for name, value in fields.items() if value}
        self._client.xadd(keys.ACTS, entry)

    def newest(self, count: int, before: str = "") -> list[RecordedAct]:
        """Return the latest acts before the one of an id, the newest first; empty `before`: the latest of all."""
        most = f"({before}" if before else "+"
        found: Any = self._client.xrevrange(keys.ACTS, max=most, count=count)
        return [_decoded(id_.decode(), fields) for id_, fields in found]


def _decoded(id_: str, fields: dict[bytes, bytes]) -> RecordedAct:
    return RecordedAct(
        id=id_,
        at=int(id_.partition("-")[0]),
        by=fields.get(b"by", TERMINAL),
        act=fields[b"act"].decode(),
        account=fields.get(b"account", b""),
        what=fields.get(b"what", b"").decode(),
        why=fields.get(b"why", b"").decode(),
    )
