"""Signing in by the group's own OpenID Connect provider: a small one here, with keys of its own."""

import json
import re
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from jwt.algorithms import RSAAlgorithm

from infra.redis import keys
from services.app import accounts
from services.app.admission import change_admission
from tests.helpers.api import PASSWORD, Api
from tests.helpers.web import Guest, refusal, visitors

CLIENT, SECRET = "matchpost", "between us two"
ADDRESS = re.compile(r'<a class="button" href="([^"]+)"')


class Provider:
    """A provider whose next answers a test can spoil."""

    def __init__(self) -> None:
        self.key = generate_private_key(65537, 2048)
        self.other = generate_private_key(65537, 2048)
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.spoilt: dict[str, Any] = {}
        self.signer, self.kid, self.algorithm = self.key, "one", "RS256"
        self.codes: dict[str, dict[str, str]] = {}
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def log_in(self, address: str, sub: str, name: str) -> dict[str, str]:
        """What the provider's own page does: note the request, and send the browser back with a code."""
        asked = {key: value[0] for key, value in parse_qs(urlsplit(address).query).items()}
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT
        assert "openid" in asked["scope"]
        code = sha256(f"{sub}{asked['nonce']}".encode()).hexdigest()
        self.codes[code] = {**asked, "sub": sub, "preferred_username": name}
        assert asked["redirect_uri"].endswith("/login/provider")
        return {"state": asked["state"], "code": code}

    def _token(self, fields: dict[str, str], authorization: str) -> dict[str, Any] | None:
        asked = self.codes.pop(fields["code"], None)
        challenge = urlsafe_b64encode(sha256(fields["code_verifier"].encode()).digest())
        if asked is None or asked["code_challenge"] != challenge.decode().rstrip("="):
            return None
        assert asked["redirect_uri"] == fields["redirect_uri"]
        assert authorization.startswith("Basic ")
        now = time.time()
        claims = {
            "iss": self.url, "aud": CLIENT, "sub": asked["sub"], "nonce": asked["nonce"],
            "iat": int(now), "exp": int(now) + 300, "preferred_username": asked["preferred_username"],
        }  # fmt: skip
        claims = {k: v for k, v in {**claims, **self.spoilt}.items() if v is not None}
        secret = self.signer if self.algorithm != "HS256" else "x" * 32
        token = jwt.encode(claims, secret, self.algorithm, headers={"kid": self.kid})
        return {"id_token": token, "access_token": "x", "token_type": "Bearer"}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                pass

            def do_GET(self) -> None:
                if self.path == "/.well-known/openid-configuration":
                    url = provider.url
                    self._say({
                        "issuer": url, "authorization_endpoint": f"{url}/authorize",
                        "token_endpoint": f"{url}/token", "jwks_uri": f"{url}/keys",
                    })  # fmt: skip
                else:
                    public = json.loads(RSAAlgorithm.to_jwk(provider.key.public_key()))
                    self._say({"keys": [{**public, "kid": "one", "use": "sig"}]})

            def do_POST(self) -> None:
                sent = self.rfile.read(int(self.headers["content-length"])).decode()
                fields = {key: value[0] for key, value in parse_qs(sent).items()}
                self._say(provider._token(fields, self.headers.get("authorization", "")))

            def _say(self, found: dict[str, Any] | None) -> None:
                body = json.dumps(found or {"error": "invalid_grant"}).encode()
                self.send_response(200 if found else 400)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        return Handler


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    one = Provider()
    yield one
    one.server.shutdown()
    one.server.server_close()


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory, provider: Provider) -> Iterator[Api]:
    folder = tmp_path_factory.mktemp("provider")
    (folder / "secret").write_text(f"{SECRET}\n")
    given = {"oidc_issuer": provider.url, "oidc_client": CLIENT, "oidc_label": "the club’s log-in"}
    with Api(folder, oidc_secret_file=folder / "secret", **given) as api:
        yield api


@pytest.fixture
def come(api: Api, provider: Provider) -> Iterator[Callable[..., Guest]]:
    provider.spoilt, provider.signer, provider.kid = {}, provider.key, "one"
    provider.algorithm = "RS256"
    with visitors(api) as come:
        yield come


def sent_to(guest: Guest, link: str = "") -> str:
    """The address to which a guest is sent, who wants the players' page."""
    fields = {"next": "/players", **({"link": link} if link else {})}
    page = guest.send("/login/provider", fields, on="/login")
    assert page.status_code == 200, page.text
    found = ADDRESS.search(page.text)
    assert found, page.text
    return found[1].replace("&amp;", "&")


def sign_in(provider: Provider, guest: Guest, sub: str, name: str = "Ada Lovelace", link: str = ""):
    back = provider.log_in(sent_to(guest, link), sub, name)
    return guest.get("/login/provider", params=back)


def choose(guest: Guest, page: Any, name: str):
    hidden = dict(re.findall(r'name="(step|next|link)" value="([^"]*)"', page.text))
    return guest.send("/signup/provider", {**hidden, "userid": name}, on="/login")


def test_the_first_sign_in_makes_an_account_and_the_next_opens_it(api, provider, come):
    guest = come()
    assert "the club’s log-in" in guest.page("/login")
    page = sign_in(provider, guest, "4711", "ada")
    assert 'value="ada"' in page.text
    api.player(name="taken")
    refused = choose(guest, page, "taken")
    assert refused.status_code == 409
    made = choose(guest, refused, "ada")
    assert (made.status_code, made.headers["location"]) == (303, "/players")
    again = come()
    entered = sign_in(provider, again, "4711", "called otherwise by now")
    assert (entered.status_code, entered.headers["location"]) == (303, "/players")
    assert 'data-user="ada"' in again.page("/account")
    # somebody else who has the same name there
    assert "Choose a name" in sign_in(provider, come(), "4712", "ada").text
    assert come().log_in("ada", "").status_code == 401


def test_a_token_that_is_not_for_this_sign_in_opens_nothing(provider, come):
    guest, opened = come(), []
    for spoilt in (
        {"nonce": "another"}, {"nonce": None}, {"aud": "another"}, {"iss": "https://evil.example"}, {"exp": 1}, {"exp": None},
        {"sub": None}, {"azp": "another"},
    ):  # fmt: skip
        provider.spoilt = spoilt
        answer = sign_in(provider, guest, "1")
        is_told = "didn’t confirm" in answer.text.replace("&#39;", "’")
        told = answer.status_code, is_told, guest.get("/account").status_code
        if told != (401, True, 303):
            opened.append((spoilt, told))
    assert opened == []


def test_a_token_that_the_provider_has_not_signed_opens_nothing(provider, come):
    provider.signer = provider.other
    for kid, algorithm in (("one", "RS256"), ("two", "RS256"), ("one", "HS256")):
        provider.kid, provider.algorithm = kid, algorithm
        assert sign_in(provider, come(), "1").status_code == 401, (kid, algorithm)


def test_an_answer_counts_once_and_only_in_the_browser_that_asked(provider, come):
    guest, victim = come(), come()
    back = provider.log_in(sent_to(guest), "9", "mallory")
    victim.page("/login")
    assert victim.get("/login/provider", params=back).status_code == 404
    assert "Choose a name" in guest.get("/login/provider", params=back).text
    assert guest.get("/login/provider", params=back).status_code == 404
    for state in ("", "x", "y" * 43):
        assert guest.get("/login/provider", params={"state": state}).status_code == 404


def test_accounts_are_made_within_the_admission_and_a_link_makes_a_member_of_its_club(
    api, provider, come
):
    club = api.parts.clubs.found("Provided", api.player().account)
    change_admission(api.parts, {"signups": "link"})
    try:
        _, link = api.parts.admissions.make_link(1, 1, club=club.id, role="captain")
        closed = sign_in(provider, come(), "20")
        assert closed.status_code == 403
        guest = come()
        page = sign_in(provider, guest, "20", link=link)
        assert choose(guest, page, "linked").status_code == 303
        assert sign_in(provider, come(), "20").status_code == 303
        assert sign_in(provider, come(), "21", link=link).status_code == 403
    finally:
        change_admission(api.parts, {"signups": "open"})
    assert api.parts.clubs.role_of(club.id, api.parts.accounts.id_of("linked")) == "captain"


def entered(provider: Provider, guest: Guest, sub: str, name: str) -> None:
    """Have a guest make an account with a first password, which needs no old one."""
    assert choose(guest, sign_in(provider, guest, sub), name).status_code == 303
    guest.name = name
    assert "you need no password" in guest.page("/account")
    assert guest.send("/account/first-password", {"new": PASSWORD}).status_code == 303


def test_its_first_password_is_chosen_without_an_old_one_and_the_next_is_not(provider, come):
    guest = come()
    entered(provider, guest, "30", "thirty")
    assert come().log_in("thirty").status_code == 303
    assert guest.send("/account/first-password", {"new": "something-else"}).status_code == 403
    assert sign_in(provider, come(), "30").status_code == 303


def test_an_account_that_is_suspended_or_deleted_is_not_opened(api, provider, come):
    entered(provider, come(), "40", "forty")
    accounts.set_suspended(api.parts, "forty", suspended=True)
    refused = sign_in(provider, come(), "40")
    assert refused.status_code == 403
    assert "suspended" in refusal(refused.text)[1]
    accounts.set_suspended(api.parts, "forty", suspended=False)
    guest = come()
    assert sign_in(provider, guest, "40").status_code == 303
    guest.name = "forty"
    assert guest.send("/account/deletion", {"password": PASSWORD}).status_code == 303
    digest = sha256(f"{provider.url}\n40".encode()).digest()
    assert not api.parts.data.exists(keys.external(digest))
    assert "Choose a name" in sign_in(provider, come(), "40").text
