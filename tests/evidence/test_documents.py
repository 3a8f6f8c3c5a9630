"""Match documents and move records: what is written is read as it was, and all else is refused."""

import random
from collections import Counter

import msgspec
import pytest
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.match.commands import PlayMove, ResignMatch
from domain.match.events import MatchSource
from domain.match.history import RefusedLeaf, encode_event
from domain.match.imports import import_command
from domain.match.state import position_of
from domain.rules import rules_by_id
from infra.audit import match_document
from infra.audit.check_document import check_document
from infra.audit.match_document import (
    FORMAT,
    HEADER,
    MOST_IMPORTS,
    DocumentError,
    DocumentLeaf,
    DocumentStatement,
    read_document,
    without_private_parts,
    write_document,
)
from infra.audit.move_record import RECORD_LIMIT, read_record, write_record
from tests.domain import given
from tests.domain.given import any_move, called
from tests.helpers.evidence import KINDS, golden_document
from tests.helpers.given import ALICE, BOB, Match, challenge
from trials.fuzz.documents import INPUTS, a_forged_document, check


def test_a_document_is_one_line_that_is_read_as_it_was_written():
    for document in map(golden_document, KINDS):
        data = write_document(document)
        assert data.startswith(HEADER)
        assert (data.count(b"\n"), data[-2:]) == (1, b"}\n")
        assert read_document(data) == document
        assert write_document(read_document(data)) == data


def changed(**changes):
    """The JSON of a document with some fields changed, or left out if they are `...`."""
    fields = msgspec.json.decode(write_document(golden_document("plain"))) | changes
    return msgspec.json.encode({name: one for name, one in fields.items() if one is not ...})


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "a match document is JSON: Input data was truncated"),
        (b"\xff\xfe", "a match document is JSON"),
        (b"[]", "the document is not of its form: expected `object`, got `array`"),
        (b"{}", "object missing required field `format`"),
        (b'{"format":"matchpost-match/2"}', f"matchpost-match/2, and this version reads {FORMAT}"),
        (b'{"format":"\\u001b[31m"}', "the document has the format of no name that is known"),
        (changed(board=0), "expected `int` >= 1 - at `$.board`"),
        (changed(board=True), "expected `int`, got `bool` - at `$.board`"),
        (changed(moves=...), "object missing required field `moves`"),
        (changed(more=1), "object contains unknown field `more`"),
        (changed(leaves=[{"index": 1, "leaf": "?"}]), "invalid base64 encoded string"),
        (changed(leaves=[{"index": -1, "leaf": ""}]), "expected `int` >= 0"),
        (changed(seats=[{"account": "no", "userid": None, "side": ""}]), "matching regex"),
        (b'{"setup":' + b"[" * 100_000, "nested too deeply"),
        (changed(**{"\x1b": 1}), "object contains unknown field"),
    ],
)
def test_what_is_no_document_is_refused_with_a_sentence(data, sentence):
    with pytest.raises(DocumentError) as caught:
        read_document(data)
    assert sentence.lower() in str(caught.value).lower()
    assert str(caught.value).isprintable()


def test_documents_are_in_each_other_up_to_a_limit_and_none_is_too_long(monkeypatch):
    inner = document = golden_document("plain")
    for _ in range(MOST_IMPORTS):
        document = replace(inner, imported_from=document)
    assert read_document(write_document(document)) == document
    with pytest.raises(DocumentError, match=f"at most {MOST_IMPORTS} documents"):
        read_document(write_document(replace(inner, imported_from=document)))
    data = write_document(inner)
    monkeypatch.setattr(match_document, "DOCUMENT_LIMIT", len(data))
    assert read_document(data) == inner
    monkeypatch.setattr(match_document, "DOCUMENT_LIMIT", len(data) - 1)
    said = f"at most {len(data) - 1} bytes, and this one {len(data)}"
    with pytest.raises(DocumentError, match=said):
        read_document(data)
    with pytest.raises(DocumentError, match=said):
        write_document(inner)


def test_a_document_that_stays_for_good_has_nothing_that_belongs_to_people():
    refusal = encode_event(
        RefusedLeaf(1, 1, 5, b"r" * 16, b"account.", "unreadable-move", None, None)
    )
    plain = golden_document("plain")
    statement = DocumentStatement("0" * 64, "1" * 32, "2" * 16, 5, "a text")
    private = replace(
        plain,
        seats=tuple(replace(seat, userid="alice") for seat in plain.seats),
        leaves=(*plain.leaves, DocumentLeaf(99, refusal, b"what was typed")),
        statements=(statement,),
    )
    public = without_private_parts(private)
    assert [seat.userid for seat in public.seats] == [None, None]
    assert public.leaves == (*plain.leaves, DocumentLeaf(99, refusal))
    assert public.statements == ()
    assert replace(private, seats=public.seats, leaves=public.leaves, statements=()) == public
    assert without_private_parts(public) == public


NAMES = ("alice", "bob", "carol")

RECORD = """\
pow2 challenge -fast alice bob
pow2 move 17 alice * i5-g4:g5
pow2 move 17 bob * a13-c11
"""

SOURCE = MatchSource("record", "", 17, b"", 0, bytes(32))


def read(text: str):
    return read_record(text.encode())


@pytest.mark.parametrize("kind", given.KINDS)
@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_written_is_read_as_it_was(kind, seed):
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
)
def test_a_record_that_is_wrong_is_refused_with_its_line(text, code, said):
    with pytest.raises(Refusal) as refused:
        read(text)
    assert refused.value.code is code
    assert said in refused.value.sentence


def test_whatever_is_read_ends_in_a_state_or_a_refusal():
    with pytest.raises(Refusal, match="UTF-8"):
        read_record(b"\xff\xfe")
    chance = random.Random(7)
    words = [*RECORD.split(), "resign", "# result {}", "\n", "#", "halves", "-9", "\x00", "9" * 30]
    for _ in range(1_000):
        text = " ".join(chance.choices(words, k=chance.randrange(12)))
        try:
            found = read(RECORD[: chance.randrange(len(RECORD))] + text)
        except Refusal:
            continue
        assert rules_by_id(found.state.rules).key


SAMPLE = 200


def test_each_input_is_answered():
    chance = random.Random(5)
    found = Counter(check(chance.choice(list(INPUTS)), chance) for _ in range(SAMPLE))
    assert {
        "document, holds", "forged document, does not hold", "tampered document, does not hold",
        "changed file, can't be checked", "proof, holds", "receipt, holds",
    } <= found.keys()  # fmt: skip


def test_a_forged_history_holds_only_if_it_is_the_beginning_of_a_real_one():
    real = [[one.leaf for one in golden_document(kind).leaves] for kind in KINDS]
    found = Counter[bool]()
    for seed in range(SAMPLE):
        document = read_document(a_forged_document(random.Random(seed)))
        holds = not check_document(document).fault
        leaves = [one.leaf for one in document.leaves]
        if holds:
            assert any(leaves == one[: len(leaves)] for one in real)
        found[holds] += 1
    assert found[False] > SAMPLE * 0.8
    assert found[True]
