"""The games that can be played here: an operator switches them off and on."""

from litestar import Response
from litestar.response import Redirect

from services.app.games_off import switch_games, switched_games
from services.http.web.admin.sections import render_section
from services.http.web.declared import Pages
from services.http.web.params import Own, OwnPage, SavedMark
from services.http.web.render import redirect_to

pages = Pages()


@pages.get("/admin/games")
def show_games(own_page: OwnPage, saved: SavedMark = "") -> Response[str]:
    """Show all games, with a button to switch each."""
    games = switched_games(own_page.app, by=own_page.account)
    return render_section("admin_games.html", own_page, "games", games=games, saved=saved)


@pages.post("/admin/games")
def switch_game(own: Own) -> Redirect:
    """Switch a game; it is answered when that is in force."""
    off, on = ([own.get(name)] if own.get(name) else () for name in ("off", "on"))
    switch_games(own.app, off, on, by=own.account)
    return redirect_to("/admin/games?saved=games")
