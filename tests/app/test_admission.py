"""Admission: sign-ups that are open, by link or closed, and a server that shows its matches to members alone."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import httpx
import pytest
from litestar.routes import HTTPRoute

from infra.log.key_files import generate_keys
from infra.people.admission import MOST_LINKS, Admissions
from infra.people.tokens import Scope
from services.cli import admission, signup_link
from services.language import Language
from services.language.commands import FORMS
from tests.helpers.api import PASSWORD, Api, Player, code_of
from tests.helpers.subcommands import exit_code
from tests.helpers.web import Guest

NAMES = ("xenia-of-thebes", "yolanda-of-thebes")
"""Userids that are in no page by chance."""

BODY = {"userid": "zelda", "password": PASSWORD}


def prepare(api: Api) -> None:
    """A match, a finished one, a challenge and a puzzle of two members."""
    generate_keys(api.settings.data / "keys", "play.example.org")
    one, other = (api.player(name=name) for name in NAMES)
    api.begun(one, other)
    over = api.begun(one, other, game="torere")
    other.give(over, {"do": "resign"})
    assert one.post("/api/challenges", {"game": "pow2", "seat": 0}).is_success
    api.caught_up()


def set_admission(api: Api, **changes: str) -> None:
    """Change the admission as the operator does."""
    words = {"sign_up": None, "visible_to": None, "trial": None, "clubs": None} | changes
    assert admission.run(**words, settings=api.settings) == 0


@pytest.fixture
def members_only(api: Api) -> Iterator[None]:
    set_admission(api, visible_to="members")
    yield
    set_admission(api, sign_up="open", visible_to="everybody", trial="on")


def addresses(api: Api) -> list[str]:
    """Every address that answers GET: pages, pictures, streams, API and log; with names and numbers of what there is."""
    opened = api.player_of(NAMES[0]).get("/api/challenges").json()
    offer = opened["challenges"][0] if isinstance(opened, dict) else opened[0]
    names: dict[str, Any] = {
        "board": 1, "ply": 1, "seq": 1, "move": 1, "number": 1, "case": 1, "at": 1, "game": "pow2", "userid": NAMES[0],
        "opponent": NAMES[1], "challenge": offer["id"], "code": "usage", "name": "x", "version": "x", "link": "x",
        "shard": "s01", "path": "checkpoint", "command": "0" * 32, "id_": "0" * 16, "token": "0" * 16,
        "browser": "0" * 16, "key": "autumn", "hook": "0" * 16, "delivery": "msg_0", "file": "x",
    }  # fmt: skip
    routes = api.routes
    found = []
    for route in routes:
        if isinstance(route, HTTPRoute) and "GET" in route.methods:
            path = "/".join(
                str(part) if isinstance(part, str) else str(names[part.name])
                for part in route.path_components
            )
            found.append(f"/{path}")
    return sorted({*found, "/stream?boards=1,2&challenges=true", "/api/matches?game=pow2", f"/api/players/{NAMES[1]}",
                   "/api/history/torere", "/m/2", "/m/1/0/board.svg", "/m/1/embed", "/api/matches/1/events"})  # fmt: skip


def body_of(client: httpx.Client, path: str, **headers: str) -> tuple[int, str, str]:
    """Return the status, the caching and the beginning of the body of an answer, which may be a stream."""
    with client.stream("GET", path, headers=headers) as answer:
        if answer.headers.get("content-type", "").startswith("text/event-stream"):
            text = next(answer.iter_text(), "")
        else:
            text = answer.read().decode("utf-8", "replace")
        return answer.status_code, answer.headers.get("cache-control", ""), text


FOR_GUESTS = (
    "/.well-known/", "/api", "/calendar/", "/api/errors/", "/api/games", "/api/help", "/api/openapi.json", "/api/site", "/apple-touch-icon.png", "/favicon.ico",
    "/games/pow2/board.svg", "/games/pow2/pictures/", "/games/pow2/preview.png", "/games/pow2/try", "/healthz", "/help",
    "/icon-", "/log/keys", "/log/receipts-keys", "/login", "/manifest.webmanifest", "/password", "/readyz",
    "/robots.txt", "/signup", "/static/", "/sw.js", "/unsubscribe/", "/verify",
)  # fmt: skip
"""The beginnings of addresses that answer guests on a server for members."""


MOVED = "/games/pow2/try/options"
"""The form of a board to try, which leads back to that board."""


def is_for_guests(path: str) -> bool:
    if path in ("/api", "/api/games", "/api/games/pow2", "/api/games/pow2/schema"):
        return True
    return path.startswith(tuple(one for one in FOR_GUESTS if one not in ("/api", "/api/games")))


@pytest.mark.usefixtures("members_only")
def test_no_address_shows_a_guest_anything_of_a_match_a_player_or_a_list(api):
    faults = []
    stale = {"cookie": "session=" + "x" * 43, "hx-request": "true"}
    with httpx.Client(base_url=api.url, timeout=10, trust_env=False) as client:
        for path in addresses(api):
            for headers in ({}, stale):
                status, _, text = body_of(client, path, **headers)
                shown = text.replace(path, "")  # a log-in leads back to what was asked for
                if any(name in shown for name in NAMES):
                    faults.append(f"{path} names a player: {status}")
                if status == 200 and not is_for_guests(path):
                    faults.append(f"{path} answers")
                if status in (401, 303) and is_for_guests(path) and path != MOVED:
                    faults.append(f"{path} doesn't answer")
    assert faults == []


@pytest.mark.usefixtures("members_only")
def test_a_member_sees_all_and_no_cache_keeps_it_for_others(api, come):
    one, seen = api.player_of(NAMES[0]), 0
    guest: Guest = come()
    guest.log_in(NAMES[0])
    for path in addresses(api):
        client = api.http if path.startswith("/api") else guest.http
        headers = one.headers if path.startswith("/api") else {}
        status, caching, text = body_of(client, path, **headers)
        assert status != 401, path
        if not is_for_guests(path):
            assert "public" not in caching, path
            seen += any(name in text for name in NAMES)
    assert seen > 30


@pytest.mark.usefixtures("members_only")
def test_a_line_of_the_language_shows_nothing_without_an_account(api, everywhere):
    outside = Language(api.parts)
    shown = ["pow2 show 1", f"pow2 show {NAMES[0]}", f"all show {NAMES[0]}", "list pow2", "history",
             "pow2 standings", "pow2 ratings", "pow2 games", "one scores", "robots", "pow2 preview 1 m13-j7"]  # fmt: skip
    for line in [*shown, "pow2 show 999", "torere show 1", "multiple\npow2 show 1"]:
        answer = outside.do(line)
        text = answer.text_with_code
        assert "members only" in text, line
        assert not any(name in text for name in NAMES), line
    for line in ("help", "games", "pow2 help", "help move"):
        assert outside.do(line).code == "", line
    named = {form.rule for form in FORMS if form.for_guests}
    assert named == {"help", "games", "signup", "delete", "multiple", "game_help"}
    # the operator's own terminal, a token that may only read, and a player by mail
    assert NAMES[0] in everywhere.answer("pow2 show 1").text_with_code
    reader = Player(api, NAMES[0], api.parts.accounts.id_of(NAMES[0]),
                    api.parts.tokens.issue(api.parts.accounts.id_of(NAMES[0]), "r", (Scope.READ,)).text)  # fmt: skip
    sent = {**reader.headers, "Content-Type": "text/plain"}
    assert NAMES[1] in api.http.post("/api/do", content="pow2 show 1", headers=sent).text
    signed = f"pow2 showas {NAMES[0]} {PASSWORD} 1"
    assert NAMES[1] in outside.do(signed).text_with_code
    assert everywhere.mail(reader, "pow2 show 1").code == "unauthorized"


@pytest.mark.usefixtures("members_only")
def test_nobody_outside_learns_whose_account_there_is(api):
    told = []
    for name in (NAMES[0], "nobody-at-all"):
        body = {"userid": name, "password": "a wrong guess", "label": "x", "scopes": ["read"]}
        by_api = api.http.post("/api/tokens", json=body)
        line = Language(api.parts).do(f"vacation {name} a-wrong-guess 3")
        told.append([by_api.status_code, by_api.text.replace(name, "?"), line.code])
    assert told[0] == told[1]


def new_link(api: Api, capsys: pytest.CaptureFixture[str], **given: Any) -> tuple[str, str]:
    """Make a sign-up link as the operator does, and return its text and its id."""
    words = {"name": "", "uses": 1, "days": 14, "note": ""} | given
    capsys.readouterr()
    assert signup_link.run("make", settings=api.settings, **words) == 0
    address, line = capsys.readouterr().out.splitlines()
    return address.partition("link=")[2], line.split()[0]


@pytest.fixture
def by_link(api: Api) -> Iterator[None]:
    set_admission(api, sign_up="link")
    yield
    set_admission(api, sign_up="open")


@pytest.mark.usefixtures("by_link")
def test_a_link_makes_an_account_at_each_way_in_and_nothing_else_does(
    api, everywhere, capsys, come
):
    link, _ = new_link(api, capsys, uses=3)
    asked = {
        "nothing": "you can sign up here only with a sign-up link",
        "x" * 48: "this sign-up link doesn't work any more",
        f"{link[:-1]}{'-' if link[-1] != '-' else '_'}": "this sign-up link doesn't work any more",
    }
    for wrong, said in asked.items():
        sent = "" if wrong == "nothing" else wrong
        by_api = api.http.post("/api/accounts", json={**BODY, "link": sent})
        assert (by_api.status_code, code_of(by_api)) == (403, "signups-closed")
        assert said in by_api.json()["detail"]
        line = f"signup zelda {PASSWORD}{f' --link={sent}' if sent else ''}"
        assert Language(api.parts).do(line).code == "signups-closed"
        assert everywhere.mail(everywhere.player(), line).code == "signups-closed"
        page = come().get(f"/signup?link={sent}")
        assert page.status_code == 403
        assert 'action="/signup"' not in page.text
    # a userid that is refused costs no use
    taken = {"userid": NAMES[0], "password": PASSWORD, "link": link}
    assert code_of(api.http.post("/api/accounts", json=taken)) == "name-taken"
    guest = come()
    made = guest.send("/signup", {**BODY, "link": link}, on=f"/signup?link={link}")
    assert made.status_code == 303
    by_api = api.http.post("/api/accounts", json={**BODY, "userid": "zora", "link": link})
    assert by_api.status_code == 201
    assert Language(api.parts).do(f"signup zoe {PASSWORD} --link={link}").code == ""
    assert Language(api.parts).do(f"signup zack {PASSWORD} --link={link}").code == "signups-closed"
    # the operator's terminal needs none
    assert everywhere.answer(f"signup zack {PASSWORD}").code == ""


@pytest.mark.usefixtures("by_link")
def test_a_link_ends_when_its_time_is_over_or_it_is_revoked(api, capsys, monkeypatch):
    link, id_ = new_link(api, capsys, uses=2, note="class 7b")
    links = api.parts.admissions
    assert links.usable_link(link)
    monkeypatch.setattr("infra.people.admission.time_ms", lambda _: links.links()[-1][0].expires)
    assert not links.usable_link(link)
    monkeypatch.undo()
    assert links.usable_link(link)
    assert signup_link.run("revoke", id_, 1, 1, "", api.settings) == 0
    assert not links.usable_link(link)
    late = api.http.post("/api/accounts", json={**BODY, "userid": "late", "link": link})
    assert code_of(late) == "signups-closed"
    capsys.readouterr()
    for words, code in (
        (("revoke", id_, 1, 1, ""), "not-found"),
        (("make", "", 0, 14, ""), "bad-option"),
        (("make", "", 1, 366, ""), "bad-option"),
        (("make", "", 1, 14, "x" * 101), "too-long"),
    ):
        assert exit_code(signup_link.run, *words, api.settings) != 0
        assert code in capsys.readouterr().err
    assert signup_link.run("list", "", 1, 1, "", api.settings) == 0
    assert id_ not in capsys.readouterr().out


def test_there_are_no_more_links_than_can_be_looked_through(redis_client):
    links = Admissions(redis_client)
    for _ in range(MOST_LINKS):
        links.make_link(1, 1)
    with pytest.raises(Exception, match="revoke those"):
        links.make_link(1, 1)


def test_closed_sign_ups_stay_closed_to_links_and_a_setting_closes_them_whatever_is_set(
    api, capsys, tmp_path
):
    link, _ = new_link(api, capsys)
    set_admission(api, sign_up="closed")
    try:
        refused = api.http.post("/api/accounts", json={**BODY, "userid": "shut", "link": link})
        assert "closed to new accounts" in refused.json()["detail"]
    finally:
        set_admission(api, sign_up="open")
    with Api(tmp_path, signups="off") as shut:
        set_admission(shut, sign_up="open")
        assert "sign-ups: nobody may sign up" in (said := capsys.readouterr().out)
        assert "(MATCHPOST_SIGNUPS=off)" in said
        assert code_of(shut.http.post("/api/accounts", json=BODY)) == "signups-closed"


@pytest.mark.usefixtures("members_only")
def test_the_script_of_a_members_page_reveals_a_text_and_that_of_nobody_does_not(api, come):
    one, two = api.players()
    texts = [f"{player.name} keeps it".encode() for player in (one, two)]
    own, others = (sha256(text).hexdigest() for text in texts)
    terms = ["--gather", "--days=3"]
    board = api.match(one, two, game="powerdrain", terms=terms, commitment=own)
    two.give(board, {"do": "accept", "commitment": others})
    api.caught_up()
    path, body = f"/api/matches/{board}/reveal", {"text": texts[0].hex()}
    guest = come()
    assert guest.http.post(path, json=body).status_code == 401
    guest.log_in(one.name)
    from_elsewhere = {"sec-fetch-site": "cross-site"}
    assert code_of(guest.http.post(path, json=body, headers=from_elsewhere)) == "cross-site"
    assert guest.http.post(path, json=body).is_success
