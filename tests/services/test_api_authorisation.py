"""Who may do what: every route, asked for by all who might be told something else, and every form of a line."""

import json
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import cycle
from pathlib import Path
from secrets import token_hex
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

import services.http.api
from domain.records import command_id
from infra.log.key_files import generate_keys
from infra.people.account_macs import make_mac_key
from infra.people.admission import SignupLink
from infra.people.clubs import Club, ClubRole, Joining
from infra.people.rate_limits import LoginRateLimit
from services.http.app import ROUTES
from services.http.context import API_FRONT_END
from services.language.commands import FORMS
from services.language.parser import parse
from tests.helpers.api import PASSWORD, Api, Player, code_of
from tests.helpers.authorisation import TABLE

EXAMPLES = json.loads((Path(services.http.api.__file__).parent / "examples.json").read_text())

KINDS = ("anonymous", "stranger", "opponent", "spectator")
"""A spectator is a stranger whose token is for reading only."""

BAD_TOKENS = ("revoked", "expired", "of a deleted account", "cut off", "of another scheme")

APART = ("health", "readiness")
"""Routes that do not look at tokens."""

UNDOCUMENTED = {"openapi": "/api/openapi.json", "show_api": "/api"}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(
        tmp_path_factory.mktemp("api"), site="https://x.example", push="on", hooks="on"
    ) as api:
        generate_keys(api.settings.data / "keys", "play.example.org")
        make_mac_key(api.settings.data / "keys")
        yield api


@pytest.fixture(scope="module")
def places(api: Api) -> dict[str, tuple[str, str]]:
    """For each route its method and the template of its path."""
    document = api.http.get("/api/openapi.json").json()
    found = {
        operation["operationId"]: (method.upper(), path)
        for path, item in document["paths"].items()
        for method, operation in item.items()
    }
    return found | {name: ("GET", path) for name, path in UNDOCUMENTED.items()}


FORMS_OF_OAUTH = ("get_app_token", "revoke_app_token", "ask_for_device")
"""Routes that are sent forms."""

PLACEHOLDERS = {
    "ply": 0, "case": 1, "seq": 1, "game": "pow2", "code": "usage", "browser": "0" * 16, "report": "0" * 16,
    "sanction": "0" * 16, "key": "none", "hook": "0" * 16, "delivery": "msg_0",
}  # fmt: skip
"""What stands in paths for what nobody in a world has."""


class World:
    """A match of alice, whose turn it is; what else of hers a route is about is made when it is asked for.

    By the names of the parameters of paths, so that a template is formatted with it.
    """

    def __init__(self, api: Api) -> None:
        self.api = api
        self.alice, self.bob = api.players()
        self.userid, self.opponent = self.alice.name, self.bob.name
        self.board = api.match(self.alice, self.bob)

    def __getitem__(self, name: str) -> Any:
        return PLACEHOLDERS[name] if name in PLACEHOLDERS else getattr(self, name)

    @cached_property
    def challenge(self) -> str:
        return str(self.alice.post("/api/challenges", {"game": "pow2"}).json()["id"])

    @cached_property
    def client(self) -> str:
        return str(self.bob.post("/api/apps", {"name": "Board Watch"}).json()["client_id"])

    @cached_property
    def token(self) -> str:
        (token,) = self.alice.get("/api/tokens").json()
        return str(token["id"])

    @cached_property
    def command(self) -> str:
        refused = self.alice.move(self.board, "m13-a1", headers={"Idempotency-Key": "refused"})
        assert code_of(refused) == "illegal-move"
        return command_id(API_FRONT_END, self.alice.account, "refused").hex()

    @cached_property
    def club(self) -> Club:
        clubs = self.api.parts.clubs
        club = clubs.found(f"club of {self.opponent}", self.bob.account)
        clubs.change(replace(club, joining=Joining.OPEN, pairs_members=True))
        clubs.put_member(club, self.alice.account, ClubRole.MEMBER)
        return club

    @property
    def path(self) -> str:
        return self.club.path

    @cached_property
    def club_link(self) -> tuple[SignupLink, str]:
        return self.api.parts.admissions.make_link(99, 1, club=self.club.id)

    @property
    def link(self) -> str:
        return self.club_link[0].id

    @cached_property
    def number(self) -> int:
        made = self.alice.post("/api/tournaments", {"name": "Cup", "game": "pow2"}).json()
        assert self.alice.post(f"/api/tournaments/{made['board']}/open").is_success
        return int(made["board"])

    @property
    def seq(self) -> int:
        return int(self.api.http.get(f"/api/matches/{self.board}?legal=false").json()["seq"])

    def matches(self) -> int:
        """How many matches alice has, once the lists know of all there are."""
        self.api.caught_up()
        return self.api.parts.lists.counts(self.alice.account).active

    def body(self, route: str) -> Any:
        """What a route is sent."""
        if route == "join_club_by_link":
            return {"link": self.club_link[1]}
        if route == "pair_players":
            pairing = {"players": [self.userid, self.opponent]}
            return {"club": self.path, "game": "goliath", "pairings": [pairing]}
        if route in FORMS_OF_OAUTH:
            given = {"client_id": self.client, "token": "x", "refresh_token": "x"}
            return {"grant_type": "refresh_token", **given}
        bodies = {
            "make_report": {"kind": "player", "userid": self.userid, "reason": "spam"},
            "impose_sanction": {"sanction": "warning", "why": "x"},
            "set_club_role": {"role": "captain"},
            "give_command": {"do": "resign"},
            "decline_challenges": {"userid": self.userid},
            "reveal_text": {"text": "00"},
            "lay_replies": {"lines": [["m13-j7", "a13-d7"]]},
            "make_claim": {"ply": 0, "text": "Look at this"},
            "make_appeal": {"text": "Look again"},
            "give_ruling": {"verdict": "annul", "text": "No match", "own_motion": True},
            "send_message": {"to": [self.opponent], "text": "Hello"},
            "sign_up": {"userid": f"{self.userid}x", "password": PASSWORD},
            "make_token": {"userid": self.opponent, "password": PASSWORD, "label": "x", "scopes": ["read"]},
            "change_password": {"old": PASSWORD, "new": "another-one"},
            "delete_account": {"password": PASSWORD},
            "do_line": f"pow2 show {self.board}",
            "challenge_on_ladder": {"userid": self.userid},
            "make_bot": {"userid": f"bot-{token_hex(4)}"},
            "name_team": {"userids": [self.opponent]},
            "invite_players": {"userids": [self.opponent]},
        }  # fmt: skip
        return bodies.get(route, EXAMPLES.get(route, {}).get("request"))


class Worlds:
    """A world serves until something is done in it: what is refused or only read changes nothing."""

    def __init__(self, api: Api) -> None:
        self._limits = LoginRateLimit(api.parts.data)
        self._api = api
        self._world: World | None = None
        self._before = (0, 0)

    def take(self) -> World:
        if self._world is None:
            self._world = World(self._api)
            self._before = (self._world.seq, self._world.matches())
        self._limits.forget(self._world.userid, "127.0.0.1")
        return self._world

    def check(self) -> None:
        """Fail if a command was done in the world that is in use, or its account changed."""
        if world := self._world:
            assert world.seq == self._before[0], "it was refused and done all the same"
            own = world.alice.get("/api/account").json()
            assert (own["userid"], own["challenges"]) == (world.userid, "anyone")

    def drop(self) -> None:
        """Have another world made, because something is done in this one."""
        self.check()
        if world := self._world:
            assert world.matches() == self._before[1], "a match was refused and begun all the same"
        self._world = None


@pytest.fixture(scope="module")
def kept(api: Api) -> Iterator[Worlds]:
    made = Worlds(api)
    yield made
    made.drop()


@pytest.fixture
def worlds(kept: Worlds) -> Iterator[Worlds]:
    yield kept
    kept.check()


@pytest.fixture(scope="module")
def spectator(api: Api) -> Player:
    return api.player(("read",))


def ask(
    place: tuple[str, str], route: str, world: World, caller: Player | None, headers: dict[str, str]
) -> httpx.Response:
    """Ask a route for what it is there for, with these headers alone saying who asks."""
    method, template = place
    path = template.format_map(world)
    if route == "list_matches":
        path += "?game=pow2"
    if route == "list_scores":
        path = path.replace("pow2", "one")
    body = started_by(world, caller) if route == "start_match" else world.body(route)
    sent: dict[str, Any] = {}
    if route in FORMS_OF_OAUTH:
        sent["data"] = body
    elif isinstance(body, str):
        sent["content"], headers = body, {**headers, "Content-Type": "text/plain"}
    elif body is not None:
        sent["json"] = body
    with world.api.http.stream(method, path, headers=headers, **sent) as answer:
        if not answer.headers.get("content-type", "").startswith("text/event-stream"):
            answer.read()
        return answer


def started_by(world: World, caller: Player | None) -> dict[str, Any]:
    """A match that the caller may start."""
    other = world.alice.name
    return {"game": "pow2", "players": [caller.name if caller else world.bob.name, other]}


def told(answer: httpx.Response) -> str:
    if answer.headers.get("content-type") == "application/json" and not answer.is_success:
        said = answer.json()
        return str(said.get("code", said["error"]))
    return "ok" if answer.is_success else code_of(answer)


def test_every_route_is_in_the_table(places):
    # the published log is public, and has a format of its own: tests/services/test_log_served.py
    names = {handler.handler_name for handler in ROUTES} - {
        "show_log_keys",
        "show_receipts_keys",
        "show_log_object",
    }
    assert names == TABLE.keys() == places.keys()


def telling(row: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The callers who are asked, and what each hears: of two who hear the same, one who tells more."""
    anonymous, stranger, opponent, spectator = zip(KINDS, row, strict=True)
    yield anonymous
    if stranger[1] != opponent[1]:
        yield from (stranger, opponent)
    elif stranger[1] != "ok":  # an opponent may do more
        yield opponent
    elif anonymous[1] != "ok":
        yield stranger
    yield spectator


@pytest.mark.parametrize("route", TABLE)
def test_a_route_does_for_each_what_the_table_says(api, places, worlds, spectator, route):
    said, expected = [], list(telling(TABLE[route]))
    callers = {"anonymous": lambda: None, "stranger": api.player, "spectator": lambda: spectator}
    for kind, wanted in expected:
        world = worlds.take()
        caller = world.bob if kind == "opponent" else callers[kind]()
        if (wanted, places[route][0] == "GET") == ("ok", False):
            worlds.drop()
        answer = ask(places[route], route, world, caller, caller.headers if caller else {})
        said.append((kind, told(answer)))
    assert said == expected


@pytest.fixture(scope="module")
def bad_headers(api: Api) -> dict[str, dict[str, str]]:
    """For each kind of bad token the header that shows it."""
    revoked, deleted = api.players()
    (token,) = revoked.get("/api/tokens").json()
    assert revoked.delete(f"/api/tokens/{token['id']}").is_success
    assert deleted.post("/api/account/deletion", {"password": PASSWORD}).is_success
    expired = api.expired_token()
    return {
        "revoked": revoked.headers,
        "expired": {"Authorization": f"Bearer {expired}"},
        "of a deleted account": deleted.headers,
        "cut off": {"Authorization": f"Bearer {expired[:-1]}"},
        "of another scheme": {"Authorization": f"Basic {expired}"},
    }


def test_a_bad_token_is_refused_everywhere_also_where_none_is_needed(places, worlds, bad_headers):
    world, found = worlds.take(), {}
    for kind, (route, place) in zip(cycle(BAD_TOKENS), places.items(), strict=False):
        answer = ask(place, route, world, world.bob, bad_headers[kind])
        shown = answer.headers.get("WWW-Authenticate", "").partition(" ")[0]
        found[route, kind] = (answer.status_code, told(answer), shown)
    wrong = {401, "unknown-token", "unauthorized", "Bearer"}
    faults = {asked: said for asked, said in found.items() if not wrong.issuperset(said)}
    assert faults.keys() == {asked for asked in found if asked[0] in APART}
    assert {said for _, said, _ in faults.values()} == {"ok"}


def test_who_may_not_ask_is_told_so_before_anything_is_read(api, places, bad_headers, spectator):
    """A refusal tells nothing of what the request would have met."""
    missing = {"board": 999_999, "number": 999_999, "ply": 0, "case": 1, "command": "0" * 32, "challenge": "a" * 10,
               "token": "0" * 16, "userid": "nobody", "browser": "0" * 16, "client": "0" * 32, "path": "nix", "link": "0" * 16, "report": "0" * 16, "sanction": "0" * 16, "key": "none",
                   "hook": "0" * 16, "delivery": "msg_0"}  # fmt: skip
    for route, row in TABLE.items():
        method, template = places[route]
        if row[0] != "unauthorized" or "{" not in template:
            continue
        path = template.format(**missing)
        for headers in ({}, bad_headers["revoked"]):
            answer = api.http.request(method, path, content=b"{not json", headers=headers)
            assert answer.status_code == 401, route
        if row[3] == "missing-scope" and route != "revoke_token":
            answer = api.http.request(
                method, f"{path}?nonsense=1", content=b"{not json", headers=spectator.headers
            )
            assert code_of(answer) == "missing-scope", route


# command lines: every form that asks for a password, by `POST /api/do`

FOR_ANYBODY = (
    "help games signup tournaments tournament list robots multiple all_show all_history all_standings game_help preview"
    " show_boards show_players game_games history standings ratings scores"
)
"""Forms that need no password."""

OF_A_STRANGER = {
    "ok": """
        add x@example.org / change_address x@example.org / set challenges known / vacation 3 / signoff / report {other} spam
        block {other} / unblock {other} / watch / unwatch / unpin / pinned / follow {other} / unfollow {other} / clubs / watching
        message {other} hello / messages / showas {board} / decline_all {other} / previewas m13-j7 / game_set small
        tournament_new pow2 --section=3 Cup / tournament_enter / change_password another-one / delete
    """,
    "not-an-organiser": """
        tournament_open / tournament_start / tournament_end / tournament_code / tournament_invite {other}
        tournament_decide {board} 1-0 far / tournament_directors / tournament_cancel / tournament_confirm
        tournament_withdraw {other} silent gone / tournament_substitute {other} {name} gone
    """,
    "not-allowed": "tournament_challenge {other} / tournament_team {other}",
    "not-started": "tournament_volunteer",
    "not-entered": "tournament_leave",
    "bad-address": "verify 123456",
    "not-a-player": """
        pin / mute / unmute / claim #0 hello / case / move m13-j7 / queue / submit m13-j7 / resign / decline / chat hello
        appeal hello / confirm / rematch
    """,
    "too-early": "analyse",
    "not-an-arbiter": "broadcast hello / cases / rule --own-motion annul hello",
    "unknown-club": "club nix / join nix / leave nix / announce nix hello",
}  # fmt: skip
"""What is said to who is somebody, and neither plays in the match nor organises the tournament; `test_challengers.py` has challenges."""

GAME = "pow2"


def forms() -> Iterator[tuple[str, str, str]]:
    """For each form its name, a line of it, and what is said to a stranger."""
    places = {"BOARD": "{board} ", "NUMBER": "{number} "}
    for code, text in OF_A_STRANGER.items():
        for words in re.split(r" / |\n", text.strip()):
            rule, _, rest = words.strip().partition(" ")
            (form,) = (one for one in FORMS if one.rule == rule)
            place = places.get(form.rest.partition(" ")[0], "")
            game = f"{GAME} " if form.of_game else ""
            yield rule, f"{game}{form.name} {place}{{name}} {{password}} {rest}".strip(), code


def test_every_form_is_in_the_tables():
    found = {rule: line for rule, line, _ in forms()}
    assert {*found, *FOR_ANYBODY.split(), "challenge"} == {form.rule for form in FORMS}
    words = dict.fromkeys(("name", "password", "other"), "a") | {"board": "1", "number": "2"}
    assert {rule: parse(line.format(**words)).form for rule, line in found.items()} == {
        rule: rule for rule in found
    }


def test_a_line_does_nothing_for_who_guesses_a_password_and_for_a_stranger_what_the_table_says(
    api, worlds
):
    world, found = worlds.take(), {}
    shown = cycle(({}, api.player().headers, world.alice.headers))
    table = {rule: ("wrong-password", code) for rule, _, code in forms()}
    for (rule, line, _), headers in zip(forms(), shown, strict=False):
        stranger, said = api.player(), []
        for name, password, more in (
            (world.userid, "guessing1", headers),
            (stranger.name, PASSWORD, {}),
        ):
            place = {"board": world.board, "number": world.number, "other": world.opponent}
            text = line.format(name=name, password=password, **place)
            sent = {"Content-Type": "text/plain", **more}
            answer = api.http.post("/api/do", content=text, headers=sent)
            said.append(answer.headers.get("Matchpost-Code") or "ok")
        worlds.take()  # no guess counts against the next
        found[rule] = tuple(said)
    assert found == table
    worlds.drop()
