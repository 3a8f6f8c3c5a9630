"""Signed notes, checkpoints and proof files, against public examples and against forgery."""

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.log.checkpoint import InclusionProof, LogCheckpoint, open_checkpoint
from infra.log.merkle import EMPTY_ROOT, leaf_hash, node_hash
from infra.log.signed_note import (
    MOST_SIGNATURES,
    NoteError,
    SignatureType,
    Signer,
    VerifierKey,
    open_note,
    sign,
    split_note,
)

NEUMANN = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
NEUMANN_NOTE = """\
If you think cryptography is the answer to your problem,
then you don't know what your problem is.

— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=
"""
FOO = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
FOO_NOTE = """\
This is an example message.

— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
"""

ORIGIN = "play.example/log/s07"
LOG = Signer(ORIGIN, b"l" * 32)
WITNESS = Signer("witness.example/w1", b"w" * 32, SignatureType.COSIGNATURE)
OTHER = Signer(ORIGIN, b"o" * 32)
TWO = LogCheckpoint(ORIGIN, 2, node_hash(leaf_hash(b"a"), leaf_hash(b"b")))


@pytest.mark.parametrize(("key", "note"), [(NEUMANN, NEUMANN_NOTE), (FOO, FOO_NOTE)])
def test_public_notes_are_opened(key: str, note: str) -> None:
    parsed = VerifierKey.parse(key)
    assert str(parsed) == key
    assert open_note(note.encode(), [parsed]) == note.partition("\n\n")[0] + "\n"


def test_a_changed_text_is_refused() -> None:
    with pytest.raises(NoteError, match="PeterNeumann does not hold"):
        open_note(NEUMANN_NOTE.replace("answer", "Answer"), [VerifierKey.parse(NEUMANN)])


def test_signatures_of_unknown_keys_are_ignored_but_one_known_is_needed() -> None:
    note = sign("text\n", [OTHER, LOG])
    assert open_note(note, [LOG.key]) == "text\n"
    with pytest.raises(NoteError, match="no signature by a known key"):
        open_note(note, [WITNESS.key])


def test_one_bad_signature_of_a_known_key_refuses_the_note() -> None:
    bad = OTHER.signature("another text\n")
    with pytest.raises(NoteError, match="does not hold"):
        open_note(sign("text\n", [LOG]) + bad, [LOG.key, OTHER.key])


def test_an_empty_line_may_be_in_the_text() -> None:
    note = sign("one\n\ntwo\n", [LOG])
    assert open_note(note, [LOG.key]) == "one\n\ntwo\n"


@pytest.mark.parametrize(
    "note",
    [
        "",
        "text\n",
        "text\n\n",
        "text\n\n- name AAAAAAAA\n",
        "text\n\n— name\n",
        "text\n\n— name AAAA\n",
        "text\n\n— name AAAAAAAA",
        "text\n\n— na+me AAAAAAAA\n",
        "text\n\n— name AAAAAAA*\n",
        "text\n\n— name AAAAAB==\n",
        "tab\there\n\n— name AAAAAAAA\n",
        "text\r\n\n— name AAAAAAAA\n",
        b"\xff\n\n\xe2\x80\x94 name AAAAAAAA\n",
        "text\n\n" + "— name AAAAAAAA\n" * (MOST_SIGNATURES + 1),
    ],
)
def test_what_is_no_note_is_refused(note: str | bytes) -> None:
    with pytest.raises(NoteError):
        split_note(note)


@pytest.mark.parametrize(
    "key",
    [
        "",
        "name",
        "name+530d903a",
        "name+530d903a+AAAA",
        FOO.replace("530d903a", "530d903b"),
        FOO.replace("example.com/foo", "exam ple"),
        "+530d903a+" + b64encode(b"\x01" + bytes(32)).decode(),
        "name+530d903a+" + b64encode(b"\x02" + bytes(32)).decode(),
    ],
)
def test_what_is_no_verifier_key_is_refused(key: str) -> None:
    with pytest.raises(NoteError):
        VerifierKey.parse(key)


def test_a_text_that_does_not_end_in_a_newline_is_not_signed() -> None:
    with pytest.raises(NoteError, match="newline"):
        sign("text", [LOG])


@given(st.binary(max_size=400) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_a_note_or_refused(data: bytes) -> None:
    try:
        text, signatures = split_note(data)
    except NoteError:
        return
    assert text.endswith("\n")
    assert signatures


@given(st.text(max_size=200))
def test_any_text_is_a_proof_or_refused(text: str) -> None:
    for candidate in (text, f"c2sp.org/tlog-proof@v1\n{text}"):
        try:
            found = InclusionProof.parse(candidate)
        except NoteError:
            continue
        assert str(found) == candidate


# checkpoints


def test_a_checkpoint_is_three_lines() -> None:
    assert TWO.text.split("\n")[:2] == [ORIGIN, "2"]
    assert open_checkpoint(TWO.sign([LOG]), ORIGIN, [LOG.key]) == TWO


def test_a_witness_signs_the_time_and_the_checkpoint() -> None:
    note = TWO.sign([LOG]) + WITNESS.signature(TWO.text, 1679315147)
    assert open_checkpoint(note, ORIGIN, [WITNESS.key]) == TWO
    later = TWO.sign([LOG]) + WITNESS.signature(TWO.text, 1679315148)
    assert later != note
    swapped = note.replace("\n2\n", "\n3\n")
    with pytest.raises(NoteError, match=r"witness.example/w1 does not hold"):
        open_checkpoint(swapped, ORIGIN, [WITNESS.key])


def test_a_checkpoint_of_another_log_is_refused() -> None:
    other = LogCheckpoint("play.example/log/s08", 2, TWO.root)
    with pytest.raises(NoteError, match=r"is of play.example/log/s08"):
        open_checkpoint(other.sign([LOG]), ORIGIN, [LOG.key])


@pytest.mark.parametrize(
    "text",
    [
        "\n2\n" + b64encode(EMPTY_ROOT).decode() + "\n",
        "origin\n02\n" + b64encode(EMPTY_ROOT).decode() + "\n",
        "origin\n-2\n" + b64encode(EMPTY_ROOT).decode() + "\n",
        "origin\n2\n" + b64encode(EMPTY_ROOT[:31]).decode() + "\n",
        "origin\n2\n*\n",
        "origin\n2\n",
        "origin\n",
        "origin\n2\n" + b64encode(EMPTY_ROOT).decode() + "\n\nmore\n",
    ],
)
def test_what_is_no_checkpoint_is_refused(text: str) -> None:
    with pytest.raises(NoteError):
        LogCheckpoint.parse(text)


def test_extension_lines_are_read_over() -> None:
    assert LogCheckpoint.parse(TWO.text + "extension\n") == TWO


# proof files


def proof(extra: bytes = b"") -> InclusionProof:
    return InclusionProof(1, (leaf_hash(b"a"),), TWO.sign([LOG]), extra)


@pytest.mark.parametrize("extra", [b"", b"\x00any"])
def test_a_proof_file_verifies_its_leaf_and_no_other(extra: bytes) -> None:
    found = InclusionProof.parse(str(proof(extra)))
    assert found == proof(extra)
    assert found.verify(leaf_hash(b"b"), ORIGIN, [LOG.key]) == TWO
    with pytest.raises(ValueError, match="another root"):
        found.verify(leaf_hash(b"c"), ORIGIN, [LOG.key])
    with pytest.raises(NoteError, match="no signature by a known key"):
        found.verify(leaf_hash(b"b"), ORIGIN, [OTHER.key])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("@v1", "@v2"),
        ("index 1", "index 01"),
        ("index 1", "place 1"),
        ("\n\n", "\n"),
        ("index 1\n", "index 1\n" + b64encode(EMPTY_ROOT[:30]).decode() + "\n"),
        ("index 1\n", "index 1\n" + (b64encode(EMPTY_ROOT).decode() + "\n") * 64),
        # without data the line is left out
        ("index 1", "extra \nindex 1"),
    ],
)
def test_a_malformed_proof_file_is_refused(old: str, new: str) -> None:
    with pytest.raises(NoteError):
        InclusionProof.parse(str(proof()).replace(old, new))
