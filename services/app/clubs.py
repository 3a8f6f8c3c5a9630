"""Clubs: founding them, their members and roles, links, announcements, challenges and matches.

An organiser of a club may what a member may, and an owner what an organiser may. An operator may what an owner may, so
that no club is without somebody to ask.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.match.state import robot_level
from domain.records import AccountId, CommandId, command_id
from domain.sentences import ENGLISH, Sentence
from infra.languages.wording import capitalised, wording
from infra.people.accounts import AccountRole
from infra.people.acts import Act
from infra.people.admission import SignupLink
from infra.people.challenges import Challenge
from infra.people.clubs import (
    Announcement,
    Club,
    ClubAudience,
    ClubMember,
    ClubRole,
    Joining,
    read_club_name,
)
from infra.people.messages import MOST_RECIPIENTS
from infra.projections.match_lists import MatchFilter, MatchListRow
from infra.redis.reads import read_one
from services.app.acts import record_act
from services.app.admission import check_link_range, recent_admission
from services.app.context import Actor, App
from services.app.queries import listed_matches
from services.app.roles import has_role
from services.app.sanctions import check_may_write
from services.app.sentences import SAY

MOST_LINKS: Final = 20
"""Most links that a club can have at a time."""

MOST_MATCHES: Final = 50
"""Most matches of a list of a club."""

_EACH: Final = 20
"""How many matches of each member are searched for other members, the newest first."""

_ORGANISERS: Final = (ClubRole.OWNER, ClubRole.ORGANISER)


class ClubView(msgspec.Struct, frozen=True):
    """A club as an account sees it."""

    club: Club
    members: tuple[ClubMember, ...]
    """Owners first, then by role and by how long they have been members."""
    news: tuple[Announcement, ...]
    """The announcements, for members alone, the newest first."""
    requests: tuple[AccountId, ...]
    """The accounts that ask to join, for organisers alone."""
    role: ClubRole | None
    """The role of the account; None if it is no member."""
    organises: bool
    """Whether the account may what an organiser may."""
    owns: bool
    """Whether it may what an owner may."""
    has_asked: bool
    """Whether the account has asked to join."""


def may_found(app: App, account: AccountId | None) -> bool:
    """Return whether an account may found a club: an operator, or a member where the admission lets members do it."""
    if account is None:
        return False
    return recent_admission(app).clubs == "members" or has_role(app, account, AccountRole.OPERATOR)


def found_club(app: App, account: AccountId, name: str) -> Club:
    """Found a club, whose owner is the account.

    `not-an-operator` where members found none; `bad-name`, `name-taken`, `too-many`.
    """
    if not may_found(app, account):
        raise Refusal(Code.NOT_AN_OPERATOR, SAY("clubs-by-operators"))
    return app.clubs.found(name, account)


def clubs_for(app: App, viewer: AccountId | None) -> list[Club]:
    """Return the clubs that an account may see, by name."""
    own = {club.id for club, _ in app.clubs.of(viewer)} if viewer else set()
    sees_all = has_role(app, viewer, AccountRole.OPERATOR)
    return [
        club for club in app.clubs.all() if club.id in own or sees_all or _is_visible(club, viewer)
    ]


def _is_visible(club: Club, viewer: AccountId | None) -> bool:
    if club.visible_to is ClubAudience.CLUB:
        return False
    return viewer is not None or club.visible_to is ClubAudience.EVERYBODY


def may_see(app: App, viewer: AccountId | None, club: Club) -> bool:
    """Return whether an account may see a club, and what is its alone."""
    return (
        _is_visible(club, viewer)
        or app.clubs.role_of(club.id, viewer) is not None
        or has_role(app, viewer, AccountRole.OPERATOR)
    )


def club_at(app: App, viewer: AccountId | None, path: str) -> Club:
    """Return the club at a path; `unknown-club` if there is none that the account may see."""
    club = app.clubs.at(path)
    if club is not None and may_see(app, viewer, club):
        return club
    raise Refusal(Code.UNKNOWN_CLUB, SAY("no-club", path=path[:60]))


def view_of(app: App, viewer: AccountId | None, path: str) -> ClubView:
    """Return a club as an account sees it; `unknown-club`."""
    club = club_at(app, viewer, path)
    members = tuple(app.clubs.members(club.id))
    role = next((one.role for one in members if one.account == viewer), None)
    operates = has_role(app, viewer, AccountRole.OPERATOR)
    organises = operates or role in _ORGANISERS
    requests = tuple(app.clubs.requests(club.id))
    return ClubView(
        club=club,
        members=members,
        news=tuple(app.clubs.news(club.id)) if role or operates else (),
        requests=requests if organises else (),
        role=role,
        organises=organises,
        owns=operates or role is ClubRole.OWNER,
        has_asked=viewer in requests,
    )


def is_member(app: App, club: str, account: AccountId | None) -> bool:
    """Return whether an account is a member of the club of an id."""
    return app.clubs.role_of(club, account) is not None


# joining and leaving


def join(app: App, account: AccountId, path: str) -> bool:
    """Join an open club, or ask to be admitted; return whether the account is a member now.

    `unknown-club`, `club-closed`, `not-wanted` where a link is needed, `too-many`.
    """
    club = _open_club(app, account, path)
    if is_member(app, club.id, account):
        return True
    if club.joining is Joining.LINK:
        raise Refusal(Code.NOT_WANTED, SAY("club-by-link", club=club.name))
    if club.joining is Joining.OPEN:
        app.clubs.put_member(club, account, ClubRole.MEMBER)
        return True
    app.clubs.request(club, account)
    return False


def join_by_link(app: App, account: AccountId, text: str) -> Club:
    """Join the club of a link; return it.

    `signups-closed` for a link that has ended or has no club, `club-closed`, `too-many`. A member costs no use.
    """
    link = app.admissions.usable_link(text)
    club = app.clubs.get(link.club) if link and link.club else None
    if link is None or club is None:
        raise Refusal(Code.SIGNUPS_CLOSED, SAY("club-link-over"))
    _check_open(club)
    if not is_member(app, club.id, account):
        with app.admissions.counted(text) as used:
            if used is None:
                raise Refusal(Code.SIGNUPS_CLOSED, SAY("club-link-over"))
            app.clubs.put_member(club, account, ClubRole(link.role or ClubRole.MEMBER))
    return club


def club_of_link(app: App, text: str) -> Club | None:
    """Return the open club that a link leads into; None for any other link."""
    link = app.admissions.usable_link(text) if text else None
    club = app.clubs.get(link.club) if link and link.club else None
    return club if club and not club.closed else None


def leave(app: App, account: AccountId, path: str) -> None:
    """Leave a club, or take a request back; `last-owner` for the only owner of a club that has other members.

    The last member of all closes the club by leaving.
    """
    club = club_at(app, account, path)
    if not is_member(app, club.id, account):
        app.clubs.drop_request(club, account)
        return
    if len(app.clubs.members(club.id)) == 1:
        app.clubs.hand_over(club, account)
    else:
        app.clubs.remove_member(club, account)


# organisers


def answer_request(app: App, account: AccountId, path: str, userid: str, *, admit: bool) -> None:
    """Admit an account that asks to join, or turn it down; `not-an-organiser`, `not-found` without a request."""
    club = organised(app, account, path)
    other = app.accounts.id_of(userid)
    if other not in app.clubs.requests(club.id):
        raise Refusal(Code.NOT_FOUND, SAY("no-club-request", name=userid.lower()))
    if admit:
        _check_open(club)
        app.clubs.put_member(club, other, ClubRole.MEMBER)
    else:
        app.clubs.drop_request(club, other)


def remove_from_club(app: App, account: AccountId, path: str, userid: str) -> None:
    """End the membership of another; an owner alone may remove an owner or an organiser. `last-owner`."""
    club = organised(app, account, path)
    other = app.accounts.id_of(userid)
    if app.clubs.role_of(club.id, other) in _ORGANISERS:
        _owned(app, account, path)
    app.clubs.remove_member(club, other)


def announce(app: App, actor: Actor, path: str, text: str) -> None:
    """Write to all members: the club's page keeps it, and each finds it among the messages, once for each key.

    `not-an-organiser`, `club-closed`, `too-long`, `bad-request`. A member who blocks the author gets no message.
    """
    club = organised(app, actor.account, path)
    _check_open(club)
    check_may_write(app, actor.account)
    command = actor.command_id(club.id)
    app.clubs.announce(club, actor.account, text, command)
    members = [one.account for one in app.clubs.members(club.id)]
    others = [one for one in members if one != actor.account and robot_level(one) is None]
    blocking = set(app.blocks.by(others, actor.account))
    to = [one for one in others if one not in blocking]
    # crash window: some have it; the same request again reaches the others
    _write(app, actor.account, to, f"{club.name}: {text}", command)


def _write(app: App, by: AccountId, to: Sequence[AccountId], text: str, command: CommandId) -> None:
    for start in range(0, len(to), MOST_RECIPIENTS):
        app.messages.send(by, to[start : start + MOST_RECIPIENTS], text, command)


def club_links(app: App, account: AccountId, path: str) -> list[tuple[SignupLink, int]]:
    """Return the links of a club with how often each was used, the oldest first; `not-an-organiser`."""
    club = organised(app, account, path)
    return [(link, used) for link, used in app.admissions.links() if link.club == club.id]


def make_club_link(
    app: App, account: AccountId, path: str, uses: int, days: int, role: ClubRole = ClubRole.MEMBER
) -> tuple[SignupLink, str]:
    """Make a link with which members join, and return it with its text.

    Of an operator it makes an account, too, where a sign-up link is needed. `not-an-organiser`, `bad-option`,
    `too-many`; an owner alone makes links for another role than member.
    """
    club = organised(app, account, path)
    _check_open(club)
    if role is not ClubRole.MEMBER:
        _owned(app, account, path)
    check_link_range(uses, days)
    if len(club_links(app, account, path)) >= MOST_LINKS:
        raise Refusal(Code.TOO_MANY, SAY("club-links", most=MOST_LINKS))
    signs_up = has_role(app, account, AccountRole.OPERATOR)
    made = app.admissions.make_link(
        uses, days, club.name, club=club.id, role=role, signs_up=signs_up
    )
    if signs_up:
        record_act(app, account, Act.LINK_MADE, what=made[0].id)
    return made


def revoke_club_link(app: App, account: AccountId, path: str, id_: str) -> None:
    """End a link of a club at once; `not-an-organiser`, `not-found`."""
    if id_ not in [link.id for link, _ in club_links(app, account, path)]:
        raise Refusal(Code.NOT_FOUND, SAY("no-club-link"))
    app.admissions.revoke_link(id_)


# owners


def set_club_role(app: App, account: AccountId, path: str, userid: str, role: ClubRole) -> None:
    """Change the role of a member, as an owner; `not-an-organiser`, `not-found` for no member, `last-owner`."""
    club = _owned(app, account, path)
    other = app.accounts.id_of(userid)
    if not is_member(app, club.id, other):
        raise Refusal(Code.NOT_FOUND, SAY("no-club-member", name=userid.lower(), club=club.name))
    app.clubs.put_member(club, other, role)


class ClubChanges(msgspec.Struct, frozen=True):
    """Changes of a club by an owner; None leaves what it is."""

    name: str | None = None
    text: str | None = None
    joining: Joining | None = None
    visible_to: ClubAudience | None = None
    pairs_members: bool | None = None


def change_club(app: App, account: AccountId, path: str, changes: ClubChanges) -> Club:
    """Change what a club is called, says and allows, as an owner; `bad-name`, `too-long`, `bad-request`.

    Its path stays, because links lead there. All members get a message when organisers may pair them from now on.
    """
    club = _owned(app, account, path)
    wanted = {
        name: value for name, value in msgspec.structs.asdict(changes).items() if value is not None
    }
    if "name" in wanted:
        wanted["name"] = read_club_name(wanted["name"])
    changed = replace(club, **wanted)
    app.clubs.change(changed)
    if changed.pairs_members and not club.pairs_members:
        # crash window: some have no message; the club's page says it to all
        _tell_members(app, changed, account, SAY("told-pairs", club=changed.name))
    return changed


def _tell_members(app: App, club: Club, by: AccountId, said: Sentence) -> None:
    """Write to all other members in their languages, in the name of an owner."""
    others = [one.account for one in app.clubs.members(club.id) if one.account != by]
    by_language: dict[str, list[AccountId]] = defaultdict(list)
    for other in others:
        profile = app.accounts.record_of(other)
        if profile is not None and robot_level(other) is None:
            by_language[profile.language or ENGLISH.code].append(other)
    command = command_id("club", by, f"{club.id} {app.store.now()}")
    for language, to in by_language.items():
        _write(app, by, to, f"{capitalised(said.in_language(wording(language)))}.", command)


def close_club(app: App, account: AccountId, path: str, why: str = "") -> None:
    """Close a club for good, as an owner or an operator: it stays readable, and nobody joins it any more."""
    club = _owned(app, account, path)
    app.clubs.close(club)
    for link, _ in app.admissions.links():
        if link.club == club.id:
            app.admissions.revoke_link(link.id)
    if app.clubs.role_of(club.id, account) is not ClubRole.OWNER:
        record_act(app, account, Act.CLUB_CLOSED, what=club.name, why=why)


# challenges and matches


def visible_challenge(app: App, viewer: AccountId | None, id_: str) -> Challenge:
    """Return a challenge; one of a club is `unknown-challenge` to all but its members and its players."""
    found = app.challenges.get(id_)
    club = found.proposal.club
    if club and viewer not in found.players and not is_member(app, club, viewer):
        raise Refusal(Code.UNKNOWN_CHALLENGE, SAY("no-challenge-here", challenge=found.id))
    return found


def challenges_of_club(app: App, viewer: AccountId | None, club: Club) -> list[Challenge]:
    """Return the open challenges of a club, the newest first; none to others than its members."""
    if not is_member(app, club.id, viewer):
        return []
    return app.challenges.list_open(club=club.id, count=MOST_MATCHES)


def matches_of_club(app: App, members: Sequence[ClubMember], *, over: bool) -> list[MatchListRow]:
    """Return the newest matches between members, running or over.

    The newest 20 of each member are searched: of running matches in one round trip, of ended ones in one for each
    member.
    """
    accounts = {one.account for one in members}
    if over:
        each = (app.lists.of(one, MatchFilter.INACTIVE, count=_EACH) for one in accounts)
        rows = {row.board: row for found in each for row in found}
    else:
        boards = read_one(app.data, app.lists.read_newest([*accounts], _EACH))
        rows = listed_matches(app, boards)
    between = [row for row in rows.values() if len(accounts & set(row.seats)) > 1]
    return sorted(between, key=lambda row: (row.ended or row.since, row.board), reverse=True)[
        :MOST_MATCHES
    ]


def _open_club(app: App, account: AccountId, path: str) -> Club:
    club = club_at(app, account, path)
    _check_open(club)
    return club


def _check_open(club: Club) -> None:
    if club.closed:
        raise Refusal(Code.CLUB_CLOSED, SAY("club-closed", club=club.name))


def organised(app: App, account: AccountId, path: str) -> Club:
    """Return a club that the account organises; `not-an-organiser`, `unknown-club`."""
    return _with_role(app, account, path, _ORGANISERS)


def organised_by(app: App, account: AccountId) -> list[Club]:
    """Return the clubs in which an account is an organiser or an owner, by name; none that is closed."""
    return [club for club, role in app.clubs.of(account) if role in _ORGANISERS and not club.closed]


def pairing_club(app: App, account: AccountId, path: str) -> Club:
    """Return a club whose members the account may pair with each other, as an organiser.

    `not-an-organiser`, `unknown-club`, `club-closed`, and `not-wanted` where being a member is no consent to it.
    """
    club = organised(app, account, path)
    _check_open(club)
    if not club.pairs_members:
        raise Refusal(Code.NOT_WANTED, SAY("club-pairs-nobody", club=club.name))
    return club


def _owned(app: App, account: AccountId, path: str) -> Club:
    return _with_role(app, account, path, (ClubRole.OWNER,))


def _with_role(app: App, account: AccountId, path: str, roles: Sequence[ClubRole]) -> Club:
    club = club_at(app, account, path)
    if app.clubs.role_of(club.id, account) not in roles and not has_role(
        app, account, AccountRole.OPERATOR
    ):
        is_of_owners = roles == (ClubRole.OWNER,)
        said = (
            SAY("owners-only", club=club.name)
            if is_of_owners
            else SAY("organisers-only", club=club.name)
        )
        raise Refusal(Code.NOT_AN_ORGANISER, said)
    return club
