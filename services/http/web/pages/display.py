"""The settings of a browser's display, each with a button of its own."""

from typing import Any

from litestar import Response, post

from services.http.web.display_settings import change_display, display_cookie
from services.http.web.params import FormDependency, VisitorDependency
from services.http.web.render import local_path, redirect_to

_NO_CONTENT = 204


@post("/display", sync_to_thread=False)
def set_display(form: FormDependency, visitor: VisitorDependency) -> Response[Any]:
    """Keep the settings that the form names, and return to the page that it was on.

    A script has shown the change already, and stays on its page.
    """
    settings = change_display(visitor.display, {name: form.get(name) for name in form.fields})
    cookie = display_cookie(settings, secure=visitor.secure)
    if visitor.partial:
        return Response(None, status_code=_NO_CONTENT, cookies=[cookie])
    return redirect_to(local_path(form.get("back") or "/"), [cookie])
