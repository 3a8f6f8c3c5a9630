"""Directors of a tournament: who appoints them, what they decide, and who follows a deleted organiser."""

from collections.abc import Iterator
from itertools import count

import pytest

from domain.errors import Code, Refusal
from domain.tournament.state import Phase
from infra.people.accounts import AccountRole
from infra.people.acts import TERMINAL
from services.app import tournaments
from services.app.accounts import erase_account
from services.app.cases import cases_of
from services.app.context import Actor, App
from services.app.disputes import ClaimAction, RuleAction, Verdict, dispute
from services.app.matches import load_state
from services.app.play import Course, submit
from services.app.receipts import Answered
from services.app.roles import set_role
from services.app.tournament_directors import adjudicate, appoint, director_view
from services.app.tournament_plans import TournamentPlan
from services.app.tournaments import view_of
from tests.helpers.api import Api, Player, until
from tests.helpers.examples import refused
from workers.tournament_manager import TournamentManager

PLAN = TournamentPlan(name="Slingshot Cup", game="goliath", section=3, players=3, when_full=True)
_KEYS = count()


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("directors")) as api:
        yield api


def actor(player: Player) -> Actor:
    return Actor(player.account, "test", str(next(_KEYS)))


def refusal_of(app: App, asked: Course[Answered]) -> Code:
    with pytest.raises(Refusal) as refusal:
        submit(app, asked)
    return refusal.value.code


def tick(api: Api) -> None:
    api.caught_up()
    app = api.parts
    TournamentManager(app.store, app.lanes, app.data).tick()


def begun(api: Api, organiser: Player, players: list[Player]) -> int:
    """The number of a tournament whose three matches have begun."""
    app = api.parts
    number = submit(app, tournaments.draft_tournament(app, actor(organiser), PLAN)).board
    submit(app, tournaments.open_entry(app, actor(organiser), number))
    for one in players:
        submit(app, tournaments.enter(app, actor(one), number))
    tick(api)
    until(lambda: len(app.tournaments.matches(number)) == 3)
    return number


def test_the_organiser_appoints_directors_who_decide_matches(api: Api) -> None:
    app = api.parts
    organiser, director, stranger, *players = api.players(6)
    number = begun(api, organiser, players)
    board = app.tournaments.matches(number)[0].board
    for one in (director, stranger):
        asked = adjudicate(app, actor(one), number, board, "1-0", "Far ahead.")
        assert refusal_of(app, asked) is Code.NOT_AN_ORGANISER
    named = appoint(app, actor(director), number, [director.name])
    assert refusal_of(app, named) is Code.NOT_AN_ORGANISER
    submit(app, appoint(app, actor(organiser), number, [director.name]))
    found = director_view(app, director.account, number)
    assert [one.board for one in found.matches] == sorted(one.board for one in found.matches)
    assert [one.left for one in found.players] == [2, 2, 2]
    refused(Code.NOT_AN_ORGANISER, director_view, app, stranger.account, number)
    unknown = adjudicate(app, actor(director), number, number, "1-0", "Far ahead.")
    assert refusal_of(app, unknown) is Code.UNKNOWN_BOARD
    wrong = adjudicate(app, actor(director), number, board, "--", "Far ahead.")
    assert refusal_of(app, wrong) is Code.BAD_REQUEST
    submit(app, adjudicate(app, actor(director), number, board, "1-0", "Far ahead."))
    tick(api)
    until(lambda: load_state(app, board).over)
    (case,) = cases_of(app, players[0].account, board)[1]
    assert [step.text for step in case.steps] == ["Far ahead."]
    again = adjudicate(app, actor(director), number, board, "0-1", "Far behind.")
    assert refusal_of(app, again) is Code.TOO_LATE


def test_a_director_rules_on_claims_at_matches_of_the_tournament(api: Api) -> None:
    app = api.parts
    organiser, stranger, *players = api.players(5)
    number = begun(api, organiser, players)
    board = app.tournaments.matches(number)[0].board
    claimant = next(one for one in players if one.account in load_state(app, board).seats)
    submit(app, dispute(app, actor(claimant), board, ClaimAction(0, "The clock was wrong.")))
    api.caught_up()
    (waiting,) = director_view(app, organiser.account, number).claims
    assert waiting.board == board
    ruling = RuleAction(Verdict(kind="dismissed"), "It was right.")
    others = [one for one in players if one.account not in load_state(app, board).seats]
    for one in (stranger, *others):
        asked = dispute(app, actor(one), board, ruling)
        assert refusal_of(app, asked) is Code.NOT_AN_ARBITER
    submit(app, dispute(app, actor(organiser), board, ruling))
    assert load_state(app, board).cases[0].arbiter == organiser.account


def test_the_arbiters_follow_an_organiser_who_deletes_the_account(api: Api) -> None:
    app = api.parts
    organiser, arbiter, *players = api.players(5)
    set_role(app, TERMINAL, arbiter.name, AccountRole.ARBITER, held=True)
    number = begun(api, organiser, players)
    draft = submit(app, tournaments.draft_tournament(app, actor(organiser), PLAN)).board
    api.caught_up()
    erase_account(app, organiser.account)
    until(lambda: arbiter.account in view_of(app, arbiter.account, number).state.directors)
    assert view_of(app, None, number).state.phase is Phase.RUNNING
    until(lambda: view_of(app, organiser.account, draft).state.phase is Phase.CANCELLED)
