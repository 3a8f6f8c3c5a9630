"""Records of tournaments: receipts and proofs by their number, documents, and what a forger would change in one."""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from domain.match.commands import CommandEnvelope
from domain.match.history import decode_event, leaf_hash
from domain.records import SERVER_ACCOUNT
from domain.tournament.commands import EndRound
from infra.audit.check_document import check_document
from infra.audit.match_document import DocumentError, read_document, write_document
from infra.audit.tournament_document import TournamentDocument, read_any_document
from infra.log.checkpoint import InclusionProof
from infra.log.key_files import generate_keys
from infra.log.receipts import open_receipt
from services.app.exports import OPERATOR, export_tournament, match_document
from services.cli import export, verify
from tests.helpers.api import Api, Player, code_of, until
from tests.helpers.publishing import log_keys, publish, receipts_keys
from tests.helpers.tournaments import chained_again
from tests.services.test_api_receipts import refusals_with_outcome, trusted
from tests.services.test_api_tournaments import started, turn

WHY = "gone for a month"


def played(api: Api, organiser: Player, players: list[Player]) -> int:
    """A tournament of three with confirmed places, a refusal, and a player who left; its end is not published."""
    number = started(api, organiser, players)
    path = f"/api/tournaments/{number}"
    assert code_of(players[0].post(f"{path}/confirm")) == "not-an-organiser"
    left = {"userid": players[2].name, "kind": "silent", "text": WHY}
    assert organiser.post(f"{path}/withdrawals", left).is_success
    for one in api.parts.tournaments.matches(number).values():
        players[0].give(one.board, {"do": "resign"})

    def is_finished() -> bool:
        turn(api)
        return bool(api.http.get(path).json()["phase"] == "finished")

    until(is_finished)
    publish(api)
    confirmed = organiser.post(f"{path}/confirm", headers={"Idempotency-Key": "the places"})
    assert confirmed.is_success
    api.caught_up()
    return number


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
    return played(api, players[0], players[1:])


def document(data: bytes) -> TournamentDocument:
    found = read_any_document(data)
    assert isinstance(found, TournamentDocument)
    return found


def exported(api: Api, number: int) -> TournamentDocument:
    return document(export_tournament(api.parts, number, OPERATOR))


def test_events_and_commands_have_receipts_and_proofs_by_the_number(api, number, players):
    path, organiser, sender = f"/api/matches/{number}", *players[:2]
    events = api.parts.store.events(number)
    receipt = api.http.get(f"{path}/events/2/receipt").text
    open_receipt(receipt, receipts_keys(api)).check_leaf(events[1])
    proof = InclusionProof.parse(api.http.get(f"{path}/events/2/proof").text)
    key = log_keys(api)[number % 4]
    assert proof.verify(leaf_hash(events[1]), key.name, [key]).size > proof.index
    accepted = {decode_event(one).command for one in events}
    sent = decode_event(events[1]).command.hex()
    assert organiser.get(f"{path}/commands/{sent}/proof").text == str(proof)
    (refused,) = set(api.parts.store.outcomes(number)) - accepted
    for what in ("", "/receipt", "/proof"):
        at = f"{path}/commands/{refused.hex()}{what}"
        assert sender.get(at).is_success
        assert code_of(organiser.get(at)) == "not-found"
    assert code_of(organiser.get(f"/api/matches/99999/commands/{sent}/proof")) == "unknown-board"


def test_the_page_has_the_document_the_receipt_and_the_proof(api, number):
    page, last = f"/tournaments/{number}", api.parts.store.events(number)[-1]
    shown = api.http.get(page).text
    assert all(
        f'href="{page}/{one}"' in shown for one in ("document.json", "receipt.txt", "proof.txt")
    )
    receipt = api.http.get(f"{page}/receipt.txt").text
    open_receipt(receipt, receipts_keys(api)).check_leaf(last)
    assert "published" in api.http.get(f"{page}/proof.txt").text
    found = document(api.http.get(f"{page}/document.json").content)
    assert check_document(found, trusted(api)).fault == ""


def test_a_document_is_decided_again_without_a_server(api, number, players, tmp_path, capsysbinary):
    found = exported(api, number)
    assert [one.userid for one in found.players] == [one.name for one in players[1:]]
    (table,) = found.tables
    assert [(row.place, row.points) for row in table.rows] == [(1, 2.0), (2, 1.0), (3, 0.0)]
    verdict = check_document(found, trusted(api))
    assert verdict.holds[-2].startswith("a receipt promises each of the 1 leaf")
    file = tmp_path / "cup.json"
    assert export.run(str(number), api.settings) == 0
    file.write_bytes(capsysbinary.readouterr().out)
    assert verify.run(str(file), api.settings, list(map(str, trusted(api)))) == 0
    said = f"the document of tournament {number} of play.example.org holds"
    assert said in capsysbinary.readouterr().out.decode()
    with pytest.raises(DocumentError, match="the format matchpost-tournament/1, and this version"):
        read_document(write_document(found))


def test_the_reasons_of_rulings_in_its_matches_are_in_their_documents(api, number, players):
    ended = started(api, *players[:1], players[1:], days=9)
    end = CommandEnvelope(ended, bytes(15) + b"9", SERVER_ACCOUNT, EndRound(stage=1))
    api.parts.gateway.submit_all([end])
    for tournament, reasons in ((number, {WHY}), (ended, set())):  # nobody wrote the others
        boards = [one.board for one in api.parts.tournaments.matches(tournament).values()]

        def are_over(boards: list[int] = boards) -> bool:
            turn(api)
            found = [api.http.get(f"/api/matches/{board}").json() for board in boards]
            return all(one["state"] == "over" for one in found)

        until(are_over)
        made = [match_document(api.parts, board, OPERATOR) for board in boards]
        assert {said.text for one in made for said in one.statements} == reasons
        for one in made:
            assert check_document(read_document(write_document(one)), trusted(api)).fault == ""


def test_texts_and_outcomes_are_for_those_whom_they_concern(api, number, players):
    organiser, sender, *_ = players
    path = f"/api/tournaments/{number}/export"
    for player, texts, outcomes in ((None, 0, 0), (organiser, 1, 0), (sender, 0, 1)):
        answer = api.http.get(path, headers=player.headers if player else {})
        found = document(answer.content)
        assert (len(found.statements), len(refusals_with_outcome(found))) == (texts, outcomes)
        assert check_document(found, trusted(api)).fault == ""
    assert code_of(api.http.get(f"/api/matches/{number}/export")) == "unknown-board"
    draft = organiser.post("/api/tournaments", {"name": "Cup", "game": "pow2"}).json()["board"]
    assert code_of(sender.get(f"/api/tournaments/{draft}/export")) == "unknown-tournament"


def test_each_change_of_a_document_is_found(api, number):
    found, events = exported(api, number), api.parts.store.events(number)
    chained = chained_again(events, len(events), {"actor": b"somebody"})
    forged = dict(zip(events, chained, strict=True))
    leaves = tuple(replace(one, leaf=forged.get(one.leaf, one.leaf)) for one in found.leaves)
    first, *others = found.matches
    (table,) = found.tables
    for change, fault in (
        ({"phase": "running"}, "phase: "),
        ({"players": found.players[::-1]}, "players: account "),
        ({"matches": (replace(first, result="1/2"), *others)}, "matches: match 1 "),
        ({"tables": (replace(table, rows=table.rows[::-1]),)}, "tables: table 1 "),
        ({"leaves": leaves}, "event "),
        ({"statements": (replace(found.statements[0], text="nothing"),)}, "statement 1: "),
        ({"board": number + 1}, "it belongs to match "),
    ):
        assert fault in check_document(replace(found, **change), trusted(api)).fault
