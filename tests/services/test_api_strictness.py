"""What the API takes and what it does not: parameters, bodies, methods, origins, rates, failures; and what every answer says."""

import json
import re
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from litestar import Litestar, get, post
from litestar.exceptions import ImproperlyConfiguredException

from domain.errors import Code, Refusal
from services.app.error_codes import CODE_INFO
from services.http import middleware
from services.http.api.bodies import MAX_BODY_BYTES
from services.http.api.problem_details import problem_response
from services.http.app import make_routes
from services.http.requests import RouterOfOneApp
from services.http.web.render import render
from services.http.web.session import Visitor
from services.metrics.endpoint import serving_metrics
from tests.helpers.api import Api, Player, code_of
from tests.helpers.conformance import LATER


@pytest.fixture(scope="module")
def player(api: Api) -> Player:
    return api.player()


@pytest.fixture(scope="module")
def board(api: Api, player: Player) -> int:
    return api.begun(player, api.player())


@pytest.fixture(scope="module")
def document(api: Api) -> dict:
    return api.http.get("/api/openapi.json").json()


RESIGN = {"do": "resign"}


def detail(answer: httpx.Response) -> str:
    """The sentence of a bad request."""
    assert (answer.status_code, code_of(answer)) == (400, "bad-request"), answer.text
    return answer.json()["detail"]


def test_a_parameter_is_known_and_given_once(api, board):
    found = detail(api.http.get(f"/api/matches/{board}?lega=true"))
    assert found == "unknown parameter 'lega'; this path has legal"
    bare = detail(api.http.get("/api/games?pretty"))
    assert bare == "unknown parameter 'pretty'; this path has none"
    for query in ("legal=true&legal=false", "legal=true&legal=true"):
        assert detail(api.http.get(f"/api/matches/{board}?{query}"))
    # it is named as it was sent
    assert detail(api.http.get("/api/matches/1/events?from=0")).startswith("from: ")
    assert detail(api.http.get("/api/matches?player=alice&state=over")).startswith("state: ")


def test_numbers_and_yes_and_no_are_written_in_one_way(api, player, board):
    for number in ("+1", "01", "1_0", "%31%30%20", "%EF%BC%91", "0x1", "1.0", "-1"):
        refused = api.http.get(f"/api/matches/{number}")
        assert (refused.status_code, code_of(refused)) in ((404, "not-found"), (400, "bad-request"))
    for number in ("0", str(10**15 + 1), "9" * 30):
        assert detail(api.http.get(f"/api/matches/{number}")), number
    for ply in ("null", "1.0", "01", "+1", "1e0", "", "%D9%A1", "--1"):
        refused = api.http.get(f"/api/matches/{board}/board.svg?ply={ply}")
        assert "whole number" in detail(refused), ply
    for value in ("1", "TRUE", "yes", "", "null", "truefalse"):
        refused = api.http.get(f"/api/matches/{board}?legal={value}")
        assert detail(refused) == f"legal is true or false, not {value!r}"
    for wait in ("nan", "inf", "-inf", "-1", "61", "1e400", "", "soon", "1,5"):
        assert detail(player.give(board, RESIGN, params={"wait": wait})), wait
    for key in ("", "x" * 201):
        assert detail(player.give(board, RESIGN, headers={"Idempotency-Key": key}))


def test_a_body_that_is_not_as_asked_for_is_refused(api, player, board):
    headers = {**player.headers, "Content-Type": "application/json"}
    for body in (
        b"", b"{}", b"[]", b"null", b'"resign"', b"{", b"{'do': 'resign'}", b"\xff",
        b'{"do": "resign"} {"do": "resign"}', b'{"do": "resign", "why": "tired"}',
        b'{"do": ["resign"]}', b'{"do": "move"}', b'{"do": "move", "move": 7}',
        b'{"do": "move", "move": "m13-j7", "ply": "0"}',
        b'{"do": "move", "move": "m13-j7", "ply": 0.5}',
        b'{"do": "move", "move": "m13-j7", "ply": -1}',
        b'{"do": "move", "move": "m13-j7", "ply": true}', b'{"do": "move", "move": "\\ud800"}',
        b"[" * 10_000, b'{"do":' * 5_000,
    ):  # fmt: skip
        refused = api.http.post(f"/api/matches/{board}/commands", content=body, headers=headers)
        assert detail(refused), body
    assert api.http.get(f"/api/matches/{board}").json()["state"] == "active"


def test_a_value_that_is_none_is_answered_with_those_that_there_are(api, player, board):
    found = detail(api.http.get(f"/api/matches?player={player.name}&state=over"))
    assert found == "state: invalid enum value 'over'; it is one of next, active, inactive, all"
    found = detail(player.give(board, {"do": "dance"}))
    assert found.endswith(
        "at `$.do`; it is one of accept, decline, move, offer, reject, resign, resume, reveal"
    )
    sent = {"userid": player.name, "password": "yes-we-can", "scopes": ["read", "dance"]}
    found = detail(api.http.post("/api/tokens", json=sent))
    assert found.endswith("at `$.scopes[1]`; it is one of read, play, account, admin, organise")
    content = b'{"do": "move", "move": "\xe9"}'
    headers = {**player.headers, "Content-Type": "application/json"}
    refused = api.http.post(f"/api/matches/{board}/commands", content=content, headers=headers)
    assert detail(refused) == "in the body: it is not valid UTF-8"


def test_a_body_that_is_too_long_is_cut_off(api, player, board):
    path = f"/api/matches/{board}/commands"
    fits = b'{"do":"resign"' + b" " * (MAX_BODY_BYTES - 15) + b"}"
    for content, status in ((fits + b" ", 413), (b"x" * 10**6, 413)):
        said = api.http.post(path, content=content, headers=player.headers)
        assert (said.status_code, code_of(said)) == (status, "too-long")
        assert said.headers["Connection"] == "close"
    chunked = api.http.post(path, content=iter([b" " * 1_000] * 100), headers=player.headers)
    assert (chunked.status_code, code_of(chunked)) == (413, "too-long")
    mine = api.match(player, api.player())
    good = api.http.post(f"/api/matches/{mine}/commands", content=fits, headers=player.headers)
    assert good.status_code == 200


def test_a_body_is_json_and_says_so_or_nothing(api, player, board):
    path, content = f"/api/matches/{board}/commands", json.dumps(RESIGN)
    for kind in (
        "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
        "application/x-msgpack", "application/jsonp", "x",
    ):  # fmt: skip
        headers = {**player.headers, "Content-Type": kind}
        refused = api.http.post(path, content=content, headers=headers)
        assert (refused.status_code, code_of(refused)) == (415, "bad-request"), kind
        assert "application/json" in refused.json()["detail"]
    body = json.dumps({"to": [api.player().name], "text": "Hello"}).encode()
    for kind in ("application/json; charset=utf-8", "Application/JSON", None):
        headers = {**player.headers, **({"Content-Type": kind} if kind else {})}
        assert api.http.post("/api/messages", content=body, headers=headers).status_code == 204
    # without a token it has to say so
    refused = api.http.post("/api/accounts", content='{"userid": "x", "password": "yes-we-can"}')
    assert (refused.status_code, code_of(refused)) == (415, "bad-request")
    assert "send it as application/json" in refused.json()["detail"]


def test_what_can_not_be_done_with_a_place_is_refused_with_what_can(api):
    for method, path, allowed in (
        ("PUT", "/api/matches/1", "GET, HEAD, OPTIONS"),
        ("DELETE", "/api/matches", "GET, HEAD, OPTIONS, POST"),
        ("HEAD", "/api/do", "OPTIONS, POST"),
        ("TRACE", "/healthz", "GET, HEAD, OPTIONS"),
        ("PROPFIND", "/api/account", "GET, HEAD, OPTIONS, PATCH"),
    ):
        said = api.http.request(method, path)
        assert (said.status_code, said.headers["Allow"]) == (405, allowed), (method, path)
        if method != "HEAD":
            assert code_of(said) == "not-allowed"
        options = api.http.options(path)
        told = options.status_code, options.content, options.headers["Allow"]
        assert told == (204, b"", allowed)
    # a stroke at the end changes nothing
    assert api.http.get("/api/matches/1/replies/").status_code == 401


def test_no_path_has_two_handlers_of_a_method_and_those_of_options_are_one():
    @get("/one", sync_to_thread=False)
    def one() -> None: ...

    @post("/one", sync_to_thread=False)
    def other() -> None: ...

    routed = Litestar([RouterOfOneApp("/", route_handlers=[one, other])], openapi_config=None)
    (made,) = routed.routes
    assert made.methods == {"GET", "POST", "OPTIONS"}
    with pytest.raises(ImproperlyConfiguredException, match="/one has two handlers of one method"):
        RouterOfOneApp("/", route_handlers=[one, other, one])
    answering = {
        id(handler)
        for whole in make_routes().routes
        for handler in whole.route_handlers
        if "OPTIONS" in handler.http_methods
    }
    assert len(answering) == 2, "one for each router"


def test_a_head_is_a_get_without_its_body(api, board, player):
    for path in (f"/api/matches/{board}/board.svg", "/api/games", "/api/nowhere", "/healthz"):
        whole, head = api.http.get(path), api.http.head(path)
        assert (head.status_code, head.content) == (whole.status_code, b"")
        for name in ("content-type", "content-length", "etag", "cache-control"):
            assert head.headers.get(name) == whole.headers.get(name), (path, name)
    etag = api.http.head(f"/api/matches/{board}").headers["ETag"]
    again = api.http.head(f"/api/matches/{board}", headers={"If-None-Match": etag})
    assert again.status_code == 304
    live = {"Accept": "text/event-stream", **player.headers}
    for path in (f"/api/matches/{board}/events", "/api/account/events"):
        head = api.http.head(path, headers=live)  # and not for ever
        assert head.headers["content-type"].startswith("text/event-stream")


@pytest.mark.parametrize(
    ("path", "kind", "body"),
    [
        ("/api/do", "text/plain", "signup mallory yes-we-can"),
        ("/api/accounts", "application/json", '{"userid": "mallory", "password": "yes-we-can"}'),
    ],
)
def test_what_a_page_of_another_site_sends_needs_a_token(api, player, path, kind, body):
    from_there = {"Content-Type": kind, "Sec-Fetch-Site": "cross-site"}
    refused = api.http.post(path, content=body, headers=from_there)
    assert (refused.status_code, code_of(refused)) == (403, "cross-site")
    assert code_of(api.http.get("/api/players/mallory")) == "unknown-user"
    assert api.http.get("/api/games", headers=from_there).is_success
    line = {"Content-Type": "text/plain", "Sec-Fetch-Site": "cross-site", **player.headers}
    assert api.http.post("/api/do", content="games", headers=line).is_success


def test_pages_of_other_sites_may_read_what_is_for_programs_and_no_cookie_counts_there(
    api, player, board, document
):
    elsewhere = {"Origin": "https://club.example"}
    wanted = {"authorization", "content-type", "idempotency-key", "last-event-id", "if-none-match"}
    asked = {**elsewhere, "Access-Control-Request-Headers": "authorization"}
    assert len(document["paths"]) > 100
    for template, item in document["paths"].items():
        answer = api.http.options(re.sub(r"\{\w+\}", "1", template), headers=asked)
        allowed = {method.upper() for method in item} | ({"HEAD"} if "get" in item else set())
        said = answer.headers["Access-Control-Allow-Methods"].split(", ")
        assert (answer.status_code, {*said} - {"OPTIONS"}) == (204, allowed), template
        named = answer.headers["Access-Control-Allow-Headers"].lower().split(", ")
        assert wanted <= {*named}, template
        assert answer.headers.get_list("access-control-allow-origin") == ["*"], template
        assert "access-control-allow-credentials" not in answer.headers, template
    path = f"/api/matches/{board}"
    answers = [api.http.get(one, headers=elsewhere) for one in (path, "/api/nowhere", "/healthz")]
    answers.append(player.get("/api/account", headers=elsewhere))
    answers.append(player.give(board, {"do": "resume"}))
    answers.append(api.http.head(f"{path}/events", headers={"Accept": "text/event-stream"}))
    for headers in (answer.headers for answer in answers):
        assert headers.get_list("access-control-allow-origin") == ["*"]
        assert "access-control-allow-credentials" not in headers
        exposed = headers["Access-Control-Expose-Headers"].split(", ")
        assert {"Location", "RateLimit", "Retry-After"} <= {*exposed}
    for page in ("/", "/login", "/m/1"):
        for answer in (api.http.get(page, headers=elsewhere), api.http.options(page)):
            assert "access-control-allow-origin" not in answer.headers


def test_answers_for_programs_stand_in_no_frame_and_on_no_other_site(api, player, board):
    paths = ("/api/games", f"/api/matches/{board}", "/api/nowhere", "/log/s00/nothing", "/healthz")
    answers = [api.http.get(path) for path in paths]
    answers.append(player.give(board, {"do": "propose", "offer": "draw"}))
    for answer in answers:
        (policy,) = answer.headers.get_list("content-security-policy")
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    picture = api.http.get(f"/api/matches/{board}/board.svg").headers
    assert "cross-origin-resource-policy" not in picture
    assert "strict-transport-security" not in picture


def test_where_the_site_has_https_every_answer_says_so(tmp_path):
    with Api(tmp_path, site="https://play.example.org") as api:
        one, other = api.players()
        board = api.match(one, other)
        paths = ("/", "/api/games", f"/m/{board}/embed", "/nowhere")
        answers = [api.http.get(path) for path in paths]
        answers.append(one.give(board, {"do": "propose", "offer": "draw"}))
        for answer in answers:
            assert answer.headers["strict-transport-security"] == "max-age=31536000"
        assert "frame-ancestors *" in answers[2].headers["content-security-policy"]


def test_who_asks_for_nothing_that_is_there_or_of_no_host_is_told_so(api):
    for path in ("/api/nowhere", "/nowhere", "/api/matches/1/nowhere", "/api/matches/abc"):
        refused = api.http.get(path)
        assert (refused.status_code, code_of(refused)) == (404, "not-found")
    assert detail(api.http.get("/api/games", headers={"Host": "a b"}))


def test_who_shows_no_token_is_counted_by_address_and_who_does_is_not(tmp_path, monkeypatch):
    pauses = []

    async def pause() -> None:
        pauses.append(1)

    monkeypatch.setattr(middleware, "pause", pause)
    with Api(tmp_path, address_rate=3) as api:
        player = api.player()
        said = [api.http.get("/api/games") for _ in range(4)]
        assert [answer.status_code for answer in said] == [200, 200, 200, 429]
        assert len(pauses) == 1, "only an answer that a limit is exceeded comes late"
        assert said[2].headers["RateLimit-Policy"] == '"address";q=3;w=60'
        assert re.fullmatch(r'"address";r=0;t=(5\d|60)', said[2].headers["RateLimit"])
        assert code_of(said[-1]) == "too-fast"
        seconds = int(said[-1].headers["Retry-After"])
        assert 1 <= seconds <= 20
        assert f"try again in {seconds} second" in said[-1].json()["detail"]
        assert all(player.get("/api/games").is_success for _ in range(3))
        bad = {"Authorization": "Bearer mp_nonsense"}
        assert code_of(api.http.get("/api/games", headers=bad)) == "too-fast"
        assert api.http.get("/healthz").is_success
        spoofed = {"X-Forwarded-For": "192.0.2.1"}
        assert api.http.get("/api/games", headers=spoofed).status_code == 429
        form = api.http.post("/api/oauth/device", data={"client_id": "x"})
        assert (form.status_code, form.json()["error"]) == (429, "temporarily_unavailable")
        assert int(form.headers["Retry-After"]) > 0


def test_a_trusted_proxy_says_whose_request_it_is_and_some_requests_cost_more(tmp_path):
    with Api(tmp_path, address_rate=5, trusted_proxy="on") as api:

        def statuses(forwarded: str, method: str = "GET", path: str = "/api/games") -> list[int]:
            sent = {"headers": {"X-Forwarded-For": forwarded}, "json": {}}
            return [api.http.request(method, path, **sent).status_code for _ in range(6)]

        taken, refused = [200] * 5 + [429], [429] * 6
        assert statuses("192.0.2.1") == taken
        assert statuses("192.0.2.1, 192.0.2.2") == taken
        assert statuses("192.0.2.9, 192.0.2.2") == refused  # the first is what anybody wrote
        assert statuses("2001:db8:1:2::1") == taken
        assert statuses("2001:db8:1:2:ffff::2") == refused  # the same household
        assert statuses("::ffff:192.0.2.7") == taken
        assert statuses("192.0.2.7") == refused
        assert statuses("nonsense") == taken
        assert statuses("more nonsense") == refused  # all that is none is one
        assert statuses("192.0.2.10", "POST", "/api/games/torere/judge") == [200] + [429] * 5
        assert statuses("192.0.2.11", "POST", "/api/oauth/device") == [415] + [429] * 5


def test_an_account_is_counted_whatever_its_token_and_address(tmp_path):
    with Api(tmp_path, command_rate=2, address_rate=4) as api:
        one, other = api.players()
        second = api.parts.tokens.issue(one.account, "second", ["read"]).text
        # a read with a token is not dearer than one without
        said = [one.get("/api/account") for _ in range(4)]
        left = [answer.headers["RateLimit"][:12] for answer in said]
        assert left == [f'"reads";r={number};' for number in (3, 2, 1, 0)]
        headers = {"Authorization": f"Bearer {second}"}
        refused = api.http.get("/api/account", headers=headers)
        assert (refused.status_code, code_of(refused)) == (429, "too-fast")
        assert other.get("/api/account").is_success
        said = [one.patch("/api/account", {"notify": "none"}) for _ in range(3)]
        assert [answer.status_code for answer in said] == [200, 200, 429]
        line = api.http.post("/api/do", content="games", headers=one.headers)
        for answer in (said[-1], line):
            seconds = int(answer.headers["Retry-After"])
            assert 1 <= seconds <= 30
            assert f"commands in a minute; try again in {seconds} second" in answer.text


POLICY = re.compile(r'"(commands|reads|address)";q=[1-9][0-9]*;w=60')
LEFT = re.compile(r'"(commands|reads|address)";r=[0-9]+;t=[0-9]+')


def test_each_answer_to_a_caller_says_what_is_left_also_a_stream_and_one_without_a_body(api):
    """As draft-ietf-httpapi-ratelimit-headers-10 has it."""
    alice, bob = api.players()
    board = api.begun(alice, bob)
    match = f"/api/matches/{board}"
    tag = alice.get(match).headers["ETag"]
    streams = {"Accept": "text/event-stream"}
    with api.client() as client, client.stream("GET", f"{match}/events", headers=streams) as stream:
        rows = (
            ("address", 200, api.http.get(match)),
            ("address", 200, stream),
            ("address", 401, api.http.get("/api/account")),
            ("address", 400, api.http.post("/api/oauth/token", data={"client_id": "x"})),
            ("reads", 200, alice.get(match)),
            ("reads", 304, alice.get(match, headers={"If-None-Match": tag})),
            ("reads", 404, alice.get("/api/matches/999999999")),
            ("commands", 200, alice.move(board, "m13-j7")),
            ("commands", 409, alice.move(board, "m1-i3")),
        )
        for name, status, answer in rows:
            policy = POLICY.fullmatch(answer.headers["RateLimit-Policy"])
            left = LEFT.fullmatch(answer.headers["RateLimit"])
            found = [one and one[1] for one in (policy, left)]
            assert (answer.status_code, found) == (status, [name, name]), answer.headers


def test_each_answer_that_means_later_says_when_in_the_document_and_on_a_page(document):
    """That real answers do is asserted of each that any test gets: `tests.helpers.conformance`."""
    named = [
        (operation["operationId"], int(status), "Retry-After" in answer.get("headers", {}))
        for item in document["paths"].values()
        for operation in item.values()
        for status, answer in operation["responses"].items()
        if int(status) in LATER
    ]
    assert [one for one in named if not one[2]] == []
    assert {status for _, status, _ in named} == {*LATER}
    visitor = Visitor("", secure=False, path="/", partial=False)
    form = {"wanted": "", "name": "", "games": (), "returns_to": "", "passkeys": False}
    for code in (code for code, known in CODE_INFO.items() if known.status in LATER):
        answer = problem_response(code, "x", retry_after=7)
        page = render("login.html", visitor, reason=Refusal(code, "x", 7), provider="", **form)
        assert (answer.headers["Retry-After"], page.headers["Retry-After"]) == ("7", "7"), code
        assert int(problem_response(code, "x").headers["Retry-After"]) > 0
    assert "Retry-After" not in problem_response(Code.NOT_FOUND, "x").headers


def test_a_server_that_does_not_answer_is_said_to_be_unavailable(tmp_path):
    with Api(tmp_path) as api:
        player = api.player()
        board = api.match(player, api.player())
        assert api.http.get("/healthz").json()["status"] == "ok"
        api.server.stop()
        assert api.http.get("/healthz").json()["status"] == "ok"
        for answer in (
            api.http.get("/readyz"),
            api.http.get(f"/api/matches/{board}"),
            player.give(board, RESIGN),
            player.get("/api/account"),
            api.http.get(f"/api/matches/{board}/events"),
        ):
            assert (answer.status_code, code_of(answer)) == (503, "unavailable")
            assert answer.headers["Retry-After"] == "5"
        api.server.start()
        assert player.give(board, RESIGN).is_success


def test_what_is_measured_names_routes_and_no_more(api, player, board):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: api.http.get(f"/api/matches/{board}/plies/{n}"), range(8)))
    api.http.request("PROPFIND", "/api/games")
    api.http.get("/somewhere/else")
    with serving_metrics("127.0.0.1:0") as place:
        told = httpx.get(place, trust_env=False, timeout=60)
    assert told.headers["content-type"].startswith("text/plain")
    assert 'method="GET",route="/api/matches/{board}/plies/{ply}",status="200"' in told.text
    assert 'method="other",route="none",status="405"' in told.text
    assert 'method="GET",route="none",status="404"' in told.text
    assert player.name not in told.text
    assert player.token not in told.text
