"""`verify` holds for what every kind of sender leads to; tests/app/test_whole_games.py plays a match of every game."""

from hashlib import sha256
from typing import get_args

from msgspec.structs import replace

from domain.clocks.time_control import DAY
from domain.errors import Code
from domain.games.halves.position import HalvesMove
from domain.games.halves.rules import canonical
from domain.match import events
from domain.match.commands import (
    AnswerOffer,
    CommandEnvelope,
    EndVacation,
    GiveRuling,
    MakeAppeal,
    MakeClaim,
    StartMatch,
)
from domain.match.events import Event, Flagged, Nagged
from domain.match.history import decode_event, unpack_snapshot
from domain.match.state import position_of
from domain.records import command_id
from domain.rules import rules_by_id
from domain.tournament.events import TournamentEventBody
from infra.audit.stored_match import check
from infra.store.port import Store
from services.app import imports
from services.language import Language
from tests.helpers.api import PASSWORD, Api, until
from tests.helpers.doctor import damaged_matches
from tests.helpers.timed import act_when_due

TIMED = ["--days=3", "--nagtime=1"]


def kinds_of(store: Store, *boards: int) -> set[type]:
    """Return the kinds of events of matches, which must hold."""
    assert dict(damaged_matches(store, boards)) == {}
    return {type(decode_event(data).body) for board in boards for data in store.events(board)}


def by_api(api: Api) -> set[type]:
    """Matches played through the API: moves, offers, answers, conditional moves, and an end."""
    one, other = api.players()
    board = api.match(one, other, terms=TIMED)
    laid = {"lines": [["m13-j7", "a13-d7"]]}
    assert other.put(f"/api/matches/{board}/replies", laid).is_success
    for player, asked in (
        (one, {"do": "move", "move": "M13-j7", "ply": 0}),
        (one, {"do": "offer", "kind": "undo"}),
        (other, {"do": "accept"}),
        (one, {"do": "offer", "kind": "pause"}),
        (other, {"do": "offer", "kind": "pause"}),
        (one, {"do": "resume"}),
        (one, {"do": "offer", "kind": "draw"}),
        (other, {"do": "reject"}),
        (other, {"do": "resign"}),
    ):
        assert player.give(board, asked).json()["accepted"], asked
    gathering = api.match(one, other, game="powerdrain", terms=["--gather", "--entropy=mine"])
    assert other.give(gathering, {"do": "accept", "entropy": "ours"}).json()["accepted"]
    declined = api.match(one, other, game="powerdrain", terms=["--gather"])
    assert other.give(declined, {"do": "reject"}).json()["accepted"]
    made = one.post("/api/challenges", {"game": "powerdrain"}).json()["id"]
    opened = other.post(f"/api/challenges/{made}/accept").json()["board"]
    return kinds_of(api.parts.store, board, gathering, declined, opened)


def by_a_terminal(api: Api) -> set[type]:
    """Matches played with the command language, among them what `confirm` plays."""
    one, other = api.players()
    board = api.match(one, other)
    language = Language(api.parts)
    for name, text in (
        (one.name, "m13-j7#0"), (other.name, "a13-d7"), (one.name, "propose undo"), (other.name, "accept"),
        (one.name, "decline"), (one.name, "resign"),
    ):  # fmt: skip
        answer = language.do(f"pow2 move {board} {name} {PASSWORD} {text}")
        assert answer.code in ("", Code.TOO_LATE), answer
    return kinds_of(api.parts.store, board)


def by_a_vacation(api: Api) -> set[type]:
    """A match whose player goes on vacation and comes back."""
    one, other = api.players()
    board = api.match(one, other, terms=TIMED)
    api.caught_up()
    for value in ("5", "back"):
        assert not Language(api.parts).do(f"vacation {one.name} {PASSWORD} {value}").refused
    heard(api, board, {events.Absent, events.Returned})
    return kinds_of(api.parts.store, board)


def heard(api: Api, board: int, wanted: set[type]) -> None:
    """Wait until a match has events of some kinds: nobody waits for the outcome of what led to them."""
    until(lambda: wanted <= {type(decode_event(d).body) for d in api.parts.store.events(board)})


def by_the_scheduler(api: Api) -> set[type]:
    """A match in which a reminder came, a move was played, and a flag fell."""
    one, other = api.players()
    board = api.begun(one, other, terms=TIMED)
    assert one.move(board, "m13-j7").is_success
    for kind in (Nagged, Flagged):
        keep(api, board, kind)
    return kinds_of(api.parts.store, board)


def keep(api: Api, board: int, kind: type) -> None:
    """Have a scheduler act at the time when a match is due."""
    act_when_due(api, board)
    heard(api, board, {kind})


def by_silence_before_a_draw(api: Api) -> set[type]:
    """A match whose challenger commits to a text, has it in a browser, and never reveals it."""
    one, other = api.players()
    asked = {
        "game": "powerdrain", "players": [one.name, other.name], "terms": ["--gather", *TIMED],
        "commitment": sha256(b"mine").hexdigest(),
    }  # fmt: skip
    board = one.post("/api/matches", asked).json()["board"]
    assert other.give(board, {"do": "accept"}).json()["accepted"]
    api.parts.seen_texts.note(one.account, [board], api.parts.store.now())
    keep(api, board, events.Withheld)
    return kinds_of(api.parts.store, board)


def by_commands_of_before_commitments(api: Api) -> set[type]:
    """A match that was called for and accepted by commands as they were before commitments."""
    seats = tuple(map(api.parts.accounts.id_of, [player.name for player in api.players()]))
    ids = [command_id("api", seats[0], f"old {number} {seats[1].hex()}") for number in range(2)]
    board = api.parts.store.allocate(ids[0])
    start = StartMatch(rules="powerdrain/1", options=(), seats=seats, text=b"mine", gather=True)
    for id_, seat, sent in zip(
        ids, seats, (start, AnswerOffer(accept=True, text=b"ours")), strict=True
    ):
        api.parts.gateway.submit_all([CommandEnvelope(board, id_, seat, sent)])
    heard(api, board, {events.MatchStarted})
    return kinds_of(api.parts.store, board)


def by_arbiters(api: Api) -> set[type]:
    """A claim, a ruling by which the match goes on, an appeal, and a result; with refusals in between."""
    one, other = api.players()
    board = api.begun(one, other, terms=TIMED)
    assert one.move(board, "m13-j7").is_success
    assert other.give(board, {"do": "resign"}).is_success
    (player, rival) = unpack_snapshot(api.parts.store.snapshots([board])[0]).state.seats
    text = bytes(32)
    claim = len(api.parts.store.events(board)) + 1
    ruling = GiveRuling(claim=claim, upheld=True, text=text)
    asked = [
        (rival, MakeClaim(ply=9, text=text)),
        (rival, MakeClaim(ply=1, text=text)),
        (rival, ruling),
        (b"arbiter1", replace(ruling, back_to=1, time=((1, DAY), (0, 7)))),
        (player, MakeAppeal(claim=claim, text=text)),
        (b"arbiter1", replace(ruling, winners=(0,))),
        (b"arbiter2", replace(ruling, winners=(0,))),
    ]
    codes = []
    for number, (actor, command) in enumerate(asked):
        id_ = command_id("test", actor, f"{board}.{number}")
        codes.append(api.parts.gateway.send(CommandEnvelope(board, id_, actor, command), 0).code)
    assert codes == ["unknown-ply", "", "not-an-arbiter", "", "", "not-an-arbiter", ""]
    return kinds_of(api.parts.store, board)


def by_an_operator(api: Api) -> set[type]:
    """A match from elsewhere that its players accept, and go on with."""
    one, other = api.players()
    checked = imports.check_import(b"pow2 challenge cora dan\npow2 move 9 cora * m13-j7\n", ())
    seats = imports.seats_of(api.parts, checked, {"Light": one.name, "Dark": other.name})
    sent = imports.plan_import(api.parts, checked, seats).sent
    assert api.parts.gateway.send(sent, 0).accepted
    for player in (one, other):
        assert player.give(sent.match, {"do": "accept"}).json()["accepted"]
    assert other.move(sent.match, "a13-d7").is_success
    return kinds_of(api.parts.store, sent.match)


SENDERS = (
    by_arbiters, by_api, by_a_terminal, by_a_vacation, by_the_scheduler, by_silence_before_a_draw,
    by_commands_of_before_commitments, by_an_operator,
)  # fmt: skip


def test_every_kind_of_event_by_every_kind_of_sender_holds(api):
    found = {sender.__name__: sender(api) for sender in SENDERS}
    of_matches = {kind for kind in get_args(Event) if not issubclass(kind, TournamentEventBody)}
    # the tests of tournaments and of openings verify these
    of_tournaments = {events.MatchPaired, events.SeatTakenOver, events.OpeningGiven}
    assert of_matches - set().union(*found.values()) == of_tournaments
    assert {Nagged, Flagged, events.Ended} <= found["by_the_scheduler"]
    assert {events.Absent, events.Returned} <= found["by_a_vacation"]
    assert {events.Paused, events.Undone, events.Revealed} <= found["by_api"]


def spelled_otherwise(position: object) -> str:
    """Return a move that halves takes for a legal one that it writes otherwise; empty for none."""
    rules = rules_by_id("halves/1")
    for move in rules.moves(position):
        for kept in range(1, 19):
            other = HalvesMove(move.number, kept)
            if other != move and canonical(position, other) == move:
                return rules.write(other)
    return ""


def test_a_move_that_was_spelled_otherwise_than_it_is_written_holds(terminal):
    board = 1
    assert terminal.begin("halves challenge alice bob -no_contract -tiles_each=9") == board
    text = ""
    while not text:
        state = unpack_snapshot(terminal.app.store.snapshots([board])[0]).state
        assert state.next is not None
        text = spelled_otherwise(position_of(state))
        move = text or next(rules_by_id(state.rules).legal_moves(position_of(state)))
        answer = terminal.move_in("halves", board, ("alice", "bob")[state.next], move)
        assert not answer.refused, answer
    assert text not in unpack_snapshot(terminal.app.store.snapshots([board])[0]).state.moves.split()
    assert "holds" in check(terminal.app.store, board)


def test_a_return_that_waited_until_its_day_was_over_holds(terminal):
    board = terminal.challenge("--days=3")
    assert not terminal.do("vacation alice mad-hatter 5").refused
    store, account = terminal.app.store, terminal.app.accounts.id_of("alice")
    late = CommandEnvelope(
        board, command_id("vacation", account, "late"), account, EndVacation(until=1)
    )
    assert terminal.app.gateway.send(late, 0).accepted
    assert "holds" in check(store, board)
