"""Pages of clubs: their list, each club, joining and leaving, and what organisers and owners do."""

from typing import Annotated
from urllib.parse import urlencode
from uuid import uuid4

import msgspec
from litestar import Response
from litestar.params import PathParameter
from litestar.response import Redirect

from domain.errors import Code, Refusal
from infra.people.clubs import NAME_LENGTHS, TEXT_LIMIT, ClubAudience, ClubRole, Joining
from infra.people.texts import TEXT_LIMIT as NEWS_LIMIT
from services.app import clubs
from services.app.clubs import ClubChanges
from services.app.names import names_of
from services.app.typed_values import read_choice, typed_number
from services.http.web.challenges.page import offers
from services.http.web.declared import Pages
from services.http.web.forms import VisitorForm
from services.http.web.lists.match_rows import match_rows
from services.http.web.markdown import rendered_markdown
from services.http.web.params import Asked, Own, OwnPage, SavedMark, SignupLinkText, Userid
from services.http.web.render import redirect_to, render
from services.words.clubs import pairing_rule, role_names

pages = Pages()

ClubPath = Annotated[str, PathParameter(max_length=60)]


class MemberRow(msgspec.Struct, frozen=True):
    """A member, as a page shows it."""

    name: str
    role: ClubRole
    since: int


class NewsRow(msgspec.Struct, frozen=True):
    """An announcement, as a page shows it."""

    at: int
    name: str
    text: str


@pages.get("/clubs")
def show_clubs(asked: Asked) -> Response[str]:
    """Show the clubs that the visitor may see, and the form to found one."""
    return _clubs(asked)


def _clubs(asked: VisitorForm, reason: Refusal | None = None) -> Response[str]:
    app, account = asked.app, asked.visitor.account
    own = {club.id for club, _ in app.clubs.of(account)} if account else set()
    found = clubs.clubs_for(app, account)
    return render(
        "clubs.html",
        asked.visitor,
        own=[club for club in found if club.id in own],
        others=[club for club in found if club.id not in own and not club.closed],
        can_found=clubs.may_found(app, account),
        name=asked.get("name"),
        longest=NAME_LENGTHS[-1],
        reason=reason,
    )


@pages.post("/clubs")
def found_club(own: Own) -> Response[str]:
    """Found a club."""
    try:
        club = clubs.found_club(own.app, own.account, own.get("name"))
    except Refusal as reason:
        return _clubs(own, reason)
    return redirect_to(f"/clubs/{club.path}")


@pages.get("/join-club")
def show_link(own_page: OwnPage, link: SignupLinkText = "") -> Response[str]:
    """Ask somebody with a link whether to join its club; somebody without an account signs up first."""
    app, visitor = own_page.app, own_page.visitor
    club = clubs.club_of_link(app, link)
    if club is None:
        return render("join_club.html", visitor, status=404, club=None, link="")
    rule = pairing_rule(visitor.wording)
    return render("join_club.html", visitor, club=club, link=link, pairing_rule=rule)


@pages.post("/join-club")
def join_by_link(own: Own) -> Redirect:
    """Join the club of a link."""
    club = clubs.join_by_link(own.app, own.account, own.get("link"))
    return redirect_to(f"/clubs/{club.path}")


@pages.get("/clubs/{path:str}", weight=3)
def show_club(path: ClubPath, asked: Asked, saved: SavedMark = "") -> Response[str]:
    """Show a club; `saved` is the section that has just been changed."""
    return _club(asked, path, saved=saved)


def _club(
    asked: VisitorForm,
    path: str,
    *,
    saved: str = "",
    at: str = "",
    reason: Refusal | None = None,
    made: str = "",
) -> Response[str]:
    """Return the page of a club; a mistake `at` a section keeps what was typed, and says the `reason`."""
    app, visitor, words = asked.app, asked.visitor, asked.visitor.wording
    view = clubs.view_of(app, visitor.account, path)
    accounts = [one.account for one in view.members]
    asking = view.requests
    names = names_of(app, [*accounts, *asking, *(one.author for one in view.news)], words)
    running = clubs.matches_of_club(app, view.members, over=False)
    ended = clubs.matches_of_club(app, view.members, over=True)
    return render(
        "club.html",
        visitor,
        view=view,
        role_names=role_names(words),
        pairing_rule=pairing_rule(words),
        club=view.club,
        about=rendered_markdown(view.club.text),
        members=[MemberRow(names[one.account], one.role, one.since) for one in view.members],
        news=[NewsRow(one.at, names[one.author], one.text) for one in view.news],
        asking=[names[account] for account in asking],
        offers=offers(
            asked.context, clubs.challenges_of_club(app, visitor.account, view.club), visitor
        ),
        running=match_rows(asked.context, running, visitor),
        ended=match_rows(asked.context, ended, visitor),
        now=app.store.now(),
        key=uuid4().hex,
        links=clubs.club_links(app, visitor.require_account(), path) if view.organises else (),
        made=made,
        hooks=app.settings.sends_hooks,
        longest={"name": NAME_LENGTHS[-1], "text": TEXT_LIMIT, "news": NEWS_LIMIT},
        saved=saved,
        at=at,
        typed=asked,
        reason=reason,
    )


def _saved(path: str, section: str) -> Redirect:
    return redirect_to(f"/clubs/{path}?{urlencode({'saved': section})}#{section}")


@pages.post("/clubs/{path:str}/join")
def join(path: ClubPath, own: Own) -> Redirect:
    """Join an open club, or ask to be admitted."""
    clubs.join(own.app, own.account, path)
    return redirect_to(f"/clubs/{path}")


@pages.post("/clubs/{path:str}/leave")
def leave(path: ClubPath, own: Own) -> Response[str] | Redirect:
    """Leave a club, or take a request back."""
    try:
        clubs.leave(own.app, own.account, path)
    except Refusal as reason:
        if reason.code != Code.LAST_OWNER:
            raise
        return _club(own, path, at="leave", reason=reason)
    return redirect_to("/clubs")


@pages.post("/clubs/{path:str}/news")
def announce(path: ClubPath, own: Own) -> Response[str] | Redirect:
    """Write to all members."""
    try:
        clubs.announce(own.app, own.actor(f"{own.key} news"), path, own.raw("text"))
    except Refusal as reason:
        return _club(own, path, at="news", reason=reason)
    return _saved(path, "news")


@pages.post("/clubs/{path:str}/requests/{userid:str}")
def answer_request(path: ClubPath, userid: Userid, own: Own) -> Redirect:
    """Admit somebody who asks to join, or turn them down."""
    admit = own.get("do") == "admit"
    clubs.answer_request(own.app, own.account, path, userid, admit=admit)
    return _saved(path, "members")


@pages.post("/clubs/{path:str}/members/{userid:str}")
def change_member(path: ClubPath, userid: Userid, own: Own) -> Response[str] | Redirect:
    """Change the role of a member, or end the membership."""
    try:
        if own.get("do") == "remove":
            clubs.remove_from_club(own.app, own.account, path, userid)
        else:
            role = read_choice(ClubRole, own.get("role"))
            clubs.set_club_role(own.app, own.account, path, userid, role)
    except Refusal as reason:
        return _club(own, path, at="members", reason=reason)
    return _saved(path, "members")


@pages.post("/clubs/{path:str}/links")
def make_link(path: ClubPath, own: Own) -> Response[str]:
    """Make a link with which members join, and show it once."""
    try:
        role = read_choice(ClubRole, own.get("role") or ClubRole.MEMBER)
        uses, days = (typed_number(own.get(name)) or 0 for name in ("uses", "days"))
        _, text = clubs.make_club_link(own.app, own.account, path, uses, days, role)
    except Refusal as reason:
        return _club(own, path, at="links", reason=reason)
    address = f"{own.visitor.site}/signup?{urlencode({'link': text})}"
    return _club(own, path, made=address)


@pages.post("/clubs/{path:str}/links/{link:str}/revoke")
def revoke_link(path: ClubPath, link: Userid, own: Own) -> Redirect:
    """End a link of the club."""
    clubs.revoke_club_link(own.app, own.account, path, link)
    return _saved(path, "links")


@pages.post("/clubs/{path:str}/rules")
def change_rules(path: ClubPath, own: Own) -> Response[str] | Redirect:
    """Change name, text and rules of a club."""
    try:
        changes = ClubChanges(
            name=own.get("name"),
            text=own.raw("text").replace("\r\n", "\n").strip(),
            joining=read_choice(Joining, own.get("joining")),
            visible_to=read_choice(ClubAudience, own.get("visible_to")),
            pairs_members=own.get("pairs_members") == "on",
        )
        clubs.change_club(own.app, own.account, path, changes)
    except Refusal as reason:
        return _club(own, path, at="rules", reason=reason)
    return _saved(path, "rules")


@pages.post("/clubs/{path:str}/close")
def close(path: ClubPath, own: Own) -> Redirect:
    """Close a club for good."""
    clubs.close_club(own.app, own.account, path, own.get("why"))
    return redirect_to(f"/clubs/{path}")
