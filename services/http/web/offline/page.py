"""Answers to the service worker: whose pages it keeps, and which; and the page for all that it has not kept."""

from typing import Any, Final

from litestar import Response

from infra.redis.reads import read_one
from services.app.waiting import own_matches
from services.http.web.declared import Pages
from services.http.web.params import Asked, OwnPage
from services.http.web.render import render

MOST: Final = 50
"""Matches whose pages a browser keeps: those that wait for the account first."""

pages = Pages()


@pages.get("/offline.json")
def list_kept_pages(own_page: OwnPage) -> Response[dict[str, Any]]:
    """Return the account's userid and language, a token for its forms, and board and last event of its running matches."""
    app, visitor = own_page.app, own_page.visitor
    own = own_matches(app, own_page.account)
    wanted = [*own.boards.waiting, *own.others][:MOST]
    rows = read_one(app.data, app.lists.read_rows(own.boards.bucket, wanted))
    found = {
        "user": visitor.name,
        "language": visitor.wording.code,
        "csrf": visitor.proof,
        "matches": [(board, rows[board].seq) for board in wanted if board in rows],
    }
    return Response(found, headers={"Cache-Control": "no-store"})


@pages.get("/offline")
def show_offline(asked: Asked) -> Response[str]:
    """Show that a page needs a connection, and which ones do not."""
    return render("offline.html", asked.visitor)
