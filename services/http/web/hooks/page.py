"""Webhooks and channels of an account, of a club or of a tournament: their list, and each with its deliveries."""

from typing import Annotated
from urllib.parse import urlencode

from litestar import Response
from litestar.params import QueryParameter
from litestar.response import Redirect

from domain.errors import Refusal
from infra.people.hooks import Hook, HookTopic
from infra.settings.hook_hosts import LONGEST_ADDRESS
from services.app import hooks
from services.app.hooks import MOST_LABEL, hook_at, hooks_at, place_of, shown_address
from services.app.names import names_of
from services.app.typed_values import typed_number
from services.http.web.declared import Pages
from services.http.web.forms import OwnForm
from services.http.web.params import ClubParameter, Id, Own, OwnPage, SavedMark
from services.http.web.render import redirect_to, render, secret_page
from services.words.hooks import answer_text, delivery_name, state_name, topic_names, why_off

pages = Pages()

OfTournament = Annotated[int | None, QueryParameter(name="tournament", ge=1, le=10**15)]


class _HookPlace:
    """The club or the tournament whose hooks a page shows; neither for those of the account."""

    def __init__(self, own: OwnForm, club: str, tournament: int | None) -> None:
        self.club, self.tournament = club, tournament
        self.key = place_of(own.app, own.account, club=club, tournament=tournament)
        named = {"club": club} if club else {"tournament": tournament} if tournament else {}
        self.query = f"?{urlencode(named)}" if named else ""
        self.page = f"/account/hooks{self.query}"
        self.name = self._name(own)
        self.above = f"/clubs/{club}" if club else f"/tournaments/{tournament}/director"

    def _name(self, own: OwnForm) -> str:
        if self.club:
            found = own.app.clubs.at(self.club)
            return found.name if found else ""
        if self.tournament is None:
            return ""
        number = self.tournament
        return own.app.tournament_texts.of([number])[number].name or f"#{number}"


def _place(own: OwnForm) -> _HookPlace:
    """Return the place that the fields of a form name."""
    return _HookPlace(own, own.get("club"), typed_number(own.get("tournament")))


@pages.get("/account/hooks")
def show_hooks(
    own_page: OwnPage, club: ClubParameter = "", tournament: OfTournament = None
) -> Response[str]:
    """Show the visitor's webhooks and channels, or those of a club or a tournament."""
    return _page(own_page, _HookPlace(own_page, club, tournament))


def _page(own: OwnForm, place: _HookPlace, reason: Refusal | None = None) -> Response[str]:
    app, words = own.app, own.visitor.wording
    found = hooks_at(app, own.account, place.key)
    return render(
        "hooks.html",
        own.visitor,
        place=place,
        hooks=found,
        names=names_of(app, (one.account for one in found), words),
        me=own.account,
        why_off={one.id: why_off(one.off, words) for one in found if one.off},
        topics=topic_names(words),
        chosen=own.all("topic") if reason else [HookTopic.TURN],
        is_on=app.settings.sends_hooks,
        factors=app.accounts.factors_of(own.account),
        longest={"address": LONGEST_ADDRESS, "label": MOST_LABEL},
        at="new" if reason else "",
        typed=own,
        reason=reason,
    )


@pages.post("/account/hooks")
def add_hook(own: Own) -> Response[str] | Redirect:
    """Add a webhook or a channel, and show the secret of a webhook, once."""
    place = _place(own)
    try:
        own.confirm()
        made = hooks.add_hook(
            *(own.app, own.account, own.get("address")),
            label=own.get("label"),
            topics=own.all("topic"),
            place=place.key,
        )
    except Refusal as reason:
        return _page(own, place, reason)
    page = f"/account/hooks/{made.hook.id}"
    if made.secret:
        return secret_page("hook_secret.html", own.visitor, secret=made.secret, page=page)
    return redirect_to(page)


@pages.get("/account/hooks/{id_:str}")
def show_hook(
    id_: Id,
    own_page: OwnPage,
    club: ClubParameter = "",
    tournament: OfTournament = None,
    saved: SavedMark = "",
) -> Response[str]:
    """Show a webhook or a channel with its deliveries; `saved` is what was just done."""
    place = _HookPlace(own_page, club, tournament)
    return _hook(own_page, place, hook_at(own_page.app, own_page.account, id_, place.key), saved)


def _hook(
    own: OwnForm, place: _HookPlace, hook: Hook, saved: str = "", reason: Refusal | None = None
) -> Response[str]:
    app, words = own.app, own.visitor.wording
    is_own = hook.account == own.account
    found = app.hooks.deliveries(hook)
    return render(
        "hook.html",
        own.visitor,
        place=place,
        hook=hook,
        is_own=is_own,
        address=shown_address(app, hook) if is_own else hook.host,
        topics=topic_names(words),
        why_off=why_off(hook.off, words) if hook.off else "",
        deliveries=[
            (
                one,
                delivery_name(one, words),
                state_name(one.state, words),
                answer_text(one, words),
            )
            for one in found
        ],
        factors=app.accounts.factors_of(own.account),
        saved=saved,
        at="hook" if reason else "",
        reason=reason,
    )


@pages.post("/account/hooks/{id_:str}")
def change_hook(id_: Id, own: Own) -> Response[str] | Redirect:
    """Do to a webhook or a channel what the form says."""
    place, app = _place(own), own.app
    hook = hook_at(app, own.account, id_, place.key)
    do = own.get("do")
    try:
        if do == "remove":
            app.hooks.remove(hook)
            return redirect_to(place.page)
        hook = hook_at(app, own.account, id_)  # what follows is for the account that made it
        if do == "test":
            hooks.send_test(app, hook)
        elif do == "again":
            hooks.send_again(app, hook, own.get("delivery"))
        elif do == "on":
            own.confirm()
            hooks.switch_on(app, hook)
        elif do == "secret":
            own.confirm()
            secret = hooks.rotate_secret(app, hook)
            page = f"/account/hooks/{hook.id}"
            return secret_page("hook_secret.html", own.visitor, secret=secret, page=page)
    except Refusal as reason:
        return _hook(own, place, hook, reason=reason)
    return redirect_to(f"/account/hooks/{hook.id}?saved={do}")
