"""Game texts: what is written is read as it was, and all else is refused with its line."""

import random

import msgspec
import pytest
from hypothesis import given as sampled
from hypothesis import settings
from hypothesis import strategies as st
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.match.commands import PlayMove, ResignMatch
from domain.match.game_text import GAME_TEXT_LIMIT, GameHeaders, read_game_text, write_game_text
from domain.match.replayed_game import ReplayedGame
from domain.match.state import MatchState, position_of
from domain.rules import rules_by_id
from services.cli.referee import judge
from services.demo.recorded_matches import recorded_games
from tests.domain import given
from tests.domain.given import any_move, called
from tests.helpers.examples import FULL
from tests.helpers.given import ALICE, BOB, Match, challenge

HEADERS = GameHeaders(
    ("alice", "bob"), 'The "big\\small" cup', "https://play.example/m/7", "2026.11.29"
)
TEXT = """\
[Event "The \\"big\\\\small\\" cup"]
[Site "https://play.example/m/7"]
[Date "2026.11.29"]
[Light "alice"]
[Dark "bob"]
[Game "pow2/1"]
[Result "1-0"]
[Termination "resignation"]

1. m13-m9 1-0
"""
KEPT = ("rules", "options", "setup", "moves", "acted", "out", "result", "opening")


def read(text: str):
    return read_game_text(text.encode())


def assert_same(found: MatchState, state: MatchState) -> None:
    assert {name: getattr(found, name) for name in KEPT} == {
        name: getattr(state, name) for name in KEPT
    }
    assert position_of(found) == position_of(replace(state, position=None))


@pytest.mark.parametrize("number", range(len(recorded_games())))
def test_every_recorded_game_is_read_as_it_was_written(number):
    game = recorded_games()[number]
    rules = rules_by_id(game.rules)
    played = ReplayedGame(rules, game.options, game.players, None, "")
    for move in game.moves:
        played.play(move)
    state = played.ended(played.outcomes[0] if game.offer else None)
    assert (state.result.winners if state.result else ()) == game.winners
    names = ("alice", "bob", "?")[: game.players]
    text = write_game_text(state, GameHeaders(names))
    found = read(text)
    assert found.headers == GameHeaders(names)
    assert_same(found.state, state)
    assert max(map(len, text.partition("\n\n")[2].splitlines())) < 80 or game.rules != "pow2/1"
    answer = judge(msgspec.json.encode(found.request))
    assert answer["ok"]
    assert answer["ply"] == len(game.moves)


@pytest.mark.parametrize("kind", given.KINDS)
@pytest.mark.parametrize("seed", [1, 2])
def test_drawn_games_and_those_that_players_leave_are_read_as_they_were_written(kind, seed):
    chance = random.Random(seed)
    match = Match()
    match.do(*called(kind))
    for _ in range(12):
        if match.state.next is None:
            break
        mover = match.state.seats[match.state.next]
        last = len(match.state.active_seats) == 2 or chance.random() < 0.8
        match.do(mover, PlayMove(text=any_move(match, chance)) if last else ResignMatch())
    names = ("alice", "bob", "carol")[: len(match.state.seats)]
    assert_same(read(write_game_text(match.state, GameHeaders(names))).state, match.state)


def test_a_game_is_written_with_its_headers_and_its_moves():
    match = Match(*[challenge("pow2"), (ALICE, PlayMove(text="m13-m9")), (BOB, ResignMatch())])
    written = write_game_text(match.state, HEADERS)
    assert written == TEXT.replace("[Result", '[Left "Dark 1"]\n[Result')
    assert read(written).headers == HEADERS


def test_comments_order_and_line_breaks_make_no_difference():
    plain = read(TEXT)
    other = TEXT.replace("1. m13-m9", "{ a long\n way } 1.\n\tM13-M9 {to go}").replace("\n", "\r\n")
    lines = other.splitlines(keepends=True)
    assert read("\ufeff" + "".join([*reversed(lines[:8]), *lines[8:]])) == plain
    assert read(TEXT.replace("1. ", "").replace('[Result "1-0"]\n', "")) == plain


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (("1-0\n", "0-1\n"), Code.BAD_REQUEST, "line 10: the result is 0-1 here, and 1-0 in the header"),
        (('"1-0"', '"1-1"'), Code.BAD_REQUEST, "line 10: the result is 1-0 here, and 1-1 in the header"),
        ((" 1-0\n", "\n"), Code.BAD_REQUEST, "line 10: a game text ends with its result"),
        (("1-0\n", "1-1\n"), Code.BAD_REQUEST, "line 10: a game text ends with its result"),
        (("1. m13-m9 1-0", ""), Code.BAD_REQUEST, "line 10: a game text ends with its result"),
        (('"resignation"', '"goal"'), Code.BAD_REQUEST, "line 10: the moves don't lead to the result 1-0 by 'goal'"),
        (('"resignation"', '"transferred"'), Code.BAD_REQUEST, "line 10: the moves don't lead"),
        (("m13-m9", "a13-c11"), Code.ILLEGAL_MOVE, "line 10: "),
        (("m13-m9", "zz"), Code.UNREADABLE_MOVE, "line 10: "),
        (("1. ", "2. "), Code.BAD_REQUEST, "line 10: move 1 is next, not 2"),
        ((" 1-0\n", " 1-0 a13-d7\n"), Code.UNREADABLE_MOVE, "line 10: "),
        (("m13-m9", "{m13-m9"), Code.BAD_REQUEST, "line 10: the comment does not end"),
        (("m13-m9", "m13-m9 }"), Code.BAD_REQUEST, "line 10: no comment begins before this }"),
        (('[Light "alice"]', "[Light alice]"), Code.BAD_REQUEST, 'line 4: a header is written [Name "value"]'),
        (("[Dark", "[Light"), Code.BAD_REQUEST, "line 5: the header Light is repeated"),
        (("[Dark", "[Green"), Code.BAD_PLAYERS, "the players of pow2 are missing: Light and Dark"),
        (("[Game", "[Gamer"), Code.BAD_REQUEST, 'the header [Game "pow2/1"] is missing'),
        (("pow2/1", "pow2/99"), Code.UNKNOWN_RULES, "line 6: there are no rules"),
        (("pow2/1", "chess/1"), Code.UNKNOWN_RULES, "line 6: "),
        (("[Result", '[Options "-blue"]\n[Result'), Code.UNKNOWN_OPTION, "line 7: "),
        (("[Result", '[Setup "{"]\n[Result'), Code.BAD_SETUP, "line 7: the setup isn't JSON"),
        (("[Result", f'[Setup "{"[" * 9_999}"]\n[Result'), Code.BAD_SETUP, "line 7: the setup isn't JSON"),
        (("[Result", '[Opening "two"]\n[Result'), Code.BAD_REQUEST, "line 7: write how many"),
        (("[Result", '[Opening "2"]\n[Result'), Code.BAD_REQUEST, "line 11: the opening has more than 1 moves"),
        (("[Result", '[Left "Dark"]\n[Result'), Code.BAD_REQUEST, "line 7: write who left"),
        (("[Result", '[Left "Dark 3"]\n[Result'), Code.BAD_REQUEST, "line 7: there is no move 3, because 1 were played"),
        (("[Result", '[Left "Dark 1"]\n[Left "Dark 1"]\n[Result'), Code.NOT_A_PLAYER, "line 8: that player has left already"),
    ],
)  # fmt: skip
def test_a_game_text_that_is_wrong_is_refused_with_its_line(change, code, said):
    assert change[0] in TEXT
    with pytest.raises(Refusal) as refused:
        read(TEXT.replace(*change))
    assert refused.value.sentence.startswith(said)
    assert refused.value.code is code


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xff", "UTF-8"),
        (b"x" * (GAME_TEXT_LIMIT + 1), "at most"),
        (b"", "header"),
        (b"\n1. a", "header"),
    ],
)
def test_what_is_no_game_text_is_refused(data, said):
    with pytest.raises(Refusal, match=said):
        read_game_text(data)


def test_a_game_of_chance_needs_its_setup():
    text = '[A "x"]\n[B "y"]\n[Game "halves/1"]\n'
    with pytest.raises(Refusal, match="line 3: chance sets up this game"):
        read(text)


def test_a_match_that_goes_on_has_no_result():
    text = TEXT.replace("1-0", "*").replace("resignation", "unfinished")
    found = read(text)
    assert found.state.result is None
    assert write_game_text(found.state, found.headers) == text
    over = write_game_text(_by_rules(), GameHeaders(("alice", "bob")))
    with pytest.raises(Refusal, match="the match is over by these moves"):
        read(over.replace("1-0", "*").replace("0-1", "*"))


def _by_rules() -> MatchState:
    game = next(one for one in recorded_games() if one.rules == "pow2/1" and len(one.winners) == 1)
    played = ReplayedGame(rules_by_id(game.rules), game.options, 2, None, "")
    for move in game.moves:
        played.play(move)
    return played.ended()


PARTS = [*TEXT.split(" "), *TEXT.splitlines(keepends=True), "{", "}", "[", '"', "\\", "*", "1/2-1/2", "9" * 30, "\x00", "é"]  # fmt: skip


@settings(max_examples=1_000 if FULL else 80, deadline=None)
@sampled(st.integers(0, len(TEXT)), st.lists(st.sampled_from(PARTS) | st.text(max_size=8)))
def test_whatever_is_read_ends_in_a_game_or_in_a_refusal(cut, more):
    data = (TEXT[:cut] + " ".join(more) + TEXT[cut:]).encode(errors="replace")
    try:
        found = read_game_text(data)
    except Refusal:
        return
    assert read(write_game_text(found.state, found.headers)).state == found.state
