"""The declaration of API routes: what stands once, and what is refused when a module is imported."""

import pytest

from domain.errors import Code
from infra.people.tokens import Scope
from services.http.api.auth import Own
from services.http.api.bodies import Sender
from services.http.api.declared import ANY_TOKEN, ANYBODY, ERROR_CODES, ApiRoutes, refuses


def test_a_route_has_what_is_declared_and_the_function_stays_as_it_is():
    api = ApiRoutes("things")

    @api.put("/api/things/{board:int}", "Change a thing", Scope.PLAY, weight=3, tagged=True)
    @refuses(Code.UNKNOWN_BOARD, Code.BUSY)
    def change(board: int) -> int:
        return board + 1

    (route,) = api.all
    assert route.paths == {"/api/things/{board:int}"}
    assert route.http_methods == {"PUT"}
    assert (route.summary, route.tags) == ("Change a thing", ["things"])
    assert route.security == [{"token": ["play"]}]
    assert route.status_code == 200
    assert route.opt[ERROR_CODES] == (Code.UNKNOWN_BOARD, Code.BUSY)
    assert (route.opt["weight"], route.opt["tagged"]) == (3, True)
    assert change(1) == 2


def test_a_function_that_blocks_runs_in_a_thread_and_one_that_returns_nothing_answers_204():
    api = ApiRoutes("things")

    @api.post("/api/things", "Make a thing", ANY_TOKEN, status_code=201, tag="others")
    def make() -> int:
        return 1

    @api.delete("/api/things", "Drop all things", ANYBODY)
    async def drop() -> None:
        pass

    made, dropped = api.all
    assert (made.sync_to_thread, dropped.sync_to_thread) == (True, None)
    assert (made.status_code, dropped.status_code) == (201, 204)
    assert (made.security, dropped.security) == ([{"token": []}], None)
    assert (made.tags, dropped.tags) == (["others"], ["things"])
    assert made.opt[ERROR_CODES] == dropped.opt[ERROR_CODES] == ()


@pytest.mark.parametrize("needs", [ANYBODY, ANY_TOKEN, Scope.READ, Scope.ACCOUNT])
def test_a_route_that_lacks_the_scope_it_acts_by_is_refused_at_its_declaration(needs):
    api = ApiRoutes("things")

    def show(own: Own) -> None:
        pass

    def play(sender: Sender) -> None:
        pass

    with pytest.raises(TypeError, match="play sends commands, and needs no scope for it"):
        api.get("/api/things", "Things", needs)(play)
    assert api.all == []
    if needs is ANYBODY:
        with pytest.raises(TypeError, match="show acts for an account, and needs no token"):
            api.get("/api/things", "Things", needs)(show)


def test_error_codes_that_would_be_lost_are_refused_at_their_declaration():
    def show() -> None:
        pass

    ApiRoutes("things").get("/api/things", "Things", ANYBODY)(show)
    with pytest.raises(TypeError, match="too late"):
        refuses(Code.BUSY)(show)
