"""Reading and writing match documents: what is written is read as it was, and all else is refused."""

import msgspec
import pytest
from msgspec.structs import replace

from domain.match.history import RefusedLeaf, encode_event
from infra.audit import match_document
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
from tests.helpers.evidence import KINDS, golden_document


@pytest.mark.parametrize("kind", KINDS)
def test_a_document_is_one_line_that_is_read_as_it_was_written(kind):
    document = golden_document(kind)
    data = write_document(document)
    assert data.startswith(HEADER)
    assert data.count(b"\n") == 1
    assert data.endswith(b"}\n")
    assert read_document(data) == document
    assert write_document(read_document(data)) == data


def test_a_document_in_another_layout_is_the_same_document():
    document = golden_document("timed")
    assert read_document(msgspec.json.format(write_document(document), indent=2)) == document


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


def test_documents_are_in_each_other_up_to_a_limit():
    inner = document = golden_document("plain")
    for _ in range(MOST_IMPORTS):
        document = replace(inner, imported_from=document)
    assert read_document(write_document(document)) == document
    with pytest.raises(DocumentError, match=f"at most {MOST_IMPORTS} documents"):
        read_document(write_document(replace(inner, imported_from=document)))


def test_a_document_that_is_too_long_is_neither_written_nor_read(monkeypatch):
    data = write_document(golden_document("plain"))
    monkeypatch.setattr(match_document, "DOCUMENT_LIMIT", len(data))
    assert read_document(data) == golden_document("plain")
    monkeypatch.setattr(match_document, "DOCUMENT_LIMIT", len(data) - 1)
    said = f"at most {len(data) - 1} bytes, and this one {len(data)}"
    with pytest.raises(DocumentError, match=said):
        read_document(data)
    with pytest.raises(DocumentError, match=said):
        write_document(golden_document("plain"))


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
