"""Pages of long lists: matches, challenges, notices, scores."""

from collections.abc import Callable
from typing import Annotated, Final, TypeAlias

from litestar import Response, get
from litestar.params import QueryParameter

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.projections.match_lists import MatchFilter
from services.app.games import read_game
from services.app.queries import find_player
from services.http.context import ApiContext
from services.http.web.pages.puzzles import leaderboard_page
from services.http.web.params import (
    ContextDependency,
    GameKey,
    StartIndex,
    Userid,
    VisitorDependency,
)
from services.http.web.render import render
from services.http.web.views.match_rows import MatchRow, finished_row, match_rows, waiting_matches
from services.http.web.views.new_match_form import robot_offers
from services.http.web.views.news import news_items
from services.http.web.views.open_challenges import offers
from services.http.web.views.pagination import PAGE_SIZE, ListPart

Show = Annotated[str, QueryParameter(max_length=12)]
Listing: TypeAlias = tuple[str, Callable[[int, int], list[MatchRow]], int]
"""A title, a function that returns rows for a start and a count, and the total."""

_WAITING: Final = "waiting"
_GOING: Final = "going"


@get("/matches", sync_to_thread=True)
def show_own(
    context: ContextDependency,
    visitor: VisitorDependency,
    show: Show = _WAITING,
    start: StartIndex = 0,
) -> Response[str]:
    """Show the visitor's matches: their own move, others to move, or finished."""
    account = visitor.require_account()
    found = waiting_matches(context, account)
    lists, counts = context.app.lists, context.app.lists.counts(account)
    kinds: dict[str, Listing] = {
        _WAITING: (
            "Your move",
            lambda start, count: found.items(context, account, start, count),
            len(found.rows),
        ),
        "others": (
            "Others to move",
            lambda start, count: match_rows(context, lists.others(account, start, count), account),
            counts.active - len(found.rows),
        ),
        "finished": (
            "Finished",
            lambda start, count: _rows_of_player(
                context, account, MatchFilter.INACTIVE, start, count
            ),
            counts.inactive,
        ),
    }
    return _page(context, visitor, "Your matches", "/matches", kinds, show, start)


@get("/players/{userid:str}/matches", sync_to_thread=True)
def show_players(
    userid: Userid,
    context: ContextDependency,
    visitor: VisitorDependency,
    show: Show = _GOING,
    start: StartIndex = 0,
) -> Response[str]:
    """Show all matches of a player."""
    account, profile = find_player(context.app, userid)
    counts = context.app.lists.counts(account)
    kinds: dict[str, Listing] = {
        _GOING: (
            "In progress",
            lambda start, count: _rows_of_player(
                context, account, MatchFilter.ACTIVE, start, count
            ),
            counts.active,
        ),
        "finished": (
            "Finished",
            lambda start, count: _rows_of_player(
                context, account, MatchFilter.INACTIVE, start, count
            ),
            counts.inactive,
        ),
    }
    name = profile.name
    return _page(
        context, visitor, f"Matches of {name}", f"/players/{name}/matches", kinds, show, start
    )


def _rows_of_player(
    context: ApiContext, account: AccountId, state: MatchFilter, start: int, count: int
) -> list[MatchRow]:
    return match_rows(context, context.app.lists.of(account, state, None, start, count), account)


@get("/games/{game:str}/matches", sync_to_thread=True)
def show_games_matches(
    game: GameKey,
    context: ContextDependency,
    visitor: VisitorDependency,
    show: Show = _GOING,
    start: StartIndex = 0,
) -> Response[str]:
    """Show all matches of a game."""
    rules = read_game(game)
    lists, history = context.app.lists, context.app.history

    def finished(start: int, count: int) -> list[MatchRow]:
        rows = history.of(rules.key, start=start, count=count)
        return match_rows(context, list(map(finished_row, rows)))

    kinds: dict[str, Listing] = {
        _GOING: (
            "In progress",
            lambda start, count: match_rows(context, lists.playing(rules.key, start, count)),
            lists.count_playing(rules.key),
        ),
        "finished": ("Finished", finished, history.count(rules.key)),
    }
    path = f"/games/{rules.key}/matches"
    return _page(context, visitor, f"Matches of {rules.title}", path, kinds, show, start)


def _page(  # noqa: PLR0917 - the parts of a page of matches
    context: ApiContext,
    visitor: VisitorDependency,
    title: str,
    path: str,
    kinds: dict[str, Listing],
    show: str,
    start: int,
) -> Response[str]:
    if show not in kinds:
        raise Refusal(
            Code.NOT_FOUND, f"there is no list {show!r}; the lists are {', '.join(kinds)}"
        )
    label, some, total = kinds[show]
    found = some(start, PAGE_SIZE)
    part = ListPart.of(
        label, start=start, shown=len(found), total=total, path=path, query={"show": show}
    )
    tabs = [(key, kind[0], kind[2]) for key, kind in kinds.items()]
    return render(
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
def show_challenges(
    context: ContextDependency, visitor: VisitorDependency, start: StartIndex = 0
) -> Response[str]:
    """Show all open challenges, the newest first."""
    found = context.app.challenges.list_open(None, start, PAGE_SIZE)
    part = ListPart.of(
        "Open challenges",
        start=start,
        shown=len(found),
        total=context.app.challenges.count(),
        path="/challenges",
    )
    shown = offers(context, found, visitor.account)
    return render("challenges.html", visitor, offers=shown, part=part, **robot_offers(context.app))


@get("/notices", sync_to_thread=True)
def show_notices(
    context: ContextDependency, visitor: VisitorDependency, start: StartIndex = 0
) -> Response[str]:
    """Show the visitor's notices, the newest first."""
    account = visitor.require_account()
    found = context.app.notices.of(account, start, PAGE_SIZE)
    part = ListPart.of(
        "News",
        start=start,
        shown=len(found),
        total=context.app.notices.count(account),
        path="/notices",
    )
    news = news_items(context, found, account)
    return render("notices.html", visitor, news=news, part=part, now=context.app.store.now())


@get("/games/{game:str}/scores", sync_to_thread=True)
def show_scores(
    game: GameKey, context: ContextDependency, visitor: VisitorDependency, start: StartIndex = 0
) -> Response[str]:
    """Show all scores of a puzzle, the best first."""
    rules = read_game(game)
    best, total = leaderboard_page(context, rules, start, PAGE_SIZE)
    part = ListPart.of(
        "Scores",
        start=start,
        shown=len(best.rows),
        total=total,
        path=f"/games/{rules.key}/scores",
    )
    return render("scores.html", visitor, rules=rules, best=best, part=part)
