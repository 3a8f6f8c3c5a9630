"""Receipts and proofs over HTTP."""

from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from domain.match.history import NO_HASH, decode_event, leaf_hash
from infra.durability.durability import Mode
from infra.durability.durability_watch import DurabilityWatch
from infra.log.checkpoint import InclusionProof
from infra.log.key_files import generate_keys
from infra.log.receipts import Receipt, open_receipt
from infra.redis import keys
from tests.helpers.api import PASSWORD, Api, Player, code_of
from tests.helpers.publishing import log_keys, publish, receipts_keys

HOST = "play.example.org"


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    folder: Path = tmp_path_factory.mktemp("api")
    with Api(folder) as made:
        generate_keys(made.settings.data / "keys", HOST)
        yield made


@pytest.fixture
def two(api: Api) -> list[Player]:
    return api.players()


def opened(api: Api, note: str) -> Receipt:
    return open_receipt(note, receipts_keys(api))


def events(api: Api, board: int) -> list[bytes]:
    return api.parts.store.events(board)


def test_an_accepted_move_has_the_receipt_of_its_first_event(api: Api, two: list[Player]):
    board = api.match(*two)
    made = two[0].move(board, "m13-j7").json()
    found = opened(api, made["receipt"])
    event = events(api, board)[1]
    found.check_leaf(event)
    assert found.origin == f"{HOST}/log/s{board % 4:02}"
    assert (found.board, found.seq, found.prev) == (board, 2, leaf_hash(events(api, board)[0]))
    assert found.at == decode_event(event).at


def test_a_start_has_a_receipt_too(api: Api, two: list[Player]):
    names = [player.name for player in two]
    made = two[0].post("/api/matches", {"game": "pow2", "players": names}).json()
    found = opened(api, made["receipt"])
    assert (found.seq, found.prev) == (1, NO_HASH)
    found.check_leaf(events(api, made["board"])[0])


def test_every_way_to_a_receipt_gives_the_same_bytes(api: Api, two: list[Player]):
    board, key = api.match(*two), {"headers": {"Idempotency-Key": uuid4().hex}}
    made = two[0].move(board, "m13-j7", **key).json()
    path = f"/api/matches/{board}/commands/{made['id']}"
    again = two[0].give(board, {"do": "move", "move": "m13-j7"}, params={"wait": 9}, **key)
    texts = [
        again.json()["receipt"],
        two[1].get(path).json()["receipt"],
        two[1].get(f"{path}/receipt").text,
        api.http.get(f"/api/matches/{board}/events/2/receipt").text,
    ]
    assert texts == [made["receipt"]] * 4
    assert two[1].get(f"{path}/receipt").headers["content-type"] == "text/plain; charset=utf-8"


def test_a_refused_command_has_a_receipt_with_the_event_before_it(api: Api, two: list[Player]):
    board = api.match(*two)
    for seq in (1, 2):
        refused = two[seq % 2].move(board, "a13-d7")
        assert code_of(refused) == "not-your-turn"
        found = opened(api, b64decode(refused.headers["Matchpost-Receipt"]).decode())
        assert (found.board, found.seq) == (board, seq)
        assert found.prev == leaf_hash(events(api, board)[seq - 1])
        if seq == 1:
            two[0].move(board, "m13-j7")
    assert found.leaf_hash not in map(leaf_hash, events(api, board))


def refused(api: Api, board: int, player: Player) -> str:
    """Have a move refused; return the id of its command."""
    before = set(api.parts.store.outcomes(board))
    assert code_of(player.move(board, "m13-a1")) == "illegal-move"
    (id_,) = set(api.parts.store.outcomes(board)) - before
    return id_.hex()


def test_a_refusal_is_shown_to_the_players_of_the_match_only(api: Api, two: list[Player]):
    board = api.match(*two)
    path = f"/api/matches/{board}/commands/{refused(api, board, two[0])}"
    note = two[1].get(f"{path}/receipt").text
    assert two[1].get(path).json()["receipt"] == note
    assert opened(api, note).seq == 1
    for what in ("receipt", "proof"):
        assert code_of(api.player().get(f"{path}/{what}")) == "not-a-player"
        assert code_of(api.http.get(f"{path}/{what}")) == "unauthorized"
    publish(api)
    proof = InclusionProof.parse(two[0].get(f"{path}/proof").text)
    opened(api, note).check_leaf(proof.extra)


def test_a_proof_comes_when_the_event_is_published(api: Api, two: list[Player]):
    board = api.match(*two)
    made = two[0].move(board, "m13-j7").json()
    path = f"/api/matches/{board}/events/2/proof"
    waiting = api.http.get(path)
    assert (code_of(waiting), waiting.status_code) == ("not-published", 404)
    assert int(waiting.headers["Retry-After"]) <= 60
    publish(api)
    proof = InclusionProof.parse(api.http.get(path).text)
    assert (proof.index, proof.extra) == (made["index"], events(api, board)[1])
    key = log_keys(api)[board % 4]
    assert proof.verify(leaf_hash(proof.extra), key.name, [key]).size > proof.index
    opened(api, made["receipt"]).check_leaf(proof.extra)
    of_command = two[0].get(f"/api/matches/{board}/commands/{made['id']}/proof").text
    assert InclusionProof.parse(of_command) == proof


def test_a_command_with_several_events_has_one_receipt_and_each_event_its_own(
    api: Api, two: list[Player]
):
    board = api.match(*two)
    body = {"lines": [["m13-j7", "a13-d7"]]}
    assert two[1].put(f"/api/matches/{board}/replies", body).status_code == 200
    made = two[0].move(board, "m13-j7").json()
    assert len(events(api, board)) == 3
    assert opened(api, made["receipt"]).seq == 2
    publish(api)
    for seq in (2, 3):
        base = f"/api/matches/{board}/events/{seq}"
        receipt = opened(api, api.http.get(f"{base}/receipt").text)
        receipt.check_leaf(InclusionProof.parse(api.http.get(f"{base}/proof").text).extra)
        assert receipt.seq == seq


def test_a_draft_that_is_confirmed_has_a_receipt(api: Api, two: list[Player]):
    board = api.match(*two)
    two[0].put(f"/api/matches/{board}/draft", {"move": "m13-j7"})
    made = two[0].post(f"/api/matches/{board}/draft/confirm").json()
    assert opened(api, made["receipt"]).seq == 2


def test_what_is_not_there_has_no_receipt_and_no_proof(api: Api, two: list[Player]):
    board = api.match(*two)
    for what in ("receipt", "proof"):
        assert code_of(api.http.get(f"/api/matches/{board}/events/9/{what}")) == "not-found"
        assert code_of(api.http.get(f"/api/matches/999999/events/1/{what}")) == "unknown-board"
        path = f"/api/matches/{board}/commands/{'0' * 32}/{what}"
        assert code_of(two[0].get(path)) == "not-found"


def test_a_leaf_that_left_redis_keeps_its_receipt_and_its_proof(api: Api, two: list[Player]):
    board = api.match(*two)
    made = two[0].move(board, "m13-j7").json()
    path = f"/api/matches/{board}/commands/{made['id']}"
    id_ = refused(api, board, two[1])
    of_refusal = two[1].get(f"/api/matches/{board}/commands/{id_}/receipt").text
    publish(api)
    api.parts.data.delete(keys.log(board % 4))
    assert two[0].get(path).json()["receipt"] == made["receipt"]
    assert two[0].get(f"{path}/receipt").text == made["receipt"]
    assert two[1].get(f"/api/matches/{board}/commands/{id_}/receipt").text == of_refusal
    proof = InclusionProof.parse(two[0].get(f"{path}/proof").text)
    opened(api, made["receipt"]).check_leaf(proof.extra)


def test_another_leaf_in_the_place_of_a_lost_one_has_not_its_receipt(api: Api, two: list[Player]):
    boards = [api.match(*two) for _ in range(5)]
    board, other = boards[0], boards[4]
    assert board % 4 == other % 4
    one = two[0].move(board, "m13-j7").json()
    two[0].move(other, "m13-j7")
    stored = api.parts.store.outcome(
        other,
        (
            other_id := next(
                iter(
                    set(api.parts.store.outcomes(other))
                    - {decode_event(events(api, other)[0]).command}
                )
            )
        ),
    )
    assert stored is not None
    name, field = keys.outcomes(board % 4, board), bytes.fromhex(one["id"])
    api.parts.data.hset(name, field, stored)  # type: ignore[arg-type]
    assert other_id != field
    path = f"/api/matches/{board}/commands/{one['id']}"
    assert two[0].get(path).json()["receipt"] is None
    assert code_of(two[0].get(f"{path}/receipt")) == "not-found"
    assert code_of(two[0].get(f"{path}/proof")) == "not-found"


def test_without_a_key_moves_are_played_and_have_no_receipt(tmp_path: Path):
    with Api(tmp_path) as api:
        one, other = api.players()
        board = api.match(one, other)
        assert one.move(board, "m13-j7").json()["receipt"] is None
        path = f"/api/matches/{board}/events/2"
        assert code_of(api.http.get(f"{path}/receipt")) == "not-found"
        assert code_of(api.http.get(f"{path}/proof")) == "not-found"
        assert code_of(api.http.get("/log/receipts-keys")) == "not-found"
        # one that comes later is used without a restart
        generate_keys(api.settings.data / "keys", HOST)
        assert opened(api, other.move(board, "a13-d7").json()["receipt"]).seq == 3
        # and one that goes away is missed by nobody
        folder = api.settings.data / "keys"
        (folder / "receipts-key").rename(folder / "receipts-key.old")
        assert one.move(board, "m1-i3").json()["receipt"] is None
        generate_keys(folder, HOST)
        newer, *_ = receipts_keys(api)
        note = api.http.get(f"{path}/receipt").text
        assert note.count(" ".join(["—", f"{HOST}/log/s{board % 4:02}/receipts"])) == 2
        assert opened(api, note).seq == 2
        assert newer not in receipts_keys(api)[4:]


def test_a_key_that_can_not_be_used_fails_no_move(tmp_path: Path, caplog):
    with Api(tmp_path) as api:
        one, other = api.players()
        generate_keys(api.settings.data / "keys", HOST)
        (api.settings.data / "keys" / "receipts-key").write_text("nonsense")
        board = api.match(one, other)
        assert one.move(board, "m13-j7").json()["receipt"] is None
        assert caplog.text.count("ALARM: no receipts are given") == 1


def test_what_is_not_on_enough_disks_yet_has_no_receipt(
    api: Api, two: list[Player], monkeypatch: pytest.MonkeyPatch
):
    board = api.match(*two)
    made = two[0].move(board, "m13-j7").json()
    monkeypatch.setattr(DurabilityWatch, "confirm", lambda _: False)
    assert code_of(api.http.get(f"/api/matches/{board}/events/2/receipt")) == "unavailable"
    path = f"/api/matches/{board}/commands/{made['id']}"
    assert code_of(two[0].get(f"{path}/receipt")) == "unavailable"


def test_a_command_line_has_the_receipt_of_its_one_command(api: Api, two: list[Player]):
    board = api.match(*two)
    one, other = (f"{player.name} {PASSWORD}" for player in two)

    def receipt(line: str) -> str:
        answer = api.http.post(
            "/api/do", content=line.encode(), headers={"Content-Type": "text/plain"}
        )
        return b64decode(answer.headers.get("Matchpost-Receipt", "")).decode()

    assert opened(api, receipt(f"pow2 move {board} {one} m13-j7")).seq == 2
    assert opened(api, receipt(f"pow2 move {board} {one} m1-i3")).seq == 2
    assert receipt(f"pow2 show {board}") == ""
    moves = f"multiple\npow2 move {board} {other} a13-d7\npow2 move {board} {one} m1-i3"
    assert receipt(moves) == ""
    assert len(events(api, board)) == 4
    # one of several commands alone is in a match
    assert opened(api, receipt(f"multiple\nhelp\npow2 resign {board} {other}")).seq == 5


def test_with_durability_none_nothing_is_promised(tmp_path: Path):
    with Api(tmp_path, durability=Mode.NONE) as api:
        one, other = api.players()
        generate_keys(api.settings.data / "keys", HOST)
        names = [one.name, other.name]
        waiting = one.post("/api/matches", {"game": "pow2", "players": names})
        assert code_of(waiting) == "pending"
        assert "receipt" not in waiting.json()
        path = f"{waiting.headers['Location'].rpartition('/commands/')[0]}/events/1/receipt"
        assert code_of(api.http.get(path)) == "not-found"
