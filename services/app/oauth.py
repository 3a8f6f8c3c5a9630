"""OAuth 2.1 for apps, by `authlib`: what the protocol asks is checked there, and here is what this server makes of it.

Imported when the first app asks, because a server at rest needs none of it.

- Apps are public (they have no secret), and prove with PKCE that a code is theirs, with S256 alone (RFC 7636).
- A browser goes back to an address that the app has registered, exactly (RFC 8252 for ports), with `iss` (RFC 9207).
- Codes, refresh tokens and their second use: see `infra.people.grants`. Access tokens are `infra.people.tokens`.
- Terminals ask by a device code (RFC 8628). An app gives back what it has by RFC 7009.
"""

import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec
from authlib.oauth2.rfc6749 import (
    AccessDeniedError,
    AuthorizationServer,
    ClientMixin,
    InvalidGrantError,
    InvalidRequestError,
    OAuth2Error,
    OAuth2Request,
    grants,
)
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc8628 import (
    DeviceAuthorizationEndpoint,
    DeviceCodeGrant,
    ExpiredTokenError,
)
from authlib.oauth2.rfc9207 import IssuerParameter

from domain.errors import Refusal
from domain.records import AccountId
from infra.people.apps import APP_SCOPES, TERMINAL_APP, RegisteredApp
from infra.people.device_codes import DEVICE_SECONDS, INTERVAL_SECONDS, DeviceRequest
from infra.people.grants import FoundGrant
from infra.people.tokens import Scope
from services.app.accounts import end_if_suspended
from services.app.apps import note_allowed
from services.app.context import App

ACCESS_SECONDS: Final = 3600
"""How long a token of an app lasts."""

TERMINAL_SECONDS: Final = 365 * 24 * 3600
"""How long that of `matchpost login --device` lasts, which is not renewed."""

AUTHORIZE, TOKEN, REVOKE, DEVICE = (
    *("/oauth/authorize", "/api/oauth/token"),
    *("/api/oauth/revoke", "/api/oauth/device"),
)
"""The paths of the endpoints."""

DEVICE_PAGE: Final = "/device"

# it writes whole tokens at the level debug
logging.getLogger("authlib").setLevel(logging.INFO)

_LETTERS: Final = re.compile(r"[\x20-\x21\x23-\x5b\x5d-\x7e]*")
"""The characters of an error (RFC 6749, 5.2), because authlib repeats in one what it was sent."""


class OAuthAnswer(msgspec.Struct):
    """An answer to an app."""

    status: int
    body: Any
    location: str = ""
    """Where the browser goes back to; empty for an answer that is shown or sent as it is."""


class AppQuestion(NamedTuple):
    """The question of an app to a player."""

    app: RegisteredApp
    scopes: tuple[Scope, ...]
    redirect: str
    allowed_before: bool
    """Whether the player has let the app do this, and it still may."""


class _PublicClient(ClientMixin):
    """A registered app, as authlib asks about it."""

    def __init__(self, app: RegisteredApp) -> None:
        self.app = app

    def get_client_id(self) -> str:
        return self.app.client_id

    def get_default_redirect_uri(self) -> None:
        """Return none, because an app says where the browser goes back to."""

    def get_allowed_scope(self, scope: str | None) -> str | None:
        """Return the scopes that are asked for, `read` if none is; None if one can't be had."""
        wanted = set((scope or Scope.READ).split())
        return (
            " ".join(one for one in APP_SCOPES if one in wanted)
            if wanted <= set(APP_SCOPES)
            else None
        )

    def check_redirect_uri(self, address: str) -> bool:
        return self.app.has_redirect(address)

    def check_endpoint_auth_method(self, method: str, _: str) -> bool:
        return method == "none"

    def check_response_type(self, kind: str) -> bool:
        return kind == "code"

    def check_grant_type(self, kind: str) -> bool:
        return self.app != TERMINAL_APP or kind == DeviceCodeGrant.GRANT_TYPE


class _ProtocolRequest(OAuth2Request):
    """The parameters of a request, from its query or its form."""

    def __init__(self, method: str, address: str, fields: Mapping[str, str]) -> None:
        super().__init__(method, address)
        self.payload = BasicOAuth2Payload(fields)

    @property
    def form(self) -> Mapping[str, str]:
        """The parameters."""
        found: Mapping[str, str] = self.payload.data
        return found


class _S256(CodeChallenge):
    """PKCE with S256, which every app has to send."""

    SUPPORTED_CODE_CHALLENGE_METHOD: Final = ("S256",)

    def validate_code_challenge(self, grant: Any, redirect_uri: str) -> None:
        fields = grant.request.payload.data
        if not fields.get("code_challenge") or not fields.get("code_challenge_method"):
            raise InvalidRequestError("PKCE is required: send 'code_challenge' with 'S256'.")
        super().validate_code_challenge(grant, redirect_uri)

    def get_authorization_code_challenge(self, found: "_Found") -> str:
        return found.found.grant.challenge

    def get_authorization_code_challenge_method(self, _: "_Found") -> str:
        return "S256"


class _Found:
    """A grant, as authlib asks about it."""

    def __init__(self, found: FoundGrant) -> None:
        self.found = found

    def get_redirect_uri(self) -> str:
        return self.found.grant.redirect

    def get_scope(self) -> str:
        return " ".join(self.found.grant.scopes)

    def check_client(self, client: _PublicClient) -> bool:
        return self.found.grant.app == client.app.client_id


class _Issuing:
    """The end of all ways to a token: a grant is used for a token and a refresh token."""

    TOKEN_ENDPOINT_AUTH_METHODS: Final = ("none",)
    request: Any
    server: Any

    def authenticate_user(self, one: _Found) -> AccountId:
        """Use a grant; refused if it was used at the same moment."""
        app: App = self.server.app
        app.ready()
        refreshes = self.request.client.check_grant_type("refresh_token")
        text = app.grants.use(one.found, refreshes=refreshes)
        if text is None:
            raise InvalidGrantError
        self.request.refresh_text, self.request.found = text, one.found
        return one.found.account

    def generate_token(self, user: AccountId, scope: str, **_: Any) -> dict[str, Any]:
        """Issue a token, in the place of those that the grant has given before."""
        app: App = self.server.app
        client: RegisteredApp = self.request.client.app
        found: FoundGrant = self.request.found
        seconds = TERMINAL_SECONDS if client == TERMINAL_APP else ACCESS_SECONDS
        # first, so that there is room for the new one
        app.grants.end_tokens(user, found.id)
        # crash window: the grant has no token, and its next text was seen by nobody
        given: dict[str, Any] = {"seconds": seconds, "app": client.client_id, "grant": found.id}
        try:
            made = app.tokens.issue(user, client.name, scope.split(), **given)
        except Refusal:
            app.grants.end(user, found.id)
            raise
        if app.grants.read(user, found.id) is None or app.apps.get(client.client_id) is None:
            app.tokens.revoke(user, made.id)
            raise InvalidGrantError
        end_if_suspended(app, user)
        answer = {"access_token": made.text, "token_type": "Bearer", "expires_in": seconds}
        answer |= {"scope": " ".join(made.scopes), "token_id": made.id}
        text: str = self.request.refresh_text
        return answer | ({"refresh_token": text} if text else {})

    def save_token(self, token: dict[str, Any]) -> None:
        """Do nothing, because the token is stored."""


class _CodeGrant(_Issuing, grants.AuthorizationCodeGrant):
    def generate_authorization_code(self) -> str:
        request, fields = self.request, self.request.payload.data
        app: App = self.server.app
        app.ready()
        scopes = tuple(map(Scope, request.scope.split()))
        _, code = app.grants.begin(
            request.user,
            request.client.app.client_id,
            scopes,
            redirect=fields["redirect_uri"],
            challenge=fields["code_challenge"],
        )
        note_allowed(request.user, request.client.app.client_id)
        return code

    def save_authorization_code(self, code: str, request: Any) -> None:
        """Do nothing, because it is stored as it is made."""

    def query_authorization_code(self, code: str, client: _PublicClient) -> _Found | None:
        found = self.server.app.grants.of_code(code, client.app.client_id)
        return _Found(found) if found else None

    def delete_authorization_code(self, one: _Found) -> None:
        """Do nothing, because its second use is to be noticed."""


class _RefreshGrant(_Issuing, grants.RefreshTokenGrant):
    def authenticate_refresh_token(self, text: str) -> _Found | None:
        client: RegisteredApp = self.request.client.app
        found = self.server.app.grants.of_refresh_token(text, client.client_id)
        return _Found(found) if found else None

    def revoke_old_credential(self, one: _Found) -> None:
        """Do nothing, because the next text has replaced it."""


class _DeviceGrant(_Issuing, DeviceCodeGrant):
    def query_device_credential(self, code: str) -> "_Device":
        asked = self.server.app.device_codes.of_device(code)
        if asked is None:
            raise InvalidGrantError("There is no such device code.")
        return _Device(code, asked)

    def validate_device_credential(self, one: "_Device") -> AccountId:
        app: App = self.server.app
        if not one.asked.grant and not one.asked.refused:
            if app.store.now() >= one.asked.until:
                raise ExpiredTokenError
            return super().validate_device_credential(one)  # type: ignore[no-any-return]
        if one.asked.refused:
            raise AccessDeniedError
        found = app.grants.read(one.asked.account, one.asked.grant)
        lasting = found and app.grants.unused(found)
        self.request.client = self.server.query_client(one.asked.app)
        if lasting is None or self.request.client is None:
            raise ExpiredTokenError
        return self.authenticate_user(_Found(lasting))

    def query_user_grant(self, _: str) -> None:
        """Return none, because the user has not answered."""

    def should_slow_down(self, one: "_Device") -> bool:
        return bool(self.server.app.device_codes.is_hasty(one.code))


class _Device:
    """The request of a device, as authlib asks about it."""

    def __init__(self, code: str, asked: DeviceRequest) -> None:
        self.code, self.asked = code, asked

    def get_client_id(self) -> str:
        return self.asked.app

    def get_scope(self) -> str:
        return " ".join(self.asked.scopes)

    def get_user_code(self) -> str:
        """Return nothing, because the request has what the user has decided."""
        return ""

    def is_expired(self) -> bool:
        """Return False, because that was looked at before."""
        return False


class _DeviceEndpoint(DeviceAuthorizationEndpoint):
    CLIENT_AUTH_METHODS: Final = ("none",)
    EXPIRES_IN: Final = DEVICE_SECONDS
    INTERVAL: Final = INTERVAL_SECONDS

    def create_endpoint_response(self, request: Any) -> Any:
        client = self.authenticate_client(request)
        self.server.validate_requested_scope(request.payload.scope)
        scope = client.get_allowed_scope(request.payload.scope)
        self.server.app.ready()
        scopes = tuple(map(Scope, scope.split()))
        self.codes = self.server.app.device_codes.ask(client.app.client_id, scopes)
        return super().create_endpoint_response(request)

    def generate_device_code(self) -> str:
        return str(self.codes[0])

    def generate_user_code(self) -> str:
        return str(self.codes[1])

    def get_verification_uri(self) -> str:
        return f"{self.server.site}{DEVICE_PAGE}"

    def save_device_credential(self, client_id: str, scope: str, data: Any) -> None:
        """Do nothing, because it is stored as it is made."""


class _Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS: Final = ("none",)

    def check_params(self, request: Any, _: _PublicClient) -> None:
        if "token" not in request.form:
            raise InvalidRequestError("Missing 'token' in request.")

    def query_token(self, text: str, _: str | None) -> _Found | None:
        app: App = self.server.app
        found = app.grants.find(text)
        if found is None and (token := app.tokens.find(text)) and token.grant:
            found = app.grants.read(token.account, token.grant)
        return _Found(found) if found else None

    def revoke_token(self, one: _Found, _: Any) -> None:
        self.server.app.ready()
        self.server.app.grants.end(one.found.account, one.found.id)


class _Issuer(IssuerParameter):
    def __init__(self, site: str) -> None:
        self._site = site

    def get_issuer(self) -> str:
        return self._site


class _Server(AuthorizationServer):
    """The endpoints of one server, at the address `site`."""

    def __init__(self, app: App, site: str) -> None:
        super().__init__(scopes_supported=list(APP_SCOPES))
        self.app, self.site = app, site
        self.issuer = _Issuer(site)
        self.issuer(self)
        self.register_grant(_CodeGrant, [_S256(required=True)])
        self.register_grant(_RefreshGrant)
        self.register_grant(_DeviceGrant)
        self.register_endpoint(_Revocation)
        self.register_endpoint(_DeviceEndpoint)

    def query_client(self, client_id: str) -> _PublicClient | None:
        found = self.app.apps.get(client_id)
        return _PublicClient(found) if found else None

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Do nothing, because nobody listens."""

    def create_oauth2_request(self, request: _ProtocolRequest) -> _ProtocolRequest:
        return request

    def handle_response(
        self, status: int, body: Any, headers: Sequence[tuple[str, str]]
    ) -> OAuthAnswer:
        return OAuthAnswer(status, body, dict(headers).get("Location", ""))


def _request(method: str, address: str, fields: Sequence[tuple[str, str]]) -> _ProtocolRequest:
    """Return a request; `OAuth2Error` if a parameter is repeated, or can't be repeated in an error."""
    sent = {name: value for name, value in fields if value}
    if len(sent) != sum(1 for _, value in fields if value):
        raise InvalidRequestError("A parameter is sent twice.")
    for name in ("client_id", "redirect_uri", "response_type", "grant_type"):
        if not _LETTERS.fullmatch(sent.get(name, "")):
            raise InvalidRequestError(f"Malformed '{name}' in request.")
    return _ProtocolRequest(method, address, sent)


def read_authorization(
    app: App, site: str, fields: Sequence[tuple[str, str]], account: AccountId
) -> AppQuestion | OAuthAnswer:
    """Return what an app asks of a player, or why it can't: with a `location`, the app is to hear it."""
    server = _Server(app, site)
    try:
        request = _request("GET", site + AUTHORIZE, fields)
        grant = server.get_consent_grant(request)
    except OAuth2Error as error:
        answer: OAuthAnswer = server.handle_response(*error())
        server.issuer.add_issuer_parameter(server, answer)
        return answer
    found, scopes = request.client.app, tuple(map(Scope, request.scope.split()))
    before = any(
        one.grant.app == found.client_id and one.grant.used and {*scopes} <= {*one.grant.scopes}
        for one in app.grants.of(account)
    )
    return AppQuestion(found, scopes, grant.redirect_uri, before)


def answer_authorization(
    app: App, site: str, fields: Sequence[tuple[str, str]], account: AccountId | None
) -> OAuthAnswer:
    """Return where the browser goes with the decision of a player; without an account that is a refusal."""
    server = _Server(app, site)
    try:
        request = _request("GET", site + AUTHORIZE, fields)
        grant = server.get_authorization_grant(request)
    except OAuth2Error as error:
        return server.handle_response(*error())
    answer: OAuthAnswer = server.create_authorization_response(request, account, grant)
    return answer


def token_answer(app: App, site: str, fields: Sequence[tuple[str, str]]) -> OAuthAnswer:
    """Return a token for a code, a refresh token or a device code, or the error of the protocol."""
    server = _Server(app, site)
    try:
        answer: OAuthAnswer = server.create_token_response(_request("POST", site + TOKEN, fields))
    except OAuth2Error as error:
        return server.handle_response(*error())
    return answer


def revocation_answer(app: App, site: str, fields: Sequence[tuple[str, str]]) -> OAuthAnswer:
    """End the grant of a token or a refresh token; one that is unknown is no error."""
    return _endpoint_answer(app, site, "revocation", REVOKE, fields)


def device_answer(app: App, site: str, fields: Sequence[tuple[str, str]]) -> OAuthAnswer:
    """Return the codes for a device and its user."""
    return _endpoint_answer(app, site, "device_authorization", DEVICE, fields)


def _endpoint_answer(
    app: App, site: str, name: str, path: str, fields: Sequence[tuple[str, str]]
) -> OAuthAnswer:
    server = _Server(app, site)
    try:
        answer: OAuthAnswer = server.create_endpoint_response(
            name, _request("POST", site + path, fields)
        )
    except OAuth2Error as error:
        return server.handle_response(*error())
    return answer
