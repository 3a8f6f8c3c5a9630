"""`matchpost verify FILE` and `matchpost export` without a server, and the report that they print."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from infra.audit.match_document import write_document
from infra.log.checkpoint import InclusionProof
from infra.log.names import shard_key
from infra.log.receipts import KEY_SUFFIX, Receipt
from services.cli.main import main
from services.cli.verify import VerifyReport, not_checkable
from tests.helpers.evidence import OTHER_SECRET, SECRET, golden_document

DOCUMENT = golden_document("timed")
ORIGIN = "play.example.org/log/s01"
KEY = str(SECRET.public)


def proof_file(**changes) -> str:
    one, proof = DOCUMENT.leaves[3], DOCUMENT.log.proofs[3]
    assert DOCUMENT.log.checkpoint is not None
    made = InclusionProof(proof.index, proof.hashes, DOCUMENT.log.checkpoint, one.leaf)
    return str(replace(made, **changes))


def receipt_file() -> str:
    return Receipt.of_leaf(ORIGIN, DOCUMENT.leaves[3].leaf).sign([SECRET.signer(1, KEY_SUFFIX)])


@pytest.fixture
def verified(tmp_path, capfd):
    """A function that verifies the bytes of a file; its code and both outputs."""

    def verify(data: bytes | str, *words: str) -> tuple[int, str, str]:
        file = tmp_path / "file.txt"
        file.write_bytes(data if isinstance(data, bytes) else data.encode())
        code = main(["verify", str(file), *words])
        assert [one.name for one in tmp_path.iterdir() if one.is_dir()] == []
        return code, *capfd.readouterr()

    return verify


pytestmark = pytest.mark.usefixtures("clean_environment")


def test_a_document_holds_by_its_own_key_and_that_is_said(verified):
    code, out, err = verified(write_document(DOCUMENT))
    assert (code, err) == (0, "")
    first, *lines, last = out.splitlines()
    assert first == (
        "15 events in sequence, chained, and decided again by pow2/1 with the same result"
    )
    assert last == "the document of match 1 of play.example.org holds"
    assert any(line.startswith("not proven: its key comes from the file itself") for line in lines)


def test_a_document_holds_by_a_key_from_elsewhere(verified, tmp_path):
    shards = [str(shard_key(SECRET.public, one)) for one in range(4)]
    keys = tmp_path / "keys.txt"
    keys.write_text("\n".join(shards))
    for key in (KEY, shards[1], str(keys)):
        code, out, err = verified(write_document(DOCUMENT), "--key", key)
        assert (code, err) == (0, "")
        assert "signed by a key that you named, covers all its leaves" in out
        assert "comes from the file" not in out
    other = ("--key", str(OTHER_SECRET.public))
    assert verified(write_document(DOCUMENT), *other, "--key", KEY)[0] == 0
    code, _, err = verified(write_document(DOCUMENT), *other)
    assert (code, "the checkpoint: the note has no signature by a known key" in err) == (1, True)


def test_what_does_not_hold_is_named_on_standard_error(verified):
    forged = replace(DOCUMENT, moves=("m13-j7", *DOCUMENT.moves[1:]))
    code, out, err = verified(write_document(forged))
    assert (code, "holds" in out) == (1, False)
    assert err == (
        "the document of match 1 of play.example.org does not hold: "
        "moves: move 1 is not the one that the events lead to\n"
    )


@pytest.mark.parametrize(("data", "said"), [
    (b"", "can't be read as a receipt or a proof"),
    (b"\xff\xfe\x00", "because it isn't UTF-8 text"),
    (b"Hello!\n", "can't be read as a receipt or a proof"),
    (b"{", "a match document is JSON: Input data was truncated"),
    (b"[]", "expected `object`, got `array`"),
    (b'{"format":"matchpost-match/9"}', "the document has the format matchpost-match/9"),
    (b"c2sp.org/tlog-proof@v2\n\n", "a proof begins with"),
    (b"\n" * (1 << 21), "too long for a receipt or a proof"),
    (write_document(replace(DOCUMENT, rules="pow2/99")), "the rules 'pow2/99' are not installed"),
    (write_document(replace(DOCUMENT, rules="nim/1")), "the rules 'nim/1' are not installed"),
])  # fmt: skip
def test_what_is_none_of_these_can_not_be_checked(verified, data, said):
    code, out, err = verified(data, "--key", KEY)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert "can't be checked" in err


OTHER = str(OTHER_SECRET.public)
UNSIGNED = "the note has no signature by a known key"


def test_a_receipt_is_checked_by_a_key(verified):
    code, out, err = verified(receipt_file(), "--key", KEY)
    assert (code, err) == (0, "")
    assert f"it is signed by {ORIGIN}/receipts" in out
    assert "not proven: a receipt is a promise" in out
    assert out.endswith("the receipt for event 4 of match 1 holds\n")
    changed = receipt_file().replace("\n4\n", "\n5\n")
    for file, key, wanted, said in (
        (receipt_file(), OTHER, 1, UNSIGNED),
        (changed, KEY, 1, ""),
        (receipt_file(), "", 2, f"name the key {ORIGIN}/receipts with --key"),
    ):
        code, _, err = verified(file, *(("--key", key) if key else ()))
        assert (code, said in err) == (wanted, True), err


def test_a_proof_is_checked_by_a_key(verified):
    code, out, err = verified(proof_file(), "--key", KEY)
    assert (code, err) == (0, "")
    assert "the leaf is event 4 of match 1, `nagged`, at 17911" in out
    assert "a signed checkpoint at 22 leaves covers it" in out
    assert out.endswith(f"the proof of leaf {DOCUMENT.leaves[3].index} of {ORIGIN} holds\n")
    for file, key, wanted, said in (
        (proof_file(extra=DOCUMENT.leaves[4].leaf), KEY, 1, "the proof leads to another root"),
        (proof_file(extra=b"no leaf"), KEY, 1, ""),
        (proof_file(), OTHER, 1, "no signature by a known key"),
        (proof_file(), "", 2, f"name the key {ORIGIN} with --key"),
        (proof_file(extra=b""), KEY, 2, "has no leaf in it"),
    ):
        code, _, err = verified(file, *(("--key", key) if key else ()))
        assert (code, said in err) == (wanted, True), err


@pytest.mark.parametrize(("words", "said"), [
    (["no-such.json"], "no-such.json: No such file or directory"),
    (["./17"], "./17: No such file or directory"),
    (["."], ".: Is a directory"),
])  # fmt: skip
def test_a_file_that_can_not_be_read_is_named(capfd, words, said):
    assert main(["verify", *words]) == 2
    assert said in capfd.readouterr().err


def test_a_fault_counts_more_than_something_that_is_not_known(capsys):
    for report, code in (
        (VerifyReport(["it holds"]), 0),
        (VerifyReport(unchecked=["it is away"]), 0),
        (VerifyReport(unchecked=["it is away"], is_unknown=True), 2),
        (VerifyReport(faults=["it is forged"], is_unknown=True), 1),
        (not_checkable("a.json", "it is empty"), 2),
    ):
        assert report.exit_code == code
    whole = VerifyReport(["it holds"], ["the time"], ["it is forged"], ["it is away"], "all in all")
    assert whole.print() == 1
    out, err = capsys.readouterr()
    assert out == "it holds\nnot proven: the time\nall in all\n"
    assert err == "it is forged\nit is away\n"


@pytest.mark.parametrize("key", ["nonsense", "keys.txt", "empty.txt"])
def test_a_key_that_is_none_is_named(verified, key):
    Path("keys.txt").write_text("nonsense\n")
    Path("empty.txt").write_text("\n")
    code, out, err = verified(write_document(DOCUMENT), "--key", key)
    assert (code, out) == (2, "")
    assert key in err
