"""The endpoints by which apps get tokens, renew them and give them back: OAuth 2.1, with forms as bodies.

The page on which a player lets an app is one of the site. What is said here is understood by `services.app.oauth`, which is
imported when the first app asks.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal
from urllib.parse import parse_qsl

import msgspec
from litestar import Response

from domain.errors import Code, Refusal
from infra.people.apps import APP_SCOPES
from services.http.api.auth import AnyRequest, Context
from services.http.api.bodies import FORM_TYPE, JSON, check_media_type
from services.http.api.declared import ANYBODY, ApiRoutes, refuses
from services.http.api.problem_details import OAUTH_HANDLERS

if TYPE_CHECKING:
    from services.app.oauth import OAuthAnswer

api = ApiRoutes("apps")

_MOST_FIELDS: Final = 30

_NO_STORE: Final = {"Cache-Control": "no-store", "Pragma": "no-cache"}

_DEVICE_GRANT: Final = "urn:ietf:params:oauth:grant-type:device_code"

Text = Annotated[str, msgspec.Meta(max_length=2_000)]


class TokenRequest(msgspec.Struct, frozen=True):
    """A request for a token, with the fields of its kind."""

    grant_type: Literal[
        "authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"
    ]
    client_id: Text
    code: Text = ""
    """The code with which the browser came back."""
    redirect_uri: Text = ""
    """Where it came back to."""
    code_verifier: Annotated[str, msgspec.Meta(max_length=128)] = ""
    """The secret of which the SHA-256 was the `code_challenge` (PKCE)."""
    refresh_token: Text = ""
    device_code: Text = ""
    scope: Text = ""
    """Fewer scopes than were allowed, for a token that is to have fewer."""


class AppToken(msgspec.Struct, frozen=True, omit_defaults=True):
    """A token for an app."""

    access_token: str
    """The text to send as `Authorization: Bearer`."""
    token_type: str
    """Always `Bearer`."""
    expires_in: int
    """Seconds."""
    scope: str
    """Its scopes, separated by blanks."""
    token_id: str
    """Its id in `/api/tokens`."""
    refresh_token: str = ""
    """The text for the next token, good once; missing for `matchpost login --device`."""


class TokenToRevoke(msgspec.Struct, frozen=True):
    """A token, or a refresh token, that an app gives back."""

    client_id: Text
    token: Text
    token_type_hint: Text = ""
    """Not needed."""


class DeviceAsks(msgspec.Struct, frozen=True):
    """A device without a browser that asks for access."""

    client_id: Text
    scope: Text = "read"
    """The scopes, separated by blanks."""


class CodesOfDevice(msgspec.Struct, frozen=True):
    """The codes for a device and its user."""

    device_code: str
    """The text that the device sends to `/api/oauth/token`."""
    user_code: str
    """The text that its user types on the page."""
    verification_uri: str
    """The page."""
    verification_uri_complete: str
    """The page with the code, such as for a QR code."""
    expires_in: int
    """Seconds."""
    interval: int
    """Seconds between two requests for the token."""


@api.post(
    "/api/oauth/token",
    "Get a token for an app",
    ANYBODY,
    form=TokenRequest,
    for_guests=True,
    exception_handlers=OAUTH_HANDLERS,
)
@refuses(Code.SUSPENDED, Code.TOO_MANY, Code.BUSY, Code.UNKNOWN_USER)
async def get_app_token(request: AnyRequest, context: Context) -> Response[AppToken]:
    """Return a token for a code, a refresh token or a device code.

    A code and a refresh token are good once; a second use ends all that the app got by them.
    """
    from services.app import oauth  # noqa: PLC0415 - slow to import, and needed by apps alone

    return await _answered(request, context, oauth.token_answer)


@api.post(
    "/api/oauth/revoke",
    "Give a token back",
    ANYBODY,
    form=TokenToRevoke,
    for_guests=True,
    exception_handlers=OAUTH_HANDLERS,
)
async def revoke_app_token(request: AnyRequest, context: Context) -> Response[dict[str, str]]:
    """End the token of an app, or its refresh token, with the other one; an unknown one is no error."""
    from services.app import oauth  # noqa: PLC0415 - slow to import, and needed by apps alone

    return await _answered(request, context, oauth.revocation_answer)


@api.post(
    "/api/oauth/device",
    "Ask for access from a device",
    ANYBODY,
    form=DeviceAsks,
    weight=5,
    for_guests=True,
    exception_handlers=OAUTH_HANDLERS,
)
async def ask_for_device(request: AnyRequest, context: Context) -> Response[CodesOfDevice]:
    """Return a code for a device without a browser, and the code that its user types at `/device`."""
    from services.app import oauth  # noqa: PLC0415 - slow to import, and needed by apps alone

    return await _answered(request, context, oauth.device_answer)


async def _answered(
    request: AnyRequest, context: Context, answer: Callable[..., "OAuthAnswer"]
) -> Response[Any]:
    check_media_type(request, FORM_TYPE, needed=True)
    fields, site = _fields(await request.body()), context.site_of(request)
    found = await asyncio.to_thread(answer, context.app, site, fields)
    return Response(found.body, status_code=found.status, headers=_NO_STORE, media_type=JSON)


def _fields(body: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            body.decode(), errors="strict", keep_blank_values=True, max_num_fields=_MOST_FIELDS
        )
    except ValueError:
        raise Refusal(Code.BAD_REQUEST, "the body is no form") from None


class Metadata(msgspec.Struct, frozen=True):
    """The addresses of OAuth here, and what they understand (RFC 8414)."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    revocation_endpoint: str
    device_authorization_endpoint: str
    service_documentation: str
    scopes_supported: tuple[str, ...]
    response_types_supported: tuple[str, ...] = ("code",)
    response_modes_supported: tuple[str, ...] = ("query",)
    grant_types_supported: tuple[str, ...] = ("authorization_code", "refresh_token", _DEVICE_GRANT)
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("none",)
    revocation_endpoint_auth_methods_supported: tuple[str, ...] = ("none",)
    code_challenge_methods_supported: tuple[str, ...] = ("S256",)
    authorization_response_iss_parameter_supported: bool = True


@api.get(
    "/.well-known/oauth-authorization-server", "Where apps get tokens", ANYBODY, for_guests=True
)
async def show_oauth_metadata(request: AnyRequest, context: Context) -> Metadata:
    """Return the addresses of the endpoints of OAuth, and what they understand."""
    site = context.site_of(request)
    return Metadata(
        issuer=site,
        authorization_endpoint=f"{site}/oauth/authorize",
        token_endpoint=f"{site}/api/oauth/token",
        revocation_endpoint=f"{site}/api/oauth/revoke",
        device_authorization_endpoint=f"{site}/api/oauth/device",
        service_documentation=f"{site}/api",
        scopes_supported=tuple(APP_SCOPES),
    )
