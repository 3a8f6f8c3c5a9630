"""The settings of a browser's display: one form for all of them, or a button for one."""

from typing import Any

from litestar import Response, post

from services.http.web.display_settings import change_display, display_cookie
from services.http.web.params import FormDependency, VisitorDependency
from services.http.web.render import local_path, redirect_to
from services.http.web.session import Form

_NO_CONTENT = 204


@post("/display", sync_to_thread=False)
def set_display(form: FormDependency, visitor: VisitorDependency) -> Response[Any]:
    """Keep the settings that the form names, and return to the page that it was on.

    A script has shown the change already, and stays on its page.
    """
    settings = change_display(visitor.display, _named(form))
    cookie = display_cookie(settings, secure=visitor.secure)
    if visitor.partial:
        return Response(None, status_code=_NO_CONTENT, cookies=[cookie])
    return redirect_to(local_path(form.get("back") or "/"), [cookie])


def _named(form: Form) -> dict[str, str]:
    """Return the fields of a form; a browser sends no checkbox that is off."""
    named = {name: form.get(name) for name in form.fields}
    return named | {name: "false" for name in form.all("switches") if name not in named}
