"""Logging in by the web: cookies, sessions, forms that have to be ours, and forgotten passwords."""

import re
from collections.abc import Iterator
from itertools import cycle

import pytest

from infra.people.password_resets import PasswordResets
from infra.people.sessions import LASTS_SECONDS, Sessions
from services.app.matches import load_state
from services.http.web.declared import Pages
from services.http.web.render import local_path
from services.http.web.session import csrf_token, mask_token, unmask_token
from tests.helpers.api import MANY, PASSWORD, Api
from tests.helpers.web import refusal, visitors

SITE = "https://play.example.org"
RELAY = "smtp://127.0.0.1:9"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    given = {"trusted_proxy": "on", "relay": RELAY, "site": SITE}
    with Api(tmp_path_factory.mktemp("web"), **given) as api:
        yield api


def cookie(answer, name):
    """The Set-Cookie of an answer that sets this cookie, its attributes in lower case."""
    found = [one for one in answer.headers.get_list("set-cookie") if one.startswith(f"{name}=")]
    assert len(found) == 1, answer.headers
    return found[0]


def test_a_wrong_password_and_an_unknown_userid_are_told_alike(come):
    come().sign_up("abe")
    told = []
    for name in ("abe", "nobody"):
        answer = come().log_in(name, "wrong1")
        assert answer.status_code == 401
        message = answer.text.split("<main")[1].split('class="message"')[1]
        told.append(re.search(r'role="alert">([^<]*)<', message)[1])
    assert told[0] == told[1] != ""
    assert [come().log_in("abe", "wrong1").status_code for _ in range(10)] == [401] * 9 + [429]


def test_a_session_is_kept_from_scripts_and_from_other_sites(come):
    come().sign_up("bea")
    set_ = cookie(come().log_in("bea"), "session").lower()
    assert {"httponly", "samesite=lax", "path=/", f"max-age={LASTS_SECONDS}"} <= {
        part.strip() for part in set_.split(";")
    }
    assert "domain" not in set_


def test_by_tls_the_cookie_is_one_that_no_other_host_can_set(come):
    guest = come(**{"X-Forwarded-Proto": "https"})
    page = guest.get("/login")
    assert "secure" in cookie(page, "__Host-guest").lower()
    # the client keeps no secure cookie of a plain URL, as no browser does
    held = cookie(page, "__Host-guest").split(";")[0]
    proof = mask_token(csrf_token(held.partition("=")[2]))
    come().sign_up("ben")
    answer = guest.http.post(
        "/login",
        data={"userid": "ben", "password": PASSWORD, "csrf": proof},
        headers={"Cookie": held},
    )
    assert answer.status_code == 303
    set_ = cookie(answer, "__Host-session").lower()
    assert {"secure", "path=/"} <= {part.strip() for part in set_.split(";")}
    assert "domain" not in set_


def test_who_logs_out_is_out_also_with_the_cookie_from_before(come):
    guest = come().sign_up("cal")
    held = guest.http.cookies["session"]
    answer = guest.send("/logout")
    assert "max-age=0" in cookie(answer, "session").lower()
    other = come()
    other.http.cookies.set("session", held)
    assert other.get("/account").status_code == 303


def test_sessions_are_listed_and_can_be_ended_from_elsewhere(come):
    one = come(**{"User-Agent": FIREFOX}).sign_up("cleo")
    two = come(**{"User-Agent": "Safari iPhone"})
    two.log_in("cleo")
    page = two.page("/account")
    assert "Firefox, Linux" in page
    assert "Safari, iPhone" in page
    (other,) = re.findall(r"/account/sessions/([0-9a-f]{16})/end", page)
    assert two.send(f"/account/sessions/{other}/end").status_code == 303
    assert one.get("/account").status_code == 303
    assert two.get("/account").status_code == 200


FOR_ANYBODY = {"/login", "/signup", "/password", "/password/abc", "/display", "/banner"}
FOR_ANYBODY |= {f"/login/{one}" for one in ("code", "passkey", "passkey/ask", "provider")}
FOR_ANYBODY |= {"/signup/provider"}
WITHOUT_ACCOUNT = FOR_ANYBODY | {"/logout", "/robots", "/m/1/check"}
PROVEN_BY_LINK = {"/unsubscribe/abc"}
"""A link in a mail proves itself, and mail programs send it."""


def posts(api: Api) -> set[str]:
    """The paths of all forms that the application has, with something for each parameter."""
    routes = [one for one in api.app._app.routes if "POST" in getattr(one, "methods", ())]
    paths = [one.path for one in routes if not one.path.startswith("/api/")]
    filled = [re.sub(r"\{[^}]*int\}", "1", re.sub(r"\{[^}]*str\}", "abc", path)) for path in paths]
    return set(filled) - PROVEN_BY_LINK


def own(api: Api) -> list[str]:
    """The paths of the forms that are sent in the name of an account."""
    return sorted(posts(api) - WITHOUT_ACCOUNT)


def test_no_form_is_taken_that_does_not_show_to_be_ours(api, come):
    assert {"/login", "/logout", "/m/1/act", "/account/deletion"} <= posts(api)
    guest, stranger = come(), come()
    before, good = guest.proof("/login"), stranger.proof("/login")
    guest.sign_up("eve")
    for proof in (before, come().sign_up("fred").proof("/account")):
        assert guest.http.post("/logout", data={"csrf": proof}).status_code == 403
    for path, bad in zip(sorted(posts(api)), cycle(("", "0" * 64, "0" * 128, "ä"))):
        answer = guest.http.post(path, data={"csrf": bad})
        assert answer.status_code == 403, (path, answer.text)
        # a session may have ended since its page was loaded, so most forms lead to the login
        for proof in ("",) if path in WITHOUT_ACCOUNT else ("", good):
            answer = stranger.http.post(path, data={"csrf": proof})
            led = answer.status_code == 303 and answer.headers["location"].startswith("/login?")
            assert answer.status_code == 403 if path in FOR_ANYBODY else led, (path, answer.text)
    assert guest.get("/account").status_code == 200
    for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 303)):
        sent = guest.send("/logout", headers={"Sec-Fetch-Site": site})
        assert sent.status_code == status, site
    with pytest.raises(TypeError, match="does not say who may send its form"):
        Pages().post("/anything")(lambda board: board)


def test_each_form_in_the_name_of_an_account_counts_for_its_rate(api, come, monkeypatch):
    guest = come().sign_up("ely")
    monkeypatch.setattr(api.parts.pace, "_timer", lambda: 0.0)  # nothing comes back
    api.parts.pace.check(api.parts.accounts.id_of("ely"), weight=MANY)
    proof = guest.proof("/account")
    answers = {path: guest.http.post(path, data={"csrf": proof}) for path in own(api)}
    assert {
        path: one.status_code for path, one in answers.items() if "too-fast" not in one.text
    } == {}


def test_personal_pages_are_kept_by_no_browser_and_a_log_out_clears_its_cache(come):
    guest = come().sign_up("grete")
    for path in ("/account", "/messages", "/password"):
        assert guest.get(path).headers.get_list("cache-control") == ["no-store"], path
    assert guest.get("/").headers["cache-control"] == "private, no-cache"
    answer = guest.send("/logout")
    # its storage has the texts of sealed draws
    assert answer.headers["clear-site-data"] == '"cache"'


def test_no_two_answers_show_the_same_proof_and_each_is_good(come):
    guest = come().sign_up("masked")
    shown = {guest.proof("/account") for _ in range(3)}
    assert len(shown) == 3
    assert len({unmask_token(proof) for proof in shown}) == 1
    halves = {half for proof in shown for half in (proof[:64], proof[64:])}
    assert len(halves) == 6
    for proof in shown:
        assert guest.http.post("/display", data={"csrf": proof}).status_code == 303
        assert guest.http.post("/display", headers={"X-CSRF-Token": proof}).status_code == 303
        changed = proof[:-1] + ("0" if proof[-1] != "0" else "1")
        assert guest.http.post("/display", data={"csrf": changed}).status_code == 403
    bare = unmask_token(proof).hex()
    assert guest.http.post("/display", data={"csrf": bare}).status_code == 403


def test_nobody_is_sent_to_another_site(api, come):
    elsewhere = ("//evil.example", "/\\evil.example", "https://evil.example", "evil", "/\r\nx", "")
    assert {local_path(path) for path in elsewhere} == {"/"}
    ours = [api.url, api.url.replace("http:", "https:")]
    for referer, back in (
        *((f"{one}/m/12", "/m/12") for one in ours),
        *((f"{one}//evil.example", "/") for one in ours),
        ("https://evil.example/", "/"),
        ("", "/"),
    ):
        answer = come().get("/m/999999", headers={"Referer": referer})
        assert answer.status_code == 404
        assert f'<a class="button" href="{back}">' in answer.text, referer


def test_after_the_login_one_is_where_one_wanted_to_be(come):
    for session in ("", "x", "a" * 43, "ä" * 43, "a" * 5000):  # of nobody
        answer = come().get("/account", headers={"Cookie": f"session={session}".encode()})
        assert answer.headers["location"] == "/login?next=/account"
    come().sign_up("ida")
    guest = come()
    assert guest.get("/new").headers["location"] == "/login?next=/new"
    for path in ("/login", "/signup"):
        assert "You’ll be taken back to where you were." in guest.page(f"{path}?next=/new")
        assert "After that" not in guest.page(path)
    fields = {"userid": "ida", "password": PASSWORD, "next": "/new"}
    assert guest.send("/login", fields, on="/login").headers["location"] == "/new"
    fields = {"userid": "careful", "password": PASSWORD, "next": "https://evil.example/"}
    assert come().send("/signup", fields, on="/signup").headers["location"] == "/"


def test_a_move_that_is_sent_after_the_session_is_over_comes_back_with_the_login(api, come):
    guest = come().sign_up("ottilie")
    other = api.player()
    board = api.begun(api.player_of("ottilie"), other)
    page = guest.page(f"/m/{board}")
    fields = dict(re.findall(r'name="(csrf|key)" value="([^"]*)"', page))
    Sessions(api.parts.data).forget(api.parts.accounts.id_of("ottilie"))
    sent = {**fields, "do": "move", "move": "m13-m5:l4", "ply": "0"}
    answer = guest.http.post(f"/m/{board}/act", data=sent)
    where = f"/login?next=/m/{board}%3Fmove%3Dm13-m5%253Al4"
    assert (answer.status_code, answer.headers["location"]) == (303, where)
    assert "Log in again; your move is kept." in guest.page(where)
    by_htmx = guest.http.post(f"/m/{board}/act", data=sent, headers={"HX-Request": "true"})
    assert (by_htmx.status_code, by_htmx.headers["hx-retarget"]) == (401, "#message")
    assert f'Your move has been kept. <a href="{where}">Log in again</a>' in by_htmx.text
    guest.log_in("ottilie")
    assert 'name="move" value="m13-m5:l4"' in guest.page(f"/m/{board}?move=m13-m5%3Al4")
    assert load_state(api.parts, board).ply == 0


NEW_PASSWORD = "looking-glass"


def test_the_answer_is_the_same_for_everybody(api, come):
    api.player(name="known")
    asked = []
    for who in ("known", "unknown", "nobody@example.org", "<b>x"):
        answer = come().send("/password", {"who": who}, on="/password")
        assert answer.status_code == 200
        text = re.sub("[0-9a-f]{128}", "", answer.text)
        asked.append(text)
    assert len(set(asked)) == 1
    assert "a link." in asked[0]
    waiting = [one.text for one in PasswordResets(api.parts.data).oldest(10)]
    assert waiting == ["known", "unknown", "nobody@example.org", "<b>x"]
    guest = come()
    assert guest.send("/password", {"who": ""}, on="/password").status_code == 400


def test_a_link_opens_a_form_and_the_form_logs_in_with_the_new_password(api, come):
    player = api.player(name="forgetful")
    other = come("forgetful")
    link = PasswordResets(api.parts.data).issue(player.account)
    guest = come()
    for _ in range(2):  # a look at it, as some mail programs take, does not use it up
        assert "New password" in guest.page(f"/password/{link}")
    path = f"/password/{link}"
    short = guest.send(path, {"new": "short"}, on=path)
    assert short.status_code == 422
    assert "10 to 128 characters" in short.text
    done = guest.send(path, {"new": NEW_PASSWORD}, on=path)
    assert done.status_code == 303
    assert "forgetful" in guest.page("/account")
    assert other.get("/account").status_code == 303
    assert api.http.get("/api/account", headers=player.headers).status_code == 401
    assert come().log_in("forgetful", PASSWORD).status_code == 401
    assert come().log_in("forgetful", NEW_PASSWORD).status_code == 303
    again = come().get(path)
    assert again.status_code == 404
    assert "Send another link" in again.text
    assert come().send(path, {"new": NEW_PASSWORD}, on="/password").status_code == 404


UNUSABLE = f"/m/1?move={'m' * 600}"
"""The address of a page with a value that can't be used."""


@pytest.mark.parametrize(("path", "status"), [("/games", 200), (UNUSABLE, 400), ("/none", 404)])
def test_who_has_not_logged_in_may_ask_only_so_often(tmp_path, path, status):
    with Api(tmp_path, address_rate=12) as api, visitors(api) as come:
        one = come().sign_up("ines")
        guest = come(accept="text/html")
        codes = [guest.get(path).status_code for _ in range(14)]
        assert codes[-1] == 429
        assert status in codes
        assert one.get("/games").status_code == 200


def test_the_page_of_an_address_that_cannot_be_used_knows_who_asks(come):
    one = come().sign_up("jana")
    answer = one.get(UNUSABLE)
    assert answer.status_code == 400
    assert refusal(answer.text)[1] == "The address of this page has a value that can't be used."
    assert 'href="/account">jana</a>' in answer.text


def test_each_login_is_a_session_of_its_own_and_ends_the_one_before(come):
    guest = come().sign_up("bob")
    before = guest.http.cookies["session"]
    guest.http.cookies.delete("session")
    guest.http.cookies.set("session", before)
    sent = {"userid": "bob", "password": PASSWORD, "csrf": guest.proof("/account")}
    answer = guest.http.post("/login", data=sent)
    assert cookie(answer, "session").split(";")[0].partition("=")[2] != before
    old = come()
    old.http.cookies.set("session", before)
    assert old.get("/account").headers["location"] == "/login?next=/account"


def test_an_account_is_deleted_with_its_sessions(api, come):
    guest = come().sign_up("dee")
    account = api.parts.accounts.id_of("dee")
    assert guest.send("/account/deletion", {"password": "wrong1"}).status_code == 401
    answer = guest.send("/account/deletion", {"password": PASSWORD})
    assert answer.status_code == 303
    assert "Your account has been deleted." in guest.page(answer.headers["location"])
    assert Sessions(api.parts.data).list_of(account) == []
    assert guest.get("/players/dee").status_code == 404
