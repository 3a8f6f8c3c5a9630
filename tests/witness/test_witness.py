"""A witness: what it cosigns, what it refuses, and what it remembers."""

import threading
from pathlib import Path

import pytest
from litestar.testing import TestClient

from infra.log import merkle
from infra.log.checkpoint import LogCheckpoint
from infra.log.signed_note import NoteError, Signer, open_note
from infra.log.tiles import fold_pairs
from infra.witness.witness import (
    CosignRefusedError,
    CosignRequest,
    Refused,
    Witness,
    WitnessFolderError,
    log_id,
)
from services.witness.app import make_witness_app

ORIGIN = "play.example.org/log/s00"
LOG = Signer(ORIGIN, bytes(range(32)))
STRANGER = Signer(ORIGIN, bytes(32))
NAME = "witness.example.org/w1"


class Tree:
    """A log in memory."""

    def __init__(self, leaves: list[bytes]) -> None:
        self.hashes = [merkle.leaf_hash(leaf) for leaf in leaves]

    def node(self, level: int, number: int) -> bytes:
        return fold_pairs(self.hashes[number << level : (number + 1) << level])

    def note(self, size: int, signer: Signer = LOG, origin: str = ORIGIN) -> str:
        root = merkle.root(size, self.node) if size else merkle.EMPTY_ROOT
        return LogCheckpoint(origin, size, root).sign([signer])

    def request(self, old: int, size: int, signer: Signer = LOG) -> CosignRequest:
        proof = merkle.consistency_proof(old, size, self.node) if 0 < old < size else []
        return CosignRequest(old, tuple(proof), self.note(size, signer))


TREE = Tree([b"leaf %d" % n for n in range(40)])
FORK = Tree([b"leaf %d" % n if n != 3 else b"another" for n in range(40)])


@pytest.fixture
def witness(tmp_path: Path):
    made = Witness.open(tmp_path / "w", NAME, [LOG.key])
    yield made
    made.close()


def refusal(witness: Witness, request: CosignRequest) -> CosignRefusedError:
    with pytest.raises(CosignRefusedError) as refused:
        witness.cosign(request)
    return refused.value


def test_each_checkpoint_that_continues_is_cosigned_and_kept(witness: Witness):
    old = 0
    for size in (0, 1, 2, 7, 7, 8, 23, 40):
        request = TREE.request(old, size)
        line = witness.cosign(request)
        kept = witness.cosigned(ORIGIN)
        assert kept is not None
        assert kept.note == request.checkpoint + line
        assert kept.checkpoint.size == old + (size - old) == size
        assert open_note(request.checkpoint + line, [witness.key]).startswith(ORIGIN)
        old = size


def test_a_fork_is_refused_and_kept_as_a_proof(witness: Witness, tmp_path: Path):
    witness.cosign(TREE.request(0, 20))
    before = witness.cosigned(ORIGIN)
    same = refusal(witness, FORK.request(0, 20))
    assert (same.why, same.size, same.forked) == (Refused.OTHER_SIZE, 20, True)
    assert str(same) == f"{ORIGIN} has signed two roots for 20 leaves: it has forked"
    longer = refusal(witness, FORK.request(20, 33))
    assert longer.why is Refused.NOT_CONSISTENT
    assert witness.cosigned(ORIGIN) == before
    for folder, size in (("forks", 20), ("unproved", 33)):
        kept = [file.read_text() for file in (tmp_path / "w" / folder).iterdir()]
        assert kept == [FORK.note(size)]


def test_wrong_proofs_of_a_stranger_leave_room_for_a_real_fork(witness: Witness, tmp_path: Path):
    for size in range(1, 40):
        witness.cosign(TREE.request(size - 1, size))
        junk = CosignRequest(size, (bytes(32),), TREE.note(size))
        assert (
            refusal(witness, junk).why is Refused.NOT_CONSISTENT
        )  # the one that was just cosigned
        junk = CosignRequest(size, (bytes(32),), TREE.note(40))
        assert refusal(witness, junk).why is Refused.NOT_CONSISTENT
        longer = Tree([b"leaf %d" % n for n in range(40 + size)])
        refusal(witness, CosignRequest(size, (bytes(32),), longer.note(40 + size)))
    assert not (tmp_path / "w" / "forks").exists()
    assert len([*(tmp_path / "w" / "unproved").iterdir()]) == 16
    assert refusal(witness, FORK.request(39, 39)).forked
    (proof,) = (tmp_path / "w" / "forks").iterdir()
    assert proof.read_text() == FORK.note(39)


def test_a_network_that_asks_too_often_is_refused(witness: Witness):
    with TestClient(make_witness_app(witness)) as http:
        found = [http.post("/add-checkpoint", content=b"junk").status_code for _ in range(240)]
    # what was spent comes back at two a second
    assert set(found[:120]) == {400}
    assert 429 in found[120:]


@pytest.mark.parametrize("old", [0, 5, 19, 21, 30])
def test_another_old_size_is_answered_with_the_last_one(witness: Witness, old: int):
    witness.cosign(TREE.request(0, 20))
    refused = refusal(witness, TREE.request(old, 30))
    assert (refused.why, refused.size, refused.forked) == (Refused.OTHER_SIZE, 20, False)


def test_a_shorter_log_is_refused(witness: Witness):
    witness.cosign(TREE.request(0, 20))
    assert refusal(witness, TREE.request(0, 10)).why is Refused.OTHER_SIZE
    assert refusal(witness, CosignRequest(20, (), TREE.note(10))).why is Refused.MALFORMED


def test_a_wrong_proof_is_refused(witness: Witness):
    assert refusal(witness, CosignRequest(0, (bytes(32),), TREE.note(5))).why is (
        Refused.NOT_CONSISTENT
    )
    witness.cosign(TREE.request(0, 20))
    good = TREE.request(20, 33)
    for proof in (
        good.proof[1:],
        good.proof[:-1],
        good.proof[::-1],
        (*good.proof, bytes(32)),
        (bytes(32), *good.proof[1:]),
    ):
        refused = refusal(witness, CosignRequest(20, proof, good.checkpoint))
        assert refused.why is Refused.NOT_CONSISTENT
    witness.cosign(good)


def test_strangers_are_refused_and_leave_nothing(witness: Witness, tmp_path: Path):
    assert refusal(witness, TREE.request(0, 5, STRANGER)).why is Refused.NOT_SIGNED
    other = CosignRequest(
        0, (), TREE.note(5, Signer("else.example/log/s00", bytes(32)), "else.example/log/s00")
    )
    assert refusal(witness, other).why is Refused.UNKNOWN_LOG
    assert sorted(file.name for file in (tmp_path / "w").iterdir()) == [
        "lock", "witness-key", "witness-key.pub",
    ]  # fmt: skip


def test_it_remembers_after_a_restart(tmp_path: Path):
    first = Witness.open(tmp_path, NAME, [LOG.key])
    first.cosign(TREE.request(0, 20))
    first.close()
    again = Witness.open(tmp_path, NAME, [LOG.key])
    assert again.key == first.key
    assert refusal(again, FORK.request(0, 20)).forked
    again.cosign(TREE.request(20, 21))
    again.close()


def test_one_process_has_the_folder_and_its_name_stays(tmp_path: Path):
    first = Witness.open(tmp_path, NAME, [LOG.key])
    with pytest.raises(WitnessFolderError, match="another witness works with"):
        Witness.open(tmp_path, NAME, [LOG.key])
    first.close()
    with pytest.raises(WitnessFolderError, match=f"is the key of {NAME}, not of other"):
        Witness.open(tmp_path, "other", [LOG.key])
    Witness.open(tmp_path, NAME, [LOG.key]).close()


def test_a_damaged_memory_cosigns_nothing(witness: Witness, tmp_path: Path):
    witness.cosign(TREE.request(0, 20))
    file = tmp_path / "w" / "logs" / log_id(ORIGIN)
    file.write_text(file.read_text().replace("20", "19", 1))
    with pytest.raises(WitnessFolderError, match="is damaged"):
        witness.cosign(TREE.request(19, 30))


def test_of_two_that_ask_at_once_nobody_rolls_the_other_back(tmp_path: Path):
    witness = Witness.open(tmp_path, NAME, [LOG.key])
    witness.cosign(TREE.request(0, 4))
    done: list[int] = []
    refused: list[Refused] = []

    def ask(size: int) -> None:
        try:
            witness.cosign(TREE.request(4, size))
            done.append(size)
        except CosignRefusedError as error:
            refused.append(error.why)

    threads = [threading.Thread(target=ask, args=(size,)) for size in range(5, 25)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = witness.cosigned(ORIGIN)
    assert kept is not None
    assert done == [kept.checkpoint.size]
    assert refused == [Refused.OTHER_SIZE] * 19
    witness.close()


def test_requests_read_back():
    request = TREE.request(3, 30)
    assert request.proof
    assert CosignRequest.parse(str(request).encode()) == request


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"old 0\n",
        b"\xff\n\nx",
        b"old 01\n\n" + TREE.note(3).encode(),
        b"old -1\n\n" + TREE.note(3).encode(),
        b"new 0\n\n" + TREE.note(3).encode(),
        b"old 0\nAAAA\n\n" + TREE.note(3).encode(),
        b"old 0\n" + b"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n" * 64 + b"\n" + TREE.note(3).encode(),
        b"old 0\n\nno checkpoint",
    ],
)  # fmt: skip
def test_malformed_requests_have_a_sentence(witness: Witness, body: bytes):
    with pytest.raises(NoteError):
        CosignRequest.parse(body)
    with TestClient(make_witness_app(witness)) as http:
        answer = http.post("/add-checkpoint", content=body)
        assert answer.status_code == 400
        assert len(answer.text) > 20


def test_over_http_as_the_specification_says(witness: Witness):
    with TestClient(make_witness_app(witness)) as http:

        def ask(request: CosignRequest) -> tuple[int, str, str]:
            answer = http.post("/add-checkpoint", content=str(request).encode())
            return answer.status_code, answer.headers["content-type"].split(";")[0], answer.text

        status, _, line = ask(TREE.request(0, 20))
        assert status == 200
        assert line.startswith(f"— {NAME} ")
        assert line.endswith("\n")
        assert ask(TREE.request(10, 30)) == (409, "text/x.tlog.size", "20\n")
        assert ask(FORK.request(20, 20)) == (409, "text/x.tlog.size", "20\n")
        assert ask(FORK.request(20, 30))[0] == 422
        assert ask(TREE.request(0, 5, STRANGER))[0] == 403
        other = Signer("else.example/log/s00", bytes(32))
        assert ask(CosignRequest(0, (), TREE.note(5, other, other.key.name)))[0] == 404
        shown = http.get("/").text.splitlines()
        assert shown[0] == f"witness {witness.key}"
        origin, size, path = shown[1].split()
        assert (origin, size) == (ORIGIN, "20")
        kept = http.get(path).text
        assert kept == TREE.note(20) + line
        assert http.get("/logs/else").status_code == 404
        assert http.post("/add-checkpoint", content=b"x" * 70_000).status_code in (400, 413)


@pytest.mark.usefixtures("witness")
def test_the_key_is_for_nobody_else(tmp_path: Path):
    assert (tmp_path / "w" / "witness-key").stat().st_mode & 0o077 == 0
