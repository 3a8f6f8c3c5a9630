"""What stands around the board of a match: players, clocks, result, proposals, the next match, chat."""

import re

import pytest
from markupsafe import Markup
from msgspec.structs import force_setattr

from domain.match.state import Reason
from infra.languages.wording import wording
from infra.projections.ratings import RatingChange
from services.http.web.messages.chat_text import linked
from tests.helpers.api import PASSWORD, until
from tests.services.matches_by_form import start, turn, whole_match

PLATE = re.compile(r'<div class="plate([^"]*)" data-seat="(\d)">(.*?)</div>', re.DOTALL)


def plates(page: str) -> list[tuple[str, str]]:
    """Return the classes and the seats of the plates, from above to below."""
    return [(classes.strip(), seat) for classes, seat, _ in PLATE.findall(page)]


def test_the_own_plate_is_below_the_board_and_who_is_to_move_has_a_running_clock(pair, come):
    one, two = pair
    board = start(one, two)
    assert plates(one.page(f"/m/{board}")) == [("", "1"), ("to-move", "0")]
    assert plates(two.page(f"/m/{board}")) == [("to-move", "0"), ("", "1")]
    assert plates(come().page(f"/m/{board}")) == [("", "1"), ("to-move", "0")]
    mover = next(text for _, seat, text in PLATE.findall(one.page(f"/m/{board}")) if seat == "0")
    left = re.search(r'data-deadline="(\d+)">([^<]*)<', mover)
    assert left
    assert 6 * 86_400_000 < int(left[1]) <= 7 * 86_400_000
    assert left[2] == "6 d 23 h"
    assert "14 left to place" in mover


def test_who_wants_the_first_player_below_has_that(pair):
    one, two = pair
    board = start(one, two)
    two.http.cookies.set("display", "below-first")
    assert plates(two.page(f"/m/{board}")) == [("", "1"), ("to-move", "0")]


def test_a_vacation_is_told_beside_the_name(api, pair):
    one, two = pair
    board = start(one, two)
    line = f"vacation {one.name} {PASSWORD} 9"
    assert api.http.post("/api/do", content=line).is_success
    until(lambda: "on vacation until" in two.page(f"/m/{board}"))
    assert two.page(f"/m/{board}").count("on vacation until") == 1


def test_a_result_is_said_to_who_reads_it(api, pair, come):
    one, two = pair
    board = start(one, two)
    one.move(board, "m13-j7")
    two.move(board, "a13-c11")
    one.act(board, "resign")
    assert turn(two, board).startswith("You won by resignation.")
    assert turn(one, board).startswith("You resigned.")
    assert turn(come(), board) == f"{two.name} won by resignation."
    assert 'class="turn ended won"' in two.page(f"/m/{board}")
    assert 'class="turn ended lost"' in one.page(f"/m/{board}")
    assert 'class="turn ended seen"' in come().page(f"/m/{board}")
    api.caught_up()
    (changes,) = api.parts.ratings.changes([("pow2", board)])
    gained = changes[1]
    assert isinstance(gained, RatingChange)
    rating = f"Rating {gained.before} \N{RIGHTWARDS ARROW} {gained.after} (+{gained.difference})"
    until(lambda: rating in re.sub("<[^>]*>", "", turn(two, board)))
    assert "(\N{MINUS SIGN}" in turn(one, board)
    assert "?</abbr>" in PLATE.findall(one.page(f"/m/{board}"))[0][2]  # after one match


def test_an_ending_by_the_rules_has_their_words(pair):
    board = whole_match(pair, "torere")
    said = turn(pair[0], board)
    assert re.match(r"You (won|lost): \w.*\w\.|Draw: ", said)
    assert Reason.RESIGNATION not in said


def test_a_proposal_stands_beside_the_turn_and_can_be_taken_back(pair, come):
    one, two = pair
    board = start(one, two)
    one.act(board, "offer", kind="draw")
    assert "You offered a draw." in one.page(f"/m/{board}")
    assert "Withdraw" in one.page(f"/m/{board}")
    once = "One offer at a time"
    assert once in one.page(f"/m/{board}")
    asked = two.page(f"/m/{board}")
    assert once in asked
    assert ">Decline</button>" in asked
    assert f"{one.name} offers a draw." in asked
    assert "<title>\N{BLACK CIRCLE} Your answer" in asked
    watched = come().page(f"/m/{board}")
    assert "The others haven’t answered yet." in watched
    assert 'value="reject"' not in watched
    assert one.act(board, "reject").status_code == 303
    assert "offers a draw" not in two.page(f"/m/{board}")
    assert two.act(board, "accept").status_code == 409
    assert once not in one.page(f"/m/{board}")


def test_another_server_is_offered_where_the_operator_names_one_and_says_what_that_means(api, pair):
    one, two = pair
    board, button, ends = start(one, two), "Suggest moving it", "The match then ends here"
    assert button not in one.page(f"/m/{board}")
    one.act(board, "offer", kind="transfer")
    asked = f"{one.name} wants to move the match to another server."
    where = f"{ends} and doesn’t count. It can continue on a"
    assert asked in two.page(f"/m/{board}")
    assert f"{where} server whose operator" in two.page(f"/m/{board}")
    force_setattr(api.settings, "transfer_to", "b.example.org c.example.org")
    try:
        assert f"{where}nother server (b.example.org, c.example.org)" in two.page(f"/m/{board}")
        two.act(board, "reject")
        box = one.page(f"/m/{board}").partition("Move to another server")[2]
    finally:
        force_setattr(api.settings, "transfer_to", None)
    assert box.index(ends) < box.index(button)


def test_after_a_move_the_next_match_is_one_click_away(api, pair):
    one, two = pair
    first, second = start(one, two), start(one, two, game="torere", time="1")
    api.caught_up()
    assert 'id="next-match"' not in one.page(f"/m/{first}")
    one.move(first, "m13-j7")
    api.caught_up()
    link = re.search(
        r'<a id="next-match"[^>]*href="([^"]*)"[^>]*>(.*?)</a>', one.page(f"/m/{first}")
    )
    assert link
    assert link[1] == f"/m/{second}"
    assert f"Next: Mū tōrere against {two.name}" in link[2]
    assert "left" in link[2]  # less than a day


def test_chat_has_the_own_lines_on_their_side_and_links(pair):
    one, two = pair
    board = start(one, two)
    text = "see https://example.org/a?b=1&c=2."
    one.send(f"/m/{board}/chat", {"text": text}, on=f"/m/{board}")
    mine, theirs = one.page(f"/m/{board}"), two.page(f"/m/{board}")
    assert 'class="line own"' in mine
    assert 'class="line new"' in theirs
    assert 'href="https://example.org/a?b=1&amp;c=2" rel="nofollow noopener noreferrer"' in theirs
    assert theirs.count('<li class="day">') == 1
    assert 'dir="auto"' in theirs


def test_addresses_are_links_and_nothing_else_is():
    said = str(linked('<b> (http://x.org/a_(b)) "javascript:alert(1)" https://y.org!'))
    assert said.count("<a ") == 2
    assert 'href="http://x.org/a_(b)"' in said
    assert 'href="https://y.org"' in said
    assert said.startswith("&lt;b&gt; (")
    assert isinstance(linked(""), Markup)


@pytest.mark.parametrize(
    ("ms", "english", "german"),
    [
        (443_000_000, "5 d 3 h", "5 T 3 Std"),
        (5_400_000, "1 h 30 min", "1 Std 30 min"),
        (59_000, "0 min", "0 min"),
        (-1, "0 min", "0 min"),
    ],
)
def test_a_clock_in_words(ms, english, german):
    assert wording("en").clock(ms) == english
    assert wording("de").clock(ms) == german
