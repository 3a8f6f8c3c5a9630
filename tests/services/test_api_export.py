"""Match documents over HTTP: anybody has the record and its proofs, and a sender the own refusals besides."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from domain.match.history import decode_refusal, is_event
from infra.audit.check_document import LEFT_OUT, check_document
from infra.audit.match_document import MatchDocument, read_document
from infra.log.key_files import generate_keys
from infra.log.signed_note import VerifierKey
from infra.people.tokens import Scope
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


def test_the_outcome_of_a_refusal_is_for_its_sender(api, two):
    board = api.match(*two)
    assert two[1].move(board, "a13-d7").status_code == 409
    assert two[0].move(board, ILLEGAL).status_code == 422
    leaves = [one.leaf for one in exported(api, board).leaves]
    assert [is_event(leaf) for leaf in leaves] == [True, False, False]
    accounts = [one.account for one in two]
    assert refusals_with_outcome(exported(api, board)) == []
    assert refusals_with_outcome(exported(api, board, two[0])) == [accounts[0]]
    assert refusals_with_outcome(exported(api, board, two[1])) == [accounts[1]]
    reader = api.http.get(f"/api/matches/{board}/export", headers=two[0].headers)
    assert ILLEGAL in parse(exported(api, board, two[0]).leaves[2].outcome).sentence
    assert [one.leaf for one in read_document(reader.content).leaves] == leaves
    for player in (None, two[0], two[1]):
        assert check_document(exported(api, board, player), trusted(api)).fault == ""
    operator = match_document(api.parts, board, OPERATOR)
    assert refusals_with_outcome(operator) == accounts[::-1]
    (again,) = [one for one in check_document(operator, trusted(api)).holds if "refusal" in one]
    assert "decided again" in again


def test_a_token_that_may_not_read_sees_what_strangers_see(api):
    one, other = api.player([Scope.PLAY]), api.player()
    board = api.match(one, other)
    one.move(board, ILLEGAL)
    assert len(exported(api, board, one).leaves) == 2
    assert refusals_with_outcome(exported(api, board, one)) == []


def test_hidden_things_are_in_no_document(api, two):
    board = api.match(*two)
    assert (
        two[1].put(f"/api/matches/{board}/replies", {"lines": [["m13-j7", "a13-c11"]]}).is_success
    )
    assert two[0].put(f"/api/matches/{board}/draft", {"move": "m1-i3"}).is_success
    for player in (None, *two):
        headers = player.headers if player else {}
        text = api.http.get(f"/api/matches/{board}/export", headers=headers).text
        assert "a13-c11" not in text
        assert "m1-i3" not in text
        leaves = b"".join(
            one.leaf + (one.outcome or b"") for one in read_document(text.encode()).leaves
        )
        assert b"a13-c11" not in leaves
        assert b"m1-i3" not in leaves


def test_what_is_no_match_is_refused(api):
    assert code_of(api.http.get("/api/matches/999999/export")) == "unknown-board"


def test_a_page_offers_the_document(api, two):
    board = api.match(*two)
    two[0].move(board, "m13-j7")
    page = api.http.get(f"/m/{board}/1").text
    assert f'href="/m/{board}/document.json"' in page
    answer = api.http.get(f"/m/{board}/document.json")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == (
        f'attachment; filename="match-{board}-document.json"'
    )
    assert check_document(read_document(answer.content), trusted(api)).fault == ""
    assert api.http.get("/m/999999/document.json").status_code == 404


def test_an_erased_player_has_no_name_in_it(api, two):
    board = api.match(*two)
    api.parts.accounts.delete(two[1].name, PASSWORD, lambda _: None)
    assert [seat.userid for seat in exported(api, board).seats] == [two[0].name, None]


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


def test_texts_of_claims_are_for_players_arbiters_and_the_operator(api, two):
    board, other = api.match(*two), api.player()
    two[0].move(board, "m13-j7")
    claim = {"ply": 1, "text": "The server was away."}
    assert two[1].post(f"/api/matches/{board}/claim", claim).is_success
    publish(api)
    for player in (None, other):
        document = exported(api, board, player)
        assert document.statements == ()
        assert check_document(document, trusted(api)).fault == ""
    for player in two:
        (statement,) = exported(api, board, player).statements
        assert (statement.text, statement.account) == (claim["text"], two[1].account.hex())
        verdict = check_document(exported(api, board, player), trusted(api))
        assert (verdict.fault, "1 statement with the digests in the events" in verdict.holds) == (
            "",
            True,
        )
    operator = match_document(api.parts, board, OPERATOR)
    assert [one.text for one in operator.statements] == [claim["text"]]
