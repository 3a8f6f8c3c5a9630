"""The group's own sign-in service: an OpenID Connect provider, of which this server is a client.

Authorisation code with PKCE, state and nonce. The answer comes to us from the provider over TLS, and its id_token is
verified nevertheless: signature, issuer, audience, time and nonce.
"""

import hmac
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

import msgspec

from domain.errors import Code, Refusal
from infra.sentences import SAY

if TYPE_CHECKING:
    import jwt

KEPT_SECONDS: Final = 3600.0
"""How long what the provider says of itself is believed."""

_AGAIN_SECONDS: Final = 60.0
"""How soon its keys are read again for one that is unknown."""

_ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA")
"""Signatures by a key pair: with a shared secret anybody who knows it could sign."""

_LEEWAY: Final = 60
_TIMEOUT: Final = 10.0
_LONGEST: Final = 300


class ConfirmedPerson(msgspec.Struct, frozen=True):
    """Somebody whom the provider has confirmed."""

    digest: bytes
    """SHA-256 of issuer and `sub`, which never change."""
    name: str
    """The name there; empty if it isn't said."""


class ProviderSettings(msgspec.Struct, frozen=True):
    """How a provider is reached."""

    issuer: str
    client: str
    secret: str
    """Empty for a public client."""


class Provider:
    """A provider. Thread-safe; refuses as `unavailable` where it can't be reached."""

    def __init__(self, settings: ProviderSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._known: dict[str, Any] = {}
        self._keys: jwt.PyJWKSet | None = None
        self._read_at = self._keys_at = float("-inf")

    def address(self, back: str, state: str, nonce: str, verifier: str) -> str:
        """Return where a browser is sent, which comes back to `back`."""
        challenge = urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("=")
        query = {
            "response_type": "code",
            "client_id": self._settings.client,
            "redirect_uri": back,
            "scope": "openid profile",
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        at = self._discovered()["authorization_endpoint"]
        return f"{at}{'&' if '?' in at else '?'}{urlencode(query)}"

    def person(self, code: str, back: str, nonce: str, verifier: str) -> ConfirmedPerson:
        """Return who a code of the provider is for; `unauthorized` if it doesn't confirm that."""
        import httpx  # noqa: PLC0415 - large, and few servers have a provider

        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": back,
            "code_verifier": verifier,
        }
        auth = None
        if self._settings.secret:
            auth = httpx.BasicAuth(self._settings.client, self._settings.secret)
        else:
            fields["client_id"] = self._settings.client
        try:
            answer = httpx.post(
                self._discovered()["token_endpoint"], data=fields, auth=auth, timeout=_TIMEOUT
            )
            found = answer.json() if answer.is_success else {}
        except (httpx.HTTPError, ValueError) as error:
            raise _away() from error
        return self._verified(str(found.get("id_token", "")), nonce)

    def _verified(self, token: str, nonce: str) -> ConfirmedPerson:
        import jwt  # noqa: PLC0415 - slow to import, and seldom needed

        settings = self._settings
        try:
            key = self._key_of(str(jwt.get_unverified_header(token).get("kid", "")))
            claims = jwt.decode(
                token,
                key,
                algorithms=list(_ALGORITHMS),
                audience=settings.client,
                issuer=settings.issuer,
                leeway=_LEEWAY,
                options={"require": ["iss", "sub", "aud", "exp", "iat"]},
            )
        except jwt.PyJWTError as error:
            raise _unconfirmed() from error
        said = str(claims.get("nonce", ""))
        if not hmac.compare_digest(said.encode(), nonce.encode()):
            raise _unconfirmed()
        if claims.get("azp", settings.client) != settings.client or not claims["sub"]:
            raise _unconfirmed()
        digest = sha256(f"{settings.issuer}\n{claims['sub']}".encode()).digest()
        return ConfirmedPerson(digest, str(claims.get("preferred_username", ""))[:_LONGEST])

    def _key_of(self, kid: str) -> "jwt.PyJWK":
        import jwt  # noqa: PLC0415 - as above

        for is_new in (False, True):
            known = self._read_keys(again=is_new).keys
            found = [key for key in known if key.key_id == kid or (not kid and len(known) == 1)]
            if found:
                return found[0]
        raise jwt.InvalidKeyError("the provider has no such key")

    def _read_keys(self, *, again: bool) -> "jwt.PyJWKSet":
        import jwt  # noqa: PLC0415 - as above

        uri = self._discovered()["jwks_uri"]
        with self._lock:
            age = time.monotonic() - self._keys_at
            if self._keys is None or age > (_AGAIN_SECONDS if again else KEPT_SECONDS):
                self._keys = jwt.PyJWKSet.from_dict(_get(uri))
                self._keys_at = time.monotonic()
            return self._keys

    def _discovered(self) -> Mapping[str, str]:
        """Return what the provider says of itself."""
        with self._lock:
            if time.monotonic() - self._read_at > KEPT_SECONDS:
                issuer = self._settings.issuer
                found = _get(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
                names = ("authorization_endpoint", "token_endpoint", "jwks_uri")
                if found.get("issuer") != issuer or not all(map(found.get, names)):
                    raise _away()
                if issuer.startswith("https:") and not all(
                    str(found[name]).startswith("https:") for name in names
                ):
                    raise _away()
                self._known, self._read_at = found, time.monotonic()
            return self._known


def _get(address: str) -> dict[str, Any]:
    import httpx  # noqa: PLC0415 - see above

    try:
        answer = httpx.get(address, timeout=_TIMEOUT)
        answer.raise_for_status()
        found = answer.json()
    except (httpx.HTTPError, ValueError) as error:
        raise _away() from error
    if not isinstance(found, dict):
        raise _away()
    return found


def _away() -> Refusal:
    return Refusal(Code.UNAVAILABLE, SAY("provider-away"))


def _unconfirmed() -> Refusal:
    return Refusal(Code.UNAUTHORIZED, SAY("provider-refused"))
