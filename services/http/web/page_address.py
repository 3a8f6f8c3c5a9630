"""The address of the page that a request is about, to which a form of that page can lead back."""

from typing import Any

from litestar import Request


def page_address(request: Request[Any, Any, Any]) -> str:
    """Return the address of the requested page, with its query.

    A form that is answered with a page of its own has the address of a form, which no browser can ask
    for: then it is the nearest page above that address, such as `/account` for `/account/password`.
    """
    if request.method == "GET":
        return request.url.path + (f"?{request.url.query}" if request.url.query else "")
    pages = {route.path_format for route in request.app.routes if "GET" in route.methods}
    path, template = request.url.path, request.scope["path_template"]
    while path and template not in pages:
        path, template = path.rpartition("/")[0], template.rpartition("/")[0]
    return path or "/"
