"""Signed notes, checkpoints, proof files and receipts, against public examples and against forgery."""

import os
import re
import shutil
import subprocess
from base64 import b64encode
from itertools import islice
from pathlib import Path

import pytest

from domain.match.events import Moved
from domain.match.history import NO_HASH, AnchorLeaf, EventEnvelope, RefusedLeaf, encode_event
from domain.match.history import leaf_hash as event_hash
from infra.log import signed_note
from infra.log.checkpoint import InclusionProof, LogCheckpoint, open_checkpoint
from infra.log.merkle import EMPTY_ROOT, leaf_hash, node_hash
from infra.log.names import LogSecret, shard_key
from infra.log.receipts import KEY_SUFFIX, Receipt, open_receipt, read_receipt
from infra.store import locators
from trials.fuzz import logs

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

LOG_ORIGIN = "play.example/log/s07"
LOG = signed_note.Signer(LOG_ORIGIN, b"l" * 32)
WITNESS = signed_note.Signer("witness.example/w1", b"w" * 32, signed_note.SignatureType.COSIGNATURE)
OTHER = signed_note.Signer(LOG_ORIGIN, b"o" * 32)
TWO = LogCheckpoint(LOG_ORIGIN, 2, node_hash(leaf_hash(b"a"), leaf_hash(b"b")))


@pytest.mark.parametrize(("key", "note"), [(NEUMANN, NEUMANN_NOTE), (FOO, FOO_NOTE)])
def test_public_notes_are_opened_and_changed_ones_are_not(key, note):
    parsed = signed_note.VerifierKey.parse(key)
    assert str(parsed) == key
    assert signed_note.open_note(note.encode(), [parsed]) == note.partition("\n\n")[0] + "\n"
    with pytest.raises(signed_note.NoteError, match=f"{parsed.name} does not hold"):
        signed_note.open_note(note.replace("s", "S", 1), [parsed])


def test_signatures_of_unknown_keys_are_ignored_but_one_known_is_needed():
    note = signed_note.sign("one\n\ntwo\n", [OTHER, LOG])
    assert signed_note.open_note(note, [LOG.key]) == "one\n\ntwo\n"
    with pytest.raises(signed_note.NoteError, match="no signature by a known key"):
        signed_note.open_note(note, [WITNESS.key])
    bad = OTHER.signature("another text\n")
    with pytest.raises(signed_note.NoteError, match="does not hold"):
        signed_note.open_note(signed_note.sign("text\n", [LOG]) + bad, [LOG.key, OTHER.key])


@pytest.mark.parametrize(
    "note",
    [
        "", "text\n", "text\n\n", "text\n\n- name AAAAAAAA\n", "text\n\n— name\n",
        "text\n\n— name AAAA\n", "text\n\n— name AAAAAAAA", "text\n\n— na+me AAAAAAAA\n",
        "text\n\n— name AAAAAAA*\n", "text\n\n— name AAAAAB==\n",
        "tab\there\n\n— name AAAAAAAA\n", "text\r\n\n— name AAAAAAAA\n",
        b"\xff\n\n\xe2\x80\x94 name AAAAAAAA\n",
        "text\n\n" + "— name AAAAAAAA\n" * (signed_note.MOST_SIGNATURES + 1),
    ],
)  # fmt: skip
def test_what_is_no_note_is_refused(note):
    with pytest.raises(signed_note.NoteError):
        signed_note.split_note(note)


@pytest.mark.parametrize(
    "key",
    [
        "", "name", "name+530d903a", "name+530d903a+AAAA", FOO.replace("530d903a", "530d903b"),
        FOO.replace("example.com/foo", "exam ple"),
        "+530d903a+" + b64encode(b"\x01" + bytes(32)).decode(),
        "name+530d903a+" + b64encode(b"\x02" + bytes(32)).decode(),
    ],
)  # fmt: skip
def test_what_is_no_verifier_key_is_refused(key):
    with pytest.raises(signed_note.NoteError):
        signed_note.VerifierKey.parse(key)


def test_a_checkpoint_is_three_lines():
    assert TWO.text.split("\n")[:2] == [LOG_ORIGIN, "2"]
    assert open_checkpoint(TWO.sign([LOG]), LOG_ORIGIN, [LOG.key]) == TWO
    assert LogCheckpoint.parse(TWO.text + "extension\n") == TWO
    other = LogCheckpoint("play.example/log/s08", 2, TWO.root)
    with pytest.raises(signed_note.NoteError, match=r"is of play.example/log/s08"):
        open_checkpoint(other.sign([LOG]), LOG_ORIGIN, [LOG.key])
    with pytest.raises(signed_note.NoteError, match="newline"):
        signed_note.sign("text", [LOG])


def test_a_witness_signs_the_time_and_the_checkpoint():
    note = TWO.sign([LOG]) + WITNESS.signature(TWO.text, 1679315147)
    assert open_checkpoint(note, LOG_ORIGIN, [WITNESS.key]) == TWO
    later = TWO.sign([LOG]) + WITNESS.signature(TWO.text, 1679315148)
    assert later != note
    swapped = note.replace("\n2\n", "\n3\n")
    with pytest.raises(signed_note.NoteError, match=r"witness.example/w1 does not hold"):
        open_checkpoint(swapped, LOG_ORIGIN, [WITNESS.key])


ROOT = b64encode(EMPTY_ROOT).decode()


@pytest.mark.parametrize(
    "text",
    [
        f"\n2\n{ROOT}\n", f"origin\n02\n{ROOT}\n", f"origin\n-2\n{ROOT}\n", f"origin\n2\n{b64encode(bytes(31)).decode()}\n",
        "origin\n2\n*\n", "origin\n2\n", "origin\n", f"origin\n2\n{ROOT}\n\nmore\n",
    ],
)  # fmt: skip
def test_what_is_no_checkpoint_is_refused(text):
    with pytest.raises(signed_note.NoteError):
        LogCheckpoint.parse(text)


def proof(extra: bytes = b"") -> InclusionProof:
    return InclusionProof(1, (leaf_hash(b"a"),), TWO.sign([LOG]), extra)


@pytest.mark.parametrize("extra", [b"", b"\x00any"])
def test_a_proof_file_verifies_its_leaf_and_no_other(extra):
    found = InclusionProof.parse(str(proof(extra)))
    assert found == proof(extra)
    assert found.verify(leaf_hash(b"b"), LOG_ORIGIN, [LOG.key]) == TWO
    with pytest.raises(ValueError, match="another root"):
        found.verify(leaf_hash(b"c"), LOG_ORIGIN, [LOG.key])
    with pytest.raises(signed_note.NoteError, match="no signature by a known key"):
        found.verify(leaf_hash(b"b"), LOG_ORIGIN, [OTHER.key])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("@v1", "@v2"), ("index 1", "index 01"), ("index 1", "place 1"), ("\n\n", "\n"),
        ("index 1\n", f"index 1\n{b64encode(bytes(30)).decode()}\n"), ("index 1\n", "index 1\n" + f"{ROOT}\n" * 64),
        ("index 1", "extra \nindex 1"),  # without data the line is left out
    ],
)  # fmt: skip
def test_a_malformed_proof_file_is_refused(old, new):
    with pytest.raises(signed_note.NoteError):
        InclusionProof.parse(str(proof()).replace(old, new))


FORMATS = Path(__file__).parents[2] / "docs" / "formats.md"
SHARD = 7
ORIGIN = "play.example.org/log/s07"
SECRET = LogSecret("play.example.org/log", bytes(range(32)))
OTHER_SECRET = LogSecret("play.example.org/log", bytes(range(1, 33)))
SIGNER = SECRET.signer(SHARD, KEY_SUFFIX)
KEY = shard_key(SECRET.public, SHARD, KEY_SUFFIX)

EVENT = encode_event(
    EventEnvelope(
        *(1, 17, 4, 1_700_000_000_123, b"c" * 16, b"a" * 8, event_hash(b"before")),
        Moved(ply=3, seat=0, move="m13-j7", next=1),
    )
)

REFUSAL = encode_event(
    RefusedLeaf(1, 17, 1_700_000_000_456, b"d" * 16, b"a" * 8, "illegal-move", "a1-a2", None)
)

GOLDEN_EVENT = """\
play.example.org/log/s07/receipt
17
4
yxmPMJKzoQD7M0mGpZHOH/66fjrCk8QHRHYXjMEQrS4=
L0y2kW+kIAVmDTY7XaEj9q/abmTwKXRiweYTUiFdWsk=
1700000000123

— play.example.org/log/s07/receipts 3kltqI8B9GA3U63YrhvyqNWMpygh9Lg2gRvm/ph9iD1MZ9Rit66nZeaQBSH1MGALhlCM2qPJbd5byQYK2PEZkBC3BAE=
"""

GOLDEN_REFUSAL = """\
play.example.org/log/s07/receipt
17
4
MQvhrUCUtAbuJERZiJD6WoW3iO57PLXE5Wftcbw6YiU=
yxmPMJKzoQD7M0mGpZHOH/66fjrCk8QHRHYXjMEQrS4=
1700000000456

— play.example.org/log/s07/receipts 3kltqPyyAOHTKrtfUqKxnswndw2wlUjhqSBEQcCeuhK7S7x0HivqV2V4kFjqjItMX6ntToKo3T58K4/VdHKT6HrUVwM=
"""


def test_the_bytes_of_a_receipt_never_change_and_that_of_a_refusal_has_the_event_before_it():
    assert Receipt.of_leaf(ORIGIN, EVENT).sign([SIGNER]) == GOLDEN_EVENT
    found = Receipt.of_leaf(ORIGIN, REFUSAL, 4, event_hash(EVENT))
    assert found.sign([SIGNER]) == GOLDEN_REFUSAL
    assert open_receipt(GOLDEN_REFUSAL, [KEY]) == found
    assert (found.seq, found.prev, found.at) == (4, event_hash(EVENT), 1_700_000_000_456)
    found.check_leaf(REFUSAL)
    first = Receipt.of_leaf(ORIGIN, REFUSAL)
    assert first.text.split("\n")[2:5:2] == ["0", b64encode(NO_HASH).decode()]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("/receipt\n", "\n", "the first line of a receipt is the origin of a log and '/receipt'"),
        ("play.example.org/log/s07/receipt\n", "/receipt\n", "the first line of a receipt"),
        ("\n17\n", "\n017\n", "the board is a decimal number without leading zeros"),
        ("\n4\n", "\n-4\n", "the seq is a decimal number"),
        ("1700000000123\n", "1.7\n", "the time is a decimal number"),
        ("1700000000123\n", "1700000000123\nmore\n", "a receipt has 6 lines"),
        ("\n17\n", "\n", "a receipt has 6 lines"),
        (b64encode(event_hash(EVENT)).decode(), "AAAA", "a hash has 32 bytes, and this one 3"),
        (b64encode(event_hash(EVENT)).decode(), "?", "base64 can't be read"),
    ],
)
def test_a_text_that_is_no_receipt_is_refused_with_a_sentence(old, new, said):
    text = Receipt.of_leaf(ORIGIN, EVENT).text
    assert text.count(old) == 1
    with pytest.raises(signed_note.NoteError, match=re.escape(said)):
        open_receipt(signed_note.sign(text.replace(old, new), [SIGNER]), [KEY])


def test_only_the_receipts_key_of_the_log_that_it_names_counts():
    found = Receipt.of_leaf(ORIGIN, EVENT)
    of_another_shard = SECRET.signer(8, KEY_SUFFIX)
    for signer in (SECRET.signer(SHARD), of_another_shard, OTHER_SECRET.signer(SHARD, KEY_SUFFIX)):
        with pytest.raises(signed_note.NoteError, match="no signature by a known key"):
            open_receipt(found.sign([signer]), [KEY, SECRET.signer(SHARD).key])
    with pytest.raises(signed_note.NoteError, match="no signature by a known key"):
        open_receipt(found.sign([of_another_shard]), [of_another_shard.key])
    changed = found.sign([SIGNER]).replace("\n4\n", "\n5\n")
    assert read_receipt(changed).seq == 5
    with pytest.raises(signed_note.NoteError, match="does not hold"):
        open_receipt(changed, [KEY])


def test_a_receipt_is_of_one_leaf_only_and_an_anchor_has_none():
    found = Receipt.of_leaf(ORIGIN, EVENT)
    with pytest.raises(ValueError, match="the receipt is of another leaf"):
        found.check_leaf(REFUSAL)
    changed = Receipt(ORIGIN, 17, 5, found.leaf_hash, found.prev, found.at)
    with pytest.raises(ValueError, match="the receipt says something else than its leaf"):
        changed.check_leaf(EVENT)
    with pytest.raises(ValueError, match="Expected `array`"):
        Receipt.of_leaf(ORIGIN, encode_event(AnchorLeaf(1, SHARD, 1, bytes(32))))


@pytest.mark.skipif(not shutil.which("openssl"), reason="OpenSSL is not installed")
def test_openssl_verifies_a_receipt_by_the_commands_of_the_page(tmp_path):
    (commands,) = re.findall(r"```sh\n(.*?)```", FORMATS.read_text("utf-8"), re.DOTALL)
    signers = [SIGNER, OTHER_SECRET.signer(SHARD, KEY_SUFFIX)]
    (tmp_path / "receipt.txt").write_text(Receipt.of_leaf(ORIGIN, EVENT).sign(signers), "utf-8")
    wrong = LogSecret("play.example.org/log", bytes(32))
    for key, said in ((KEY, "Signature Verified Successfully"), (shard_key(wrong.public, SHARD, KEY_SUFFIX), "")):  # fmt: skip
        env = {**os.environ, "KEY": str(key)}
        command = ["bash", "-ec", commands]
        done = subprocess.run(
            command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        assert (done.returncode == 0, said in done.stdout) == (bool(said), True)


SAMPLE = 400


@pytest.mark.parametrize("name", logs.readers())
def test_what_is_read_is_written_as_the_same_bytes_and_all_else_is_refused(name):
    reader = logs.readers()[name]
    made = {logs.check(reader, *one)[0] for one in islice(logs.inputs(reader, seed=3), SAMPLE)}
    assert {"valid, read", "changed, read", "changed, refused"} <= made


def test_a_receipt_of_an_event_says_what_the_event_says_and_either_key_verifies_it():
    receipt = Receipt.of_leaf(ORIGIN, EVENT, 99, b"x" * 32)
    note = receipt.sign([OTHER_SECRET.signer(SHARD, KEY_SUFFIX), SIGNER])
    wanted = Receipt(ORIGIN, 17, 4, event_hash(EVENT), event_hash(b"before"), 1_700_000_000_123)
    for secret in (SECRET, OTHER_SECRET):
        found = open_receipt(note, [shard_key(secret.public, SHARD, KEY_SUFFIX)])
        assert found == wanted
        found.check_leaf(EVENT)


def test_a_number_of_a_locator_that_never_ends_is_refused_at_once():
    with pytest.raises(ValueError, match="an index of the locator has too many bytes"):
        locators.decode(b"\x80" * 10_000_000)
    assert locators.decode(locators.encode([2**63 - 1])) == [2**63 - 1]
