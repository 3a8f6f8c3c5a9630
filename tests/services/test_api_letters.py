from collections.abc import Iterator

import pytest

from tests.helpers.api import Api, code_of


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api")) as api:
        yield api


def texts(player) -> list[str]:
    return [one["text"] for one in player.get("/api/messages").json()["messages"]]


def test_a_message_reaches_those_it_is_written_to(api):
    one, other, third = api.players(3)
    said = one.post("/api/messages", {"to": [other.name, third.name.upper()], "text": " Hello "})
    assert (said.status_code, said.content) == (204, b"")
    for reader in (other, third):
        (message,) = reader.get("/api/messages").json()["messages"]
        assert (message["userid"], message["text"], message["kind"]) == (
            one.name, "Hello", "message",
        )  # fmt: skip
    assert texts(one) == []


def test_a_message_repeated_with_its_key_comes_once(api):
    one, other = api.players()
    for key in ("k1", "k1", "k2"):
        body = {"to": [other.name], "text": "Hello"}
        assert one.post("/api/messages", body, headers={"Idempotency-Key": key}).is_success
    assert texts(other) == ["Hello"] * 2


def test_the_twenty_first_message_of_a_day_to_strangers_is_refused_in_the_reader_s_language(api):
    one, other = api.players()
    for _ in range(20):
        assert one.post("/api/messages", {"to": [other.name], "text": "Buy!"}).is_success
    body = {"to": [other.name], "text": "Buy!"}
    full = one.post("/api/messages", body, headers={"Accept-Language": "de"})
    assert (full.status_code, full.json()["code"]) == (409, "too-many")
    assert full.json()["detail"].startswith("höchstens 20 Nachrichten am Tag gehen an Spieler, die")
    assert len(texts(other)) == 20


def test_messages_stay_unread_until_they_are_marked(api):
    one, other = api.players()
    for text in ("first", "second", "third"):
        assert one.post("/api/messages", {"to": [other.name], "text": text}).is_success
    found = other.get("/api/messages").json()
    assert (found["unread"], [each["text"] for each in found["messages"]]) == (
        3, ["third", "second", "first"],
    )  # fmt: skip
    assert other.get("/api/messages").json()["unread"] == 3
    until = found["messages"][1]["at"]
    assert other.post("/api/messages/read", {"until": until}).status_code == 204
    assert other.get("/api/messages").json()["unread"] == 1
    assert other.post("/api/messages/read", {"until": 0}).status_code == 204
    assert other.get("/api/messages").json()["unread"] == 1


def test_messages_come_in_pages(api):
    one, other = api.players()
    for number in range(5):
        assert one.post("/api/messages", {"to": [other.name], "text": str(number)}).is_success
    first = other.get("/api/messages?limit=3").json()
    rest = other.get(f"/api/messages?limit=3&cursor={first['next']}").json()
    found = [each["text"] for page in (first, rest) for each in page["messages"]]
    assert found == ["4", "3", "2", "1", "0"]
    assert rest["next"] is None


def test_who_has_left_is_named_no_more_and_took_the_messages_along(api):
    one, other = api.players()
    assert one.post("/api/messages", {"to": [other.name], "text": "Goodbye"}).is_success
    assert one.post("/api/account/deletion", {"password": "yes-we-can"}).is_success
    assert texts(other) == []


@pytest.mark.parametrize(
    ("to", "text", "status", "code"),
    [
        (["nobody-of-that-name"], "Hello", 404, "unknown-user"),
        ([], "Hello", 400, "bad-request"),
        (["x"] * 21, "Hello", 400, "bad-request"),
        (None, "", 400, "bad-request"),
        (None, "   ", 400, "bad-request"),
        (None, "x" * 2_001, 413, "too-long"),
        (None, "bell \a", 400, "bad-request"),
    ],
)
def test_what_is_no_message_is_refused_and_its_text_not_repeated(api, to, text, status, code):
    one, other = api.players()
    refused = one.post("/api/messages", {"to": [other.name] if to is None else to, "text": text})
    assert (refused.status_code, code_of(refused)) == (status, code)
    assert "xxxx" not in refused.text
    assert texts(other) == []


def test_the_players_of_a_match_talk_and_nobody_hears_them(api):
    one, other, third = api.players(3)
    board = api.match(one, other)
    path = f"/api/matches/{board}/chat"
    assert one.post(path, {"text": "Hello"}, headers={"Idempotency-Key": "c"}).status_code == 204
    assert one.post(path, {"text": "Hello"}, headers={"Idempotency-Key": "c"}).status_code == 204
    assert other.post(path, {"text": "Good luck!"}).status_code == 204
    for reader in (one, other):
        lines = reader.get(path).json()["lines"]
        assert [(line["userid"], line["text"]) for line in lines] == [
            (one.name, "Hello"), (other.name, "Good luck!"),
        ]  # fmt: skip
    assert code_of(third.get(path)) == "not-a-player"
    assert code_of(third.post(path, {"text": "Me too"})) == "not-a-player"
    for place in ("", "/events", "/board.txt"):
        assert "Good luck" not in third.get(f"/api/matches/{board}{place}").text


def test_of_a_long_chat_the_newest_lines_are_shown(api):
    one, other = api.players()
    path = f"/api/matches/{api.match(one, other)}/chat"
    for number in range(5):
        assert one.post(path, {"text": str(number)}).is_success
    shown = other.get(f"{path}?limit=2").json()["lines"]
    assert [line["text"] for line in shown] == ["3", "4"]
    assert code_of(other.get(f"{path}?limit=501")) == "bad-request"


def test_what_is_said_in_no_match_is_refused(api):
    one = api.player()
    assert code_of(one.post("/api/matches/99999/chat", {"text": "Hello"})) == "unknown-board"
    assert code_of(one.get("/api/matches/99999/chat")) == "unknown-board"
