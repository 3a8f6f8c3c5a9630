"""Who may do what: every route, asked for by everybody."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from fakes.api import PASSWORD, Api, Player, code_of

import services.api
from domain.match.events import command_id
from services.api.app import ROUTES
from services.api.hand import DOOR

EXAMPLES = json.loads((Path(services.api.__file__).parent / "examples.json").read_text())

KINDS = ("anonymous", "stranger", "opponent", "spectator")
"""A spectator is a stranger whose token is for reading only."""

BAD_TOKENS = ("revoked", "expired", "of a deleted account", "cut off", "of another scheme")

# what each is answered with: `ok`, or the code of the refusal
PUBLIC = ("ok", "ok", "ok", "ok")
OWN_TO_READ = ("unauthorized", "ok", "ok", "ok")
OWN_TO_PLAY = ("unauthorized", "ok", "ok", "missing-scope")
OWN_TO_CHANGE = ("unauthorized", "ok", "ok", "missing-scope")
OF_THE_MATCH_TO_READ = ("unauthorized", "not-a-player", "ok", "not-a-player")
OF_THE_MATCH_TO_PLAY = ("unauthorized", "not-a-player", "ok", "missing-scope")

TABLE = {
    # matches
    "show_match": PUBLIC,
    "show_ply": PUBLIC,
    "show_svg": PUBLIC,
    "show_text": PUBLIC,
    "show_events": PUBLIC,
    "list_matches": PUBLIC,
    "start_match": OWN_TO_PLAY,
    "give_command": OF_THE_MATCH_TO_PLAY,
    "command_outcome": OF_THE_MATCH_TO_PLAY,
    # a text proves itself, whoever brings it; the match that is meant waits for none
    "reveal_text": ("too-late", "too-late", "too-late", "too-late"),
    "show_replies": OF_THE_MATCH_TO_READ,
    "lay_replies": OF_THE_MATCH_TO_PLAY,
    "drop_replies": OF_THE_MATCH_TO_PLAY,
    "show_chat": OF_THE_MATCH_TO_READ,
    "say": OF_THE_MATCH_TO_PLAY,
    # challenges; the one that is meant is of neither of the four
    "list_challenges": PUBLIC,
    "show_challenge": PUBLIC,
    "open_challenge": OWN_TO_PLAY,
    "accept_challenge": OWN_TO_PLAY,
    "withdraw_challenge": ("unauthorized", "not-a-player", "not-a-player", "missing-scope"),
    "own_challenges": OWN_TO_READ,
    # the own account
    "sign_up": PUBLIC,
    "show_account": OWN_TO_READ,
    "change_account": OWN_TO_CHANGE,
    "change_addresses": OWN_TO_CHANGE,
    "change_password": OWN_TO_CHANGE,
    "delete_account": OWN_TO_CHANGE,
    "list_messages": OWN_TO_READ,
    "send_message": OWN_TO_PLAY,
    "mark_messages": OWN_TO_READ,
    "list_notices": OWN_TO_READ,
    "follow_account": OWN_TO_READ,
    # tokens; the one that is meant is of another account
    "make_token": PUBLIC,
    "list_tokens": OWN_TO_CHANGE,
    "revoke_token": ("unauthorized", "not-found", "not-found", "missing-scope"),
    # what anybody may know
    "show_player": PUBLIC,
    "list_ratings": PUBLIC,
    "show_rating": PUBLIC,
    "list_standings": PUBLIC,
    "list_history": PUBLIC,
    "show_head_to_head": PUBLIC,
    "list_scores": PUBLIC,
    "list_games": PUBLIC,
    "show_game": PUBLIC,
    "show_help": PUBLIC,
    "do_line": PUBLIC,
    "show_error": PUBLIC,
    "openapi": PUBLIC,
    "show_api": PUBLIC,
    "health": PUBLIC,
    "metrics": PUBLIC,
}

APART = ("health", "metrics")
"""Routes that do not look at tokens."""

UNDOCUMENTED = {"openapi": "/api/openapi.json", "show_api": "/api", "metrics": "/metrics"}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api")) as api:
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


class World(NamedTuple):
    """A match of alice, whose turn it is, and what else of hers a route may be about."""

    alice: Player
    bob: Player
    board: int
    names: dict[str, Any]
    bodies: dict[str, Any]


def new_world(api: Api) -> World:
    alice, bob = api.players()
    board = api.match(alice, bob)
    made = alice.post("/api/challenges", {"game": "pow2"}).json()
    (token,) = alice.get("/api/tokens").json()
    refused = alice.move(board, "m13-a1", headers={"Idempotency-Key": "refused"})
    assert code_of(refused) == "illegal-move"
    names = {
        "board": board, "ply": 0, "command": command_id(DOOR, alice.account, "refused").hex(), "challenge": made["id"],
        "token": token["id"], "userid": alice.name, "opponent": bob.name, "game": "pow2",
        "code": "usage",
    }  # fmt: skip
    bodies = {
        "give_command": {"do": "resign"},
        "reveal_text": {"text": "00"},
        "lay_replies": {"lines": [["m13-j7", "a13-d7"]]},
        "send_message": {"to": [bob.name], "text": "Hello"},
        "sign_up": {"userid": f"{alice.name}x", "password": PASSWORD},
        "make_token": {"userid": bob.name, "password": PASSWORD, "label": "x", "scopes": ["read"]},
        "change_password": {"old": PASSWORD, "new": "another-one"},
        "delete_account": {"password": PASSWORD},
        "do_line": f"pow2 show {board}",
    }
    return World(alice, bob, board, names, bodies)


def who(api: Api, world: World, kind: str) -> Player | None:
    if kind == "anonymous":
        return None
    if kind == "opponent":
        return world.bob
    return api.player(("read",)) if kind == "spectator" else api.player()


def ask(
    api: Api, place: tuple[str, str], route: str, world: World, headers: dict[str, str]
) -> httpx.Response:
    """Ask a route for what it is there for, with these headers alone saying who asks."""
    method, template = place
    path = template.format(**world.names)
    if route == "list_matches":
        path += "?game=pow2"
    if route == "list_scores":
        path = path.replace("pow2", "one")
    body = world.bodies.get(route, EXAMPLES.get(route, {}).get("request"))
    sent: dict[str, Any] = {}
    if isinstance(body, str):
        sent["content"], headers = body, {**headers, "Content-Type": "text/plain"}
    elif body is not None:
        sent["json"] = body
    with api.http.stream(method, path, headers=headers, **sent) as answer:
        if not answer.headers.get("content-type", "").startswith("text/event-stream"):
            answer.read()
        return answer


def started_by(world: World, caller: Player | None) -> dict[str, Any]:
    """A match that the caller may start."""
    other = world.alice.name
    return {"game": "pow2", "players": [caller.name if caller else world.bob.name, other]}


def told(answer: httpx.Response) -> str:
    return "ok" if answer.is_success else code_of(answer)


def test_every_route_is_in_the_table(places):
    assert {handler.handler_name for handler in ROUTES} == TABLE.keys() == places.keys()


@pytest.fixture(scope="module")
def quiet_world(api: Api) -> World:
    """A world that nobody changes."""
    return new_world(api)


@pytest.mark.parametrize("route", TABLE)
def test_a_route_does_for_each_what_the_table_says(api, places, quiet_world, route):
    said = []
    for kind in KINDS:
        world = quiet_world if places[route][0] == "GET" else new_world(api)
        caller = who(api, world, kind)
        world.bodies["start_match"] = started_by(world, caller)
        before = seq_of(api, world)
        answer = ask(api, places[route], route, world, caller.headers if caller else {})
        said.append(told(answer))
        if not answer.is_success:
            assert seq_of(api, world) == before, "it was refused and done all the same"
            assert world.alice.get("/api/account").is_success
    assert tuple(said) == TABLE[route]


def seq_of(api: Api, world: World) -> int:
    return int(api.http.get(f"/api/matches/{world.board}?legal=false").json()["seq"])


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


@pytest.mark.parametrize("kind", BAD_TOKENS)
def test_a_bad_token_is_refused_everywhere_also_where_none_is_needed(
    api, places, bad_headers, kind
):
    world = new_world(api)
    world.bodies["start_match"] = started_by(world, world.bob)
    before = seq_of(api, world)
    for route, place in places.items():
        answer = ask(api, place, route, world, bad_headers[kind])
        if route in APART:
            assert answer.is_success
            continue
        assert answer.status_code == 401, route
        assert code_of(answer) in ("unknown-token", "unauthorized"), route
        assert answer.headers["WWW-Authenticate"].startswith("Bearer"), route
    assert seq_of(api, world) == before


def test_who_may_not_ask_is_told_so_before_anything_is_read(api, places, bad_headers):
    """A refusal tells nothing of what the request would have met."""
    missing = {"board": 999_999, "ply": 0, "command": "0" * 32, "challenge": "a" * 10,
               "token": "0" * 16}  # fmt: skip
    spectator = api.player(("read",))
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
