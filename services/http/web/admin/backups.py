"""Backups: when the last one was made and tried, and a button to make one now."""

from litestar import Response
from litestar.response import Redirect

from services.app.backups import ask_for_backup, backup_state
from services.http.web.admin.sections import render_section
from services.http.web.declared import Pages
from services.http.web.params import Own, OwnPage
from services.http.web.render import redirect_to

pages = Pages()


@pages.get("/admin/backups")
def show_backups(own_page: OwnPage) -> Response[str]:
    """Show how the backups stand."""
    state = backup_state(own_page.app, own_page.account)
    return render_section(
        "backups.html",
        own_page,
        "backups",
        state=state,
        notes=state.notes,
        is_late=state.is_late(own_page.visitor.now),
        mebibytes=max(1, state.notes.size >> 20),
    )


@pages.post("/admin/backups")
def make_backup(own: Own) -> Redirect:
    """Ask for a backup now."""
    ask_for_backup(own.app, own.account)
    return redirect_to("/admin/backups")
