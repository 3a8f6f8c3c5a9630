"""A match in the archive looks at every front end as it did before, and its commands are answered alike."""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest

from domain.errors import Code, Refusal
from domain.match.history import leaf_hash
from infra.archive.archive import Archive
from infra.archive.directory_pages import DirectoryEntry
from infra.archive.objects import open_archive
from infra.audit.stored_match import check
from infra.log.checkpoint import InclusionProof
from infra.log.key_files import generate_keys
from infra.log.receipts import open_receipt
from infra.redis import keys
from infra.store.port import ARCHIVED_TEXT
from tests.fakes.everywhere import FRONT_ENDS, MAIL, SEAT, WEB, Action, Everywhere, Result, same
from tests.helpers.api import PASSWORD, Api, Player, until
from tests.helpers.publishing import log_keys, receipts_keys
from workers.archived_rows import ArchivedRows
from workers.log.job import make_publisher
from workers.retire import Retirement

MOVES = ("m13-j7", "a13-d7", "m1-i3")
KEY = {"Idempotency-Key": "the third move"}
START_KEY = {"Idempotency-Key": "the start"}
REFUSED_KEY = {"Idempotency-Key": "out of turn"}
MOVE = Action("m13-j7", {"do": "move", "move": "m13-j7"}, {"do": "move", "move": "m13-j7"})

API_PLACES = ("", "/events", "/events?from=2&limit=2", "/board.svg", "/board.txt", "/game.txt", "/board.json",
              "/plies/0", "/plies/3", "/chat", "/replies")  # fmt: skip
PAGES = ("", "/2", "/match.json", "/match.txt", "/game.txt", "/2/board.svg", "/compare")
VOLATILE = re.compile(
    r'name="(csrf|key)" value="[^"]*"|"X-CSRF-Token": "[^"]*"|"now":[0-9]+'
    # how much of the match is published
    r'| kept(?=")|<p id="recorded".*?</p>|\s*<li( hidden)?><a id="proof".*?</li>'
)


class Archived(NamedTuple):
    """A match that was retired, what was read of it before, and how to read it."""

    everywhere: Everywhere
    one: Player
    other: Player
    board: int
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    """What was read of it once it was retired."""

    def event_ids(self) -> set[str]:
        """The ids of accepted commands."""
        events = self.everywhere.api.http.get(f"/api/matches/{self.board}/events").json()
        return {event["command"] for event in events}

    def command_ids(self) -> set[str]:
        """The ids of all commands."""
        return {id_.hex() for id_ in self.everywhere.api.parts.store.outcomes(self.board)}


def reads(everywhere: Everywhere, one: Player, other: Player, board: int) -> Mapping[str, Any]:
    """What every way of reading a match that is over answers."""
    api, found = everywhere.api, dict[str, Any]()
    address = f"/api/matches/{board}"
    for place in API_PLACES:
        answer = one.get(f"{address}{place}")
        found[f"API {place}"] = (
            answer.status_code,
            answer.headers.get("etag"),
            VOLATILE.sub("", answer.text),
        )
    for kind in ("application/x-ndjson", "text/event-stream"):
        found[f"events as {kind}"] = api.http.get(
            f"{address}/events", headers={"Accept": kind}
        ).text
    after = {"Accept": "text/event-stream", "Last-Event-ID": "2"}
    found["the rest of a stream"] = api.http.get(f"{address}/events", headers=after).text
    for who in (one, other):
        for page in PAGES:
            answer = everywhere.guest(who).get(f"/m/{board}{page}")
            found[f"page {page} {who.name}"] = (answer.status_code, VOLATILE.sub("", answer.text))
    for address in (f"/players/{one.name}", "/games/pow2"):
        found[f"page {address}"] = VOLATILE.sub("", everywhere.guest(one).get(address).text)
    for line in (
        f"pow2 show {board}",
        f"pow2 show {board} 2",
        f"pow2 show {one.name}",
        f"pow2 show {one.name} {other.name} all",
        f"pow2 showas {one.name} {PASSWORD} inactive",
    ):
        found[line] = everywhere.answer(line)
    found["verify"] = check(api.parts.store, board)
    for path in ("/api/players/{}/matches?list=finished", "/api/games/pow2/history"):
        found[path] = one.get(path.format(one.name)).text
    lines = f"/api/players/{one.name}/matches.ndjson"
    until(lambda: f'"board":{board},' in one.get(lines).text)  # the last moments are left out
    found[lines] = one.get(lines).text
    found |= _decided(api, one, board)
    return found


def _decided(api: Api, one: Player, board: int) -> Mapping[str, Any]:
    """The receipts of all events, and the outcomes of all commands."""
    address, found = f"/api/matches/{board}", dict[str, Any]()
    for event in api.http.get(f"{address}/events").json():
        seq = event["seq"]
        found[f"receipt {seq}"] = api.http.get(f"{address}/events/{seq}/receipt").text
    for id_ in sorted(api.parts.store.outcomes(board)):
        found[f"outcome {id_.hex()}"] = one.get(f"{address}/commands/{id_.hex()}").json()
    return found


def retire(api: Api, *shards: int) -> int:
    """Publish all, and retire all of these shards, by default of all, that is over; return the number of matches."""
    data, settings = api.parts.data, api.settings
    if not (settings.data / "keys").exists():
        generate_keys(settings.data / "keys", "example.org")
    publisher = make_publisher(settings, data, data)
    publisher.begin()
    while publisher.round(0):
        pass
    pages, log = open_archive(settings)
    rows, done = ArchivedRows(api.parts.data, 4), 0
    for shard in shards or range(4):
        work = Retirement(
            api.parts.store, pages, log, shard, limit=lambda: 1 << 40, after_ms=0, rows=rows
        )
        while work.step() is not None:
            pass
        done += work.retired
    return done


def play(everywhere: Everywhere, one: Player, other: Player, start_key: Mapping[str, str]) -> int:
    """A match with a refusal and chat that has ended; its last move can be repeated."""
    started = one.post(
        "/api/matches", {"game": "pow2", "players": [one.name, other.name]}, headers=start_key
    )
    assert started.status_code == 201, started.text
    board = int(started.json()["board"])
    everywhere.boards(board, one, other)
    assert one.move(board, MOVES[0]).is_success
    assert one.move(board, MOVES[2], headers=REFUSED_KEY).status_code == 409
    assert other.move(board, MOVES[1]).is_success
    assert one.move(board, MOVES[2], headers=KEY).is_success
    assert one.post(f"/api/matches/{board}/chat", {"text": "well played"}).is_success
    assert other.give(board, {"do": "resign"}).is_success
    everywhere.api.caught_up()
    return board


@pytest.fixture(scope="module")
def archived(api: Api, everywhere: Everywhere) -> Archived:
    generate_keys(api.settings.data / "keys", "example.org")
    one, other = everywhere.player(), everywhere.player()
    board = play(everywhere, one, other, START_KEY)
    reads(everywhere, one, other, board)  # by which the chat is read
    before = reads(everywhere, one, other, board)
    assert retire(api) == 1
    assert not api.parts.data.exists(keys.events(keys.shard_of(board, 4), board))
    return Archived(everywhere, one, other, board, before, reads(everywhere, one, other, board))


def at_all(ask: Callable[[str], Result], *where: str) -> Result:
    return same({one: ask(one) for one in where or FRONT_ENDS})


def test_every_way_of_reading_it_shows_the_same(archived):
    after = archived.after
    assert after.keys() == archived.before.keys()
    different = [name for name in after if after[name] != archived.before[name]]
    assert not different
    assert all(status == 200 for status, *_ in (after[f"API {place}"] for place in API_PLACES[:7]))
    assert all(after[f"page {page} {archived.one.name}"][0] == 200 for page in PAGES)
    assert "holds" in after["verify"]
    assert after["the rest of a stream"].count("data:") == 4
    given = [said["receipt"] for name, said in after.items() if name.startswith("outcome ")]
    assert len(given) == 6
    assert all(given)


def test_its_receipts_are_kept_by_its_proofs(archived):
    api, board = archived.everywhere.api, archived.board
    proofs = [api.http.get(f"/api/matches/{board}/events/{seq}/proof").text for seq in range(1, 6)]
    refused = (archived.command_ids() - archived.event_ids()).pop()
    proofs.append(archived.one.get(f"/api/matches/{board}/commands/{refused}/proof").text)
    key = log_keys(api)[board % 4]
    for proof in map(InclusionProof.parse, proofs):
        proof.verify(leaf_hash(proof.extra), key.name, [key])
    receipts = [archived.before[f"receipt {seq}"] for seq in range(1, 6)]
    receipts.append(archived.before[f"outcome {refused}"]["receipt"])
    for receipt, proof in zip(receipts, proofs, strict=True):
        opened = open_receipt(receipt, receipts_keys(api))
        opened.check_leaf(InclusionProof.parse(proof).extra)


def test_a_command_that_is_repeated_gets_its_stored_outcome(archived):
    one, board = archived.one, archived.board
    accepted = one.move(board, MOVES[2], headers=KEY)
    assert (accepted.status_code, accepted.json()["seq"]) == (200, 4)
    refused = one.move(board, MOVES[2], headers=REFUSED_KEY)
    assert (refused.status_code, refused.json()["code"]) == (409, "not-your-turn")
    assert "it is Dark's turn" in refused.json()["detail"]
    other = one.move(board, "m13-i3", headers=KEY)
    assert other.json()["code"] == "id-reused"


def test_commands_are_answered_as_of_any_match_that_is_over(archived):
    everywhere, one, board = archived.everywhere, archived.one, archived.board
    stranger = everywhere.player()
    no_seat = [where for where in FRONT_ENDS if where != SEAT]
    no_page = [where for where in FRONT_ENDS if where != WEB]
    result = at_all(lambda where: everywhere.act(where, one, board, MOVE))
    assert result == Result("match-over", f"T{ARCHIVED_TEXT[1:]}.")
    line = "m13-j7 a13-d7"
    assert at_all(lambda where: everywhere.queue(where, one, board, line)).code == "match-over"
    drafts = at_all(lambda where: everywhere.submit(where, one, board, "m13-j7"), *no_page)
    assert drafts.code == "match-over"
    said = at_all(lambda where: everywhere.chat(where, one, board, "again?"), *no_seat)
    assert said == Result("")
    said = at_all(lambda where: everywhere.chat(where, stranger, board, "hello"), *no_seat)
    assert said.code == "not-a-player"
    acted = at_all(lambda where: everywhere.act(where, stranger, board, MOVE), *no_seat)
    assert acted.code == "not-a-player"
    unknown = at_all(lambda where: everywhere.act(where, one, 999_999, MOVE), *no_seat)
    assert unknown.code == "unknown-board"


def test_an_archive_that_is_away_is_unavailable_for_a_moment(archived, tmp_path):
    api = archived.everywhere.api
    board = play(archived.everywhere, archived.one, archived.other, {})
    assert retire(api) == 1
    folder = api.settings.data / "log"
    folder.rename(tmp_path / "away")
    act, one = archived.everywhere.act, archived.one
    assert act(MAIL, one, board, MOVE) == Result("unavailable"), "it comes again"
    where = [one for one in FRONT_ENDS if one not in (MAIL, SEAT)]
    said = "The archive can't be read right now; try again in a minute."
    assert at_all(lambda at: act(at, one, board, MOVE), *where) == Result("unavailable", said)
    page = archived.everywhere.guest(archived.one).get(f"/m/{board}")
    assert page.status_code == 503
    (tmp_path / "away").rename(folder)
    assert archived.one.get(f"/api/matches/{board}").json()["state"] == "over"


def test_its_players_have_one_rematch(archived):
    path = f"/api/matches/{archived.board}/rematch"
    one, other = (player.post(path, {}) for player in (archived.one, archived.other))
    assert (one.status_code, other.status_code) == (201, 201), one.text
    again = one.json()["board"]
    assert other.json()["board"] == again
    line = f"pow2 rematch {archived.board} {archived.other.name} {PASSWORD}"
    assert archived.everywhere.answer(line).sentence.startswith(f"match {again}, #0: ")
    match = archived.everywhere.api.http.get(f"/api/matches/{again}").json()
    names = [archived.other.name, archived.one.name]
    assert [seat["userid"] for seat in match["players"]] == names


def test_a_players_page_is_there_while_the_archive_is_away(archived, monkeypatch):
    everywhere, one = archived.everywhere, archived.one

    def away(*_: object) -> list[DirectoryEntry]:
        raise Refusal(Code.UNAVAILABLE, "the object store does not answer")

    monkeypatch.setattr(Archive, "entries", away)
    page = everywhere.guest(one).get(f"/players/{one.name}")
    assert page.status_code == 200
    assert "Older finished matches of this list can" in page.text
    assert "No matches have finished yet" not in page.text
    assert everywhere.guest(one).get(f"/players/{one.name}/matches").status_code == 503
