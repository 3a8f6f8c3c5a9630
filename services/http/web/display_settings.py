"""How a browser shows the pages: theme, language, boards, sound. One cookie has it, for guests too."""

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec
from litestar import Request
from litestar.datastructures import Cookie

from domain.errors import Code, Refusal
from services.app.sentences import SAY

COOKIE: Final = "display"
_YEAR: Final = 365 * 86_400

Theme = Literal["system", "light", "dark"]
BoardTheme = Literal["paper", "wood", "slate"]
Side = Literal["mine", "first"]


class DisplaySettings(msgspec.Struct, frozen=True):
    """The settings of a browser."""

    theme: Theme = "system"
    language: str = ""
    """Empty: the account's, or what the browser asks for."""
    board: BoardTheme = "paper"
    coordinates: bool = True
    below: Side = "mine"
    """Whose side of a board is below."""
    confirm: bool = True
    """Whether a whole move is played only when it is confirmed."""
    sound: bool = False


USUAL: Final = DisplaySettings()


def read_display(cookies: Mapping[str, str]) -> DisplaySettings:
    """Return the settings in a browser's cookies; the usual ones where they can't be read."""
    fields = dict(part.split("-", 1) for part in cookies.get(COOKIE, "").split(".") if "-" in part)
    try:
        return msgspec.convert(fields, DisplaySettings, strict=False)
    except msgspec.ValidationError:
        return USUAL


def change_display(settings: DisplaySettings, changes: Mapping[str, str]) -> DisplaySettings:
    """Return settings with changes, by field; `bad-option` for a value that there is not."""
    known = {name: value for name, value in changes.items() if name in settings.__struct_fields__}
    try:
        return msgspec.convert(msgspec.to_builtins(settings) | known, DisplaySettings, strict=False)
    except msgspec.ValidationError as error:
        raise Refusal(Code.BAD_OPTION, SAY("no-display-setting")) from error


def display_cookie(settings: DisplaySettings, *, secure: bool) -> Cookie:
    """Return the cookie of settings."""
    fields = msgspec.to_builtins(settings).items()
    text = ".".join(f"{name}-{str(value).lower()}" for name, value in fields if value != "")
    # scripts read it too
    return Cookie(key=COOKIE, value=text, path="/", max_age=_YEAR, secure=secure, samesite="lax")


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
