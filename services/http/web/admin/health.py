"""How the server does: its backups, and health and storage from the facts of `matchpost doctor`."""

from litestar import Response
from litestar.response import Redirect

from services.app.backups import ask_for_backup, backup_state
from services.app.roles import require_operator
from services.doctor.findings import Level, size_of
from services.http.web.admin.sections import render_section
from services.http.web.declared import Pages
from services.http.web.params import Own, OwnPage
from services.http.web.render import redirect_to

pages = Pages()


@pages.get("/admin/health", weight=3)
def show_health(own_page: OwnPage) -> Response[str]:
    """Show the findings, those first that need something to be done."""
    require_operator(own_page.app, own_page.account)
    found = own_page.context.diagnosis.read()
    return render_section(
        "health.html",
        own_page,
        "health",
        urgent=[one for one in found.findings if one.level >= Level.WARN],
        others=[one for one in found.findings if one.level < Level.WARN],
        at=found.facts.clock,
    )


@pages.get("/admin/storage", weight=3)
def show_storage(own_page: OwnPage) -> Response[str]:
    """Show figures of robots, matches, memory and disk, from the facts of the doctor."""
    require_operator(own_page.app, own_page.account)
    facts = own_page.context.diagnosis.read().facts
    return render_section(
        "storage.html",
        own_page,
        "storage",
        server=facts.server,
        directory=None if facts.settings.redis_url else facts.directory,
        accounts=own_page.app.accounts.count(),
        size_of=size_of,
        at=facts.clock,
    )


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
