"""The stored form of outcomes."""

import subprocess
import sys

import msgspec
import pytest

from domain.errors import Code
from domain.game.protocol import illegal_move
from domain.match.sentences import SAY
from infra.store.outcomes import encode_stored, parse, tail

PIECES = msgspec.msgpack.encode


def stored(*fields: object) -> bytes:
    return encode_stored(b"digest..", 7, PIECES(list(fields)))


def test_an_accepted_outcome_is_two_numbers() -> None:
    assert tail("", 3) == b"\x92\x00\x03"
    outcome = parse(encode_stored(b"digest..", 12, tail("", 3)))
    assert (outcome.digest, outcome.index, outcome.code, outcome.seq) == (b"digest..", 12, "", 3)
    assert outcome.accepted
    assert outcome.sentence == ""


def test_a_refusal_is_a_number_a_key_and_arguments() -> None:
    reason = illegal_move("m13-j7", SAY("stale", meant=3, ply=4))
    packed = tail(reason.code, 9, reason.text)
    assert msgspec.msgpack.decode(packed) == [1, 9, "move", "m13-j7", ["stale", 3, 4]]
    outcome = parse(encode_stored(b"digest..", 1, packed))
    assert outcome.text == reason.text
    assert outcome.sentence == reason.sentence
    assert outcome.code == "illegal-move"
    assert not outcome.accepted


def test_a_sentence_without_a_key_is_kept_as_it_is() -> None:
    reason = illegal_move("b2", "the square is full")
    assert parse(encode_stored(b"digest..", 1, tail("illegal-move", 1, reason.text))).text == (
        reason.text
    )
    packed = tail("illegal-move", 1, "b2: the square is full")
    assert msgspec.msgpack.decode(packed) == [1, 1, "", "b2: the square is full"]
    assert parse(encode_stored(b"digest..", 1, packed)).text == "b2: the square is full"


def test_a_process_that_has_decided_nothing_reads_reasons_too() -> None:
    program = (
        "from infra.store.outcomes import encode_stored, parse, tail\n"
        "from domain.sentences import Sentence\n"
        "for reason in (Sentence('stale', (1, 2)), Sentence('torere.empty', (4,))):\n"
        "    print(parse(encode_stored(bytes(8), 1, tail('stale-ply', 1, reason))).sentence)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.decode().splitlines() == [
        "the match has moved on in the meantime; `#1` was meant, and it is now at `#2`",
        "no stone stands on 4",
    ]


@pytest.mark.parametrize("code", Code)
def test_every_code_can_be_stored(code: Code) -> None:
    assert parse(encode_stored(b"digest..", 1, tail(code, 1, "no"))).code == code


def test_a_reason_of_a_game_that_is_not_installed_is_read_all_the_same() -> None:
    outcome = parse(stored(1, 2, "move", "e7-e5", ["chess.pinned", 3, b"\x01"]))
    assert outcome.code == "illegal-move"
    assert outcome.sentence == (
        "e7-e5: the reason 'chess.pinned' is unknown here; is its game no longer installed?"
    )


@pytest.mark.parametrize(
    "wrong",
    [
        stored(),
        stored(1),
        stored(99, 1),
        stored(-1, 1),
        stored(1, "x"),
        stored(1, 2, 3),
        stored(1, 2, "", 3),
        stored(1, 2, ""),
        stored(1, 2, "move", 1.5, "x"),
        stored(1, 2, "move", [], "x"),
        b"digest..x:" + PIECES([0, 1]),
        b"digest..1:" + PIECES({}),
        b"digest..1:",
        b"",
    ],
)
def test_other_bytes_are_no_outcome(wrong: bytes) -> None:
    with pytest.raises((ValueError, msgspec.MsgspecError)):
        parse(wrong)
