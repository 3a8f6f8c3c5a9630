"""Accounts follow the same rules at every front end: preferences, addresses, passwords, erasure."""

import html
import re

import pytest

from infra.languages.wording import wording
from infra.people.accounts.usernames import REST_SECONDS
from infra.redis import keys
from services.app.names import shown_name
from tests.fakes.front_ends import joined, plain, sentence
from tests.helpers.api import PASSWORD


@pytest.fixture
def person(front_ends):
    return front_ends.person()


def record(person):
    return person.api.api.parts.accounts.record_of(person.account)


# preferences


@pytest.mark.parametrize(
    ("line", "body", "fields", "said"),
    [
        (
            "set {} language fr",
            {"language": "fr"},
            {"language": "fr"},
            "there is no language 'fr'; the languages are en, de",
        ),
        ("set {} notify never", {"notify": "never"}, {"notify": "never"}, "'never' isn't a choice"),
        (
            "set {} challenges all",
            {"challenges": "all"},
            {"challenges": "all"},
            "'all' doesn't say whose challenges you accept",
        ),
        (
            "pow2 set {} huge",
            {"displays": {"pow2": "huge"}},
            {"display-pow2": "huge"},
            "pow2 has no display 'huge'; the displays are large, small",
        ),
    ],
)
def test_a_preference_that_there_is_not_is_refused_alike(person, line, body, fields, said):
    before = record(person)
    at_terminal = person.terminal(line.format(person.own))
    by_api = person.api.api.http.patch("/api/account", json=body, headers=person.api.headers)
    on_page = person.web.send("/account/preferences", fields)
    assert at_terminal.code == by_api.json()["code"] == "bad-option"
    assert plain(at_terminal.sentence) == sentence(by_api) == sentence(on_page)
    assert at_terminal.sentence.startswith(said)
    assert at_terminal.sentence in joined(person.mail(line.format(person.own)))
    assert record(person) == before


def test_preferences_may_be_written_in_any_case(front_ends):
    by_line, by_api, on_page = [front_ends.person() for _ in range(3)]
    assert by_line.terminal(f"set {by_line.own} language DE").code == ""
    assert by_line.mail(f"POW2 set {by_line.own} SMALL")
    body = {"language": "DE", "displays": {"POW2": "Small"}}
    answer = by_api.api.api.http.patch("/api/account", json=body, headers=by_api.api.headers)
    assert answer.json()["displays"] == {"pow2": "small"}
    fields = {"language": "De", "display-pow2": "SMALL"}
    assert on_page.web.send("/account/preferences", fields).status_code == 303
    found = [record(one) for one in (by_line, by_api, on_page)]
    assert {(one.language, one.displays) for one in found} == {("de", (("pow2", "small"),))}


def test_a_field_that_a_page_does_not_send_stays_as_it_is(person):
    assert person.terminal(f"set {person.own} challenges known").code == ""
    assert person.terminal(f"goliath set {person.own} small").code == ""
    assert person.web.send("/account/preferences", {"language": "de"}).status_code == 303
    found = record(person)
    assert (found.language, found.challenges) == ("de", "known")
    assert found.displays == (("goliath", "small"),)


def test_a_sign_off_ends_with_a_choice_of_when_mail_is_sent_and_with_no_other(person):
    assert person.terminal(f"signoff {person.own}").code == ""
    assert '<option value="" selected>never: you unsubscribed' in person.web.page("/account")
    fields = {"language": "de", "notify": ""}
    assert person.web.send("/account/preferences", fields).status_code == 303
    person.api.api.http.patch("/api/account", json={"language": "en"}, headers=person.api.headers)
    assert record(person).signed_off
    assert person.web.send("/account/preferences", {"notify": "daily"}).status_code == 303
    assert not record(person).signed_off


# addresses, passwords, tokens


def test_an_address_that_is_none_is_refused_alike(person):
    at_terminal = person.terminal(f"change address {person.own} a@b.example here@")
    by_api = person.api.put("/api/account/addresses", {"addresses": ["a@b.example", "here@"]})
    on_page = person.web.send("/account/addresses", {"addresses": "a@b.example here@"})
    assert plain(at_terminal.sentence) == sentence(by_api) == sentence(on_page)
    assert at_terminal.sentence.startswith("'here@' isn't a plain e-mail address")
    assert record(person).addresses == ()


def test_a_password_that_can_be_none_is_refused_alike(person):
    at_terminal = person.terminal(f"change password {person.own} tiny")
    by_api = person.api.post("/api/account/password", {"old": PASSWORD, "new": "tiny"})
    on_page = person.web.send("/account/password", {"old": PASSWORD, "new": "tiny"})
    assert at_terminal.code == by_api.json()["code"] == "bad-password"
    assert plain(at_terminal.sentence) == sentence(by_api) == sentence(on_page)


SIGNUPS = {
    "terminal": lambda one, name: one.terminal(f"signup {name} {PASSWORD}"),
    "mail": lambda one, name: one.mail(f"signup {name} {PASSWORD}"),
    "api": lambda one, name: one.api.api.http.post("/api/accounts", json={"userid": name, "password": PASSWORD}),
    "web": lambda one, name: one.web.send("/signup", {"userid": name, "password": PASSWORD}, on="/signup"),
}  # fmt: skip


def refused_signups(person, name):
    """What each front end says to a userid, which lines don't repeat if it may be a password."""
    said = {way: signup(person, name) for way, signup in SIGNUPS.items()}
    page = re.search(r'id="wrong-userid">([^<]+)<', said["web"].text)
    found = (
        said["terminal"].sentence,
        joined(said["mail"]).partition(": ")[2],
        sentence(said["api"]),
        html.unescape(page[1]),
    )
    return {plain(one).replace(repr(name.lower()), "'...'") for one in found}


def test_a_userid_that_looks_like_another_is_refused_alike(person):
    SIGNUPS["web"](person, "malicious")
    for name in ("ma1icious", "mal1c1ous", "malici0us", "mali_cious"):
        (said,) = refused_signups(person, name)
        assert "looks like the userid of another player" in said
    (said,) = refused_signups(person, "Malicious")
    assert "is taken" in said
    for number in range(1, 13):
        assert person.terminal(f"signup pupil{number} {PASSWORD}").code == ""


def test_the_userid_of_a_deleted_account_rests_for_a_year(front_ends, person):
    data = front_ends.api.parts.data

    def resting():
        return {key for key in data.scan_iter("{l:*}") if data.ttl(key) > 0}

    others = resting()
    assert person.terminal(f"signup leaving {PASSWORD}").code == ""
    assert person.terminal(f"delete leaving {PASSWORD}").code == ""
    for name in ("leaving", "leav1ng"):
        (said,) = refused_signups(person, name)
        assert "left less than a year ago" in said
    (key,) = resting() - others
    assert 0 <= REST_SECONDS - data.ttl(key) < 60
    data.delete(key)  # a year later
    assert person.terminal(f"signup leaving {PASSWORD}").code == ""


def test_a_token_that_there_is_not_is_refused_alike(person):
    by_api = person.api.delete(f"/api/tokens/{'0' * 16}")
    on_page = person.web.send(f"/account/tokens/{'0' * 16}/revoke")
    assert by_api.status_code == on_page.status_code == 404
    assert sentence(by_api) == sentence(on_page) == "you have no token with this id"


def test_a_label_and_a_time_that_no_token_may_have_are_refused_alike(person):
    def refused(label, days):
        body = {"userid": person.name, "password": PASSWORD, "label": label, "scopes": ["read"]}
        by_api = person.api.api.http.post("/api/tokens", json={**body, "days": days})
        fields = {"label": label, "scope": "read", "days": str(days)}
        return by_api, person.web.send("/account/tokens", fields)

    for answer in (*refused("x", 4_000), *refused("x", 0), *refused("x\x07", 30)):
        assert answer.status_code == 400


def test_logging_out_everywhere_ends_all_sessions_and_tokens_alike(front_ends):
    for by in ("api", "web"):
        person = front_ends.person()
        if by == "api":
            assert person.api.post("/api/account/logout").status_code == 204
        else:
            assert person.web.send("/account/logout-everywhere").status_code == 303
        parts = front_ends.api.parts
        assert parts.sessions.list_of(person.account) == []
        assert parts.tokens.list_of(person.account) == []


# erasing


def with_everything(front_ends):
    """A player of whom everything is kept that may be."""
    person, other = front_ends.person(), front_ends.person()
    board = front_ends.api.begun(person.api, other.api)
    assert person.api.put(f"/api/account/blocks/{front_ends.person().name}", None).is_success
    assert person.api.put("/api/account/addresses", {"addresses": ["a@b.example"]}).is_success
    for one, another in ((person, other), (other, person)):
        body = {"to": [another.name], "text": "good luck"}
        assert one.api.post("/api/messages", body).is_success
        assert one.api.post(f"/api/matches/{board}/chat", {"text": "hello"}).is_success
    assert person.api.move(board, "a1-a5").json()["code"] == "illegal-move"
    assert person.web.send(f"/m/{board}/note", {"note": "a note"}).status_code == 303
    assert person.api.post("/api/challenges", {"game": "pow2"}).is_success
    assert "hello" in person.web.page(f"/m/{board}")
    return person, other, board


def kept_of(front_ends, account):
    """The refused commands that are kept of an account, in all shards."""
    parts = front_ends.api.parts
    names = (keys.refused(shard, account) for shard in range(parts.store.layout().shards))
    return b"".join(kept for name in names for kept in parts.data.hvals(name))


def keys_of(front_ends, account):
    """The names of all keys that have to do with an account, and the hashes that have a field of it."""
    data, own = front_ends.api.parts.data, account.hex()
    front_ends.api.caught_up()
    return {name.decode().replace(own, "X") for name in data.scan_iter() if own in name.decode()}


DELETIONS = {
    "terminal": lambda one: one.terminal(f"delete {one.own}").code == "",
    "mail": lambda one: "have been erased" in joined(one.mail(f"delete {one.own}")),
    "api": lambda one: one.api.post("/api/account/deletion", {"password": PASSWORD}).is_success,
    "web": lambda one: (
        one.web.send("/account/deletion", {"password": PASSWORD}).has_redirect_location
    ),
}


def test_an_account_is_erased_alike_by_every_front_end(front_ends):
    left = {}
    for name, delete in DELETIONS.items():
        person, other, board = with_everything(front_ends)
        before = keys_of(front_ends, person.account)
        assert b"a1-a5" in kept_of(front_ends, person.account)
        assert delete(person), name
        left[name] = keys_of(front_ends, person.account)
        assert kept_of(front_ends, person.account) == b""
        gone = {key.partition("}")[2] for key in before - left[name]}
        assert {":sessions", ":notes", ":1:next:X", ":1:active:X"} <= gone, name
        assert not [key for key in left[name] if key.startswith("{p:")], name
        assert [one["text"] for one in other.api.get("/api/messages").json()["messages"]] == []
        lines = other.api.get(f"/api/matches/{board}/chat").json()["lines"]
        assert [line["userid"] for line in lines] == [other.name]
        assert front_ends.api.parts.challenges.of(person.account) == []
        assert front_ends.api.parts.tokens.list_of(person.account) == []
        assert not front_ends.api.parts.data.exists(keys.account(person.account))
    assert left["terminal"] == left["mail"] == left["api"] == left["web"]


def test_a_player_who_was_deleted_is_a_former_player_everywhere(front_ends):
    gone, other = front_ends.person(), front_ends.person()
    api = front_ends.api
    board = api.match(gone.api, other.api)
    for mover, move in ((gone, "m13-j7"), (other, "a13-d7")):
        assert mover.api.move(board, move).is_success
    assert gone.api.post("/api/messages", {"to": [other.name], "text": "bye"}).is_success
    assert gone.api.give(board, {"do": "resign"}).is_success
    assert gone.terminal(f"delete {gone.own}").code == ""
    api.caught_up()
    texts = {
        "terminal": other.terminal(f"pow2 show {board}").page,
        "terminal list": other.terminal(f"pow2 games {other.name} inactive").page,
        "terminal history": other.terminal("pow2 history").page,
        "terminal ratings": other.terminal("pow2 ratings").page,
        "mail": other.mail(f"pow2 show {board}"),
        "picture": other.api.get(f"/api/matches/{board}/board.svg").text,
        "page": other.web.page(f"/m/{board}"),
        "list": other.web.page("/matches?state=finished"),
        "ratings": other.web.page("/ratings/pow2"),
        "export": other.web.page(f"/m/{board}/match.txt"),
    }
    for name, text in texts.items():
        assert shown_name(None) in html.unescape(text), name
        assert not re.search(rf"\b{gone.name}\b", text), name
    german = {"headers": {"Accept-Language": "de"}}
    pages = (
        f"/m/{board}",
        "/",
        "/matches?state=finished",
        "/ratings/pow2",
    )
    for path in pages:
        page = html.unescape(other.web.page(path, **german))
        assert shown_name(None, wording("de")) in page, path
        assert shown_name(None) not in page, path
    match = other.api.get(f"/api/matches/{board}").json()
    assert [player["userid"] for player in match["players"]] == [None, other.name]


@pytest.mark.parametrize(
    "name",
    ["admin", "R00T", "mailer_daemon", "robot-x", "r0b0t-easy", "pow2", "multiple", "halves"],
)
def test_a_name_of_the_server_is_nobodys(person, name):
    (said,) = refused_signups(person, name)
    assert "is reserved for the server" in said
