"""The admission: its rules on accounts, and on what people without one see; and the games that are switched off."""

from litestar import Response
from litestar.response import Redirect
from msgspec.structs import asdict

from services.app.admission import admission_now, change_admission
from services.app.games_off import switch_games, switched_games
from services.http.web.admin.sections import render_section
from services.http.web.declared import Pages
from services.http.web.params import Own, OwnPage, SavedMark
from services.http.web.render import redirect_to

pages = Pages()


@pages.get("/admin/admission")
def show_admission(own_page: OwnPage, saved: SavedMark = "") -> Response[str]:
    """Show the rules of the admission."""
    stored = own_page.app.admissions.read()
    is_closed = admission_now(own_page.app).signups != stored.signups
    return render_section(
        "admission.html", own_page, "admission", rules=stored, is_closed=is_closed, saved=saved
    )


@pages.post("/admin/admission")
def set_admission(own: Own) -> Redirect:
    """Change the rules that the form changes; it is answered when they are in force."""
    stored = asdict(own.app.admissions.read())
    asked = {name: own.get(name) for name in stored if name in own.fields}
    changes = {name: value for name, value in asked.items() if value != stored[name]}
    change_admission(own.app, changes, by=own.account)
    return redirect_to("/admin/admission?saved=rules")


@pages.get("/admin/games")
def show_games(own_page: OwnPage, saved: SavedMark = "") -> Response[str]:
    """Show all games, with a button to switch each."""
    games = switched_games(own_page.app, by=own_page.account)
    return render_section("switched_games.html", own_page, "games", games=games, saved=saved)


@pages.post("/admin/games")
def switch_game(own: Own) -> Redirect:
    """Switch a game; it is answered when that is in force."""
    off, on = ([own.get(name)] if own.get(name) else () for name in ("off", "on"))
    switch_games(own.app, off, on, by=own.account)
    return redirect_to("/admin/games?saved=games")
