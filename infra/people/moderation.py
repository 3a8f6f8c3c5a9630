"""Reports on what people wrote and how they behave, and sanctions against players.

| key | what |
|---|---|
| `{reports}:all` | hash: id of a report -> its record, with the text as it was |
| `{reports}:open` | sorted set: ids of reports that wait for a decision, by when they were made |
| `{reports}:made:<hex>` | hash: a thing that an account has reported -> id of the report |
| `{reports}:appeals` | hash: account and id of a sanction against which an appeal waits -> nothing |
| `{a:<hex>}:sanctions` | hash: id of a sanction -> its record |

A decided report is kept for `KEPT_MS`, so that an appeal can see the text. Sanctions are beside the account's record,
and are erased with it. Of an erased account the reports keep the text and no name.
"""

from enum import StrEnum
from typing import Any, Final

import msgspec
import redis

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.people.account_index import index_under_account
from infra.people.sessions import new_id
from infra.people.texts import read_text
from infra.redis import keys
from infra.redis.clients import time_ms
from infra.sentences import SAY

DAY_MS: Final = 24 * 3_600_000
KEPT_MS: Final = 90 * DAY_MS
"""How long a report is kept after its decision."""

MOST_OPEN: Final = 500
MOST_OPEN_OF_ONE: Final = 10
MOST_SANCTIONS: Final = 200

REMOVED: Final = "[removed by a moderator / von der Moderation entfernt]"
"""The mark in the place of a text that was removed. It is a text like any other, so it is shown wherever that was."""


class ReportKind(StrEnum):
    """The things that can be reported."""

    MESSAGE = "message"
    CHAT = "chat"
    NOTE = "note"
    """The note of an open challenge."""
    PLAYER = "player"
    """A player: userid or behaviour."""
    TOURNAMENT = "tournament"
    """The name and the text of a tournament."""


class ReportReason(StrEnum):
    """The reasons for a report."""

    INSULT = "insult"
    SPAM = "spam"
    USERID = "userid"
    CHEATING = "cheating"
    OTHER = "other"


class SanctionKind(StrEnum):
    """The sanctions against a player."""

    WARNING = "warning"
    NO_CHAT = "no-chat"
    """No messages, chat, notes on challenges and announcements."""
    NO_MATCHES = "no-matches"
    """No new matches and challenges; those that run go on."""
    LOCKED = "locked"
    """The account is suspended, until somebody reinstates it."""


class PlayerReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A report. Stored as a map: a new field needs a default, and a default never changes."""

    id: str
    at: int
    """Milliseconds since 1970 by Redis's clock, like all times here."""
    reporter: AccountId
    about: AccountId
    kind: ReportKind
    place: str = ""
    """Where the text is: the number of a match, or the id of a challenge; empty for a message or a player."""
    written: int = 0
    """When the text was written; 0 for a note or a player."""
    text: str = ""
    """The text as it was when it was reported; empty for a player."""
    reason: ReportReason
    words: str = ""
    """The reporter's own words."""
    decided: int = 0
    """When it was decided; 0 while it waits."""
    by: AccountId = b""
    decision: str = ""
    """The sanction, `removed` for a removed text alone, or `none`."""
    removed: bool = False
    """Whether the text was removed."""

    @property
    def thing(self) -> str:
        """The thing that was reported, the same for each report of it."""
        return f"{self.kind}:{self.about.hex()}:{self.place}:{self.written}"


class Sanction(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A sanction. Stored as a map, like a report."""

    id: str
    kind: SanctionKind
    since: int
    until: int = 0
    """When it ends by itself; 0 for never. A warning restricts nothing."""
    why: str
    by: AccountId
    report: str = ""
    """Id of the report that led to it; empty for none."""
    appeal: str = ""
    """The player's own words against it."""
    appealed: int = 0
    answered: int = 0
    """When the appeal was decided, by another; that is final."""
    lifted: int = 0
    """When it was lifted; 0 if it was not."""

    def holds(self, now: int) -> bool:
        """Return whether it restricts the player at a time."""
        return not self.lifted and (not self.until or now < self.until)


class Moderation:
    """Reports and sanctions of a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    # reports

    def report(self, new: PlayerReport) -> PlayerReport:
        """Keep a report under an id of its own; the same account's open report of the same thing is returned again.

        `too-many` where too many wait, of this account or of all; `too-long` for the words.
        """
        if new.words:
            read_text(new.words)
        made = keys.reports_made(new.reporter)
        known: Any = self._client.hget(made, new.thing)
        if known and (found := self.get(known.decode())) and not found.decided:
            return found
        if self._client.zcard(keys.OPEN_REPORTS) >= MOST_OPEN:
            raise Refusal(Code.TOO_MANY, SAY("reports"))
        if self._open_of(new.reporter) >= MOST_OPEN_OF_ONE:
            raise Refusal(Code.TOO_MANY, SAY("own-reports", most=MOST_OPEN_OF_ONE))
        report = msgspec.structs.replace(new, id=new_id(), at=time_ms(self._client))
        self._put(report)
        # crash window: a report that is in no queue; made again, it is another
        self._client.zadd(keys.OPEN_REPORTS, {report.id: report.at})
        self._client.hset(made, report.thing, report.id)
        self._client.pexpire(made, KEPT_MS)
        return report

    def _open_of(self, reporter: AccountId) -> int:
        ids: Any = self._client.hvals(keys.reports_made(reporter))
        return sum(1 for one in self._read([id_.decode() for id_ in ids]) if not one.decided)

    def get(self, id_: str) -> PlayerReport | None:
        """Return the report of an id; None if there is none."""
        return next(iter(self._read([id_])), None)

    def waiting(self, count: int) -> list[PlayerReport]:
        """Return the reports that wait, the oldest first."""
        ids: Any = self._client.zrange(keys.OPEN_REPORTS, 0, count - 1)
        return self._read([id_.decode() for id_ in ids])

    def about(self, account: AccountId) -> list[PlayerReport]:
        """Return all reports about an account that are kept, the newest first."""
        found: Any = self._client.hvals(keys.REPORTS)
        reports = [msgspec.msgpack.decode(one, type=PlayerReport) for one in found]
        own = [one for one in reports if one.about == account]
        return sorted(own, key=lambda one: (one.at, one.id), reverse=True)

    def made_by(self, reporter: AccountId) -> list[PlayerReport]:
        """Return the reports that an account has made and that are kept, the oldest first."""
        ids: Any = self._client.hvals(keys.reports_made(reporter))
        found = self._read([one.decode() for one in ids])
        return sorted(found, key=lambda one: (one.at, one.id))

    def claim(self, report: PlayerReport, by: AccountId, decision: str, *, removed: bool) -> bool:
        """Decide a report; False if another has done so."""
        if not self._client.zrem(keys.OPEN_REPORTS, report.id):
            return False
        now = time_ms(self._client)
        # crash window: it is in no queue and not decided; it is made again, or drops out with the others
        self._put(
            msgspec.structs.replace(report, decided=now, by=by, decision=decision, removed=removed)
        )
        self._drop_old(now)
        return True

    def _drop_old(self, now: int) -> None:
        found: Any = self._client.hgetall(keys.REPORTS)
        old = [
            id_
            for id_, data in found.items()
            if 0 < msgspec.msgpack.decode(data, type=PlayerReport).decided < now - KEPT_MS
        ]
        if old:
            self._client.hdel(keys.REPORTS, *old)

    def _put(self, report: PlayerReport) -> None:
        self._client.hset(keys.REPORTS, report.id, _pack(report))

    def _read(self, ids: list[str]) -> list[PlayerReport]:
        found: Any = self._client.hmget(keys.REPORTS, ids) if ids else []
        return [msgspec.msgpack.decode(one, type=PlayerReport) for one in found if one]

    # appeals

    def note_appeal(self, account: AccountId, sanction: str) -> None:
        """Note that an appeal waits for an answer; safe to repeat."""
        self._client.hset(keys.APPEALS, f"{account.hex()}:{sanction}", "")

    def forget_appeal(self, account: AccountId, sanction: str) -> None:
        """Note that an appeal waits no longer; safe to repeat."""
        self._client.hdel(keys.APPEALS, f"{account.hex()}:{sanction}")

    def appeals(self) -> list[tuple[AccountId, str]]:
        """Return the accounts with appeals that wait, and the ids of the sanctions."""
        found: Any = self._client.hkeys(keys.APPEALS)
        pairs = [one.decode().split(":") for one in found]
        return [(bytes.fromhex(account), sanction) for account, sanction in pairs]

    # sanctions

    def impose(self, account: AccountId, sanction: Sanction) -> Sanction:
        """Keep a sanction under an id of its own; `unknown-user` if the account was deleted, `too-many`."""
        read_text(sanction.why)
        kept = msgspec.structs.replace(sanction, id=new_id(), since=time_ms(self._client))
        self.change(account, kept)
        return kept

    def change(self, account: AccountId, sanction: Sanction) -> None:
        """Store a changed sanction; refused as `impose` is."""
        name = keys.sanctions(account)
        if not index_under_account(
            self._client, account, name, sanction.id, _pack(sanction), MOST_SANCTIONS
        ):
            raise Refusal(Code.TOO_MANY, SAY("sanctions", most=MOST_SANCTIONS))

    def of(self, account: AccountId) -> list[Sanction]:
        """Return the sanctions of an account, the newest first."""
        found: Any = self._client.hvals(keys.sanctions(account))
        sanctions = [msgspec.msgpack.decode(one, type=Sanction) for one in found]
        return sorted(sanctions, key=lambda one: (one.since, one.id), reverse=True)

    def forget(self, account: AccountId) -> None:
        """Erase the sanctions of an account, and what it has reported; safe to repeat."""
        for one in self.of(account):
            self.forget_appeal(account, one.id)
        self._client.delete(keys.sanctions(account), keys.reports_made(account))


_pack: Final = msgspec.msgpack.Encoder().encode
