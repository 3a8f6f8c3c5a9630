"""Matches by the web: what is played by forms, what stands around the board, and what is shown to whom."""

import re

from markupsafe import Markup
from msgspec.structs import force_setattr

from domain.rules import game_by_key
from infra.people.accounts import AccountRole
from infra.people.match_notes import Notes
from infra.projections.ratings import RatingChange
from services.app.matches import load_state
from services.http.web.boards.board_view import BoardView, draw_position
from services.http.web.messages.chat_text import linked
from tests.helpers.api import PASSWORD, until
from tests.services.matches_by_form import challenge, start, turn


def test_a_form_sent_twice_is_one_move_and_after_a_refusal_it_takes_another(api, one, board):
    page = one.page(f"/m/{board}")
    fields = dict(re.findall(r'name="(csrf|key)" value="([^"]*)"', page))
    for move in ("m13-k5", "m13-j7", "m13-j7"):
        sent = {**fields, "do": "move", "move": move, "ply": "0"}
        answer = one.http.post(f"/m/{board}/act", data=sent)
        assert answer.status_code == 303
        if move == "m13-k5":
            shown = one.page(answer.headers["location"])
            assert "m13-k5: no line connects m13 and k5." in shown
    assert load_state(api.parts, board).moves == "m13-j7"


def test_a_move_meant_for_another_ply_is_refused(one, two, board):
    answer = one.act(board, "move", move="m13-j7", ply="4")
    assert answer.status_code == 409
    assert "stale-ply" in answer.text
    assert ">The match has moved on in the meantime.<" in answer.text
    one.move(board, "m13-j7")
    again = one.act(board, "move", move="M13 - J7", ply="0")  # the same move in a second tab
    assert again.status_code == 409
    assert ">You have already played this move, perhaps in another tab.<" in again.text
    for who, move in ((one, "m1-i1"), (two, "m13-j7")):
        assert ">The match has moved on" in who.act(board, "move", move=move, ply="0").text


def test_a_mistyped_move_comes_back_in_a_form(one, board):
    answer = one.act(board, "move", move="zz top")
    assert answer.headers["location"] == f"/m/{board}/check?move=zz+top"
    assert 'value="zz top"' in one.page(answer.headers["location"])
    # the page's script shows a message, and the form is still there
    fields = {"do": "move", "move": "m13-k5"}
    answer = one.send(f"/m/{board}/act", fields, headers={"HX-Request": "true"})
    assert (answer.status_code, answer.headers["hx-retarget"]) == (422, "#message")
    assert answer.text.startswith('<p class="message">')


def test_who_looks_on_sees_the_board_and_neither_chat_nor_replies_nor_forms(
    api, come, one, two, board
):
    two.send(f"/m/{board}/chat", {"text": "a secret of ours"}, on=f"/m/{board}")
    two.send(f"/m/{board}/replies", {"line": "m13-j7 a13-d7"})
    mine, theirs = two.page(f"/m/{board}"), one.page(f"/m/{board}")
    assert "a secret of ours" in mine
    assert "a secret of ours" in theirs
    assert "a13-d7" in mine
    assert "a13-d7" not in theirs
    stranger = come(api.player())
    for who in (stranger, guest := come()):
        page = who.page(f"/m/{board}")
        assert 'data-game="pow2"' in page
        for secret in ("a secret", "a13-d7", f"/m/{board}/act"):
            assert secret not in page
    # nor can they do anything
    for path, fields in (("act", {"do": "resign"}), ("chat", {"text": "hello"}), ("replies", {})):
        where = f"/m/{board}/{path}"
        assert stranger.send(where, fields).status_code == 403
        answer = guest.send(where, fields, on="/login")
        assert (answer.status_code, answer.headers["location"]) == (303, "/login?over=yes")
    assert not load_state(api.parts, board).over


def test_replies_laid_ready_from_a_line_are_played_and_can_be_dropped(api, one, two, board):
    assert "Plan a reply" in two.page(f"/m/{board}")
    assert "Plan a reply" not in one.page(f"/m/{board}")
    where = f"/m/{board}/0/if?plan=true"
    assert where in two.page(f"/m/{board}")
    for line, step in (
        ("", "Play the move you expect from "),
        ("m13-j7", "Play your answer."),
        ("m13-j7 a13-d7", "Save it."),
    ):
        page = two.page(f"{where}&line={line}")
        head = rf"Conditional moves</strong> \d. {step}.*<h1[^>]*>Conditional moves "
        assert re.search(rf'{head}.*<li class="now"[^>]*>{step}', page, re.DOTALL)
        assert ("Save as conditional move" in page) == (step == "Save it.")
    assert two.get(f"{where}&move=m13-j7").headers["location"] == f"{where}&line=m13-j7"
    assert "Save it." not in one.page(where)
    assert "Save as conditional move" in two.page(f"/m/{board}/0/if?line=m13-j7+a13-d7")
    assert "Save as conditional move" not in one.page(f"/m/{board}/0/if?line=m13-j7+a13-d7")
    assert two.send(f"/m/{board}/replies", {"line": "m13-j7 a13-d7"}).status_code == 303
    assert two.send(f"/m/{board}/replies", {"line": ""}).status_code == 303
    one.move(board, "m13-j7")
    assert load_state(api.parts, board).moves == "m13-j7"


def test_the_page_says_that_staff_could_choose_the_deal_and_not_of_a_sealed_one(
    api, one, two, come
):
    api.parts.accounts.set_role(one.name, AccountRole.ARBITER, held=True)
    said = f"{one.name} helps run this server, and could choose this deal."
    board = challenge(two, one, game="halves")
    assert said in two.page(f"/m/{board}")
    one.act(board, "accept")
    assert said in come().page(f"/m/{board}")
    assert f"{one.name} gehört zum Team" in come(**{"Accept-Language": "de"}).page(f"/m/{board}")
    sealed = two.send(
        "/new",
        {"game": "halves", "opponent": one.name, "gather": "yes", "commitment": "ab" * 32},
        on="/new",
    )
    assert "could choose this deal" not in two.page(sealed.headers["location"])
    assert "could choose this deal" not in two.page(f"/m/{start(two, one)}")
    api.parts.accounts.set_role(one.name, AccountRole.ARBITER, held=False)
    assert "could choose this deal" not in two.page(f"/m/{board}")


def test_options_and_times_of_the_form_are_those_of_the_match_and_its_page_has_them_in_words(
    api, one, two
):
    times = {"time": "own", "own-bank": "14", "own-more": "1", "weekends": "off", "unrated": "1"}
    state = load_state(
        api.parts, start(one, two, **times, **{"pick-0": "-fast", "pick-1": "-exact"})
    )
    assert state.options == ("-exact", "-fast")
    terms = state.clock.terms
    assert (terms.bank, terms.increment, terms.weekends, terms.rated) == (14, 1, False, False)
    picked = {"number-0": "5", "pick-1": "-keep_chosen", "pick-4": ""}
    board = start(one, two, game="halves", **times, **picked)
    assert load_state(api.parts, board).options == ("-keep_chosen", "-tiles_each=5")
    facts = re.search(r'<ul class="facts">(.*?)</ul>', one.page(f"/m/{board}"))
    assert facts
    assert re.findall("<li>([^<]*)</li>", facts[1]) == [
        "14 days in total, plus 1 per move, clock stops at weekends",
        "unrated",
        "Tiles each: 5",
        "What survives when the tiles fall apart: A group that the mover chooses",
    ]


def test_notes_are_seen_by_nobody_else_and_go_with_the_account(api, one, two, board):
    fields = {"note": "watch m5,\r\nthen <i>e9</i>"}
    assert one.send(f"/m/{board}/note", fields, on=f"/m/{board}").status_code == 303
    assert ">watch m5,\nthen &lt;i&gt;e9&lt;/i&gt;</textarea>" in one.page(f"/m/{board}")
    assert "watch m5" not in two.page(f"/m/{board}")
    account = api.parts.accounts.id_of(one.name)
    assert one.send("/account/deletion", {"password": PASSWORD}).status_code == 303
    assert Notes(api.parts.data).get(account, board) == ""


def test_addresses_are_links_and_looks_stand_beside_names_even_where_dark_ones_begin():
    said = str(linked('<b> (http://x.org/a_(b)) "javascript:alert(1)" https://y.org!'))
    assert said.count("<a ") == 2
    assert 'href="http://x.org/a_(b)"' in said
    assert 'href="https://y.org"' in said
    assert said.startswith("&lt;b&gt; (")
    assert isinstance(linked(""), Markup)
    game = game_by_key("torere")
    rules = game.latest
    svg = draw_position(rules, rules.start(rules.read_options(()), 2, None), ("anna", "berta"))
    exchanged = str(svg).replace('data-looks="light dark"', 'data-looks="dark light"')
    shown = [
        BoardView(svg=Markup(each), moves="", check="", ply=0, turn="", game=game)
        for each in (svg, exchanged)
    ]
    assert [each.looks for each in shown] == [(0, 1), (1, 0)]


def test_a_puzzle_is_played_with_its_score_and_bound(api, come):
    guest = come(api.player())
    board = start(guest, game="one")
    guest.move(board, "c3")
    page = guest.page(f"/m/{board}")
    assert "Your puzzle" in page
    assert re.search(r'class="score">\d+ lines with exactly one stone', page)
    assert "40 of the 44" in page
    guest.move(board, "done")
    assert "Make a claim" not in guest.page(f"/m/{board}") + guest.page(f"/m/{board}/1")
    api.caught_up()
    for path in ("/puzzles", "/games/one"):
        assert guest.name in guest.page(path)
    assert "by 1 stone" in guest.page("/games/one/scores")
    given_up = start(guest, game="one")
    guest.act(given_up, "resign")
    assert "The puzzle was given up." in guest.page(f"/m/{given_up}")


PLATE = re.compile(r'<div class="plate([^"]*)" data-seat="(\d)">(.*?)</div>', re.DOTALL)


def plates(page: str) -> list[tuple[str, str]]:
    """Return the classes and the seats of the plates, from above to below."""
    return [(classes.strip(), seat) for classes, seat, _ in PLATE.findall(page)]


def test_the_own_plate_is_below_the_board_and_who_is_to_move_has_a_running_clock(
    api, one, two, board, come
):
    assert plates(one.page(f"/m/{board}")) == [("", "1"), ("to-move", "0")]
    assert plates(two.page(f"/m/{board}")) == [("to-move", "0"), ("", "1")]
    assert plates(come().page(f"/m/{board}")) == [("", "1"), ("to-move", "0")]
    mover = next(text for _, seat, text in PLATE.findall(one.page(f"/m/{board}")) if seat == "0")
    left = re.search(r'data-deadline="(\d+)">([^<]*)<', mover)
    assert left
    assert 6 * 86_400_000 < int(left[1]) <= 7 * 86_400_000
    assert left[2] == "6 d 23 h"
    line = f"vacation {two.name} {PASSWORD} 9"
    assert api.http.post("/api/do", content=line).is_success
    until(lambda: "on vacation until" in one.page(f"/m/{board}"))
    assert one.page(f"/m/{board}").count("on vacation until") == 1
    two.http.cookies.set("display", "below-first")
    assert plates(two.page(f"/m/{board}")) == [("", "1"), ("to-move", "0")]
    assert "14 left to place" in mover


def test_a_result_is_said_to_who_reads_it(api, one, two, board, come):
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


def test_a_rematch_is_offered_on_the_page_of_the_match_that_is_over(one, two, come):
    for answer in ("accept", "decline"):
        board = start(one, two)
        two.act(board, "resign")
        asked = one.send(f"/m/{board}/rematch", on=f"/m/{board}").headers["location"]
        mine, theirs = one.page(f"/m/{board}"), two.page(f"/m/{board}")
        assert f"You want a rematch. Waiting for {two.name} to accept." in mine
        assert ">Withdraw</button>" in mine
        assert f"{one.name} wants a rematch." in theirs
        for page in (mine, theirs, come().page(f"/m/{board}")):
            assert f"/m/{board}/rematch" not in page
        sent = {"do": answer, "back": f"/m/{board}" if answer == "decline" else ""}
        answered = two.send(f"{asked}/act", sent, on=f"/m/{board}")
        assert answered.headers["location"] == (sent["back"] or asked)
        said = "declined" if answer == "decline" else "begun"
        assert re.search(f"The rematch (has|was) {said}", one.page(f"/m/{board}"))


def test_another_server_is_offered_where_the_operator_names_one_and_says_what_that_means(
    api, one, two
):
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


def test_a_proposal_stands_beside_the_turn_and_can_be_taken_back(one, two, board, come):
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
