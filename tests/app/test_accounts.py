"""Accounts follow the same rules at every front end: preferences, userids, tokens, erasure.

What an account may not be set to is in `test_actions_everywhere.py`.
"""

import html
import re

from domain.sentences import ENGLISH
from infra.languages.wording import wording
from infra.people.accounts.usernames import REST_SECONDS
from infra.redis import keys
from services.app.names import shown_name
from services.app.typed_values import typed_number
from tests.fakes.everywhere import API, MAIL, TERMINAL, WEB, own, same
from tests.helpers.api import PASSWORD, code_of


def record(player):
    return player.api.parts.accounts.record_of(player.account)


def test_digits_are_a_number_and_any_other_text_is_none():
    found = {"0": 0, "007": 7, "999999999": 999_999_999}
    others = ("", " 7", "-7", "+7", "7.0", "1e3", "²", "٣", "1_000", "9" * 10, "9" * 5000)
    wanted = found | dict.fromkeys(others)
    assert {text: typed_number(text) for text in wanted} == wanted


def test_preferences_may_be_written_in_any_case(everywhere):
    by_line, by_api, on_page = (everywhere.player() for _ in range(3))
    assert everywhere.say(f"set {own(by_line)} language DE").code == ""
    assert everywhere.mail(by_line, f"POW2 set {own(by_line)} SMALL").code == ""
    answer = by_api.patch("/api/account", {"language": "DE", "displays": {"POW2": "Small"}})
    assert answer.json()["displays"] == {"pow2": "small"}
    fields = {"language": "De", "display-pow2": "SMALL"}
    assert everywhere.page(on_page, "/account/preferences", fields).code == ""
    found = [record(one) for one in (by_line, by_api, on_page)]
    assert {(one.language, one.displays) for one in found} == {("de", (("pow2", "small"),))}


def test_a_field_that_a_page_does_not_send_stays_as_it_is(everywhere):
    player = everywhere.player()
    assert everywhere.say(f"set {own(player)} challenges known").code == ""
    assert everywhere.say(f"goliath set {own(player)} small").code == ""
    assert everywhere.page(player, "/account/preferences", {"language": "de"}).code == ""
    found = record(player)
    assert (found.language, found.challenges) == ("de", "known")
    assert found.displays == (("goliath", "small"),)


def test_a_sign_off_ends_with_a_choice_of_when_mail_is_sent_and_with_no_other(everywhere):
    player = everywhere.player()
    assert everywhere.say(f"signoff {own(player)}").code == ""
    page = everywhere.guest(player).page("/account")
    assert '<option value="" selected>never: you unsubscribed' in page
    fields = {"language": "de", "notify": ""}
    assert everywhere.page(player, "/account/preferences", fields).code == ""
    assert player.patch("/api/account", {"language": "en"}).is_success
    assert record(player).signed_off
    assert everywhere.page(player, "/account/preferences", {"notify": "daily"}).code == ""
    assert not record(player).signed_off


# userids


def refused_signup(everywhere, name):
    """What each front end says to a userid, which lines don't repeat if it may be a password."""
    visitor, body = everywhere.player(), {"userid": name, "password": PASSWORD}
    line = f"signup {name} {PASSWORD}"
    page = everywhere.guest(visitor).send("/signup", body, on="/signup").text
    result = everywhere.http(everywhere.api.http.post("/api/accounts", json=body))
    found = {TERMINAL: everywhere.say(line), MAIL: everywhere.mail(visitor, line), API: result}
    said = html.unescape(re.search(r'id="wrong-userid">([^<]+)<', page)[1])
    found[WEB] = result._replace(sentence=said)
    hidden = {
        where: one._replace(sentence=one.sentence.replace(repr(name.lower()), "'...'"))
        for where, one in found.items()
    }
    return same(hidden).sentence


def test_a_userid_that_may_not_be_is_refused_alike(everywhere):
    body = {"userid": "malicious", "password": PASSWORD}
    assert everywhere.api.http.post("/api/accounts", json=body).is_success
    assert "is taken" in refused_signup(everywhere, "Malicious")
    for name in ("ma1icious", "mal1c1ous", "malici0us", "mali_cious"):
        said = refused_signup(everywhere, name)
        assert "looks like the userid of another player" in said, name
    for name in (
        "admin",
        "R00T",
        "mailer_daemon",
        "robot-x",
        "r0b0t-easy",
        "pow2",
        "multiple",
        "halves",
    ):
        assert "is reserved for the server" in refused_signup(everywhere, name), name
    for number in range(1, 13):
        assert everywhere.say(f"signup pupil{number} {PASSWORD}").code == ""


def test_the_userid_of_a_deleted_account_rests_for_a_year(everywhere):
    data = everywhere.api.parts.data

    def resting():
        return {key for key in data.scan_iter("{l:*}") if data.ttl(key) > 0}

    others = resting()
    assert everywhere.say(f"signup leaving {PASSWORD}").code == ""
    assert everywhere.say(f"delete leaving {PASSWORD}").code == ""
    for name in ("leaving", "leav1ng"):
        assert "left less than a year ago" in refused_signup(everywhere, name)
    (key,) = resting() - others
    assert 0 <= REST_SECONDS - data.ttl(key) < 60
    data.delete(key)  # a year later
    assert everywhere.say(f"signup leaving {PASSWORD}").code == ""


# tokens


def test_a_label_and_a_time_that_no_token_may_have_are_refused_at_both(everywhere):
    player = everywhere.player()
    body = {"userid": player.name, "password": PASSWORD, "scopes": ["read"]}
    for label, days in (("x", 4_000), ("x", 0), ("x\x07", 30)):
        by_api = player.post("/api/tokens", {**body, "label": label, "days": days})
        fields = {"label": label, "scope": "read", "days": str(days)}
        on_page = everywhere.guest(player).send("/account/tokens", fields)
        assert by_api.status_code == on_page.status_code == 400, (label, days)


def test_logging_out_everywhere_ends_all_sessions_and_tokens_alike(everywhere):
    parts = everywhere.api.parts
    by_api, on_page = everywhere.player(), everywhere.player()
    everywhere.guest(by_api)
    assert by_api.post("/api/account/logout").status_code == 204
    assert everywhere.page(on_page, "/account/logout-everywhere").code == ""
    for player in (by_api, on_page):
        assert parts.sessions.list_of(player.account) == []
        assert parts.tokens.list_of(player.account) == []


# erasing


def with_everything(everywhere):
    """A player of whom everything is kept that may be."""
    person, other = everywhere.player(), everywhere.player()
    board = everywhere.api.begun(person, other)
    assert person.put(f"/api/account/blocks/{everywhere.player().name}", None).is_success
    assert person.put("/api/account/addresses", {"addresses": ["a@b.example"]}).is_success
    for one, another in ((person, other), (other, person)):
        body = {"to": [another.name], "text": "good luck"}
        assert one.post("/api/messages", body).is_success
        assert one.post(f"/api/matches/{board}/chat", {"text": "hello"}).is_success
    assert code_of(person.move(board, "a1-a5")) == "illegal-move"
    assert everywhere.page(person, f"/m/{board}/note", {"note": "a note"}).code == ""
    assert person.post("/api/challenges", {"game": "pow2"}).is_success
    assert "hello" in everywhere.guest(person).page(f"/m/{board}")
    return person, other, board


def kept_of(everywhere, account):
    """The refused commands that are kept of an account, in all shards."""
    parts = everywhere.api.parts
    names = (keys.refused(shard, account) for shard in range(parts.store.layout().shards))
    return b"".join(kept for name in names for kept in parts.data.hvals(name))


def keys_of(everywhere, account):
    """The names of all keys that have to do with an account, and the hashes that have a field of it."""
    data, id_ = everywhere.api.parts.data, account.hex()
    everywhere.api.caught_up()
    return {name.decode().replace(id_, "X") for name in data.scan_iter() if id_ in name.decode()}


def test_an_account_is_erased_alike_by_every_front_end(everywhere):
    ways = {
        TERMINAL: lambda one: everywhere.say(f"delete {own(one)}").code == "",
        MAIL: lambda one: "have been erased" in everywhere.letter(f"delete {own(one)}"),
        API: lambda one: one.post("/api/account/deletion", {"password": PASSWORD}).is_success,
        WEB: lambda one: (
            everywhere.page(one, "/account/deletion", {"password": PASSWORD}).code == ""
        ),
    }
    left, parts = {}, everywhere.api.parts
    for where, delete in ways.items():
        person, other, board = with_everything(everywhere)
        before = keys_of(everywhere, person.account)
        assert b"a1-a5" in kept_of(everywhere, person.account)
        assert delete(person), where
        left[where] = keys_of(everywhere, person.account)
        assert kept_of(everywhere, person.account) == b""
        gone = {key.partition("}")[2] for key in before - left[where]}
        assert {":sessions", ":notes", ":1:next:X", ":1:active:X"} <= gone, where
        assert not [key for key in left[where] if key.startswith("{p:")], where
        assert [one["text"] for one in other.get("/api/messages").json()["messages"]] == []
        lines = other.get(f"/api/matches/{board}/chat").json()["lines"]
        assert [line["userid"] for line in lines] == [other.name]
        assert parts.challenges.of(person.account) == []
        assert parts.tokens.list_of(person.account) == []
        assert not parts.data.exists(keys.account(person.account))
    assert left[TERMINAL] == left[MAIL] == left[API] == left[WEB]


def test_a_player_who_was_deleted_is_a_former_player_everywhere(everywhere):
    gone, other = everywhere.player(), everywhere.player()
    api, guest = everywhere.api, everywhere.guest(other)
    board = api.match(gone, other)
    for mover, move in ((gone, "m13-j7"), (other, "a13-d7")):
        assert mover.move(board, move).is_success
    assert gone.post("/api/messages", {"to": [other.name], "text": "bye"}).is_success
    assert gone.give(board, {"do": "resign"}).is_success
    assert everywhere.say(f"delete {own(gone)}").code == ""
    api.caught_up()
    lines = (f"show {board}", f"games {other.name} inactive", "history", "ratings")
    texts = {f"pow2 {line}": everywhere.answer(f"pow2 {line}").page for line in lines}
    texts["mail"] = everywhere.letter(f"pow2 show {board}")
    texts["picture"] = other.get(f"/api/matches/{board}/board.svg").text
    pages = (f"/m/{board}", "/matches?state=finished", "/ratings/pow2", "/")
    texts |= {path: guest.page(path) for path in (*pages[:3], f"/m/{board}/match.txt")}
    for name, text in texts.items():
        assert shown_name(None) in html.unescape(text), name
        assert not re.search(rf"\b{gone.name}\b", text), name
    for path in pages:
        page = html.unescape(guest.page(path, headers={"Accept-Language": "de"}))
        assert shown_name(None, wording("de")) in page, path
        assert shown_name(None, wording(ENGLISH.code)) not in page, path
    match = other.get(f"/api/matches/{board}").json()
    assert [player["userid"] for player in match["players"]] == [None, other.name]
