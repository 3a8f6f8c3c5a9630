"""Receipts: their bytes, what is refused, and that OpenSSL alone verifies one."""

import os
import re
import shutil
import subprocess
from base64 import b64encode
from pathlib import Path

import pytest

from domain.match.events import Moved
from domain.match.history import (
    NO_HASH,
    AnchorLeaf,
    EventEnvelope,
    RefusedLeaf,
    encode_event,
    leaf_hash,
)
from infra.log.names import LogSecret, shard_key
from infra.log.receipts import KEY_SUFFIX, Receipt, open_receipt, read_receipt
from infra.log.signed_note import NoteError, sign

FORMATS = Path(__file__).parents[2] / "docs" / "formats.md"
SHARD = 7
ORIGIN = "play.example.org/log/s07"
SECRET = LogSecret("play.example.org/log", bytes(range(32)))
OTHER = LogSecret("play.example.org/log", bytes(range(1, 33)))
SIGNER = SECRET.signer(SHARD, KEY_SUFFIX)
KEY = shard_key(SECRET.public, SHARD, KEY_SUFFIX)

EVENT = encode_event(
    EventEnvelope(
        *(1, 17, 4, 1_700_000_000_123, b"c" * 16, b"a" * 8, leaf_hash(b"before")),
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


def test_the_bytes_of_a_receipt_never_change() -> None:
    refused = Receipt.of_leaf(ORIGIN, REFUSAL, 4, leaf_hash(EVENT))
    assert Receipt.of_leaf(ORIGIN, EVENT).sign([SIGNER]) == GOLDEN_EVENT
    assert refused.sign([SIGNER]) == GOLDEN_REFUSAL


def test_a_receipt_of_an_event_says_what_the_event_says() -> None:
    found = open_receipt(Receipt.of_leaf(ORIGIN, EVENT, 99, b"x" * 32).sign([SIGNER]), [KEY])
    assert found == Receipt(
        ORIGIN, 17, 4, leaf_hash(EVENT), leaf_hash(b"before"), 1_700_000_000_123
    )
    found.check_leaf(EVENT)


def test_a_receipt_of_a_refusal_has_the_event_before_it() -> None:
    found = Receipt.of_leaf(ORIGIN, REFUSAL, 4, leaf_hash(EVENT))
    assert open_receipt(found.sign([SIGNER]), [KEY]) == found
    assert (found.seq, found.prev, found.at) == (4, leaf_hash(EVENT), 1_700_000_000_456)
    found.check_leaf(REFUSAL)
    first = Receipt.of_leaf(ORIGIN, REFUSAL)
    assert first.text.split("\n")[2:5:2] == ["0", b64encode(NO_HASH).decode()]


def test_an_anchor_has_no_receipt() -> None:
    with pytest.raises(ValueError, match="Expected `array`"):
        Receipt.of_leaf(ORIGIN, encode_event(AnchorLeaf(1, SHARD, 1, bytes(32))))


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
        (b64encode(leaf_hash(EVENT)).decode(), "AAAA", "a hash has 32 bytes, and this one 3"),
        (b64encode(leaf_hash(EVENT)).decode(), "?", "base64 can't be read"),
    ],
)
def test_a_text_that_is_no_receipt_is_refused_with_a_sentence(
    old: str, new: str, said: str
) -> None:
    text = Receipt.of_leaf(ORIGIN, EVENT).text
    assert text.count(old) == 1
    with pytest.raises(NoteError, match=re.escape(said)):
        open_receipt(sign(text.replace(old, new), [SIGNER]), [KEY])


def test_only_the_receipts_key_of_the_log_that_it_names_counts() -> None:
    found = Receipt.of_leaf(ORIGIN, EVENT)
    of_another_shard = SECRET.signer(8, KEY_SUFFIX)
    for signer in (SECRET.signer(SHARD), of_another_shard, OTHER.signer(SHARD, KEY_SUFFIX)):
        with pytest.raises(NoteError, match="no signature by a known key"):
            open_receipt(found.sign([signer]), [KEY, SECRET.signer(SHARD).key])
    with pytest.raises(NoteError, match="no signature by a known key"):
        open_receipt(found.sign([of_another_shard]), [of_another_shard.key])
    changed = found.sign([SIGNER]).replace("\n4\n", "\n5\n")
    assert read_receipt(changed).seq == 5
    with pytest.raises(NoteError, match="does not hold"):
        open_receipt(changed, [KEY])


def test_while_keys_change_either_key_verifies() -> None:
    note = Receipt.of_leaf(ORIGIN, EVENT).sign([OTHER.signer(SHARD, KEY_SUFFIX), SIGNER])
    for secret in (SECRET, OTHER):
        assert open_receipt(note, [shard_key(secret.public, SHARD, KEY_SUFFIX)]).seq == 4


def test_a_receipt_is_of_one_leaf_only() -> None:
    found = Receipt.of_leaf(ORIGIN, EVENT)
    with pytest.raises(ValueError, match="the receipt is of another leaf"):
        found.check_leaf(REFUSAL)
    changed = Receipt(ORIGIN, 17, 5, found.leaf_hash, found.prev, found.at)
    with pytest.raises(ValueError, match="the receipt says something else than its leaf"):
        changed.check_leaf(EVENT)


@pytest.mark.skipif(not shutil.which("openssl"), reason="OpenSSL is not installed")
def test_openssl_verifies_a_receipt_by_the_commands_of_the_page(tmp_path: Path) -> None:
    (commands,) = re.findall(r"```sh\n(.*?)```", FORMATS.read_text("utf-8"), re.DOTALL)
    (tmp_path / "receipt.txt").write_text(
        Receipt.of_leaf(ORIGIN, EVENT).sign([SIGNER, OTHER.signer(SHARD, KEY_SUFFIX)]), "utf-8"
    )

    def verified(key: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["bash", "-ec", commands],
            cwd=tmp_path,
            env={**os.environ, "KEY": key},
            capture_output=True,
            text=True,
            check=False,
        )

    assert "Signature Verified Successfully" in verified(str(KEY)).stdout
    wrong = LogSecret("play.example.org/log", bytes(32))
    assert verified(str(shard_key(wrong.public, SHARD, KEY_SUFFIX))).returncode != 0
