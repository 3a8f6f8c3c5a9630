"""Open challenges: their list, the page of each, and taking a seat or leaving it."""

import asyncio
from functools import partial
from typing import Final

from litestar import Response
from litestar.response import Redirect

from domain.rules import latest_rules
from infra.people.challenges import ChallengeState
from services.app import challenges
from services.app.challenges import begun_when_full, gathers
from services.app.opponents import robots_play
from services.http.streams.page_marks import ChallengesTopic, HomeTopic, page_marks
from services.http.web.challenges.new_match_form import robot_offers, showcase_games
from services.http.web.challenges.open_challenges import offers
from services.http.web.declared import Pages
from services.http.web.lists.pagination import PAGE_SIZE, ListPart, first_row
from services.http.web.params import (
    ContextDependency,
    GameParameter,
    Id,
    Own,
    PageNumber,
    VisitorDependency,
)
from services.http.web.render import redirect_to, render
from services.http.web.session import AnyRequest

pages = Pages()

_OVER: Final = (ChallengeState.WITHDRAWN, ChallengeState.TAKEN)


@pages.get("/challenges")
def show_challenges(
    context: ContextDependency,
    visitor: VisitorDependency,
    page: PageNumber = 1,
    game: GameParameter = "",
) -> Response[str]:
    """Show the open challenges of all games or of one, the newest first."""
    key = latest_rules(game.lower()).key if game else None
    start = first_row(page)
    found = context.app.challenges.list_open(key, start, PAGE_SIZE)
    part = ListPart.of(
        visitor.wording.gettext("Open challenges"),
        start=start,
        shown=len(found),
        total=context.app.challenges.count(key),
        path="/challenges",
        query={"game": key} if key else {},
    )
    return render(
        "challenges.html",
        visitor,
        offers=offers(context, found, visitor),
        part=part,
        games=showcase_games(),
        game=key,
        mark=page_marks(context.app, [ChallengesTopic()])[ChallengesTopic()],
        **robot_offers(context.app),
    )


@pages.get("/c/{challenge:str}")
def show_challenge_page(
    request: AnyRequest, challenge: Id, context: ContextDependency, visitor: VisitorDependency
) -> Response[str]:
    """Show a challenge; its challenger gets the link to send to others."""
    topic = HomeTopic(visitor.account or b"")
    # before the challenge is read, so that a later change reaches the page as news
    home = page_marks(context.app, [topic])[topic] if visitor.account else ""
    found = context.app.challenges.get(challenge)
    (offer,) = offers(context, [found], visitor)
    scheme = "https" if visitor.secure else "http"
    return render(
        "challenge.html",
        visitor,
        offer=offer,
        challenge=found,
        over=found.state in _OVER,
        # who takes part sees at once when the match begins
        mark=home if offer.mine and found.board is None else "",
        link=f"{scheme}://{request.url.netloc}/c/{found.id}",
        levels=robot_offers(context.app)["levels"] if robots_play(context.app) else (),
    )


@pages.post("/challenges/{challenge:str}/take")
async def take(challenge: Id, own: Own) -> Redirect:
    """Take a free seat of an open challenge; the last one starts the match."""
    proposal = (await asyncio.to_thread(own.app.challenges.get, challenge)).proposal
    # a browser sends a commitment with each form, also for a match that does not gather
    sent = own.get("commitment") if gathers(proposal) else ""
    seat = partial(challenges.take, own.app, own.actor(), challenge, sent)
    taken = await own.context.play.submit(begun_when_full(own.app, seat))
    return redirect_to(f"/c/{taken.id}" if taken.board is None else f"/m/{taken.board}")


@pages.post("/challenges/{challenge:str}/withdraw")
def withdraw(challenge: Id, own: Own) -> Redirect:
    """Withdraw the visitor's challenge, or leave another player's."""
    challenges.withdraw(own.app, own.actor(), challenge)
    return redirect_to("/#open")
