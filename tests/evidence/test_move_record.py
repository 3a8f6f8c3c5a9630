"""Move records: the lines of commands by which a match was played, written and read."""

import random

import pytest
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.match.commands import PlayMove, ResignMatch
from domain.match.events import MatchSource
from domain.match.imports import import_command
from domain.match.state import position_of
from domain.rules import rules_by_id
from infra.audit.move_record import RECORD_LIMIT, read_record, write_record
from tests.domain.given import KINDS, any_move, called
from tests.helpers.given import ALICE, BOB, Match, challenge

NAMES = ("alice", "bob", "carol")
RECORD = """\
pow2 challenge -fast alice bob
pow2 move 17 alice * i5-g4:g5
pow2 move 17 bob * a13-c11
"""
SOURCE = MatchSource("record", "", 17, b"", 0, bytes(32))


def read(text: str):
    return read_record(text.encode())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_written_is_read_as_it_was(kind: str, seed: int):
    chance = random.Random(seed)
    match = Match()
    match.do(*called(kind))
    for _ in range(12):
        if match.state.next is None:
            break
        mover = match.state.seats[match.state.next]
        last = len(match.state.active_seats) == 2 or chance.random() < 0.8
        match.do(mover, PlayMove(text=any_move(match, chance)) if last else ResignMatch())
    names = NAMES[: len(match.state.seats)]
    record = read(write_record(match.state, names, 17))
    assert (record.userids, record.board) == (names, 17 if match.state.ply else 0)
    for field in ("rules", "options", "setup", "moves", "acted", "out", "result"):
        assert getattr(record.state, field) == getattr(match.state, field), field
    assert position_of(record.state) == position_of(replace(match.state, position=None))
    # and it can be imported
    seats = match.state.seats
    command = import_command(record.state, seats, SOURCE)
    assert Match(board=2).do(bytes(8), command)[0].moves == match.state.moves


def test_a_match_that_ended_by_other_means_keeps_its_result():
    match = Match(*[challenge("pow2"), (ALICE, PlayMove(text="m13-m9")), (BOB, ResignMatch())])
    text = write_record(match.state, NAMES[:2], 3)
    assert text.splitlines()[-2:] == [
        "pow2 resign 3 bob *",
        '# result {"winners":[0],"reason":"resignation"}',
    ]
    assert read(text).state.result == match.state.result
    without = "\n".join(text.splitlines()[:-1])
    assert read(without).state.result == match.state.result


def test_the_forms_of_the_pages_of_pbmserv_are_read():
    plain = read(RECORD)
    for text in (
        RECORD.replace("*", "secret"),
        RECORD.replace("17", "17#"),
        RECORD.replace("g5\n", "g5#0\n"),
        RECORD.replace("-fast alice bob", "alice bob -fast"),
        RECORD.replace("-fast alice bob", "fast alice bob"),
        RECORD.replace("pow2", "Pow2").replace("alice", "Alice"),
        RECORD.replace("pow2 move 17 bob", "\n# a comment\n  pow2 move 17 bob").replace(
            "\n", "\r\n"
        ),
    ):
        assert read(text) == plain, text


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("", Code.BAD_REQUEST, "empty"),
        ("pow2 move 17 alice * m13-m9", Code.BAD_REQUEST, "begins with `GAME challenge`"),
        ("chess challenge alice bob", Code.UNKNOWN_GAME, ""),
        ("pow2 challenge alice", Code.BAD_PLAYERS, "line 1"),
        ("pow2 challenge alice alice", Code.BAD_PLAYERS, "line 1"),
        ("pow2 challenge -nothing alice bob", Code.UNKNOWN_OPTION, ""),
        ("powerdrain challenge alice bob", Code.BAD_SETUP, "# setup"),
        ("powerdrain challenge alice bob\n# setup [", Code.BAD_SETUP, "isn't JSON"),
        ("powerdrain challenge alice bob\n# setup []", Code.BAD_SETUP, ""),
        (RECORD + "pow2 move 17 alice * m13-m4", Code.UNREADABLE_MOVE, "line 4"),
        (RECORD + "pow2 move 17 alice * a1-a5", Code.ILLEGAL_MOVE, "line 4"),
        (RECORD + "pow2 move 17 bob * a1-a5", Code.NOT_YOUR_TURN, "the turn of alice"),
        (RECORD + "pow2 move 18 alice * i9-i5", Code.BAD_REQUEST, "of board 18"),
        (RECORD + "pow2 move x alice * i9-i5", Code.BAD_REQUEST, "isn't a board number"),
        (RECORD + "pow2 move 17 carol * i9-i5", Code.UNKNOWN_USER, "isn't one of the players"),
        (RECORD + "halves move 17 alice * 3", Code.BAD_REQUEST, "line 4: it is neither"),
        (RECORD + "pow2 move 17 alice i9-i5", Code.BAD_REQUEST, "line 4: it is neither"),
        (RECORD + "pow2 resign 17 bob *\npow2 resign 17 bob *", Code.NOT_A_PLAYER, "line 5"),
        (RECORD + "# result nothing", Code.BAD_REQUEST, "as in an export"),
        (RECORD + "# result {}\n# result {}", Code.BAD_REQUEST, "several lines"),
        ("x" * (RECORD_LIMIT + 1), Code.TOO_LONG, "at most"),
    ],
    ids=range(21),
)
def test_a_record_that_is_wrong_is_refused_with_its_line(text: str, code: Code, said: str):
    with pytest.raises(Refusal) as refused:
        read(text)
    assert refused.value.code is code
    assert said in refused.value.sentence


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(Refusal, match="UTF-8"):
        read_record(b"\xff\xfe")


def test_whatever_is_read_ends_in_a_state_or_a_refusal():
    chance = random.Random(7)
    words = [*RECORD.split(), "resign", "# result {}", "\n", "#", "halves", "-9", "\x00", "9" * 30]
    for _ in range(3_000):
        text = " ".join(chance.choices(words, k=chance.randrange(12)))
        try:
            found = read(RECORD[: chance.randrange(len(RECORD))] + text)
        except Refusal:
            continue
        assert rules_by_id(found.state.rules).key
