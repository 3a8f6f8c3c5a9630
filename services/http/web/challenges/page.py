"""Open challenges: their list, the page of each, and taking a seat or leaving it.

Open challenges as lists and their own pages show them.

Matches with robots, and rematches: each from one click.
"""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final
from urllib.parse import urlencode

import msgspec
from litestar import Response
from litestar.response import Redirect

from domain.errors import Code, Refusal
from domain.game.engine import read_level
from domain.match.start import read_start_options
from domain.records import AccountId
from domain.rules import latest_rules, rules_by_id
from infra.people.challenges import Challenge, ChallengeState
from infra.projections.ratings import Rating, pool_of
from services.app import challenges
from services.app.challenges import begun_when_full, fill_with_robot, gathers
from services.app.clubs import visible_challenge
from services.app.context import App
from services.app.games_off import is_off
from services.app.names import names_of
from services.app.opponents import RobotPlayer, robot_of, robots_play
from services.app.play import give
from services.app.rematch import rematch
from services.app.sentences import SAY
from services.app.start import start_by_name
from services.http.context import ApiContext
from services.http.streams.page_marks import ChallengesTopic, HomeTopic, page_marks
from services.http.web.challenges.match_draft import chosen_terms, offered_games, robot_offers
from services.http.web.challenges.new_match import seat_of_challenger
from services.http.web.declared import Pages
from services.http.web.forms import own_form
from services.http.web.lists.match_rows import PAGE_SIZE, ListPart, first_row
from services.http.web.params import (
    Asked,
    BoardNumber,
    FormDependency,
    GameParameter,
    Id,
    Own,
    PageNumber,
)
from services.http.web.render import redirect_to, render
from services.http.web.session import AnyRequest, Visitor
from services.words.agreements import first_mover, limits, side_words, variant_words


class OpenChallengeRow(msgspec.Struct, frozen=True):
    """An open challenge."""

    id: str
    game: str
    title: str
    variants: tuple[str, ...]
    """The options, in words."""
    time: str
    """The time control, in words."""
    rated: bool
    note: str
    players: tuple[str, ...]
    """The challenger, and the players who have joined."""
    seats: int
    """The number of players."""
    missing: int
    mine: bool
    """Whether the visitor is the challenger or has joined."""
    own: bool
    """Whether the visitor is the challenger."""
    seat: str
    """The visitor's side in a match for two, if the challenger has chosen; else empty."""
    first: str
    """The side that moves first; empty if chance has a part in that."""
    gathers: bool
    """Whether the player who takes it commits to a text for the draw."""
    listed: bool
    """Whether it is in the lists; if not, its players have its link."""
    off: bool
    """Whether the game is switched off, so that nobody can take it now."""
    rating: Rating | None = None
    """The challenger's rating in this game; None for a player without rated matches."""


def offers(
    context: ApiContext, found: Sequence[Challenge], visitor: Visitor
) -> list[OpenChallengeRow]:
    """Return challenges as rows of a list for a visitor, with the challengers' ratings."""
    players = (player for one in found for player in one.players)
    names = names_of(context.app, players, visitor.wording)
    rows = named_offers(context.app, found, names, visitor)
    return [
        msgspec.structs.replace(row, rating=_rating(context, row.game, one.account))
        for row, one in zip(rows, found, strict=True)
    ]


def _rating(context: ApiContext, game: str, account: AccountId) -> Rating | None:
    rating = context.app.ratings.player(pool_of(game, [account]), account)
    return rating if rating.matches else None


def named_offers(
    app: App, found: Sequence[Challenge], names: Mapping[AccountId, str], visitor: Visitor
) -> list[OpenChallengeRow]:
    """Return challenges as rows of a list, by the names of all their players."""
    return [_offer(app, one, [names[player] for player in one.players], visitor) for one in found]


def _offer(app: App, one: Challenge, names: Sequence[str], visitor: Visitor) -> OpenChallengeRow:
    proposal, rules = one.proposal, rules_by_id(one.proposal.rules)
    agreed = read_start_options(one.words, proposal.seats)
    terms, variants = agreed.terms, variant_words(rules, proposal.options, visitor.wording)
    if agreed.opening:
        said = visitor.wording.gettext("Opening: %(moves)s", moves=agreed.opening)
        variants = [*variants, said]
    sides = side_words(rules, visitor.wording)
    own = visitor.account == one.account
    side = [side for seat, side in enumerate(sides) if (seat == proposal.seat) == own]
    alone = proposal.seats == 2 and proposal.seat is not None  # noqa: PLR2004
    first = first_mover(rules, proposal.options, proposal.seats)
    return OpenChallengeRow(
        id=one.id,
        game=rules.key,
        title=rules.title,
        variants=tuple(variants),
        time=limits(terms, visitor.wording),
        rated=terms is not None and bool(terms.rated),
        note=proposal.note,
        players=tuple(names),
        seats=proposal.seats,
        missing=one.free_seats,
        mine=visitor.account in one.players,
        own=own,
        seat=side[0] if alone else "",
        first="" if first is None or agreed.opening else sides[first],
        gathers=gathers(proposal),
        listed=proposal.listed,
        off=is_off(app, rules),
    )


pages = Pages()

_OVER: Final = (ChallengeState.WITHDRAWN, ChallengeState.TAKEN)


@pages.get("/challenges")
def show_challenges(asked: Asked, page: PageNumber = 1, game: GameParameter = "") -> Response[str]:
    """Show the open challenges of all games or of one, the newest first."""
    visitor = asked.visitor
    key = latest_rules(game.lower()).key if game else None
    start = first_row(page)
    found = asked.app.challenges.list_open(key, start, PAGE_SIZE)
    part = ListPart.of(
        visitor.wording.gettext("Open challenges"),
        start=start,
        shown=len(found),
        total=asked.app.challenges.count(key),
        path="/challenges",
        query={"game": key} if key else {},
    )
    return render(
        "challenges.html",
        visitor,
        offers=offers(asked.context, found, visitor),
        part=part,
        games=offered_games(asked.app),
        game=key,
        mark=page_marks(asked.app, [ChallengesTopic()])[ChallengesTopic()],
        **robot_offers(asked.app),
    )


@pages.get("/c/{challenge:str}")
def show_challenge_page(request: AnyRequest, challenge: Id, asked: Asked) -> Response[str]:
    """Show a challenge; its challenger gets the link to send to others."""
    visitor = asked.visitor
    topic = HomeTopic(visitor.account or b"")
    # before the challenge is read, so that a later change reaches the page as news
    home = page_marks(asked.app, [topic])[topic] if visitor.account else ""
    found = visible_challenge(asked.app, visitor.account, challenge)
    (offer,) = offers(asked.context, [found], visitor)
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
        levels=robot_offers(asked.app)["levels"] if robots_play(asked.app) else (),
    )


@pages.post("/challenges/{challenge:str}/take")
async def take(challenge: Id, own: Own) -> Redirect:
    """Take a free seat of an open challenge; the last one starts the match."""
    found = await asyncio.to_thread(visible_challenge, own.app, own.account, challenge)
    proposal = found.proposal
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


@pages.post("/robots")
async def play_robot(form: FormDependency) -> Redirect:
    """Start a match with a robot; a guest signs up first, and finds the match chosen then."""
    game, _, level = form.get("play").partition(" ")
    rules = latest_rules(game.lower())
    robot = await _robot(form.context, level)
    if form.visitor.account is None:
        wanted = f"/new?{urlencode({'game': rules.key, 'opponent': robot.userid})}"
        return redirect_to(f"/signup?{urlencode({'next': wanted})}")
    own = own_form(form)
    actor = own.actor(f"{own.key} robot {rules.key} {robot.level}")
    names = [robot.userid]
    names.insert(seat_of_challenger(None, 2, actor.command_id()), form.visitor.name)
    start = partial(
        start_by_name,
        form.app,
        actor,
        rules,
        names,
        options=(),
        terms=chosen_terms(form),
    )
    begun = await form.context.play.submit(give(form.app, start))
    return redirect_to(f"/m/{begun.board}")


@pages.post("/challenges/{challenge:str}/robot")
async def add_robot(challenge: Id, own: Own) -> Redirect:
    """Let a robot take a free seat of the visitor's challenge; the last one starts the match."""
    robot = await _robot(own.context, own.get("level"))
    seat = partial(fill_with_robot, own.app, own.actor(), challenge, robot.level)
    taken = await own.context.play.submit(begun_when_full(own.app, seat))
    return redirect_to(f"/c/{taken.id}" if taken.board is None else f"/m/{taken.board}")


async def _robot(context: ApiContext, text: str) -> RobotPlayer:
    level = read_level(text)
    if level is None:
        raise Refusal(Code.BAD_REQUEST, SAY("which-robot"))
    return await asyncio.to_thread(robot_of, context.app, level)


@pages.post("/m/{board:int}/rematch")
async def start_rematch(board: BoardNumber, own: Own) -> Redirect:
    """Start the rematch of a match, or show the one that another player has started."""
    asked = rematch(own.app, own.actor(), board, own.get("commitment"))
    begun = await own.context.play.submit(asked)
    return redirect_to(f"/m/{begun.board}")
