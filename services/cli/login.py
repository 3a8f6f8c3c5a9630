"""`matchpost login URL`: play on a server elsewhere without a password each time, or with `--device` without any here.

A login makes a token for this machine, which may read and play and nothing else, and stores it in a file
of this user. It is ended by `logout`, and by the next login.
"""

import os
import socket
import sys
import time
from collections.abc import Callable
from getpass import getpass
from typing import Any, Final

import httpx

from domain.errors import Code, Refusal
from services.app.error_codes import EXIT_OK
from services.cli.flags import LOCAL_VARIABLES
from services.cli.logout import end_token
from services.cli.remote import failure, run_remotely
from services.client import Client, ProblemError
from services.client.login_file import Login, read_login, write_login

_SCOPES: Final = ("read", "play")

_LABEL_LENGTH: Final = 60

_CLIENT_ID: Final = "matchpost-terminal"
_GRANT: Final = "urn:ietf:params:oauth:grant-type:device_code"
_SLOWER: Final = 5.0
"""Seconds that are waited longer from the answer `slow_down` on (RFC 8628, 3.5)."""

_REFUSED: Final = {
    "access_denied": "this was refused in the browser",
    "expired_token": "nobody has typed the code in time; start again",
}

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


def run(url: str, userid: str | None, token: str | None, *, device: bool = False) -> int:
    """Log in at a server, end the token of an earlier login, and return the exit code."""
    url = _check_url(url)
    if token not in (None, "-"):
        raise Refusal(
            Code.USAGE,
            "write `--token -` and the token on standard input, because others on this machine can "
            "read command lines",
        )
    earlier = _readable_login()
    if device and (userid or token):
        raise Refusal(Code.USAGE, "--device takes neither --userid nor --token: a browser says who")
    if device:
        return run_remotely(url, lambda: _keep(_token_by_device(url), earlier))
    return run_remotely(url, lambda: _log_in(url, userid, token is not None, earlier))


def _check_url(url: str) -> str:
    """Return the URL without a slash at its end; `usage` if it can't be that of a server."""
    try:
        parts = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise Refusal(Code.USAGE, f"{url!r} is not a URL: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.host:
        raise Refusal(
            Code.USAGE, f"write the whole URL, such as https://play.example.org; not {url!r}"
        )
    if parts.userinfo or parts.query or parts.fragment:
        raise Refusal(Code.USAGE, "the URL names only the server: no userid, query or fragment")
    if parts.scheme == "http" and parts.host not in _LOOPBACK:
        print(
            f"{url} is not encrypted: others on the way can read the password and the token",
            file=sys.stderr,
        )
    return url.rstrip("/")


def _readable_login() -> Login | None:
    """Return the earlier login; None also for a file that can't be used, which is replaced."""
    try:
        return read_login()
    except Refusal as reason:
        print(
            f"the earlier login is replaced, and its token stays valid: {reason.sentence}",
            file=sys.stderr,
        )
        return None


def _log_in(url: str, userid: str | None, has_token: bool, earlier: Login | None) -> int:  # noqa: FBT001
    return _keep(_taken_token(url) if has_token else _new_token(url, userid), earlier)


def _keep(made: Login, earlier: Login | None) -> int:
    try:
        file = write_login(made)
    except OSError:
        end_token(made)
        raise
    if earlier is not None and earlier.token != made.token:
        _end_earlier(earlier)
    _warn_of_variables()
    print(
        f"logged in as {made.userid} at {made.url}; the token is in {file}, and `matchpost logout` ends it"
    )
    return EXIT_OK


def _warn_of_variables() -> None:
    """Print which variables keep commands from using the login."""
    if os.environ.get("MATCHPOST_URL"):
        print("MATCHPOST_URL is set, and overrides the login", file=sys.stderr)
    for name in LOCAL_VARIABLES:
        if os.environ.get(name):
            print(f"{name} is set, so `do` uses the data of this machine", file=sys.stderr)


def _new_token(url: str, userid: str | None) -> Login:
    """Return a login with a new token for a userid and its password, which are asked for."""
    userid = userid or _ask("userid", reader=_visible)
    password = _ask(f"password of {userid}", reader=getpass)
    label = f"login on {socket.gethostname() or 'a machine'}"[:_LABEL_LENGTH]
    body = {"userid": userid, "password": password, "label": label, "scopes": _SCOPES}
    with Client(url) as client:
        try:
            issued = client.post("/api/tokens", body)
        except ProblemError as error:
            if error.code != Code.CODE_NEEDED:
                raise
            code = _ask("code of your app, or recovery code", reader=getpass)
            issued = client.post("/api/tokens", {**body, "code": code})
    with Client(url, issued["token"]) as client:
        userid = client.get("/api/account")["userid"]
    return Login(url, issued["token"], userid, issued["id"])


def _token_by_device(url: str) -> Login:
    """Return a login with a token that is allowed in a browser, by the code that is shown here."""
    with Client(url) as client:
        asked = client.send_form("/api/oauth/device", client_id=_CLIENT_ID, scope=" ".join(_SCOPES))
        print(
            f"open {asked['verification_uri']} in a browser where you are logged in, and type "
            f"{asked['user_code']}; or open {asked['verification_uri_complete']}",
            file=sys.stderr,
            flush=True,
        )
        made = _poll(client, asked["device_code"], asked["interval"])
    with Client(url, made["access_token"]) as client:
        userid = client.get("/api/account")["userid"]
    return Login(url, made["access_token"], userid, made["token_id"])


def _poll(client: Client, code: str, interval: float) -> dict[str, Any]:
    """Return the token, once the user has allowed it."""
    while True:
        time.sleep(interval)
        try:
            found: dict[str, Any] = client.send_form(
                "/api/oauth/token", grant_type=_GRANT, client_id=_CLIENT_ID, device_code=code
            )
        except ProblemError as error:
            if error.code == "slow_down":
                interval += _SLOWER
            elif error.code in _REFUSED:
                raise Refusal(Code.UNAUTHORIZED, _REFUSED[error.code]) from None
            elif error.code != "authorization_pending":
                raise
        else:
            return found


def _taken_token(url: str) -> Login:
    """Return a login with the token that is asked for."""
    token = _ask("token", reader=getpass)
    with Client(url, token) as client:
        return Login(url, token, client.get("/api/account")["userid"])


def _ask(what: str, reader: Callable[[str], str]) -> str:
    """Return a word, read at the terminal or from a line of standard input."""
    word = (reader(f"{what}: ") if sys.stdin.isatty() else sys.stdin.readline()).strip()
    if not word:
        raise Refusal(Code.USAGE, f"there is no {what}; nothing was done")
    return word


def _visible(prompt: str) -> str:
    print(prompt, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline()


def _end_earlier(earlier: Login) -> None:
    try:
        end_token(earlier)
    except (ProblemError, httpx.TransportError) as error:
        print(
            f"the token of the earlier login as {earlier.userid} at {earlier.url} is still valid: "
            f"{failure(earlier.url, error).sentence}; end it at {earlier.url}/account",
            file=sys.stderr,
        )
