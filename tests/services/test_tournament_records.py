"""Records of tournaments: receipts and proofs by their number, documents, and what a forger would change in one."""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from domain.match.commands import CommandEnvelope
from domain.match.history import decode_event, leaf_hash
from domain.records import SERVER_ACCOUNT
from domain.tournament.commands import EndRound
from infra.audit.check_document import EvidenceVerdict, check_document
from infra.audit.match_document import DocumentError, read_document, write_document
from infra.audit.tournament_document import TournamentDocument, read_any_document
from infra.log.checkpoint import InclusionProof
from infra.log.key_files import generate_keys
from infra.log.receipts import open_receipt
from infra.log.signed_note import VerifierKey
from services.app.exports import OPERATOR, export_tournament, match_document
from services.cli import export, verify
from tests.helpers.api import Api, Player, code_of, until
from tests.helpers.publishing import log_keys, publish, receipts_keys
from tests.helpers.tournaments import chained_again
from tests.services.test_api_tournaments import started, turn

WHY = "carol has not answered for a month"


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("records")) as given:
        generate_keys(given.settings.data / "keys", "play.example.org")
        yield given


@pytest.fixture(scope="module")
def players(api: Api) -> list[Player]:
    """The organiser, and three players."""
    return api.players(4)


@pytest.fixture(scope="module")
def number(api: Api, players: list[Player]) -> int:
    """A tournament that was played to confirmed places, with a player who left; all is published but its end."""
    organiser, *others = players
    number = started(api, organiser, others)
    path = f"/api/tournaments/{number}"
    assert code_of(others[0].post(f"{path}/confirm")) == "not-an-organiser"
    left = {"userid": others[2].name, "kind": "silent", "text": WHY}
    assert organiser.post(f"{path}/withdrawals", left).is_success
    turn(api)
    boards = [one.board for one in api.parts.tournaments.matches(number).values()]
    for board in boards:
        others[0].give(board, {"do": "resign"})
    turn(api)
    until(lambda: api.http.get(path).json()["phase"] == "finished")
    publish(api)
    assert organiser.post(f"{path}/confirm").is_success
    return number


def trusted(api: Api) -> list[VerifierKey]:
    return [*log_keys(api), *receipts_keys(api)]


def document(api: Api, number: int) -> TournamentDocument:
    found = read_any_document(export_tournament(api.parts, number, OPERATOR))
    assert isinstance(found, TournamentDocument)
    return found


def checked(api: Api, found: TournamentDocument) -> EvidenceVerdict:
    return check_document(found, trusted(api))


def test_events_and_commands_have_receipts_and_proofs_by_the_number(api, number, players):
    path = f"/api/matches/{number}"
    event = api.parts.store.events(number)[1]
    receipt = open_receipt(api.http.get(f"{path}/events/2/receipt").text, receipts_keys(api))
    receipt.check_leaf(event)
    proof = InclusionProof.parse(api.http.get(f"{path}/events/2/proof").text)
    key = log_keys(api)[number % 4]
    assert proof.verify(leaf_hash(event), key.name, [key]).size > proof.index
    organiser, sender, *_ = players
    sent = decode_event(event).command.hex()
    assert organiser.get(f"{path}/commands/{sent}/proof").text == str(proof)
    outcomes = api.parts.store.outcomes(number)
    (refused,) = set(outcomes) - {
        decode_event(one).command for one in api.parts.store.events(number)
    }
    for what in ("", "/receipt", "/proof"):  # the sender's, also of a refusal
        at = f"{path}/commands/{refused.hex()}{what}"
        assert sender.get(at).is_success
        assert code_of(organiser.get(at)) == "not-found"
    assert code_of(organiser.get(f"/api/matches/99999/commands/{sent}/proof")) == "unknown-board"


def test_the_page_has_the_document_the_receipt_and_the_proof(api, number):
    page = api.http.get(f"/tournaments/{number}").text
    last = api.parts.store.events(number)[-1]
    for name in ("document.json", "receipt.txt", "proof.txt"):
        assert f'href="/tournaments/{number}/{name}"' in page
    receipt = api.http.get(f"/tournaments/{number}/receipt.txt")
    open_receipt(receipt.text, receipts_keys(api)).check_leaf(last)
    assert receipt.headers["content-disposition"].endswith(
        f'-{number}-{decode_event(last).seq}.txt"'
    )
    waits = api.http.get(f"/tournaments/{number}/proof.txt")
    assert (waits.status_code, "published" in waits.text) == (404, True)
    found = api.http.get(f"/tournaments/{number}/document.json").content
    assert checked(api, read_any_document(found)).fault == ""
    assert api.http.get("/tournaments/99999/document.json").status_code == 404


def test_a_document_is_decided_again_without_a_server(api, number, players, tmp_path, capsysbinary):
    found = document(api, number)
    assert [one.userid for one in found.players] == [one.name for one in players[1:]]
    (table,) = found.tables
    assert [(row.place, row.points) for row in table.rows] == [(1, 2.0), (2, 1.0), (3, 0.0)]
    assert [one.text for one in found.statements] == [WHY]
    verdict = checked(api, found)
    assert verdict.fault == ""
    assert any(
        one.startswith(f"{len(api.parts.store.events(number))} events") for one in verdict.holds
    )
    assert verdict.holds[-2].startswith("a receipt promises each of the 1 leaf")
    file = tmp_path / "cup.json"
    assert export.run(str(number), api.settings) == 0
    file.write_bytes(capsysbinary.readouterr().out)
    assert verify.run(str(file), api.settings, list(map(str, trusted(api)))) == 0
    said = capsysbinary.readouterr().out.decode()
    assert f"the document of tournament {number} of play.example.org holds" in said
    with pytest.raises(
        DocumentError, match="the format matchpost-tournament/1, and this version reads"
    ):
        read_document(write_document(found))


def test_the_reasons_of_rulings_in_its_matches_are_in_their_documents(api, number, players):
    texts = []
    for one in document(api, number).matches:
        match = match_document(api.parts, one.board, OPERATOR)
        assert check_document(read_document(write_document(match)), trusted(api)).fault == ""
        texts += [said.text for said in match.statements]
    assert set(texts) == {WHY}
    other = started(api, players[0], players[1:], days=9)
    end = CommandEnvelope(other, bytes(15) + b"9", SERVER_ACCOUNT, EndRound(stage=1))
    api.parts.gateway.submit_all([end])
    (board, *_) = [one.board for one in api.parts.tournaments.matches(other).values()]

    def is_over() -> bool:
        turn(api)
        return api.http.get(f"/api/matches/{board}").json()["state"] == "over"

    until(is_over)
    ended = match_document(api.parts, board, OPERATOR)  # by a ruling whose reason nobody wrote
    assert check_document(read_document(write_document(ended)), trusted(api)).fault == ""


def test_texts_and_outcomes_are_for_those_whom_they_concern(api, number, players):
    organiser, sender, *_ = players
    for player, texts, outcomes in ((None, 0, 0), (organiser, 1, 0), (sender, 0, 1)):
        answer = api.http.get(
            f"/api/tournaments/{number}/export", headers=player.headers if player else {}
        )
        found = read_any_document(answer.content)
        shown = sum(isinstance(one.outcome, bytes) for one in found.leaves)
        assert (
            len(found.statements),
            shown - sum(isinstance(one.outcome, bytes) for one in document(api, number).leaves),
        ) == (texts, outcomes - 1)
        assert checked(api, found).fault == ""
    assert code_of(api.http.get(f"/api/matches/{number}/export")) == "unknown-board"
    draft = organiser.post("/api/tournaments", {"name": "Cup", "game": "pow2"}).json()["board"]
    assert code_of(sender.get(f"/api/tournaments/{draft}/export")) == "unknown-tournament"


def test_each_change_of_a_document_is_found(api, number):
    found = document(api, number)
    (table,) = found.tables
    events = api.parts.store.events(number)
    forged = dict(
        zip(events, chained_again(events, len(events), {"actor": b"somebody"}), strict=True)
    )
    leaves = tuple(replace(one, leaf=forged.get(one.leaf, one.leaf)) for one in found.leaves)
    for change, fault in (
        ({"phase": "running"}, "phase: "),
        ({"players": found.players[::-1]}, "players: account "),
        (
            {"matches": (replace(found.matches[0], result="1/2"), *found.matches[1:])},
            "matches: match 1 ",
        ),
        ({"tables": (replace(table, rows=table.rows[::-1]),)}, "tables: table 1 "),
        ({"leaves": leaves}, "event "),
        ({"statements": (replace(found.statements[0], text="nothing"),)}, "statement 1: "),
        ({"board": number + 1}, "it belongs to match "),
    ):
        assert fault in checked(api, replace(found, **change)).fault
