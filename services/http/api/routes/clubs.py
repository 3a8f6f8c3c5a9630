"""Clubs: their pages as data, joining and leaving, and what organisers and owners do."""

from typing import Annotated

import msgspec
from litestar import Response
from litestar.params import JSONBody, PathParameter

from domain.errors import Code
from domain.records import AccountId
from infra.people.clubs import Club, ClubAudience, ClubRole, Joining
from infra.people.tokens import Scope
from services.app import clubs
from services.app.clubs import ClubChanges
from services.app.context import App
from services.app.names import userids_of
from services.app.typed_values import read_choice
from services.http.api.auth import AnyRequest, Context, Own, viewer_of
from services.http.api.bodies import Key, RequestBody
from services.http.api.declared import ANYBODY, ApiRoutes, created, refuses
from services.http.api.routes.challenges import OpenChallenge, challenge_json
from services.http.api.values import one_of

api = ApiRoutes("clubs")

Path = Annotated[str, PathParameter(max_length=60, description="the club's path")]
Name = Annotated[str, PathParameter(max_length=24, description="a userid")]


class ListedClub(msgspec.Struct, frozen=True):
    """A club in a list."""

    path: str
    """In its address."""
    name: str
    joining: str
    """How people join: `open`, `request` or `link`."""
    visible_to: str
    """Its readers: `everybody`, `accounts` or `club`."""
    pairs_members: bool
    """Whether being a member is the consent to be paired by its organisers."""
    closed: int | None
    """Time at which it was closed, in ms since 1970; null for one that is open."""


class ListedMember(msgspec.Struct, frozen=True):
    """A member of a club."""

    userid: str | None
    """Null for a deleted account."""
    role: Annotated[str, one_of(ClubRole)]
    """`owner`, `organiser`, `captain` or `member`."""
    since: int
    """Time at which they joined, in ms since 1970."""


class ClubNews(msgspec.Struct, frozen=True):
    """An announcement."""

    at: int
    """Time, in ms since 1970."""
    userid: str | None
    text: str


class ShownClub(msgspec.Struct, frozen=True):
    """A club with its members."""

    club: ListedClub
    text: str
    """About the club, in Markdown."""
    role: Annotated[str, one_of(ClubRole)] | None
    """Your role; null if you are no member."""
    members: tuple[ListedMember, ...]
    """Owners first, then by role and by how long they have been members."""
    requests: tuple[str, ...]
    """Userids of those who ask to join, for organisers; empty for others."""
    news: tuple[ClubNews, ...]
    """Announcements, for members, the newest first; empty for others."""
    challenges: tuple[OpenChallenge, ...]
    """Open challenges for members, the newest first; empty for others."""


class ListOfClubs(msgspec.Struct, frozen=True):
    """All clubs that you may see."""

    clubs: tuple[ListedClub, ...]
    """By name."""


class NewClub(RequestBody, frozen=True):
    """A club to be founded."""

    name: Annotated[str, msgspec.Meta(max_length=120, examples=["Rook & Pawn"])]


class ChangedClub(RequestBody, frozen=True):
    """Changes of a club; what is null stays."""

    name: Annotated[str, msgspec.Meta(max_length=120)] | None = None
    text: Annotated[str, msgspec.Meta(max_length=20_000)] | None = None
    joining: Joining | None = None
    visible_to: ClubAudience | None = None
    pairs_members: bool | None = None


class ClubMembership(msgspec.Struct, frozen=True):
    """The outcome of joining."""

    member: bool
    """Whether you are a member; if not, an organiser decides."""


class ClubLinkText(RequestBody, frozen=True):
    """The text of a link."""

    link: Annotated[str, msgspec.Meta(max_length=100)]


class NewAnnouncement(RequestBody, frozen=True):
    """A text to all members."""

    text: Annotated[str, msgspec.Meta(max_length=4_000, examples=["We meet on Friday."])]


class MemberChange(RequestBody, frozen=True):
    """The role of a member."""

    role: Annotated[str, msgspec.Meta(max_length=24, examples=["organiser"])]


class RequestAnswer(RequestBody, frozen=True):
    """The answer to somebody who asks to join."""

    admit: bool


class NewClubLink(RequestBody, frozen=True):
    """A link with which members join."""

    uses: int = 1
    days: int = 14
    role: Annotated[str, msgspec.Meta(max_length=24)] = "member"


class FreshClubLink(msgspec.Struct, frozen=True):
    """A link that was just made."""

    id: str
    link: str
    """Its text, which is shown this once."""


@api.get("/api/clubs", "Clubs", ANYBODY)
def list_clubs(context: Context, request: AnyRequest) -> ListOfClubs:
    """Return the clubs that you may see; those for their members alone need your token."""
    found = clubs.clubs_for(context.app, viewer_of(request))
    return ListOfClubs(tuple(map(_listed, found)))


def _listed(club: Club) -> ListedClub:
    return ListedClub(
        path=club.path,
        name=club.name,
        joining=club.joining,
        visible_to=club.visible_to,
        pairs_members=club.pairs_members,
        closed=club.closed or None,
    )


@api.get("/api/clubs/{path:str}", "A club", ANYBODY)
@refuses(Code.UNKNOWN_CLUB)
def show_club(path: Path, context: Context, request: AnyRequest) -> ShownClub:
    """Return a club with its members."""
    return _shown(context.app, viewer_of(request), path)


def _shown(app: App, account: AccountId | None, path: str) -> ShownClub:
    view = clubs.view_of(app, account, path)
    accounts = [one.account for one in view.members] + [one.author for one in view.news]
    userids = userids_of(app, [*accounts, *view.requests])
    asking = (userids[one] for one in view.requests)
    open_ones = clubs.challenges_of_club(app, account, view.club)
    return ShownClub(
        club=_listed(view.club),
        text=view.club.text,
        role=view.role,
        members=tuple(
            ListedMember(userids[one.account], one.role, one.since) for one in view.members
        ),
        requests=tuple(name for name in asking if name is not None),
        news=tuple(ClubNews(one.at, userids[one.author], one.text) for one in view.news),
        challenges=challenge_json(app, open_ones),
    )


@api.post("/api/clubs", "Found a club", Scope.ACCOUNT, located=True, status_code=201)
@refuses(Code.NOT_AN_OPERATOR, Code.BAD_NAME, Code.NAME_TAKEN, Code.TOO_MANY)
def found_club(data: JSONBody[NewClub], own: Own) -> Response[ShownClub]:
    """Found a club; you become its owner."""
    club = clubs.found_club(own.app, own.account, data.name)
    return created(_shown(own.app, own.account, club.path), f"/api/clubs/{club.path}")


@api.patch("/api/clubs/{path:str}", "Change a club", Scope.ACCOUNT)
@refuses(Code.UNKNOWN_CLUB, Code.NOT_AN_ORGANISER, Code.BAD_NAME, Code.TOO_LONG)
def change_club(path: Path, data: JSONBody[ChangedClub], own: Own) -> ShownClub:
    """Change what a club is called, says and allows, as its owner."""
    changes = ClubChanges(data.name, data.text, data.joining, data.visible_to, data.pairs_members)
    clubs.change_club(own.app, own.account, path, changes)
    return _shown(own.app, own.account, path)


@api.delete("/api/clubs/{path:str}", "Close a club", Scope.ACCOUNT)
@refuses(Code.UNKNOWN_CLUB, Code.NOT_AN_ORGANISER)
def close_club(path: Path, own: Own) -> None:
    """Close a club for good, as its owner: it stays readable."""
    clubs.close_club(own.app, own.account, path)


@api.post("/api/clubs/{path:str}/membership", "Join a club, or ask to", Scope.ACCOUNT)
@refuses(Code.UNKNOWN_CLUB, Code.CLUB_CLOSED, Code.NOT_WANTED, Code.TOO_MANY)
def join_club(path: Path, own: Own) -> ClubMembership:
    """Join an open club, or ask to be admitted."""
    return ClubMembership(clubs.join(own.app, own.account, path))


@api.delete("/api/clubs/{path:str}/membership", "Leave a club", Scope.ACCOUNT)
@refuses(Code.UNKNOWN_CLUB, Code.LAST_OWNER)
def leave_club(path: Path, own: Own) -> None:
    """Leave a club, or take a request back."""
    clubs.leave(own.app, own.account, path)


@api.post("/api/account/clubs", "Join a club by a link", Scope.ACCOUNT)
@refuses(Code.SIGNUPS_CLOSED, Code.CLUB_CLOSED, Code.TOO_MANY)
def join_club_by_link(data: JSONBody[ClubLinkText], own: Own) -> ListedClub:
    """Join the club of a link."""
    return _listed(clubs.join_by_link(own.app, own.account, data.link))


@api.post("/api/clubs/{path:str}/news", "Write to all members", Scope.PLAY)
@refuses(
    Code.SANCTIONED,
    Code.UNKNOWN_CLUB,
    Code.NOT_AN_ORGANISER,
    Code.CLUB_CLOSED,
    Code.TOO_LONG,
    Code.BAD_REQUEST,
)
def announce_to_club(
    path: Path, data: JSONBody[NewAnnouncement], own: Own, key: Key = None
) -> None:
    """Write to all members, as an organiser. A request repeated with its key writes once."""
    clubs.announce(own.app, own.actor(key), path, data.text)


@api.put("/api/clubs/{path:str}/requests/{userid:str}", "Answer a request to join", Scope.ACCOUNT)
@refuses(
    *(Code.UNKNOWN_CLUB, Code.NOT_AN_ORGANISER, Code.CLUB_CLOSED, Code.UNKNOWN_USER),
    *(Code.NOT_FOUND, Code.TOO_MANY),
)
def answer_club_request(path: Path, userid: Name, data: JSONBody[RequestAnswer], own: Own) -> None:
    """Admit somebody who asks to join, or turn them down, as an organiser."""
    clubs.answer_request(own.app, own.account, path, userid, admit=data.admit)


@api.put("/api/clubs/{path:str}/members/{userid:str}", "Change a member's role", Scope.ACCOUNT)
@refuses(
    *(Code.UNKNOWN_CLUB, Code.NOT_AN_ORGANISER, Code.UNKNOWN_USER, Code.NOT_FOUND),
    *(Code.BAD_OPTION, Code.LAST_OWNER),
)
def set_club_role(path: Path, userid: Name, data: JSONBody[MemberChange], own: Own) -> None:
    """Change the role of a member, as an owner."""
    role = read_choice(ClubRole, data.role)
    clubs.set_club_role(own.app, own.account, path, userid, role)


@api.delete("/api/clubs/{path:str}/members/{userid:str}", "Remove a member", Scope.ACCOUNT)
@refuses(Code.UNKNOWN_CLUB, Code.NOT_AN_ORGANISER, Code.UNKNOWN_USER, Code.LAST_OWNER)
def remove_club_member(path: Path, userid: Name, own: Own) -> None:
    """End a membership, as an organiser."""
    clubs.remove_from_club(own.app, own.account, path, userid)


@api.post("/api/clubs/{path:str}/links", "Make a link to join", Scope.ACCOUNT, status_code=201)
@refuses(Code.UNKNOWN_CLUB, Code.NOT_AN_ORGANISER, Code.CLUB_CLOSED, Code.BAD_OPTION, Code.TOO_MANY)
def make_club_link(path: Path, data: JSONBody[NewClubLink], own: Own) -> FreshClubLink:
    """Make a link with which members join, as an organiser; of an operator it makes an account, too."""
    role = read_choice(ClubRole, data.role)
    link, text = clubs.make_club_link(own.app, own.account, path, data.uses, data.days, role)
    return FreshClubLink(link.id, text)


@api.delete("/api/clubs/{path:str}/links/{link:str}", "Revoke a link", Scope.ACCOUNT)
@refuses(Code.UNKNOWN_CLUB, Code.NOT_AN_ORGANISER, Code.NOT_FOUND)
def revoke_club_link(
    path: Path,
    link: Annotated[str, PathParameter(max_length=24, description="the link's id")],
    own: Own,
) -> None:
    """End a link at once."""
    clubs.revoke_club_link(own.app, own.account, path, link)
