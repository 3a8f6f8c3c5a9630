"""Notices of events in matches and tournaments: the newest of each account.

| key | what |
|---|---|
| `to:<account>` | sorted set: `<board>:<seq>:<kind>`, some with `:<detail>`; score: time of the event, ms; \
of a tournament the board is its number |
| `tables` | hash: board -> packed `SeatsLeft`, of running matches with three or more players |

Notices are in the bucket of their account, which also has the `tables` of its matches. A set has each
notice once, and its newest are the same in whatever order they were added. A player gets no notice of its
own action.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple, Self

import msgspec

from domain.records import AccountId
from domain.rules import Seat
from infra.projections.buckets import NOTICES
from infra.projections.generations import Query
from infra.redis.reads import Read, read_one

MOST_NOTICES: Final = 200
"""Most notices of an account."""


class NoticeKind(StrEnum):
    """Kind of a notice."""

    CHALLENGED = "challenged"
    """A challenge waits for the account's consent."""
    REVEAL = "reveal"
    """The account is to reveal the text that it has committed to."""
    STARTED = "started"
    """A match has started."""
    YOUR_TURN = "your-turn"
    """The account is to move."""
    OFFER = "offer"
    """Another player proposed something."""
    ANSWERED = "answered"
    """Another player answered an offer."""
    REPLIED = "replied"
    """A conditional move of the account was played."""
    RESIGNED = "resigned"
    """Another player has left, and the others play on."""
    FLAGGED = "flagged"
    """A player's time was over, maybe the account's own, and the others play on."""
    RESUMED = "resumed"
    """Another player ended the pause: clocks run again."""
    DECLINED = "declined"
    """Another player refused to play."""
    OVER = "over"
    """A match has ended."""
    REMINDER = "reminder"
    """The account is to move, and its time runs out."""
    CLAIMED = "claimed"
    """Another player or an arbiter made a claim, on which an arbiter rules."""
    RULED = "ruled"
    """An arbiter ruled; the match may go on elsewhere, have another result, or be annulled."""
    APPEALED = "appealed"
    """Another player appealed against a ruling."""
    TAKEN_OVER = "taken-over"
    """A substitute has taken over a seat of the match, maybe the account itself."""
    CHAT = "chat"
    """Another player wrote in a match's chat; added by `infra.people.message_notices`."""
    MESSAGE = "message"
    """A message or a broadcast; added by `infra.people.message_notices`."""
    HOOK_OFF = "hook-off"
    """A webhook or channel of the account was switched off; added by `services.push.hook_texts`."""
    INVITED_TO_TOURNAMENT = "invited-to-tournament"
    """The organiser invited the account to a tournament."""
    MOVED_UP = "moved-up"
    """There is room for the account in a tournament, for which it has waited."""
    ENTRY_TAKEN_BACK = "entry-taken-back"
    """The organiser took back the account's entry."""
    TOURNAMENT_STARTED = "tournament-started"
    """A tournament has started that the account plays in, or organises if it started by itself."""
    PAIRED = "paired"
    """A further round, stage or section was paired that has the account among its players."""
    TAKEN_OUT = "taken-out"
    """The account was taken out of a tournament that runs."""
    TOURNAMENT_CANCELLED = "tournament-cancelled"
    """A tournament was cancelled that the account has entered."""
    TOO_FEW_PLAYERS = "too-few-players"
    """A tournament that the account has entered or organises was cancelled at its date, with too few players."""
    MATCHES_OVER = "matches-over"
    """All matches are over of a tournament that the account organises; it is to confirm the places."""
    PLACES = "places"
    """The places of a tournament in which the account played are final."""


OF_TOURNAMENTS: Final = frozenset({
    NoticeKind.INVITED_TO_TOURNAMENT, NoticeKind.MOVED_UP, NoticeKind.ENTRY_TAKEN_BACK,
    NoticeKind.TOURNAMENT_STARTED, NoticeKind.PAIRED, NoticeKind.TAKEN_OUT, NoticeKind.TOURNAMENT_CANCELLED, NoticeKind.TOO_FEW_PLAYERS,
    NoticeKind.MATCHES_OVER, NoticeKind.PLACES,
})  # fmt: skip
"""The kinds whose board is the number of a tournament."""


class NoticeDetail(msgspec.Struct, frozen=True):
    """The seat that a notice is about, and for an offer which, and whether the seat has accepted it."""

    seat: Seat
    offer: str = ""
    accepted: bool = False

    @property
    def text(self) -> str:
        """Return its stored form, such as `1/draw/yes`."""
        return f"{self.seat}/{self.offer}/{'yes' if self.accepted else 'no'}"

    @classmethod
    def read(cls, text: str) -> Self:
        """Read the stored form."""
        seat, offer, accepted = text.split("/")
        return cls(int(seat), offer, accepted == "yes")


class TournamentDetail(msgspec.Struct, frozen=True):
    """How many matches were paired for the account, or its place with its points."""

    matches: int = 0
    place: int = 0
    """0 before places are final."""
    shared: bool = False
    """Whether others have the same place."""
    points: int = 0
    """In hundredths."""

    @property
    def text(self) -> str:
        """Return its stored form: `14/0/no/0`, or `0/3/yes/450`."""
        return f"{self.matches}/{self.place}/{'yes' if self.shared else 'no'}/{self.points}"

    @classmethod
    def read(cls, text: str) -> Self:
        """Read the stored form."""
        matches, place, shared, points = text.split("/")
        return cls(int(matches), int(place), shared == "yes", int(points))


AnyDetail = NoticeDetail | TournamentDetail


def read_detail(kind: NoticeKind, text: str) -> AnyDetail | None:
    """Read the stored form of a detail, which is empty for none."""
    if not text:
        return None
    return (TournamentDetail if kind in OF_TOURNAMENTS else NoticeDetail).read(text)


class TournamentNotice(NamedTuple):
    """A notice to an account about an event of a tournament."""

    account: AccountId
    kind: NoticeKind
    detail: TournamentDetail | None = None

    @property
    def text(self) -> str:
        """Return kind and detail as digests keep them."""
        return f"{self.kind}:{self.detail.text if self.detail else ''}"

    @classmethod
    def read(cls, account: AccountId, text: str) -> Self:
        """Read the form of `text`."""
        kind, _, detail = text.partition(":")
        return cls(account, NoticeKind(kind), TournamentDetail.read(detail) if detail else None)


class PlayerNotice(msgspec.Struct, frozen=True):
    """A notice to an account."""

    at: int
    """Time of the event, ms."""
    board: int
    """The number of the tournament for a kind of `OF_TOURNAMENTS`."""
    seq: int
    kind: NoticeKind
    detail: AnyDetail | None = None
    """Empty for a kind that says all."""
    sender: AccountId = b""
    """The account that wrote a message; empty for a notice of a match."""
    to_all: bool = False
    """Whether the message is a broadcast."""

    @property
    def member(self) -> str:
        """Return its member of the sorted set: text order is the order of events."""
        detail = "" if self.detail is None else f":{self.detail.text}"
        return f"{self.board:015}:{self.seq:010}:{self.kind}{detail}"


NoticePosition = tuple[int, int, int, str]
"""Position of a notice among those of its account: time in ms, board, seq, kind."""


def position_of(notice: PlayerNotice) -> NoticePosition:
    """Return the position of a notice."""
    return notice.at, notice.board, notice.seq, notice.kind


class NoticesAfter(msgspec.Struct, frozen=True):
    """An account's notices after a position."""

    notices: list[PlayerNotice]
    oldest: NoticePosition | None = None
    """The oldest that is stored, if older ones were dropped or may have been."""

    def with_(self, other: "NoticesAfter") -> "NoticesAfter":
        """Return these and others in order."""
        oldest = max((one for one in (self.oldest, other.oldest) if one), default=None)
        return NoticesAfter(sorted([*self.notices, *other.notices], key=position_of), oldest)


def notices_after(
    notices: list[PlayerNotice], first: list[PlayerNotice], count: int
) -> NoticesAfter:
    """Return notices of a list that has `count` of them, the oldest of which is in `first`."""
    return NoticesAfter(notices, position_of(first[0]) if first and count >= MOST_NOTICES else None)


def notices_key(account: AccountId) -> str:
    """Return the key of an account's notices."""
    return f"to:{account.hex()}"


class MatchNotices(Query):
    """Queries of the notices."""

    spec = NOTICES

    def of(self, account: AccountId, start: int = 0, count: int = 50) -> list[PlayerNotice]:
        """Return an account's notices, the newest first; O(log n + start + count), n at most 200."""
        return read_one(self._client, self.read_of(account, start, count))

    def read_of(self, account: AccountId, start: int, count: int) -> Read[list[PlayerNotice]]:
        """Return the read of `of`."""
        key = self._generation().of(account).key(notices_key(account))
        return Read(
            lambda pipe: pipe.zrange(key, start, start + count - 1, desc=True, withscores=True),
            lambda replies: [_notice(*one) for one in replies[0]],
        )

    def change_marks(self, accounts: Sequence[AccountId]) -> Read[list[str]]:
        """Return the read of a text for each account that changes with its newest notice."""
        generation = self._generation()

        def queue(pipe: Any) -> None:
            for account in accounts:
                key = generation.of(account).key(notices_key(account))
                pipe.zrange(key, 0, 0, desc=True, withscores=True)

        return Read(
            queue,
            lambda replies: [newest_text([_notice(*one) for one in reply]) for reply in replies],
        )

    def since(self, account: AccountId, after: NoticePosition) -> Read[NoticesAfter]:
        """Return the read of an account's notices after a position, the oldest first; O(n).

        Those of the position's own millisecond may be before it.
        """
        key = self._generation().of(account).key(notices_key(account))

        def queue(pipe: Any) -> None:
            pipe.zrange(key, 0, 0, withscores=True)
            pipe.zcard(key)
            pipe.zrangebyscore(key, after[0], "+inf", withscores=True)

        def parse(replies: list[Any]) -> NoticesAfter:
            first, count, found = replies
            return notices_after(
                [_notice(*one) for one in found], [_notice(*one) for one in first], count
            )

        return Read(queue, parse)


def newest_text(notices: Sequence[PlayerNotice]) -> str:
    """Return a text that changes with the newest notice, which is the first."""
    return repr(notices[:1])


_KINDS: Final = {kind.value: kind for kind in NoticeKind}
"""The kinds by their stored names, because `NoticeKind` itself takes longer to find one."""


def _notice(member: bytes, score: Any) -> PlayerNotice:
    board, seq, what = member.decode().split(":", 2)
    name, _, detail = what.partition(":")
    kind = _KINDS.get(name) or NoticeKind(name)
    return PlayerNotice(int(score), int(board), int(seq), kind, read_detail(kind, detail))
