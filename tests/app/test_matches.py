"""Matches look alike at every front end: their plies, their end, and those that can't be read.

Messages, chat and blocks follow the same rules at every front end.
"""

import html
import re

import pytest

from infra.people.messages import MOST_RECIPIENTS
from infra.people.texts import TEXT_LIMIT
from infra.redis import keys
from tests.fakes.front_ends import joined, plain, sentence

DESCRIPTION = re.compile(r"<desc>(.*?)</desc>")


def started(pair, game="pow2", **more):
    one, other = pair
    return one.api.api.begun(one.api, other.api, game=game, **more)


def gathering(pair):
    """A match that waits for consent and has no position."""
    one, other = pair
    answer = one.terminal(f"powerdrain challenge {one.name} {other.name} --gather")
    return int(answer.sentence.split()[1].rstrip(","))


def refusals(person, board, ply):
    """The code and sentence with which each front end refuses a ply."""
    game = "pow2" if person.terminal(f"pow2 show {board}").code == "" else "powerdrain"
    at_terminal = person.terminal(f"{game} show {board}#{ply}")
    by_api = person.api.get(f"/api/matches/{board}/plies/{ply}")
    by_svg = person.api.get(f"/api/matches/{board}/board.svg?ply={ply}")
    pages = [person.web.get(f"/m/{board}/{ply}"), person.web.get(f"/m/{board}/{ply}/board.svg")]
    assert at_terminal.sentence in joined(person.mail(f"{game} show {board}#{ply}"))
    return {
        (at_terminal.code, plain(at_terminal.sentence)),
        (by_api.json()["code"], sentence(by_api)),
        (by_svg.json()["code"], sentence(by_svg)),
        *((re.search("<code>(.*?)</code>", page.text)[1], sentence(page)) for page in pages),
    }


@pytest.mark.parametrize(
    ("ply", "code", "said"),
    [
        (0, "not-started", "has no position yet"),
        (2, "unknown-ply", "is at #0; there is no #2 yet"),
    ],
)
def test_a_match_without_a_position_is_refused_alike(pair, ply, code, said):
    board = gathering(pair)
    assert refusals(pair[0], board, ply) == {(code, f"match {board} {said}")}


def test_a_match_that_was_declined_before_its_draw_is_not_said_to_wait(pair):
    board = gathering(pair)
    assert pair[1].terminal(f"powerdrain decline {board} {pair[1].own}").code == ""
    said = f"match {board} ended before it had a position"
    assert refusals(pair[0], board, 0) == {("not-started", said)}


def described(svg):
    return html.unescape(DESCRIPTION.search(svg)[1])


@pytest.mark.parametrize("how", ["by resignation", "draw"])
def test_the_end_of_a_match_is_one_clause_everywhere(pair, how):
    one, other = pair
    board = started(pair)
    if how == "draw":
        assert one.api.give(board, {"do": "offer", "kind": "draw"}).is_success
        assert other.api.give(board, {"do": "accept"}).is_success
        clause = "draw by agreement"
    else:
        assert one.api.give(board, {"do": "resign"}).is_success
        clause = f"Dark ({other.name}) won by resignation"
    whole = f"the match is over: {clause}"
    assert whole in one.terminal(f"pow2 show {board}").page
    assert whole in joined(one.mail(f"pow2 show {board}"))
    assert one.api.get(f"/api/matches/{board}").json()["result"]["text"] == whole
    by_api = one.api.get(f"/api/matches/{board}/board.svg").text
    assert by_api == one.web.page(f"/m/{board}/0/board.svg")
    assert plain(described(by_api)).startswith(plain(clause))
    assert described(by_api) in html.unescape(one.web.page(f"/m/{board}"))


def test_a_match_that_cannot_be_read_is_one_sentence_everywhere(pair):
    one, _ = pair
    board = started(pair)
    one.api.api.parts.data.set(keys.snapshot(keys.shard_of(board, 4), board), b"x" * 40)
    said = f"match {board} can't be read; the server's operator can see why with `matchpost verify {board}`"
    answer = one.terminal(f"pow2 show {board}")
    assert (answer.code, answer.sentence) == ("damaged", said)
    assert said in joined(one.mail(f"pow2 show {board}"))
    places = [f"/api/matches/{board}{place}" for place in ("", "/board.svg", "/plies/0", "/chat")]
    pages = [f"/m/{board}{place}" for place in ("", "/0", "/match.txt", "/0/board.svg")]
    refused = [*map(one.api.get, places), *map(one.web.get, pages)]
    assert {(one.status_code, sentence(one)) for one in refused} == {(503, said)}


def test_a_display_that_the_game_does_not_have_is_refused_alike(pair):
    board = started(pair)
    said = "pow2 has no display 'huge'; the displays are large, small"
    assert pair[0].terminal(f"pow2 show {board} --display=huge").sentence == said
    assert sentence(pair[0].api.get(f"/api/matches/{board}/board.txt?display=huge")) == said


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


def test_too_many_recipients_are_refused_before_they_are_looked_up(pair):
    one, _ = pair
    names = [f"nobody{number}" for number in range(MOST_RECIPIENTS + 1)]
    answer = one.terminal(f"message {one.own} {','.join(names)} hello")
    assert (answer.code, answer.sentence) == (
        "bad-request",
        f"a message goes to 1 to {MOST_RECIPIENTS} players, not {MOST_RECIPIENTS + 1}",
    )
    assert one.api.post("/api/messages", {"to": names, "text": "hello"}).status_code == 400


def test_a_message_of_a_blocked_player_is_refused_alike(pair):
    one, other = pair
    assert other.api.put(f"/api/account/blocks/{one.name}", None).is_success
    said = f"{other.name} doesn't take messages from you"
    assert message_refusals(one, [other.name], "hello", mailed=True) == {("not-wanted", said)}


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
