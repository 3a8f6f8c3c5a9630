"""Matches and games on other sites: a picture for a link, and a board in a frame."""

from typing import Annotated, Any, Final

from litestar import Response
from litestar.params import QueryParameter

from domain.errors import Code, Refusal
from domain.rules import latest_rules
from services.app.sentences import SAY
from services.http.web.boards.board_view import CARD, draw_guide_picture, draw_match
from services.http.web.declared import Pages
from services.http.web.match.view import MatchView
from services.http.web.params import MAX_PLY, Asked, BoardNumber, GameKey, VisitorDependency
from services.http.web.render import framed, render
from services.http.web.site_files import preview_png
from services.words.endings import board_svg

pages = Pages()

_PNG: Final = "image/png"
_FOR_FIVE_MINUTES: Final = {"Cache-Control": "public, max-age=300"}
_PUBLIC_FOR_A_DAY: Final = {"Cache-Control": "public, max-age=86400"}

EmbeddedPly = Annotated[int | None, QueryParameter(name="ply", ge=0, le=MAX_PLY)]


@pages.get("/m/{board:int}/preview.png", weight=10)
def show_match_preview(board: BoardNumber, asked: Asked) -> Response[Any]:
    """Return a match as it stands, as the picture of a link preview."""
    table = MatchView.of(asked.context, board, asked.visitor)
    table.check_ply(0)
    png = preview_png(board_svg(table.state, table.state.ply, table.names))
    return Response(png, media_type=_PNG, headers=_FOR_FIVE_MINUTES)


@pages.get("/games/{game:str}/preview.png", weight=10, for_guests=True)
def show_game_preview(game: GameKey, visitor: VisitorDependency) -> Response[Any]:
    """Return the start of a game as the picture of a link preview."""
    del visitor  # a dependency, because it counts the request
    png = preview_png(draw_guide_picture(latest_rules(game.lower()).key, CARD).svg)
    return Response(png, media_type=_PNG, headers=_PUBLIC_FOR_A_DAY)


@pages.get("/m/{board:int}/embed")
def show_embedded(board: BoardNumber, asked: Asked, ply: EmbeddedPly = None) -> Response[str]:
    """Show the board of a match for a frame on another site: without cookies, forms and this visitor."""
    visitor = asked.visitor
    table = MatchView.of(asked.context, board, asked.visitor)
    state = table.state
    shown = state.ply if ply is None else ply
    if state.has_no_position and ply is not None:
        raise Refusal(Code.NOT_STARTED, SAY("no-position", board=board))
    if not state.has_no_position:
        table.check_ply(shown)
    page = render(
        "embed.html",
        visitor,
        table=table,
        ply=shown,
        live=ply is None and not state.over,
        last=state.first_moves(shown)[-1] if shown else "",
        svg=""
        if state.has_no_position
        else draw_match(state, shown, table.names, language=visitor.wording),
    )
    return framed(page)
