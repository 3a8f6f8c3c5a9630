"""Messages, chat and blocks follow the same rules at every front end."""

import html

import pytest

from domain.errors import Code
from infra.people.messages import MOST_RECIPIENTS
from infra.people.texts import TEXT_LIMIT
from tests.fakes.front_ends import joined, plain, sentence


def message_refusals(one, names, text, *, mailed=False):
    """The code and sentence with which each front end that sends messages refuses one."""
    line = f"message {one.own} {','.join(names)} {text}"
    at_terminal = one.terminal(line)
    by_api = one.api.post("/api/messages", {"to": names, "text": text})
    if mailed:
        assert at_terminal.sentence in joined(one.mail(line))
    return {
        (at_terminal.code, plain(at_terminal.sentence)),
        (by_api.json()["code"], sentence(by_api)),
    }


def test_a_text_that_is_too_long_is_refused_alike(pair):
    one, other = pair
    said = f"the text has {TEXT_LIMIT + 1} characters; the limit is {TEXT_LIMIT}"
    text = "x" * (TEXT_LIMIT + 1)
    assert message_refusals(one, [other.name], text) == {("too-long", said)}


def test_characters_that_no_text_may_have_are_refused_alike(pair):
    one, other = pair
    ((code, said),) = message_refusals(one, [other.name], "a\x07b")
    assert code == Code.BAD_REQUEST
    assert said.startswith("character 2 of the text is U+0007")


def test_too_many_recipients_are_refused_before_they_are_looked_up(pair):
    one, _ = pair
    names = [f"nobody{number}" for number in range(MOST_RECIPIENTS + 1)]
    answer = one.terminal(f"message {one.own} {','.join(names)} hello")
    assert (answer.code, answer.sentence) == (
        "bad-request",
        f"a message goes to 1 to {MOST_RECIPIENTS} players, not {MOST_RECIPIENTS + 1}",
    )
    assert one.api.post("/api/messages", {"to": names, "text": "hello"}).status_code == 400


def test_a_player_named_twice_gets_one_message(pair):
    one, other = pair
    assert one.terminal(f"message {one.own} {other.name},{other.name.upper()} hello").code == ""
    both = {"to": [other.name, other.name.upper()], "text": "hello"}
    assert one.api.post("/api/messages", both).is_success
    found = other.api.get("/api/messages").json()["messages"]
    assert [message["text"] for message in found] == ["hello", "hello"]


def test_a_message_of_a_blocked_player_is_refused_alike(pair):
    one, other = pair
    assert other.api.put(f"/api/account/blocks/{one.name}", None).is_success
    said = f"{other.name} doesn't take messages from you"
    assert message_refusals(one, [other.name], "hello", mailed=True) == {("not-wanted", said)}


def test_what_one_front_end_marks_as_read_is_read_at_all(pair):
    one, other = pair
    assert one.terminal(f"message {one.own} {other.name} hello").code == ""
    assert other.api.get("/api/messages").json()["unread"] == 1
    assert "hello" in other.web.page("/messages")
    assert other.api.get("/api/messages").json()["unread"] == 0
    assert other.terminal(f"messages {other.own}").sentence == ""


# chat


@pytest.fixture
def board(pair):
    one, other = pair
    return one.api.api.match(one.api, other.api)


def chat_refusals(person, board, text):
    """The code and sentence with which each front end refuses a line of chat."""
    at_terminal = person.terminal(f"pow2 chat {board} {person.own} {text}")
    by_api = person.api.post(f"/api/matches/{board}/chat", {"text": text})
    on_page = person.web.send(f"/m/{board}/chat", {"text": text})
    return {
        (at_terminal.code, plain(at_terminal.sentence)),
        (by_api.json()["code"], sentence(by_api)),
        (on_page.text.partition("<code>")[2].partition("</code>")[0], sentence(on_page)),
    }


def test_chat_of_a_player_who_is_not_in_the_match_is_refused_alike(front_ends, board):
    ((code, _),) = chat_refusals(front_ends.person(), board, "hello")
    assert code == "not-a-player"


def test_chat_that_is_too_long_is_refused_alike(pair, board):
    said = f"the text has {TEXT_LIMIT + 1} characters; the limit is {TEXT_LIMIT}"
    assert chat_refusals(pair[0], board, "x" * (TEXT_LIMIT + 1)) == {("too-long", said)}


def test_chat_with_a_player_who_blocks_is_refused_alike(pair, board):
    one, other = pair
    other.web.send(f"/players/{one.name}/block")
    said = f"{other.name} doesn't read your chat"
    assert chat_refusals(one, board, "hello") == {("not-wanted", said)}


def test_lines_of_chat_end_alike_whatever_sends_them(pair, board):
    one, other = pair
    assert one.web.send(f"/m/{board}/chat", {"text": "by\r\npage"}).status_code == 303
    assert one.api.post(f"/api/matches/{board}/chat", {"text": "by\r\nprogram"}).is_success
    assert one.terminal(f"pow2 chat {board} {one.own}\nby\r\nhand").code == ""
    lines = other.api.get(f"/api/matches/{board}/chat").json()["lines"]
    assert [line["text"] for line in lines] == ["by\npage", "by\nprogram", "by\nhand"]
    assert "by\npage" in html.unescape(other.web.page(f"/m/{board}"))


# blocks


def test_blocks_are_the_same_list_at_every_front_end(front_ends, pair):
    one, other = pair
    third = front_ends.person()
    assert one.terminal(f"block {one.own} {other.name}").code == ""
    assert one.web.send(f"/players/{third.name}/block").status_code == 303
    names = sorted([other.name, third.name])
    assert one.api.get("/api/account/blocks").json() == {"userids": names}
    assert all(name in one.web.page("/account") for name in names)
    assert all(name in one.terminal(f"block {one.own}").sentence for name in names)


def test_what_cannot_be_blocked_is_refused_alike(pair):
    one, _ = pair
    for name, code, said in (
        (one.name, "bad-option", "you can't block yourself"),
        ("nobody", "unknown-user", "there is no user '"),
    ):
        at_terminal = one.terminal(f"block {one.own} {name}")
        by_api = one.api.put(f"/api/account/blocks/{name}", None)
        on_page = one.web.send(f"/players/{name}/block")
        assert at_terminal.code == by_api.json()["code"] == code
        assert f"<code>{code}</code>" in on_page.text
        for sentence_ in (plain(at_terminal.sentence), sentence(by_api), sentence(on_page)):
            assert sentence_.startswith(said)
