"""The pages on which a visitor lets an app act for them: one that sends a browser here, or one on a device without any.

An app is sent its answer by a page that goes on by itself, because a form leads to no other site (`Content-Security-Policy`).
"""

from typing import TYPE_CHECKING, Annotated
from urllib.parse import parse_qsl, urlencode, urlsplit

from litestar import Response
from litestar.params import QueryParameter

from domain.errors import Code, Refusal
from services.app import apps
from services.app.sentences import SAY
from services.http.web.declared import Pages
from services.http.web.forms import OwnForm
from services.http.web.params import Own, OwnPage
from services.http.web.render import secret_page
from services.http.web.session import AnyRequest

if TYPE_CHECKING:
    from services.app.oauth import OAuthAnswer

pages = Pages()

UserCode = Annotated[str, QueryParameter(name="user_code", max_length=20)]


@pages.get("/oauth/authorize")
def show_consent(request: AnyRequest, own_page: OwnPage) -> Response[str]:
    """Show what an app asks for; it goes on at once if the visitor has let it before and its site gets the answer."""
    return _consent_page(own_page, list(request.query_params.multi_items()))


def _consent_page(
    own: OwnForm, fields: list[tuple[str, str]], reason: Refusal | None = None
) -> Response[str]:
    # slow to import, and needed by apps alone
    from services.app import oauth  # noqa: PLC0415

    app, visitor = own.app, own.visitor
    asked = oauth.read_authorization(app, visitor.site, fields, own.account)
    if isinstance(asked, oauth.OAuthAnswer):
        return _sent_back(own, asked)
    place = urlsplit(asked.redirect)
    # any program on a machine could take the place of one to which a browser is sent there (RFC 8252, 8.6)
    if asked.allowed_before and place.scheme == "https":
        return _sent_back(own, oauth.answer_authorization(app, visitor.site, fields, own.account))
    return secret_page(
        "consent.html",
        visitor,
        app=asked.app,
        owner=apps.owner_of(app, asked.app),
        scopes=asked.scopes,
        asked_for=urlencode(fields),
        place=place.netloc if place.scheme == "https" else "",
        factors=app.accounts.factors_of(own.account),
        reason=reason,
    )


@pages.post("/oauth/authorize")
def answer_app(own: Own) -> Response[str]:
    """Send an app what the visitor has decided."""
    from services.app import oauth  # noqa: PLC0415 - as above

    fields = parse_qsl(own.raw("asked"), keep_blank_values=True, max_num_fields=30)
    allowed = own.get("answer") == "yes"
    try:
        if allowed:
            own.confirm()
    except Refusal as reason:
        return _consent_page(own, fields, reason)
    account = own.account if allowed else None
    return _sent_back(own, oauth.answer_authorization(own.app, own.visitor.site, fields, account))


def _sent_back(own: OwnForm, answer: "OAuthAnswer") -> Response[str]:
    """Return a page that goes back to the app; a refusal if nobody knows where that is."""
    if not answer.location:
        said = answer.body.get("error_description", "") or answer.body["error"]
        raise Refusal(Code.BAD_REQUEST, SAY("app-request", why=said.rstrip(".")))
    return secret_page("to_app.html", own.visitor, address=answer.location)


@pages.get("/device", in_thread=False)
def show_device(own_page: OwnPage, user_code: UserCode = "") -> Response[str]:
    """Show the form for the code that a device shows."""
    return _device_page(own_page, user_code)


def _device_page(
    own: OwnForm,
    code: str = "",
    *,
    reason: Refusal | None = None,
    waiting: apps.WaitingDevice | None = None,
    done: str = "",
) -> Response[str]:
    return secret_page(
        "device.html",
        own.visitor,
        code=code,
        app=waiting.app if waiting else None,
        owner=apps.owner_of(own.app, waiting.app) if waiting else "",
        scopes=waiting.request.scopes if waiting else (),
        done=done,
        factors=own.app.accounts.factors_of(own.account),
        reason=reason,
    )


@pages.post("/device")
def look_at_device(own: Own) -> Response[str]:
    """Show what the device with a code asks for."""
    code = own.get("code").upper()
    try:
        return _device_page(own, code, waiting=apps.waiting_device(own.app, own.account, code))
    except Refusal as reason:
        return _device_page(own, code, reason=reason)


@pages.post("/device/answer")
def answer_device(own: Own) -> Response[str]:
    """Let a device act for the visitor, or refuse it."""
    code, answer = own.get("code"), "yes" if own.get("answer") == "yes" else "no"
    waiting = None
    try:
        waiting = apps.waiting_device(own.app, own.account, code)
        if answer == "yes":
            own.confirm()
        apps.answer_device(own.app, own.account, code, allowed=answer == "yes")
    except Refusal as reason:
        return _device_page(own, code, reason=reason, waiting=waiting)
    return _device_page(own, done=answer)
