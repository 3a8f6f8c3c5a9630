"""Pages of long lists: notices, scores."""

from collections.abc import Sequence

from litestar import Response

from infra.people.account_notices import MOST_ROWS
from services.app.games import read_game
from services.app.names import names_of
from services.app.news import NewsGroup, grouped
from services.http.context import ApiContext
from services.http.streams.page_marks import HomeTopic, page_marks
from services.http.web.declared import Pages
from services.http.web.lists.pagination import PAGE_SIZE, ListPart, first_row
from services.http.web.params import (
    AccountDependency,
    ContextDependency,
    GameKey,
    PageNumber,
    VisitorDependency,
)
from services.http.web.puzzles.page import leaderboard_page
from services.http.web.render import render
from services.http.web.session import Visitor
from services.words.news import NewsItem, NewsReader, named_news, rows_of_notices, senders_of

pages = Pages()


@pages.get("/notices")
def show_notices(
    context: ContextDependency,
    visitor: VisitorDependency,
    account: AccountDependency,
    page: PageNumber = 1,
) -> Response[str]:
    """Show the visitor's notices, the newest first, and mark them as read; a part of the page marks none."""
    start = first_row(page)
    groups = grouped(context.app.notices.of(account, 0, MOST_ROWS))
    found = groups[start : start + PAGE_SIZE]
    part = ListPart.of(
        visitor.wording.gettext("News"),
        start=start,
        shown=len(found),
        total=len(groups),
        path="/notices",
    )
    news = news_items(context, found, visitor)
    if found and not visitor.partial:
        context.app.messages.mark_news_read(account, found[0].newest.at)
    # after the mark, which changes it
    topic = HomeTopic(account)
    mark = page_marks(context.app, [topic])[topic]
    return render("notices.html", visitor, news=news, part=part, mark=mark)


@pages.get("/games/{game:str}/scores")
def show_scores(
    game: GameKey, context: ContextDependency, visitor: VisitorDependency, page: PageNumber = 1
) -> Response[str]:
    """Show all scores of a puzzle, the best first."""
    rules, start = read_game(game), first_row(page)
    best, total = leaderboard_page(context, rules, visitor, start, PAGE_SIZE)
    part = ListPart.of(
        visitor.wording.gettext("Scores"),
        start=start,
        shown=len(best.rows),
        total=total,
        path=f"/games/{rules.key}/scores",
    )
    return render("scores.html", visitor, rules=rules, best=best, part=part)


def news_items(
    context: ApiContext, groups: Sequence[NewsGroup], visitor: Visitor
) -> list[NewsItem]:
    """Return each group of notices in words."""
    account, notices = visitor.require_account(), [one.newest for one in groups]
    app = context.app
    found = app.lists.rows([one.board for one in notices])
    rows = rows_of_notices(app, notices, {row.board: row for row in found if row})
    seats = (seat for row in rows.values() for seat in row.seats)
    names = names_of(app, [*seats, *senders_of(notices)], visitor.wording)
    reader = NewsReader(account, visitor.wording, app.unread.counts(account), visitor.now)
    return named_news(groups, rows, names, reader)
