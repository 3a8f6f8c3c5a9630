"""Matches look alike at every front end: their plies, their end, and those that can't be read; pinned ones are first.

The match that waits next: the most urgent first, and one after the other to all.
"""

import html
import re

import pytest

from domain.errors import Code, Refusal
from infra.people.account_lists import PINNED
from infra.people.messages import MOST_RECIPIENTS
from infra.redis import keys
from services.app.queries import with_older
from services.app.waiting import next_match
from tests.fakes.everywhere import MAIL, TERMINAL, same
from tests.helpers.api import PASSWORD, code_of
from tests.helpers.web import Read

DESCRIPTION = re.compile(r"<desc>(.*?)</desc>")


def joined(text):
    return " ".join(text.split())


@pytest.fixture
def gathering(everywhere, pair):
    """A match that waits for consent and has no position."""
    return everywhere.match(*pair, "powerdrain", "--gather")


def refused_ply(everywhere, player, board, ply, game="powerdrain"):
    """What all front ends say to a ply that can't be shown."""
    guest, path = everywhere.guest(player), f"/api/matches/{board}"
    found = {
        TERMINAL: everywhere.say(f"{game} show {board}#{ply}"),
        MAIL: everywhere.mail(player, f"{game} show {board}#{ply}"),
        "API": everywhere.http(player.get(f"{path}/plies/{ply}")),
        "picture": everywhere.http(player.get(f"{path}/board.svg?ply={ply}")),
        "page": everywhere.shown(guest.get(f"/m/{board}/{ply}")),
        "picture of the page": everywhere.shown(guest.get(f"/m/{board}/{ply}/board.svg")),
    }
    return same(found)


def test_a_match_without_a_position_is_refused_alike(everywhere, pair, gathering):
    said = {
        0: (Code.NOT_STARTED, f"Match {gathering} has no position yet."),
        2: (Code.UNKNOWN_PLY, f"Match {gathering} is at #0; there is no #2 yet."),
    }
    assert {ply: refused_ply(everywhere, pair[0], gathering, ply) for ply in said} == said
    assert pair[1].give(gathering, {"do": "decline"}).is_success
    ended = Code.NOT_STARTED, f"Match {gathering} ended before it had a position."
    assert refused_ply(everywhere, pair[0], gathering, 0) == ended


@pytest.mark.parametrize("how", ["by resignation", "draw"])
def test_the_end_of_a_match_is_one_clause_everywhere(everywhere, pair, how):
    one, other = pair
    board, guest = everywhere.api.begun(one, other), everywhere.guest(one)
    if how == "draw":
        assert one.give(board, {"do": "offer", "kind": "draw"}).is_success
        assert other.give(board, {"do": "accept"}).is_success
        clause = "draw by agreement"
    else:
        assert one.give(board, {"do": "resign"}).is_success
        clause = f"Dark ({other.name}) won by resignation"
    whole = f"the match is over: {clause}"
    assert whole in everywhere.answer(f"pow2 show {board}").page
    assert whole in joined(everywhere.letter(f"pow2 show {board}"))
    assert one.get(f"/api/matches/{board}").json()["result"]["text"] == whole
    by_api = one.get(f"/api/matches/{board}/board.svg").text
    assert by_api == guest.page(f"/m/{board}/0/board.svg")
    described = html.unescape(DESCRIPTION.search(by_api)[1])
    assert described.lower().startswith(clause.lower())
    assert described in html.unescape(guest.page(f"/m/{board}"))


def test_a_match_that_cannot_be_read_is_one_sentence_everywhere(everywhere, pair):
    one, board = pair[0], everywhere.match(*pair)
    everywhere.api.parts.data.set(keys.snapshot(keys.shard_of(board, 4), board), b"x" * 40)
    guest = everywhere.guest(one)
    found = {
        TERMINAL: everywhere.say(f"pow2 show {board}"),
        MAIL: everywhere.mail(one, f"pow2 show {board}"),
    }
    for place in ("", "/board.svg", "/plies/0", "/chat"):
        found[f"API {place}"] = everywhere.http(one.get(f"/api/matches/{board}{place}"))
    for place in ("", "/0", "/match.txt", "/0/board.svg"):
        answer = guest.get(f"/m/{board}{place}")
        assert answer.status_code == 503
        found[f"page {place}"] = everywhere.shown(answer)
    said = f"Match {board} can't be read; the server's operator can see why with `matchpost verify {board}`."
    assert same(found) == (Code.DAMAGED, said)


def test_too_many_recipients_are_refused_before_they_are_looked_up(everywhere, pair):
    names = [f"nobody{number}" for number in range(MOST_RECIPIENTS + 1)]
    line = f"message {pair[0].name} {PASSWORD} {','.join(names)} hello"
    by_api = pair[0].post("/api/messages", {"to": names, "text": "hello"})
    said = f"a message goes to 1 to {MOST_RECIPIENTS} players, not {MOST_RECIPIENTS + 1}"
    assert everywhere.say(line) == (Code.BAD_REQUEST, said)
    assert by_api.status_code == 400


def test_lines_of_chat_end_alike_whatever_sends_them(everywhere, pair):
    one, other = pair
    board, own = everywhere.match(one, other), f"{one.name} {PASSWORD}"
    assert everywhere.page(one, f"/m/{board}/chat", {"text": "by\r\npage"}).code == ""
    assert one.post(f"/api/matches/{board}/chat", {"text": "by\r\nprogram"}).is_success
    assert everywhere.say(f"pow2 chat {board} {own}\nby\r\nhand").code == ""
    lines = other.get(f"/api/matches/{board}/chat").json()["lines"]
    assert [line["text"] for line in lines] == ["by\npage", "by\nprogram", "by\nhand"]
    assert "by\npage" in html.unescape(everywhere.guest(other).page(f"/m/{board}"))


def test_a_player_whom_nobody_knows_is_refused_alike(everywhere, pair):
    # a page leaves out how to sign up at the terminal
    at_terminal = everywhere.say("all show nobody")
    by_api = everywhere.http(pair[0].get("/api/players/nobody"))
    on_page = everywhere.shown(everywhere.guest(pair[0]).get("/players/nobody"))
    assert at_terminal.code == by_api.code == on_page.code == Code.UNKNOWN_USER
    for said in (by_api.sentence, on_page.sentence):
        assert at_terminal.sentence.lower().startswith(said.lower().rstrip("."))


# pinned matches


def by_api(one, _, board, word):
    path = f"/api/account/pins/{board}"
    assert (one.put(path, None) if word == "pin" else one.delete(path)).status_code == 204


def by_page(_, guest, board, word):
    sent = guest.send(f"/m/{board}/{word}", on=f"/m/{board}")
    assert (sent.status_code, sent.headers["location"]) == (303, f"/m/{board}")


def by_line(one, _, board, word):
    said = f"match {board} is {'' if word == 'pin' else 'not '}pinned"
    assert said in one.line(f"{word} {board}")


def listed(page):
    return [int(one) for one in re.findall(r'<p class="row-game"><a href="/m/(\d+)"', page)]


def pins(player):
    return player.get("/api/account/pins").json()["matches"]


@pytest.mark.parametrize("change", [by_api, by_page, by_line])
def test_a_pinned_match_is_first_in_its_players_lists_and_in_nobody_elses(everywhere, pair, change):
    api, (one, other) = everywhere.api, pair
    mine = [api.begun(one, other) for _ in range(3)]
    theirs = [api.begun(other, one) for _ in range(3)]
    api.caught_up()
    guest, rival = everywhere.guest(one), everywhere.guest(other)
    assert f"/m/{mine[2]}/pin" in Read(guest.page(f"/m/{mine[2]}")).forms
    for _ in range(2):  # repeated it is no error
        change(one, guest, mine[2], "pin")
        change(one, guest, theirs[0], "pin")
    assert pins(one) == [theirs[0], mine[2]]
    assert listed(guest.page("/matches")) == [mine[2], mine[0], mine[1]]
    assert listed(guest.page("/matches?state=others")) == [theirs[0], theirs[2], theirs[1]]
    assert listed(guest.page("/"))[:1] == [theirs[0]]
    assert guest.page("/matches").count('title="Pinned"') == 1
    assert f"/m/{mine[2]}/unpin" in Read(guest.page(f"/m/{mine[2]}")).forms
    assert next_match(api.parts, one.account).board == mine[2]
    assert [int(line.split()[0]) for line in one.line("pinned").splitlines()] == pins(one)
    assert listed(rival.page("/matches")) == theirs
    for _ in range(2):
        change(one, guest, mine[2], "unpin")
        change(one, guest, theirs[0], "unpin")
    assert pins(one) == []
    assert listed(guest.page("/matches")) == mine
    assert "you have no pinned matches" in one.line("pinned")


def test_an_own_match_alone_can_be_pinned(everywhere, pair):
    board, third = everywhere.api.begun(*pair), everywhere.player()
    assert code_of(third.put(f"/api/account/pins/{board}", None)) == "not-a-player"
    assert code_of(pair[0].put("/api/account/pins/987654", None)) == "unknown-board"
    assert "only its players can do this" in third.line(f"pin {board}")
    assert f"/m/{board}/pin" not in Read(everywhere.guest(third).page(f"/m/{board}")).forms
    assert pair[0].delete("/api/account/pins/987654").status_code == 204


def test_pins_have_an_end_and_finished_matches_make_room(api, pair):
    one, other = pair
    boards = [api.begun(one, other, game="torere") for _ in range(2)]
    api.caught_up()
    assert one.put(f"/api/account/pins/{boards[0]}", None).is_success
    kept = {str(10**9 + n): "" for n in range(PINNED.most - 1)}
    api.parts.data.hset(PINNED.key(one.account), mapping=kept)
    full = one.put(f"/api/account/pins/{boards[1]}", None)
    assert code_of(full) == "too-many"
    assert "you can pin at most 20 matches" in full.json()["detail"]
    assert one.give(boards[0], {"do": "resign"}).is_success
    api.caught_up()
    assert one.put(f"/api/account/pins/{boards[1]}", None).is_success
    assert boards[0] not in pins(one)


def test_a_match_that_cannot_be_read_keeps_no_other_out_of_a_list(api, pair, monkeypatch):
    boards = [api.begun(*pair) for _ in range(3)]
    read, asked = api.parts.store.snapshots, []

    def snapshots(wanted):
        asked.append(list(wanted))
        if boards[1] in wanted:
            raise Refusal(Code.UNAVAILABLE, "the archive is away")
        return read(wanted)

    monkeypatch.setattr(api.parts.store, "snapshots", snapshots)
    assert list(with_older(api.parts, [*boards, boards[0]], {})) == [boards[0], boards[2]]
    assert asked[0] == boards, "all at once, and each by itself only when that fails"
