"""The evidence of a case: frozen at the claim, whatever follows and whichever process is killed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import UNSET

from domain.match.history import decode_event, decode_refusal, is_event
from infra.audit.check_document import check_document
from infra.audit.match_document import MatchDocument, read_document
from infra.audit.stored_match import evidence_name
from infra.log.key_files import generate_keys
from infra.objects.port import ObjectDiffersError
from infra.redis.rq_jobs import FREEZE, MAINTENANCE, queue_key
from services.app.exports import frozen_evidence
from services.cli.verify import run as verify
from tests.helpers.api import PASSWORD, Api, Player, code_of
from tests.helpers.publishing import log_keys, publish
from workers import evidence_job
from workers.evidence_job import EvidenceWakeup


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("evidence")) as api:
        generate_keys(api.settings.data / "keys", "play.example.org")
        yield api


@pytest.fixture
def players(api: Api) -> list[Player]:
    found = api.players(3)
    api.parts.accounts.set_arbiter(found[2].name, True)
    return found


@pytest.fixture
def board(api: Api, players: list[Player]) -> int:
    """A match with a refusal and a claim, after which it went on and was set back."""
    alice, bob, arbiter = players
    board = api.match(alice, bob)
    alice.move(board, "m13-j7")
    bob.move(board, "a13-a1")
    alice.post(f"/api/matches/{board}/claim", {"ply": 1, "text": "he tried to cheat"})
    bob.move(board, "a13-d7")
    arbiter.post(f"/api/matches/{board}/rule", {"verdict": "back", "ply": 0, "text": "again"})
    return board


def path(board: int) -> str:
    return f"/api/matches/{board}/cases/3/evidence"


def evidence(player: Player, board: int) -> MatchDocument:
    answer = player.get(path(board))
    assert answer.status_code == 200, answer.text
    return read_document(answer.content)


def test_the_evidence_is_the_match_as_it_was_at_the_claim(api, players, board):
    publish(api)
    for player in players:
        document = evidence(player, board)
        assert document.moves == ("m13-j7",)
        events = [decode_event(one.leaf) for one in document.leaves if is_event(one.leaf)]
        assert [event.seq for event in events] == [1, 2, 3]
        assert len(document.leaves) == 4
        assert len(document.log.proofs) == 4
        assert [one.text for one in document.statements] == ["he tried to cheat"]
        assert [seat.userid for seat in document.seats] == [one.name for one in players[:2]]
        check_document(document, log_keys(api))


def test_a_claim_has_a_receipt_and_so_has_a_refused_one_each_time(players, board):
    alice, bob, _ = players
    body = {"ply": 0, "text": "once more"}
    accepted = alice.post(f"/api/matches/{board}/claim", body)
    assert accepted.json()["receipt"].startswith("play.example.org/log/")
    headers = {"Idempotency-Key": "k"}
    refused = [bob.post(f"/api/matches/{board}/claim", body, headers=headers) for _ in range(2)]
    assert [code_of(one) for one in refused] == ["claim-stands"] * 2
    first, second = (one.headers["Matchpost-Receipt"] for one in refused)
    assert first == second


def test_the_outcome_of_a_refusal_is_its_senders_and_the_arbiters(api, players, board):
    publish(api)
    shown = []
    for player in players:
        leaves = evidence(player, board).leaves
        (refused,) = [one for one in leaves if not is_event(one.leaf)]
        assert decode_refusal(refused.leaf).actor == players[1].account
        shown.append(refused.outcome is not UNSET)
    assert shown == [False, True, True]


def test_the_stored_evidence_has_nothing_that_could_be_erased(api, players, board):
    publish(api)
    evidence(players[0], board)
    stored = api.parts.objects.get(evidence_name(board, 3))
    assert b"cheat" not in stored
    assert stored.count(b'"userid":null') == 2
    assert players[0].post("/api/account/deletion", {"password": PASSWORD}).is_success
    document = evidence(players[1], board)
    assert document.statements == ()
    assert document.seats[0].userid is None
    check_document(document, log_keys(api))


def test_it_is_frozen_once_the_published_log_has_the_claim_and_never_changes(api, players, board):
    answer = players[0].get(path(board))
    assert code_of(answer) == "not-published"
    publish(api)
    evidence(players[0], board)
    stored = api.parts.objects.get(evidence_name(board, 3))
    players[0].move(board, "m13-j7")
    publish(api)
    assert frozen_evidence(api.parts).freeze(board, 3)
    assert api.parts.objects.get(evidence_name(board, 3)) == stored


def test_of_two_that_freeze_at_once_the_first_stays(api, players, board, monkeypatch):
    publish(api)
    evidence = frozen_evidence(api.parts)
    assert evidence.freeze(board, 3)
    stored = api.parts.objects.get(evidence_name(board, 3))
    players[0].move(board, "m13-j7")
    publish(api)
    # a process that looked before the other one had written
    monkeypatch.setattr(evidence, "is_frozen", lambda *_: False)
    assert evidence.freeze(board, 3)
    assert api.parts.objects.get(evidence_name(board, 3)) == stored
    with pytest.raises(ObjectDiffersError):
        api.parts.objects.create(evidence_name(board, 3), b"{}")


def test_a_job_freezes_the_cases_that_wait_and_waits_for_the_log(api, players):
    board = api.match(*players[:2])
    players[0].post(f"/api/matches/{board}/claim", {"ply": 0, "text": "look"})
    api.caught_up()
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        publish(api)

    assert evidence_job.run(api.parts.cases, frozen_evidence(api.parts), sleep) >= 1
    assert len(waits) == 1
    assert frozen_evidence(api.parts).is_frozen(board, 2)
    # a run that follows has nothing to do
    assert evidence_job.run(api.parts.cases, frozen_evidence(api.parts), sleep) >= 1
    assert len(waits) == 1


def test_the_scheduler_requests_a_run_for_new_cases_and_again_later(api, players, monkeypatch):
    now = [1_000.0]
    monkeypatch.setattr(evidence_job.time, "monotonic", lambda: now[0])
    wakeup = EvidenceWakeup(api.parts.cases, api.parts.queue)
    board = api.match(*players[:2])
    players[0].post(f"/api/matches/{board}/claim", {"ply": 0, "text": "look"})
    api.caught_up()

    def requests(seconds: float) -> int:
        now[0] += seconds
        wakeup.tick()
        name = queue_key(MAINTENANCE)
        found = api.parts.queue.lrange(name, 0, -1)
        api.parts.queue.delete(name)
        return sum(one.startswith(FREEZE.rpartition(".")[2].encode()) for one in found)

    assert requests(0) == 1
    assert requests(evidence_job.LOOK_SECONDS) == 0
    assert requests(evidence_job.AGAIN_SECONDS) == 1
    other = api.match(*players[:2])
    players[0].post(f"/api/matches/{other}/claim", {"ply": 0, "text": "look"})
    api.caught_up()
    assert requests(evidence_job.LOOK_SECONDS) == 1


def test_the_export_has_the_texts_for_those_who_may_read_them_alone(api, players, board):
    publish(api)
    texts = ["he tried to cheat", "again"]
    for player, shown in (*((one, texts) for one in players), (api.player(), [])):
        answer = player.get(f"/api/matches/{board}/export")
        document = read_document(answer.content)
        assert [one.text for one in document.statements] == shown
        check_document(document, log_keys(api))
    anybody = read_document(api.http.get(f"/api/matches/{board}/export").content)
    assert anybody.statements == ()


def test_verify_takes_the_evidence_as_a_file(api, players, board, tmp_path, capsys):
    publish(api)
    file: Path = tmp_path / "evidence.json"
    file.write_bytes(players[0].get(path(board)).content)
    keys = [str(key) for key in log_keys(api)]
    assert verify(str(file), settings=api.settings, trusted=keys) == 0
    assert "3 events in sequence" in capsys.readouterr().out
