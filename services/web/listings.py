"""Lists on pages of their own: matches, challenges, what happened, scores."""

from collections.abc import Callable
from typing import Annotated, Final, TypeAlias

from litestar import Response, get
from litestar.params import QueryParameter

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.projections.lists import State
from services.api.context import ApiContext
from services.app.games import read_game
from services.app.queries import player
from services.web.offers import offers
from services.web.pages import page
from services.web.paging import SIZE, Part
from services.web.params import GameKey, Start, TheContext, TheVisitor, Userid
from services.web.puzzles import scored
from services.web.rows import Item, items, waiting
from services.web.telling import each_told

Show = Annotated[str, QueryParameter(max_length=12)]
Listing: TypeAlias = tuple[str, Callable[[int, int], list[Item]], int]
"""A title, a function that returns the items from one on, and their count."""

_OWN: Final = "waiting"
_GOING: Final = "going"


@get("/matches", sync_to_thread=True)
def show_own(
    context: TheContext, visitor: TheVisitor, show: Show = _OWN, start: Start = 0
) -> Response[str]:
    """Show all own matches of a kind: those that wait, those of others, those that are over."""
    account = visitor.need()
    found = waiting(context, account)
    lists, counts = context.app.lists, context.app.lists.counts(account)
    kinds: dict[str, Listing] = {
        _OWN: (
            "Your move",
            lambda start, count: found.items(context, account, start, count),
            len(found.rows),
        ),
        "others": (
            "Others to move",
            lambda start, count: items(context, lists.others(account, start, count), account),
            counts.active - len(found.rows),
        ),
        "finished": (
            "Finished",
            lambda start, count: _of(context, account, State.INACTIVE, start, count),
            counts.inactive,
        ),
    }
    return _page(context, visitor, "Your matches", "/matches", kinds, show, start)


@get("/players/{userid:str}/matches", sync_to_thread=True)
def show_players(
    userid: Userid, context: TheContext, visitor: TheVisitor, show: Show = _GOING, start: Start = 0
) -> Response[str]:
    """Show all matches of a player."""
    account, profile = player(context.app, userid)
    counts = context.app.lists.counts(account)
    kinds: dict[str, Listing] = {
        _GOING: (
            "Going on",
            lambda start, count: _of(context, account, State.ACTIVE, start, count),
            counts.active,
        ),
        "finished": (
            "Finished",
            lambda start, count: _of(context, account, State.INACTIVE, start, count),
            counts.inactive,
        ),
    }
    name = profile.name
    return _page(
        context, visitor, f"Matches of {name}", f"/players/{name}/matches", kinds, show, start
    )


def _of(
    context: ApiContext, account: AccountId, state: State, start: int, count: int
) -> list[Item]:
    return items(context, context.app.lists.of(account, state, None, start, count), account)


@get("/games/{game:str}/matches", sync_to_thread=True)
def show_games_matches(
    game: GameKey, context: TheContext, visitor: TheVisitor, show: Show = _GOING, start: Start = 0
) -> Response[str]:
    """Show all matches of a game."""
    rules = read_game(game)
    lists, history = context.app.lists, context.app.history

    def finished(start: int, count: int) -> list[Item]:
        rows = lists.rows([row.board for row in history.of(rules.key, start=start, count=count)])
        return items(context, [row for row in rows if row])

    kinds: dict[str, Listing] = {
        _GOING: (
            "Going on",
            lambda start, count: items(context, lists.playing(rules.key, start, count)),
            lists.count_playing(rules.key),
        ),
        "finished": ("Finished", finished, history.count(rules.key)),
    }
    path = f"/games/{rules.key}/matches"
    return _page(context, visitor, f"Matches of {rules.title}", path, kinds, show, start)


def _page(  # noqa: PLR0917 - the parts of a page of matches
    context: ApiContext,
    visitor: TheVisitor,
    title: str,
    path: str,
    kinds: dict[str, Listing],
    show: str,
    start: int,
) -> Response[str]:
    if show not in kinds:
        raise Refusal(Code.NOT_FOUND, f"there is no list {show!r}; there are {', '.join(kinds)}")
    label, some, total = kinds[show]
    found = some(start, SIZE)
    part = Part.of(
        label, start=start, shown=len(found), total=total, path=path, query={"show": show}
    )
    tabs = [(key, kind[0], kind[2]) for key, kind in kinds.items()]
    return page(
        "matches.html",
        visitor,
        title=title,
        path=path,
        show=show,
        tabs=tabs,
        found=found,
        part=part,
        now=context.app.store.now(),
    )


@get("/challenges", sync_to_thread=True)
def show_challenges(context: TheContext, visitor: TheVisitor, start: Start = 0) -> Response[str]:
    """Show all open challenges, the newest first."""
    found = context.app.challenges.listed(None, start, SIZE)
    part = Part.of(
        "Open challenges",
        start=start,
        shown=len(found),
        total=context.app.challenges.count(),
        path="/challenges",
    )
    shown = offers(context, found, visitor.account)
    return page("challenges.html", visitor, offers=shown, part=part)


@get("/notices", sync_to_thread=True)
def show_notices(context: TheContext, visitor: TheVisitor, start: Start = 0) -> Response[str]:
    """Show what happened in the own matches, the newest first."""
    account = visitor.need()
    found = context.app.notices.of(account, start, SIZE)
    part = Part.of(
        "What happened",
        start=start,
        shown=len(found),
        total=context.app.notices.count(account),
        path="/notices",
    )
    news = each_told(context, found, account)
    return page("notices.html", visitor, news=news, part=part, now=context.app.store.now())


@get("/games/{game:str}/scores", sync_to_thread=True)
def show_scores(
    game: GameKey, context: TheContext, visitor: TheVisitor, start: Start = 0
) -> Response[str]:
    """Show all scores of a puzzle, the best first."""
    rules = read_game(game)
    best, total = scored(context, rules, start, SIZE)
    part = Part.of(
        "Scores",
        start=start,
        shown=len(best.rows),
        total=total,
        path=f"/games/{rules.key}/scores",
    )
    return page("scores.html", visitor, rules=rules, best=best, part=part)
