"""Matches look alike at every front end: their plies, their end, and those that can't be read."""

import html
import re

import pytest

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


def test_a_ply_that_the_match_has_not_come_to_is_refused_alike(pair):
    board = started(pair)
    said = f"match {board} is at #0; there is no #3 yet"
    assert refusals(pair[0], board, 3) == {("unknown-ply", said)}


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


def test_lists_say_how_a_match_ended_alike(pair):
    one, other = pair
    board = started(pair)
    assert one.api.give(board, {"do": "resign"}).is_success
    one.api.api.caught_up()
    clause = f"{other.name} won by resignation"
    assert clause in one.terminal(f"pow2 games {one.name} inactive").page
    assert clause in one.terminal(f"pow2 history {one.name}").page
    assert clause in one.mail(f"pow2 history {one.name}")
    page = one.web.page("/matches?state=finished")
    assert 'class="verdict lost"' in page
    assert "by resignation" in page


def test_what_the_rules_call_an_ending_is_a_word_in_no_list(pair):
    one, other = pair
    board = started(pair, "halves", options=["-tiles_each=4", "-no_contract"])
    while moves := (at := one.api.get(f"/api/matches/{board}").json()["at"])["legal"]:
        assert pair[at["to_move"]].api.move(board, moves[0]).is_success
    one.api.api.caught_up()
    reason = one.api.get(f"/api/matches/{board}").json()["result"]["reason"]
    lines = [
        one.terminal(f"halves games {one.name} inactive").page,
        one.terminal(f"halves history {other.name}").page,
    ]
    page = one.web.page("/matches?state=finished")
    assert re.search('class="verdict (won|lost|drawn)"', page)
    assert f"by {reason}" not in page
    for line in lines:
        assert re.search(" won|draw", line)
        assert f"by {reason}" not in line


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


def test_that_there_is_no_match_is_one_sentence_everywhere(pair):
    one, _ = pair
    said = "there is no match 987654"
    assert one.terminal("pow2 show 987654").sentence == said
    assert said in joined(one.mail("pow2 show 987654"))
    assert sentence(one.api.get("/api/matches/987654")) == said
    assert sentence(one.web.get("/m/987654")) == said


def test_a_display_may_be_written_in_any_case(pair):
    board = started(pair)
    small = pair[0].terminal(f"pow2 show {board} --display=SMALL")
    assert small.code == ""
    by_api = pair[0].api.get(f"/api/matches/{board}/board.txt?display=Small")
    assert by_api.is_success
    assert by_api.text.strip() in small.page


def test_a_display_that_the_game_does_not_have_is_refused_alike(pair):
    board = started(pair)
    said = "pow2 has no display 'huge'; the displays are large, small"
    assert pair[0].terminal(f"pow2 show {board} --display=huge").sentence == said
    assert sentence(pair[0].api.get(f"/api/matches/{board}/board.txt?display=huge")) == said
