"""Receipts and proofs over HTTP, and match documents: what anybody has, and what a sender alone."""

from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from domain.match.history import NO_HASH, decode_event, decode_refusal, is_event, leaf_hash
from infra.audit.check_document import LEFT_OUT, check_document
from infra.audit.match_document import MatchDocument, read_document
from infra.durability.durability_watch import DurabilityWatch
from infra.log import receipts
from infra.log.checkpoint import InclusionProof
from infra.log.key_files import generate_keys
from infra.log.receipts import Receipt, open_receipt
from infra.log.signed_note import VerifierKey
from infra.people.tokens import Scope
from infra.redis import keys
from infra.store.outcomes import parse
from services.app.exports import OPERATOR, match_document
from tests.helpers.api import PASSWORD, Api, Player, code_of
from tests.helpers.publishing import log_keys, publish, receipts_keys

HOST = "play.example.org"
ILLEGAL = "a13-a1"


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


def test_an_accepted_command_has_the_receipt_of_its_first_event_by_every_way(api, two):
    names = [player.name for player in two]
    started = two[0].post("/api/matches", {"game": "pow2", "players": names}).json()
    board, key = started["board"], {"headers": {"Idempotency-Key": uuid4().hex}}
    first = opened(api, started["receipt"])
    assert (first.seq, first.prev) == (1, NO_HASH)
    first.check_leaf(events(api, board)[0])
    made = two[0].move(board, "m13-j7", **key).json()
    found, event = opened(api, made["receipt"]), events(api, board)[1]
    found.check_leaf(event)
    assert found.origin == f"{HOST}/log/s{board % 4:02}"
    assert (found.board, found.seq, found.prev) == (board, 2, leaf_hash(events(api, board)[0]))
    assert found.at == decode_event(event).at
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
    two[1].put(f"/api/matches/{board}/draft", {"move": "a13-d7"})
    confirmed = two[1].post(f"/api/matches/{board}/draft/confirm").json()
    assert opened(api, confirmed["receipt"]).seq == 3


def test_a_refused_command_has_a_receipt_with_the_event_before_it(api, two):
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


def test_a_refusal_is_shown_to_the_players_of_the_match_only(api, two):
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


def test_a_proof_comes_when_the_event_is_published(api, two):
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


@pytest.fixture
def lone(tmp_path: Path) -> Iterator[Api]:
    """A server of a test that breaks its log, or that has no keys yet."""
    with Api(tmp_path) as made:
        yield made


def test_a_leaf_that_left_redis_keeps_its_receipt_and_another_in_its_place_has_not_got_it(lone):
    generate_keys(lone.settings.data / "keys", HOST)
    two = lone.players()
    board, *_, other = (lone.match(*two) for _ in range(5))
    assert board % 4 == other % 4
    made = two[0].move(board, "m13-j7").json()
    foreign = two[0].move(other, "m13-j7").json()
    paths = [f"/api/matches/{board}/commands/{made['id']}"]
    paths += [f"/api/matches/{board}/commands/{refused(lone, board, two[1])}"]
    notes = [two[1].get(f"{path}/receipt").text for path in paths]
    assert notes[0] == made["receipt"]
    publish(lone)
    lone.parts.data.delete(keys.log(board % 4))
    assert two[0].get(paths[0]).json()["receipt"] == made["receipt"]
    assert [two[1].get(f"{path}/receipt").text for path in paths] == notes
    proof = InclusionProof.parse(two[0].get(f"{paths[0]}/proof").text)
    opened(lone, made["receipt"]).check_leaf(proof.extra)
    stored = lone.parts.store.outcome(other, bytes.fromhex(foreign["id"]))
    outcomes = keys.outcomes(board % 4, board)
    lone.parts.data.hset(outcomes, bytes.fromhex(made["id"]), stored)
    assert two[0].get(paths[0]).json()["receipt"] is None
    for what in ("receipt", "proof"):
        assert code_of(two[0].get(f"{paths[0]}/{what}")) == "not-found"


def test_without_a_key_that_can_be_used_moves_are_played_and_have_no_receipt(
    lone, caplog, monkeypatch
):
    monkeypatch.setattr(receipts, "LOOK_SECONDS", 0.0)
    one, other = lone.players()
    board, folder = lone.match(one, other), lone.settings.data / "keys"
    assert one.move(board, "m13-j7").json()["receipt"] is None
    path = f"/api/matches/{board}/events/2"
    for missing in (f"{path}/receipt", f"{path}/proof", "/log/receipts-keys"):
        assert code_of(lone.http.get(missing)) == "not-found"
    # one that comes later is used without a restart
    generate_keys(folder, HOST)
    assert opened(lone, other.move(board, "a13-d7").json()["receipt"]).seq == 3
    # and one that goes away is missed by nobody
    (folder / "receipts-key").rename(folder / "receipts-key.old")
    assert one.move(board, "m1-i3").json()["receipt"] is None
    generate_keys(folder, HOST)
    newer, *_ = receipts_keys(lone)
    note = lone.http.get(f"{path}/receipt").text
    assert note.count(" ".join(["—", f"{HOST}/log/s{board % 4:02}/receipts"])) == 2
    assert opened(lone, note).seq == 2
    assert newer not in receipts_keys(lone)[4:]
    (folder / "receipts-key").write_text("nonsense")
    assert other.move(board, "a1-a5").json()["receipt"] is None
    assert caplog.text.count("ALARM: no receipts are given") == 1


def test_the_files_of_the_keys_are_looked_at_now_and_then_and_not_for_each_receipt(
    tmp_path, monkeypatch
):
    generate_keys(tmp_path, HOST)
    looks = []
    state = receipts._state
    monkeypatch.setattr(receipts, "_state", lambda file: looks.append(file) or state(file))
    monkeypatch.setattr(receipts, "LOOK_SECONDS", 3_600.0)
    signer = receipts.ReceiptSigner(tmp_path)
    (tmp_path / "receipts-key").rename(tmp_path / "receipts-key.old")
    assert not signer.has_key
    generate_keys(tmp_path, HOST)
    assert not any(signer.has_key for _ in range(50))
    assert len(looks) == 2
    monkeypatch.setattr(receipts, "LOOK_SECONDS", 0.0)
    assert signer.has_key
    assert len(looks) == 4


def test_what_is_not_on_enough_disks_yet_has_no_receipt(api, two, monkeypatch):
    board = api.match(*two)
    made = two[0].move(board, "m13-j7").json()
    monkeypatch.setattr(DurabilityWatch, "confirm", lambda _: False)
    assert code_of(api.http.get(f"/api/matches/{board}/events/2/receipt")) == "unavailable"
    path = f"/api/matches/{board}/commands/{made['id']}"
    assert code_of(two[0].get(f"{path}/receipt")) == "unavailable"


def trusted(api: Api) -> list[VerifierKey]:
    return [*log_keys(api), *receipts_keys(api)]


def exported(api: Api, board: int, player: Player | None = None) -> MatchDocument:
    headers = player.headers if player else {}
    answer = api.http.get(f"/api/matches/{board}/export", headers=headers)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert answer.text.count("\n") == 1
    return read_document(answer.content)


def refusals_with_outcome(document: MatchDocument) -> list[bytes]:
    """The actors of refusals whose outcome is in a document."""
    return [
        decode_refusal(one.leaf).actor
        for one in document.leaves
        if not is_event(one.leaf) and isinstance(one.outcome, bytes)
    ]


def test_a_running_match_is_proved_by_checkpoint_and_receipts(api, two):
    board = api.match(*two)
    two[0].move(board, "m13-j7")
    publish(api)
    two[1].move(board, "a13-d7")
    document = exported(api, board)
    assert document.moves == ("m13-j7", "a13-d7")
    assert [seat.userid for seat in document.seats] == [player.name for player in two]
    assert (document.server, len(document.log.proofs), len(document.receipts)) == (HOST, 2, 1)
    verdict = check_document(document, trusted(api))
    assert verdict.fault == ""
    assert "covers the first 2 of its 3 leaves" in verdict.holds[-2]
    assert verdict.holds[-1] == "a receipt promises each of the 1 leaf after it"
    assert verdict.limits == ["nothing proves that the accounts belong to these userids", LEFT_OUT]
    publish(api)
    whole = exported(api, board)
    assert (whole.receipts, len(whole.log.proofs)) == ((), 3)
    assert check_document(whole, trusted(api)).fault == ""


def test_the_outcome_of_a_refusal_is_for_its_sender_and_a_token_that_may_read(api):
    two = [api.player([Scope.PLAY, Scope.READ]), api.player([Scope.PLAY])]
    board = api.match(*two)
    assert two[1].move(board, "a13-d7").status_code == 409
    assert two[0].move(board, ILLEGAL).status_code == 422
    leaves = [one.leaf for one in exported(api, board).leaves]
    assert [is_event(leaf) for leaf in leaves] == [True, False, False]
    accounts = [one.account for one in two]
    for player, seen in ((None, []), (two[0], accounts[:1]), (two[1], [])):
        document = exported(api, board, player)
        assert refusals_with_outcome(document) == seen
        assert [one.leaf for one in document.leaves] == leaves
        assert check_document(document, trusted(api)).fault == ""
    assert ILLEGAL in parse(exported(api, board, two[0]).leaves[2].outcome).sentence
    operator = match_document(api.parts, board, OPERATOR)
    assert refusals_with_outcome(operator) == accounts[::-1]
    (again,) = [one for one in check_document(operator, trusted(api)).holds if "refusal" in one]
    assert "decided again" in again


def test_a_page_offers_the_document_with_no_name_of_an_erased_player(api, two):
    board = api.match(*two)
    two[0].move(board, "m13-j7")
    assert f'href="/m/{board}/document.json"' in api.http.get(f"/m/{board}/1").text
    answer = api.http.get(f"/m/{board}/document.json")
    assert (answer.status_code, answer.headers["content-disposition"]) == (
        200, f'attachment; filename="match-{board}-document.json"',
    )  # fmt: skip
    assert check_document(read_document(answer.content), trusted(api)).fault == ""
    api.parts.accounts.delete(two[1].name, PASSWORD, lambda _: None)
    assert [seat.userid for seat in exported(api, board).seats] == [two[0].name, None]
    assert api.http.get("/m/999999/document.json").status_code == 404
    assert code_of(api.http.get("/api/matches/999999/export")) == "unknown-board"


def test_an_object_store_that_is_away_is_said_and_harms_no_match(api, two):
    board = api.match(*two)
    publish(api)
    log = api.settings.data / "log"
    checkpoint = next(log.glob(f"s{board % 4:02}/checkpoint"))
    kept = checkpoint.read_bytes()
    checkpoint.write_bytes(kept[:-20] + b"\n")
    try:
        assert code_of(api.http.get(f"/api/matches/{board}/export")) == "unavailable"
    finally:
        checkpoint.write_bytes(kept)
    assert exported(api, board).log.proofs
    assert not api.parts.damage.all()
