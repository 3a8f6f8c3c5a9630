"""Clubs: their records, members, requests to join and announcements.

| key | what |
|---|---|
| `{clubs}:paths` | hash: what a path looks like -> id of the club |
| `{club:<id>}` | the club's record |
| `{club:<id>}:members` | hash: account -> role and since when |
| `{club:<id>}:requests` | hash: account that asks to join -> since when, ms |
| `{club:<id>}:news` | list of the last announcements, the oldest first |
| `{a:<hex>}:clubs` | hash: id of a club whose member the account is, or may become -> nothing |

The list of an account's clubs is written before the club knows the account, and cleared after it has left. A reader
of it asks the club, and an account that is erased is found in all its clubs.

A club that is closed stays readable, and its path is never given to another.
"""

import re
import unicodedata
from enum import StrEnum
from typing import Any, Final

import msgspec
import redis

from domain.errors import Code, Refusal
from domain.records import AccountId, CommandId
from infra.people.account_index import index_under_account
from infra.people.accounts.usernames import skeleton
from infra.people.sessions import new_id
from infra.people.texts import read_text, without_invisible
from infra.redis import keys, scripts
from infra.redis.clients import time_ms
from infra.sentences import SAY

MOST_CLUBS: Final = 1_000
MOST_MEMBERS: Final = 500
MOST_REQUESTS: Final = 100
MOST_NEWS: Final = 50
MOST_OF_ACCOUNT: Final = 50
"""Most clubs that an account is a member of, or asks to join."""

NAME_LENGTHS: Final = range(1, 61)
TEXT_LIMIT: Final = 10_000
"""Characters of the text about a club."""

_PATH_LENGTH: Final = 40
_NOT_IN_PATH: Final = re.compile(r"[^a-z0-9]+")
_NOT_IN_NAME: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_CHANGE: Final = scripts.Script("change_club_member")


class ClubRole(StrEnum):
    """The roles of a club's members; one who has a role may do what those after it may."""

    OWNER = "owner"
    """Decides on everything: the rules of the club, roles, its end."""
    ORGANISER = "organiser"
    """Admits and removes members, makes links, and writes announcements."""
    CAPTAIN = "captain"
    """Leads a team of the club."""
    MEMBER = "member"


class Joining(StrEnum):
    """The ways to become a member."""

    OPEN = "open"
    """Anybody with an account joins."""
    REQUEST = "request"
    """An organiser admits those who ask, or makes a link."""
    LINK = "link"
    """With a link alone."""


class ClubAudience(StrEnum):
    """The readers of a club's pages."""

    EVERYBODY = "everybody"
    """All who may see the server's matches."""
    ACCOUNTS = "accounts"
    """All with an account."""
    CLUB = "club"
    """Members of the club."""


class Club(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A club. Stored as a map: a new field needs a default, and a default never changes."""

    id: str
    """64 random bits in hex, for good."""
    name: str
    path: str
    """In the address of its page, such as `rook-and-pawn`."""
    created: int
    """Milliseconds since 1970 by Redis's clock."""
    text: str = ""
    """About the club, in Markdown."""
    joining: Joining = Joining.REQUEST
    visible_to: ClubAudience = ClubAudience.EVERYBODY
    pairs_members: bool = False
    """Whether being a member is the consent to be paired by the club's organisers."""
    closed: int = 0
    """When it was closed, ms; 0 for one that is open."""


class ClubMember(msgspec.Struct, frozen=True):
    """A member of a club."""

    account: AccountId
    role: ClubRole
    since: int
    """Milliseconds since 1970."""


class Announcement(msgspec.Struct, frozen=True):
    """A text of an organiser to the members."""

    at: int
    author: AccountId
    text: str
    command: CommandId
    """The command that wrote it; repeated, it writes nothing more."""


class Clubs:
    """The clubs of a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def found(self, name: str, owner: AccountId) -> Club:
        """Make a club with an owner; `name-taken` if its path looks like another's, and `too-many`."""
        name = read_club_name(name)
        if self._client.hlen(keys.CLUB_PATHS) >= MOST_CLUBS:
            raise Refusal(Code.TOO_MANY, SAY("clubs", most=MOST_CLUBS))
        id_, now = new_id(), time_ms(self._client)
        path = path_of(name) or id_
        club = Club(id=id_, name=name, path=path, created=now)
        # crash window: a record and an owner that no path leads to
        self._client.set(keys.club(id_), _pack(club))
        self.put_member(club, owner, ClubRole.OWNER)
        if not self._client.hsetnx(keys.CLUB_PATHS, skeleton(path), id_):
            self._client.delete(keys.club(id_), keys.club_members(id_))
            self._client.hdel(keys.clubs_of_account(owner), id_)
            raise Refusal(Code.NAME_TAKEN, SAY("club-taken", name=name))
        return club

    def get(self, id_: str) -> Club | None:
        """Return the club of an id; None if there is none."""
        return self._read([id_])[0]

    def at(self, path: str) -> Club | None:
        """Return the club at a path; None if there is none."""
        id_: Any = self._client.hget(keys.CLUB_PATHS, skeleton(path)) if path.isascii() else None
        found = self.get(id_.decode()) if id_ else None
        return found if found and found.path == path.lower() else None

    def all(self) -> list[Club]:
        """Return all clubs, by name."""
        ids: Any = self._client.hvals(keys.CLUB_PATHS)
        found = [club for club in self._read([one.decode() for one in ids]) if club]
        return sorted(found, key=lambda club: (club.name.casefold(), club.id))

    def change(self, club: Club) -> None:
        """Store a changed record; its text is `too-long`, or its name not one."""
        if club.text:
            read_text(club.text, TEXT_LIMIT)
        self._client.set(keys.club(club.id), _pack(club))

    # members

    def put_member(self, club: Club, account: AccountId, role: ClubRole) -> None:
        """Make an account a member, or give one another role; safe to repeat.

        `too-many` members or clubs, `last-owner`, and `unknown-user` for an account that was deleted.
        """
        self._note(account, club)
        # crash window: the account's list has a club that does not know the account
        self._change(club, account, role)
        self._client.hdel(keys.club_requests(club.id), account)

    def remove_member(self, club: Club, account: AccountId) -> None:
        """End a membership; `last-owner` for the only owner. Safe to repeat."""
        self._change(club, account, None)
        self._client.hdel(keys.clubs_of_account(account), club.id)

    def members(self, id_: str) -> list[ClubMember]:
        """Return the members: owners first, then by role and by how long they have been members."""
        found: Any = self._client.hgetall(keys.club_members(id_))
        members = [_member(account, value) for account, value in found.items()]
        return sorted(members, key=lambda one: (_ORDER[one.role], one.since, one.account))

    def role_of(self, id_: str, account: AccountId | None) -> ClubRole | None:
        """Return the role of an account; None if it is no member."""
        found: Any = account and self._client.hget(keys.club_members(id_), account)
        return _member(account, found).role if account and found else None

    def of(self, account: AccountId) -> list[tuple[Club, ClubRole]]:
        """Return the clubs of an account by name, with its role in each."""
        ids: Any = self._client.hkeys(keys.clubs_of_account(account))
        clubs = [club for club in self._read([one.decode() for one in ids]) if club]
        roles = [self.role_of(club.id, account) for club in clubs]
        found = [(club, role) for club, role in zip(clubs, roles, strict=True) if role]
        return sorted(found, key=lambda pair: (pair[0].name.casefold(), pair[0].id))

    # requests and announcements

    def request(self, club: Club, account: AccountId) -> None:
        """Note that an account asks to join; `too-many`, and `unknown-user` if it was deleted."""
        name = keys.club_requests(club.id)
        if self._client.hlen(name) >= MOST_REQUESTS and not self._client.hexists(name, account):
            raise Refusal(Code.TOO_MANY, SAY("club-requests", club=club.name))
        self._note(account, club)
        self._client.hsetnx(name, account, time_ms(self._client))

    def requests(self, id_: str) -> list[AccountId]:
        """Return the accounts that ask to join, the oldest request first."""
        found: Any = self._client.hgetall(keys.club_requests(id_))
        return sorted(found, key=lambda account: (int(found[account]), account))

    def asked_by(self, account: AccountId) -> list[Club]:
        """Return the clubs that an account asks to join."""
        ids: Any = self._client.hkeys(keys.clubs_of_account(account))
        clubs = [club for club in self._read([one.decode() for one in ids]) if club]
        return [one for one in clubs if account in self.requests(one.id)]

    def drop_request(self, club: Club, account: AccountId) -> bool:
        """End a request, and return whether there was one."""
        ended = bool(self._client.hdel(keys.club_requests(club.id), account))
        if self.role_of(club.id, account) is None:
            self._client.hdel(keys.clubs_of_account(account), club.id)
        return ended

    def announce(self, club: Club, author: AccountId, text: str, command: CommandId) -> None:
        """Keep an announcement, once for each command; `too-long` or `bad-request`."""
        if any(one.command == command for one in self.news(club.id)):
            return
        entry = Announcement(time_ms(self._client), author, read_text(text), command)
        with self._client.pipeline(transaction=True) as pipe:
            pipe.rpush(keys.club_news(club.id), _pack(entry))
            pipe.ltrim(keys.club_news(club.id), -MOST_NEWS, -1)
            pipe.execute()

    def news(self, id_: str) -> list[Announcement]:
        """Return the announcements that are kept, the newest first."""
        found: Any = self._client.lrange(keys.club_news(id_), 0, -1)
        return [msgspec.msgpack.decode(one, type=Announcement) for one in reversed(found)]

    # the end

    def close(self, club: Club) -> Club:
        """Close a club for good: it stays readable, with its members."""
        closed = msgspec.structs.replace(club, closed=club.closed or time_ms(self._client))
        self.change(closed)
        return closed

    def forget(self, account: AccountId) -> None:
        """End all memberships, requests and announcements of an account; safe to repeat.

        A club without another owner is handed over to its first organiser, or else to the first of its other members.
        Without any it is closed.
        """
        name = keys.clubs_of_account(account)
        ids: Any = self._client.hkeys(name)
        for club in self._read([one.decode() for one in ids]):
            if club:
                self._client.hdel(keys.club_requests(club.id), account)
                self.hand_over(club, account)
                self._forget_news(club, account)
        self._client.delete(name)

    def hand_over(self, club: Club, account: AccountId) -> None:
        """End a membership; the only owner's place goes to the first of the others, and without any the club closes."""
        while True:
            try:
                return self.remove_member(club, account)
            except Refusal as reason:
                if reason.code != Code.LAST_OWNER:
                    raise
            others = [one for one in self.members(club.id) if one.account != account]
            if not others:
                self.close(club)
                self._client.delete(keys.club_members(club.id))
                return None
            # one that is erased at the same moment hands it over again
            self._change(club, others[0].account, ClubRole.OWNER)

    def _forget_news(self, club: Club, account: AccountId) -> None:
        name = keys.club_news(club.id)
        found: Any = self._client.lrange(name, 0, -1)
        for one in found:
            if msgspec.msgpack.decode(one, type=Announcement).author == account:
                self._client.lrem(name, 0, one)

    # records

    def _read(self, ids: list[str]) -> list[Club | None]:
        with self._client.pipeline(transaction=False) as pipe:
            for id_ in ids:
                pipe.get(keys.club(id_))
            found = pipe.execute()
        return [msgspec.msgpack.decode(one, type=Club) if one else None for one in found]

    def _note(self, account: AccountId, club: Club) -> None:
        name = keys.clubs_of_account(account)
        if not index_under_account(self._client, account, name, club.id, "", MOST_OF_ACCOUNT):
            raise Refusal(Code.TOO_MANY, SAY("account-clubs", most=MOST_OF_ACCOUNT))

    def _change(self, club: Club, account: AccountId, role: ClubRole | None) -> None:
        args = (account, role or "", time_ms(self._client), MOST_MEMBERS)
        match scripts.call(self._client, _CHANGE, [keys.club_members(club.id)], args):
            case b"full":
                self._client.hdel(keys.clubs_of_account(account), club.id)
                raise Refusal(Code.TOO_MANY, SAY("club-full", club=club.name, most=MOST_MEMBERS))
            case b"last":
                raise Refusal(Code.LAST_OWNER, SAY("last-owner", club=club.name))


def read_club_name(name: str) -> str:
    """Return the name of a club or a tournament as it is stored; `bad-name`."""
    name = " ".join(without_invisible(name).split())
    if len(name) not in NAME_LENGTHS or _NOT_IN_NAME.search(name):
        raise Refusal(Code.BAD_NAME, SAY("club-name", most=NAME_LENGTHS[-1]))
    return name


def path_of(name: str) -> str:
    """Return the path that a name makes, such as `rook-and-pawn`; empty for one without Latin letters or digits."""
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss")).encode("ascii", "ignore")
    return _NOT_IN_PATH.sub("-", plain.decode().lower())[:_PATH_LENGTH].strip("-")


_ORDER: Final = {role: at for at, role in enumerate(ClubRole)}
_pack: Final = msgspec.msgpack.Encoder().encode


def _member(account: AccountId, value: bytes) -> ClubMember:
    role, since = value.split()
    return ClubMember(account, ClubRole(role.decode()), int(since))
