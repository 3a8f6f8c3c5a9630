"""Makes the examples of the OpenAPI document: one exchange that calls every operation once.

    python -m tests.golden.make_api

writes them to `services/http/api/examples.json`. A test has the same exchange again, and compares.
"""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from domain.engine.match_analysis import ANALYSIS_VERSION
from domain.engine.turning_points import AnalysedPosition
from infra.backup.notes import BackupPlace
from infra.log.key_files import generate_keys
from infra.people.account_macs import AccountMacs, make_mac_key
from infra.people.accounts import AccountRole, create_robot_accounts
from infra.people.tokens import Scope
from infra.store.analyses import Analyses, StoredAnalysis
from services.app.apps import answer_device
from services.app.context import App
from services.app.matches import load_state
from services.app.tournaments import view_of
from services.http.api.bodies import FORM_TYPE
from tests.helpers.analysing import listening
from tests.helpers.api import Api, Player, until
from tests.helpers.publishing import publish
from workers.tournament_manager import TournamentManager

FILE = Path(__file__).parents[2] / "services" / "http" / "api" / "examples.json"

LISTED = 8
"""Words of a list that are shown."""

TEXT = 600
"""Characters of a text that are shown."""

SETTINGS = {
    "site": "https://play.example.org",
    "push": "on",
    "hooks": "on",
    "backup": "/srv/matchpost-backups",
}
"""The settings of the server that the exchange is with."""

SECRETS = {
    "token": "mp_...",
    "secret": "whsec_...",
    "access_token": "mp_...",
    "refresh_token": "mr_...",
    "device_code": "BCDFGHJK...",
    "user_code": "BCDF-GHJK",
    "verification_uri_complete": "https://play.example.org/device?user_code=BCDF-GHJK",
}
"""What stands in examples for texts that are drawn."""

BROWSER = {
    "endpoint": "https://updates.push.services.mozilla.com/wpush/v2/gAAAA",
    "keys": {  # the example of RFC 8291
        "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "auth": "BTBZMqHH6r4Tts7J_aSIgg",
    },
    "label": "Firefox on Linux",
}

LINE = (
    '{"board":1,"rules":"pow2/1","options":[],"accounts":["9a32eb45bd3d2dcb","bd2b9dbd4e24e4ac"],'
    '"started":1795290911146,"ended":1795290954120,"setup":null,"moves":"m13-j7 a13-d7","left":[],'
    '"winners":[0],"reason":"resignation","rated":true,"tournament":null,"opening":0,"imported":false,'
    f'"head":"{"3f" * 32}","players":["alice","bob"],"cursor":"1795290954120-1"}}\n'
)
"""A line of a stream, of which the exchange may have none yet."""

PASSWORDS = {"alice": "mad-hatter", "bob": "yes-we-can", "carol": "sing-along"}


class Exchange:
    """Calls operations and notes what was said."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.places: dict[str, tuple[str, str]] = {}
        self.forms: set[str] = set()
        self.examples: dict[str, dict[str, Any]] = {}
        for path, item in api.http.get("/api/openapi.json").json()["paths"].items():
            for method, operation in item.items():
                name, body = operation["operationId"], operation.get("requestBody", {"content": ()})
                self.places[name] = method.upper(), path
                if FORM_TYPE in body["content"]:
                    self.forms.add(name)

    def call(
        self, operation: str, who: Player | None = None, body: Any = None, **given: Any
    ) -> Any:
        """Call an operation; gives what was answered."""
        method, path = self.places[operation]
        names = {name: value for name, value in given.items() if f"{{{name}}}" in path}
        rest = {name: value for name, value in given.items() if name not in names}
        headers = {name: rest.pop(name) for name in list(rest) if "-" in name}
        sent: dict[str, Any] = {"params": rest}
        if isinstance(body, str):
            sent["content"], headers["Content-Type"] = body, "text/plain"
        elif body is not None:
            sent["data" if operation in self.forms else "json"] = body
        headers |= who.headers if who else {}
        answer = self.api.http.request(method, path.format(**names), headers=headers, **sent)
        assert answer.is_success, (operation, answer.text)
        example: dict[str, Any] = {}
        shown = {name: value for name, value in given.items() if name != "Last-Event-ID"}
        if shown:
            example["parameters"] = shown
        if body is not None:
            example["request"] = body
        if answer.content:
            example["response"] = shortened(_read(answer))
        for name, text in SECRETS.items():  # no example may look like a secret
            for place in ("request", "response"):
                if name in (fields := example.get(place) or {}):
                    example[place] = {**fields, name: text}
        self.examples[operation] = example
        return _read(answer) if answer.content else None

    def listen(self, operation: str, who: Player, count: int) -> None:
        """Note the first of a stream of server-sent events."""
        _, path = self.places[operation]
        headers = {**who.headers, "Last-Event-ID": "0-0-0-a"}
        said: list[str] = []
        with self.api.http.stream("GET", path, headers=headers) as answer:
            for line in answer.iter_lines():
                said.append(line)
                if said.count("") == count:
                    break
        self.examples[operation] = {"response": "\n".join(said) + "\n"}


def _read(answer: Any) -> Any:
    if answer.headers["content-type"].startswith("application/x-ndjson"):
        return answer.text
    if answer.headers["content-type"] == "application/zip":
        return answer.content[:2].decode()  # the rest has times
    if answer.headers["content-type"] == "image/png":
        return answer.content[1:4].decode()
    return answer.json() if "json" in answer.headers["content-type"] else answer.text


def shortened(value: Any) -> Any:
    """Give a value with long lists of words and long texts cut short."""
    if isinstance(value, dict):
        return {name: shortened(one) for name, one in value.items()}
    if isinstance(value, list):
        cut = value[:LISTED] if all(isinstance(one, str) for one in value) else value[:3]
        return [shortened(one) for one in cut]
    return value[:TEXT] if isinstance(value, str) else value


def exchange(api: Api) -> dict[str, dict[str, Any]]:
    """Call every operation once; gives parameters, body and answer of each."""
    create_robot_accounts(api.parts.data, AccountMacs())
    generate_keys(api.settings.data / "keys", "play.example.org")
    make_mac_key(api.settings.data / "keys")
    said = Exchange(api)
    _enter(said)
    alice, bob = (_player(said, name) for name in ("alice", "bob"))
    _play(said, alice, bob)
    _write(said, alice, bob)
    _dispute(said, alice, bob)
    _challenge(said, alice, bob)
    _meet(said, alice, bob)
    _moderate(said, bob)
    _compete(said, alice, bob)
    _climb(said, alice, bob)
    _look(said, alice, bob)
    _reveal(said, alice, bob)
    _administer(said)
    _connect(said, alice)
    _leave(said, alice)
    return dict(sorted(said.examples.items()))


def _enter(said: Exchange) -> None:
    for name, password in reversed(PASSWORDS.items()):
        addresses = ["alice@example.org"] if name == "alice" else []
        body = {"userid": name, "password": password, "addresses": addresses}
        said.call("sign_up", body=body)


def _player(said: Exchange, name: str) -> Player:
    wanted = {"label": "my bot", "scopes": ["read", "play", "account"], "days": 90}
    body = {"userid": name, "password": PASSWORDS[name], **wanted}
    made = said.call("make_token", body=body)
    return Player(said.api, name, b"", made["token"])


def _with_token(said: Exchange, name: str, label: str, scope: str) -> Player:
    parts = said.api.parts
    account = parts.accounts.id_of(name)
    return Player(said.api, name, account, parts.tokens.issue(account, label, (scope,), 90).text)


def _play(said: Exchange, alice: Player, bob: Player) -> None:
    new = {"game": "pow2", "players": ["alice", "bob"], "terms": ["--days=3"]}
    board = said.call("start_match", alice, new, **{"Idempotency-Key": "7d3c-start"})["board"]
    move = {"do": "move", "move": "m13-j7", "ply": 0}
    key = {"Idempotency-Key": "7d3c-1"}
    made = said.call("give_command", alice, move, board=board, wait=10, **key)
    said.call("command_outcome", alice, board=board, command=made["id"])
    lines = [["a13-d7", "m1-i3"]]
    said.call("lay_replies", alice, {"lines": lines}, board=board)
    said.call("show_replies", alice, board=board)
    said.call("drop_replies", alice, board=board)
    bob.move(board, "a13-d7")
    said.call("submit_draft", alice, {"move": "m1-i3"}, board=board)
    said.call("show_draft", alice, board=board)
    said.call("confirm_draft", alice, board=board)
    said.call("submit_draft", bob, {"move": "a1-e3"}, board=board)
    said.call("drop_draft", bob, board=board)
    said.call("show_match", board=board, legal=True)
    said.call("show_ply", board=board, ply=1)
    said.call("show_svg", board=board, ply=1)
    said.call("show_png", board=board, ply=1)
    said.call("show_text", board=board, display="small")
    said.call("show_text_board", board=board, ply=0, display="small", move="m13-j7")
    said.call("show_game_text", board=board)
    said.call("show_events", board=board, **{"from": 2})
    said.call("event_receipt", board=board, seq=2)
    said.call("command_receipt", alice, board=board, command=made["id"])
    publish(said.api)
    said.call("event_proof", board=board, seq=2)
    said.call("command_proof", alice, board=board, command=made["id"])
    said.call("export_document", board=board)
    bob.give(board, {"do": "resign"})


def _write(said: Exchange, alice: Player, bob: Player) -> None:
    said.call("say", alice, {"text": "Well played!"}, board=1)
    said.call("show_chat", bob, board=1)
    said.call("send_message", alice, {"to": ["bob"], "text": "Another one?"})
    (message,) = said.call("list_messages", bob)["messages"]
    said.call("mark_messages", bob, {"until": message["at"]})


def _dispute(said: Exchange, alice: Player, bob: Player) -> None:
    arbiter = said.api.player_of("carol")
    said.api.parts.accounts.set_role("carol", AccountRole.ARBITER, held=True)
    key = {"Idempotency-Key": "7d3c-3"}
    claim = {"ply": 2, "text": "My clock ran during the pause."}
    said.call("make_claim", alice, claim, board=1, **key)
    said.api.caught_up()
    said.call("list_waiting_cases", arbiter)
    ruling = {"verdict": "result", "winners": ["Dark"], "text": "The pause was over by then."}
    said.call("give_ruling", arbiter, ruling, board=1)
    said.call("make_appeal", alice, {"text": "Nobody had ended it."}, board=1)
    (case,) = said.call("list_cases", bob, board=1)["cases"]
    publish(said.api)
    said.call("show_evidence", bob, board=1, case=case["case"])


def _challenge(said: Exchange, alice: Player, bob: Player) -> None:
    new = {"game": "pow2", "options": ["-fast"], "note": "beginners welcome"}
    made = said.call("open_challenge", alice, new)
    said.call("list_challenges", game="pow2")
    said.call("own_challenges", alice)
    said.call("accept_challenge", bob, challenge=made["id"])
    said.call("show_challenge", challenge=made["id"])
    other = said.api.http.post("/api/challenges", json=new, headers=alice.headers).json()
    said.call("withdraw_challenge", alice, challenge=other["id"])
    third = said.api.http.post("/api/challenges", json=new, headers=alice.headers).json()
    said.call("add_robot", alice, {"level": "easy"}, challenge=third["id"])
    said.call("list_robots")
    said.call("start_rematch", bob, {"commitment": ""}, board=1)
    said.api.caught_up()
    said.call("list_invitations", alice)
    said.call("decline_challenges", alice, {"userid": "bob"})


def _look(said: Exchange, alice: Player, bob: Player) -> None:
    puzzle = alice.post("/api/matches", {"game": "one", "players": ["alice"]}).json()["board"]
    for move in ("a5", "done"):
        assert alice.move(puzzle, move).is_success
    with listening(said.api.parts):
        said.call("request_analysis", alice, board=puzzle)
    _analyse(said)
    said.api.caught_up()
    said.call("list_matches", player="alice", state="active")
    said.call("show_player", userid="alice")
    said.call("stream_matches", userid="alice")
    said.examples["stream_matches"]["response"] = LINE
    said.call("list_dump")
    said.call("list_ratings", game="pow2")
    said.call("show_rating", game="pow2", userid="alice")
    said.call("list_standings", game="pow2")
    said.call("list_history", game="pow2", player="alice")
    said.call("show_head_to_head", game="pow2", userid="alice", opponent="bob")
    said.call("list_scores", game="one")
    said.call("list_notices", bob)
    said.listen("follow_account", bob, 2)
    said.call("list_games")
    said.call("show_game", game="pow2")
    said.call("show_game_schema", game="torere")
    said.call("judge_game", body={"moves": ["4-0"]}, game="torere", picture=True)
    said.call("show_help", topic="pow2")
    said.call("do_line", body="pow2 show 1", **{"Idempotency-Key": "7d3c-2"})
    said.call("show_error", code="stale-ply")
    said.call("health")
    said.call("readiness")


def _analyse(said: Exchange) -> None:
    """Show an analysis that was written here, because the engine's own changes with the engine."""
    parts = said.api.parts
    state = load_state(parts, 1)
    values, better = (0.5, 0.52, 0.47, 0.3), ("m1-i1", "a1-e3")
    positions = tuple(
        AnalysedPosition(
            (value, 1 - value), ply % 2, move, better if ply == len(values) - 2 else (), ""
        )
        for ply, (value, move) in enumerate(
            zip(values, [*state.first_moves(state.ply), ""], strict=True)
        )
    )
    Analyses(parts.data).put(1, StoredAnalysis(ANALYSIS_VERSION, state.seq, state.ply, positions))
    said.call("show_analysis", board=1)


def _reveal(said: Exchange, alice: Player, bob: Player) -> None:
    text = b"32 bytes that nobody can guess.."
    new = {"game": "powerdrain", "players": ["alice", "bob"], "terms": ["--gather"]}
    commitment = sha256(text).hexdigest()
    made = alice.post("/api/matches", {**new, "commitment": commitment}).json()
    bob.give(made["board"], {"do": "accept"})
    said.call("reveal_text", body={"text": text.hex()}, board=made["board"])


def _administer(said: Exchange) -> None:
    parts = said.api.parts
    parts.accounts.set_role("carol", AccountRole.OPERATOR, held=True)
    carol = _with_token(said, "carol", "office", "admin")
    made = said.call("admin_make_account", carol, {"userid": "dora"})
    said.examples["admin_make_account"]["response"] = made | {"password": "k7tm-4qzp-w2xh"}
    said.call("suspend_account", carol, {"why": "spam in three chats"}, userid="dora")
    said.call("reinstate_account", carol, {"why": "it was somebody else"}, userid="dora")
    said.call("admin_log_out", carol, userid="dora")
    fresh = said.call("reset_account", carol, {}, userid="dora")
    said.examples["reset_account"]["response"] = fresh | {"password": "7fgp-x3rn-qa5d"}
    said.call("change_role", carol, {"role": "moderator"}, userid="dora")
    said.call("list_accounts", carol, starts="d")
    new = {"uses": 30, "days": 14, "note": "class 7b"}
    link = said.call("admin_make_link", carol, new)
    said.examples["admin_make_link"]["response"]["text"] = f"{link['id']}..."
    said.call("list_signup_links", carol)
    said.call("admin_revoke_link", carol, link=link["id"])
    said.call("admin_change_admission", carol, {"trial": "off"})
    said.call("show_admission", carol)
    said.call("admin_switch_games", carol, {"off": ["goliath"]})
    said.call("admin_switch_games", carol, {"on": ["goliath"]})
    said.call("list_switched_games", carol)
    said.call("list_acts", carol)
    report = said.call("show_report", carol)
    said.examples["show_report"]["response"] = {**report, "findings": [_finding(report)]}
    BackupPlace(parts.settings.data).path.mkdir()
    said.call("start_backup", carol)
    listed = said.call("list_backups", carol)
    kept = [{"id": "20260128T033000Z", "begun": 1_769_571_000_000}]
    said.examples["list_backups"]["response"] = {**listed, "backups": kept}
    site = {
        "name": "Nordclub",
        "contact": "club@example.org",
        "texts": {"rules": {"en": "Be kind.", "de": "Seid nett."}},
        "banner": {"en": "No server on Sunday."},
        "banner_until": "2099-12-24",
    }
    said.call("change_own_site", carol, site)
    said.call("show_site")


def _finding(report: Any) -> Any:
    """Return a finding that does not depend on the machine."""
    return next(one for one in report["findings"] if one["about"] == "lists")


def _meet(said: Exchange, alice: Player, bob: Player) -> None:
    accounts = said.api.parts.accounts
    accounts.set_role("alice", AccountRole.OPERATOR, held=True)
    said.call("found_club", alice, {"name": "Rook & Pawn"})
    club = {"path": "rook-pawn"}
    said.call(
        "change_club", alice, {"text": "We play on *Fridays*.", "pairs_members": True}, **club
    )
    said.call("join_club", bob, **club)
    said.call("answer_club_request", alice, {"admit": True}, userid="bob", **club)
    said.call("set_club_role", alice, {"role": "captain"}, userid="bob", **club)
    said.call("announce_to_club", alice, {"text": "We meet on Friday."}, **club)
    pairings = [{"players": ["bob", "alice"], "label": "Round 1, board 1"}]
    batch = {"club": "rook-pawn", "game": "goliath", "terms": ["--days=3"], "pairings": pairings}
    tool = _with_token(said, "alice", "pairing tool", "organise")
    said.call("pair_players", tool, batch, **{"Idempotency-Key": "round 1"})
    said.call("show_pairings", tool, key="round 1")
    link = said.call("make_club_link", alice, {"uses": 30}, **club)
    said.call("leave_club", bob, **club)
    said.call("join_club_by_link", bob, {"link": link["link"]})
    said.examples["make_club_link"]["response"]["link"] = "..."  # no example may look like a secret
    said.examples["join_club_by_link"]["request"]["link"] = "..."
    said.call("revoke_club_link", alice, link=link["id"], **club)
    said.call("show_club", alice, **club)
    said.call("list_clubs")
    said.call("remove_club_member", alice, userid="bob", **club)
    said.call("close_club", alice, **club)
    accounts.set_role("alice", AccountRole.OPERATOR, held=False)


def _moderate(said: Exchange, bob: Player) -> None:
    accounts = said.api.parts.accounts
    accounts.set_role("alice", AccountRole.MODERATOR, held=True)
    staff = _with_token(said, "alice", "staff", "admin")
    eve = said.api.player(name="eve")
    sent = {"kind": "player", "userid": "eve", "reason": "spam", "words": "the same text 20 times"}
    made = said.call("make_report", bob, sent)
    said.call("list_reports", staff)
    verdict = {"sanction": "no-chat", "days": 7, "why": "spam"}
    said.call("decide_report", staff, verdict, report=made["id"])
    (held,) = said.call("list_sanctions", eve)["sanctions"]
    said.call("appeal_sanction", eve, {"words": "It was not me."}, sanction=held["id"])
    warned = said.call(
        "impose_sanction", staff, {"sanction": "warning", "why": "spam"}, userid="eve"
    )
    said.call("answer_appeal", staff, {"lifts": True}, userid="eve", sanction=warned["id"])
    accounts.set_role("alice", AccountRole.MODERATOR, held=False)


def _compete(said: Exchange, alice: Player, bob: Player) -> None:
    parts = said.api.parts
    cup = {"name": "Spring Cup", "game": "goliath", "terms": ["--days=3"], "section": 3}
    key = {"Idempotency-Key": "7d3c-4"}
    number = said.call("make_tournament", alice, cup, **key)["board"]
    said.call("change_tournament", alice, {**_TEXT_OF_CUP}, number=number)
    said.call("open_tournament", alice, number=number)
    said.call("enter_tournament", alice, {"robot": ""}, number=number)
    said.call("leave_tournament", alice, number=number)
    frieda = said.api.player(name="frieda")
    players = {parts.accounts.id_of(one.name): one for one in (alice, bob, frieda)}
    _enter_tournament(number, *players.values())
    said.call("start_tournament", alice, number=number)
    manager = TournamentManager(parts.store, parts.lanes, parts.data)
    _turn(said, manager, lambda: len(parts.tournaments.matches(number)) == len(players))
    boards = [one.board for one in parts.tournaments.matches(number).values()]
    for board in boards:
        loser = players[load_state(parts, board).seats[0]]
        assert loser.give(board, {"do": "resign"}).is_success
    _turn(said, manager, lambda: view_of(parts, None, number).state.phase == "finished")
    said.call("show_tournament", number=number)
    said.call("show_tournament_events", number=number, limit=2)
    said.call("export_tournament_document", number=number)
    said.call("list_tournaments", list="running")
    said.call("confirm_places", alice, number=number)
    other = _opened(alice, cup)
    _enter_tournament(other, bob, frieda, said.api.player(name="gerda"))
    assert alice.post(f"/api/tournaments/{other}/start").is_success
    gone = {"userid": "gerda", "kind": "accepted", "text": "Gerda is ill."}
    said.call("withdraw_player", alice, gone, number=other)
    rounds = {**cup, "name": "Swiss of Three", "form": "swiss", "rounds": 2}
    swiss = _opened(alice, rounds)
    _enter_tournament(swiss, *players.values())
    assert alice.post(f"/api/tournaments/{swiss}/start").is_success
    _turn(said, manager, lambda: view_of(parts, None, swiss).state.stage == 1)
    _turn(said, manager, lambda: len(parts.tournaments.matches(swiss)) == 1)
    said.call("show_trf", number=swiss)
    said.call("volunteer_as_substitute", said.api.player(name="hanna"), number=other)
    taken = {"userid": "frieda", "substitute": "hanna", "text": "Frieda is ill."}
    said.call("substitute_player", alice, taken, number=other)
    said.call("appoint_directors", alice, {"userids": ["bob"]}, number=other)
    _turn(said, manager, lambda: _boards_of(parts, other))
    (board,) = _boards_of(parts, other)
    decided = {"board": board, "result": "1-0", "text": "Alice is far ahead."}
    said.call("adjudicate_match", alice, decided, number=other)
    other = alice.post("/api/tournaments", cup).json()["board"]
    said.call("cancel_tournament", alice, number=other)
    _choose_entrants(said, alice, cup)


def _opened(organiser: Player, plan: dict[str, Any]) -> int:
    """The number of a tournament that is open for entry."""
    number = organiser.post("/api/tournaments", plan).json()["board"]
    assert organiser.post(f"/api/tournaments/{number}/open").is_success
    return int(number)


def _enter_tournament(number: int, *players: Player) -> None:
    for one in players:
        assert one.post(f"/api/tournaments/{number}/entry", {"robot": ""}).is_success


def _choose_entrants(said: Exchange, alice: Player, cup: dict[str, Any]) -> None:
    four = {**cup, "form": "teams", "team_size": 2}
    other = _opened(alice, four)
    said.call("name_team", alice, {"userids": ["alice", "frieda"]}, number=other)
    closed = {**cup, "name": "Closed Cup", "entry": {"invited": True}, "by_code": True}
    other = _opened(alice, closed)
    said.call("invite_players", alice, {"userids": ["bob", "frieda"]}, number=other)
    said.call("make_tournament_code", alice, number=other)


def _boards_of(parts: App, number: int) -> list[int]:
    """Return the matches of a tournament that have begun, and whose players have not left."""
    matches = parts.tournaments.matches(number).values()
    return [one.board for one in matches if one.board and not one.unfinished]


def _climb(said: Exchange, alice: Player, bob: Player) -> None:
    """Start a ladder of two, and end it after a challenge."""
    parts = said.api.parts
    plan = {"name": "Ladder", "game": "goliath", "form": "ladder", "terms": ["--days=3"]}
    number = _opened(alice, plan)
    players = {parts.accounts.id_of(one.name): one for one in (alice, bob)}
    _enter_tournament(number, *players.values())
    assert alice.post(f"/api/tournaments/{number}/start").is_success
    first, second = view_of(parts, None, number).players
    dare = {"userid": players[first].name}
    said.call("challenge_on_ladder", players[second], dare, number=number)
    said.call("end_ladder", alice, number=number)


_TEXT_OF_CUP = {"name": "Spring Cup", "text": "For *everybody*, by the rules of the club."}


def _turn(said: Exchange, manager: TournamentManager, done: Callable[[], bool]) -> None:
    """Have the manager act on all that is known, until its commands are decided."""
    said.api.caught_up()
    manager.tick()

    def known() -> bool:
        said.api.caught_up()
        return done()

    until(known)


def _tell_programs(said: Exchange, alice: Player) -> None:
    said.call("make_bot", alice, {"userid": "bot-deep"})
    rules = {"games": ["pow2", "line"], "rated": "unrated", "most_days": 7, "at_once": 4}
    said.call("change_bot", alice, rules, userid="bot-deep")
    made = said.call("make_bot_token", alice, {"label": "at home"}, userid="bot-deep")
    said.call("list_bots", alice)
    said.call("revoke_bot_token", alice, userid="bot-deep", token=made["id"])
    said.call("delete_bot", alice, {}, userid="bot-deep")
    webhook = {"address": "https://example.org/matchpost", "topics": ["turn"], "label": "my bot"}
    hook = said.call("make_webhook", alice, webhook)["id"]
    said.call("renew_webhook_secret", alice, {}, hook=hook)
    said.call("switch_webhook_on", alice, {}, hook=hook)
    said.call("list_webhooks", alice)
    delivery = said.call("send_webhook_test", alice, hook=hook)["id"]
    said.call("send_webhook_again", alice, hook=hook, delivery=delivery)
    said.call("list_webhook_deliveries", alice, hook=hook)
    said.call("remove_webhook", alice, hook=hook)


def _leave(said: Exchange, alice: Player) -> None:
    said.call("show_account", alice)
    said.call("take_vacation", alice, {"days": 14})
    said.call("show_vacation", alice)
    said.call("end_vacation", alice)
    said.call("make_calendar", alice)
    said.examples["make_calendar"]["response"] = {"path": "/calendar/....ics"}
    said.call("show_calendar", alice)
    said.call("end_calendar", alice)
    said.call("watch_board", alice, board=1)
    said.call("follow_player", alice, userid="bob")
    said.call("list_following", alice)
    said.call("unwatch_board", alice, board=1)
    said.call("unfollow_player", alice, userid="bob")
    said.call("pin_match", alice, board=1)
    said.call("list_pins", alice)
    said.call("unpin_match", alice, board=1)
    said.call("mute_chat", alice, board=1)
    said.call("unmute_chat", alice, board=1)
    said.call("block_player", alice, userid="bob")
    said.call("list_blocks", alice)
    said.call("unblock_player", alice, userid="bob")
    browser = said.call("add_push", alice, BROWSER)
    said.call("list_push", alice)
    said.call("remove_push", alice, browser=browser["id"])
    _tell_programs(said, alice)
    said.call("change_account", alice, {"language": "de", "displays": {"pow2": "small"}})
    said.call("change_addresses", alice, {"addresses": ["alice@example.net"]})
    passwords = {"old": "mad-hatter", "new": "looking-glass", "tokens": "keep"}
    said.call("change_password", alice, passwords)
    said.call("export_account", alice)
    tokens = said.call("list_tokens", alice)
    dora = said.api.player(name="dora2")
    said.call("log_out_everywhere", dora)
    carol = said.api.player(name="carol2")
    said.call("delete_account", carol, {"password": "yes-we-can"})
    said.call("revoke_token", alice, token=tokens[0]["id"])


def _connect(said: Exchange, alice: Player) -> None:
    body = {"name": "Board Watch", "redirect_uris": ["http://127.0.0.1/callback"]}
    client = said.call("register_app", alice, body)["client_id"]
    said.call("list_apps", alice)
    said.call("show_oauth_metadata")
    asked = said.call("ask_for_device", body={"client_id": client, "scope": "read play"})
    parts = said.api.parts
    answer_device(parts, parts.accounts.id_of("alice"), asked["user_code"], allowed=True)
    grant = "urn:ietf:params:oauth:grant-type:device_code"
    body = {"grant_type": grant, "client_id": client, "device_code": asked["device_code"]}
    token = said.call("get_app_token", body=body)
    said.call("list_connected_apps", alice)
    body = {"client_id": client, "token": token["refresh_token"]}
    said.call("revoke_app_token", body=body)
    parts.grants.begin(parts.accounts.id_of("alice"), client, (Scope.READ,))
    said.call("disconnect_app", alice, client=client)
    said.call("remove_app", alice, client=client)


if __name__ == "__main__":
    with TemporaryDirectory() as folder, Api(Path(folder), **SETTINGS) as rig:
        FILE.write_text(json.dumps(exchange(rig), indent=1, ensure_ascii=False) + "\n")
