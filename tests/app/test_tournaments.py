"""Tournaments as players and organisers use them: who may make, see and enter one, and what becomes of entries."""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.tournament.state import Phase
from infra.audit.stored_match import check_match
from infra.languages.wording import IN_ENGLISH
from infra.people.account_macs import AccountMacs
from infra.people.accounts import AccountRole, create_robot_accounts
from infra.people.acts import TERMINAL
from infra.people.clubs import ClubAudience, ClubRole, Joining
from infra.people.moderation import Sanction, SanctionKind
from infra.people.statements import ROUND_ENDED
from services.app import tournaments
from services.app.accounts import erase_account
from services.app.cases import cases_of
from services.app.clubs import ClubChanges, change_club, found_club, join
from services.app.context import Actor
from services.app.disputes import ClaimAction, RuleAction, Verdict, dispute
from services.app.matches import load_state, statements_of
from services.app.play import Course, submit
from services.app.receipts import Answered
from services.app.roles import set_role
from services.app.tournament_directors import adjudicate, appoint, director_view
from services.app.tournament_feed import NewsKind, feed_of
from services.app.tournament_plans import TournamentPlan
from services.app.tournaments import plan_like, tournaments_for, view_of, visible_state
from services.words.tournaments import terms_lines
from tests.helpers.api import Api, Player, until
from tests.helpers.examples import refused
from workers.tournament_manager import TournamentManager

PLAN = TournamentPlan(name="Slingshot Cup", game="goliath", section=3, players=3, when_full=True)
_KEYS = count()


def prepare(api: Api) -> None:
    api.parts.admissions.change({"clubs": "members"})
    create_robot_accounts(api.parts.people, AccountMacs())


def actor(player: Player) -> Actor:
    return Actor(player.account, "test", str(next(_KEYS)))


def made(api: Api, organiser: Player, plan: TournamentPlan = PLAN, *, opened: bool = True) -> int:
    answered = do(api, organiser, tournaments.draft_tournament, plan)
    if opened:
        do(api, organiser, tournaments.open_entry, answered.board)
    return answered.board


def tick(api: Api) -> None:
    """Have the manager act on all that is known."""
    api.caught_up()
    app = api.parts
    TournamentManager(app.store, app.lanes, app.data).tick()


def enter(api: Api, player: Player, number: int, robot: str = "") -> None:
    do(api, player, tournaments.enter, number, robot)


def do(api: Api, player: Player, what: Callable[..., Course[Answered]], *given: Any) -> Answered:
    """Have a player do something with a tournament."""
    return submit(api.parts, what(api.parts, actor(player), *given))


def code(api: Api, player: Player, what: Callable[..., Course[Answered]], *given: Any) -> Code:
    """The code with which it is refused."""
    with pytest.raises(Refusal) as refusal:
        do(api, player, what, *given)
    return refusal.value.code


def impose(api: Api, player: Player) -> None:
    """Keep a player from new matches."""
    held = Sanction(
        id="", kind=SanctionKind.NO_MATCHES, since=api.parts.store.now(), by=b"", why="rude"
    )
    api.parts.moderation.impose(player.account, held)


def names(api: Api, viewer: bytes | None, name: str) -> list[int]:
    api.caught_up()
    return [one.row.number for one in tournaments_for(api.parts, viewer, name)]


def test_a_draft_is_its_organisers_alone(api: Api) -> None:
    organiser, other = api.players()
    number = made(api, organiser, opened=False)
    assert view_of(api.parts, organiser.account, number).said.name == "Slingshot Cup"
    refused(Code.UNKNOWN_TOURNAMENT, view_of, api.parts, other.account, number)
    assert number in names(api, organiser.account, "own")
    assert number not in names(api, other.account, "open")


def test_terms_that_cannot_be_are_refused(api: Api) -> None:
    organiser = api.player()
    plan = replace(PLAN, game="pow2", section=2)
    assert code(api, organiser, tournaments.draft_tournament, plan) == Code.BAD_OPTION
    plan = replace(PLAN, game="no")
    assert code(api, organiser, tournaments.draft_tournament, plan) == Code.UNKNOWN_GAME


def test_an_organiser_has_a_few_at_a_time(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournaments, "MOST_ORGANISED", 1)
    organiser = api.player()
    number = made(api, organiser)
    api.caught_up()
    assert code(api, organiser, tournaments.draft_tournament, PLAN) == Code.TOO_MANY
    do(api, organiser, tournaments.cancel, number)
    api.caught_up()
    assert made(api, organiser) > number


def test_a_repeated_draft_is_the_same_tournament(api: Api) -> None:
    organiser = api.player()
    twice = Actor(organiser.account, "test", "the same key")
    first, second = (
        submit(api.parts, tournaments.draft_tournament(api.parts, twice, PLAN)).board
        for _ in range(2)
    )
    assert first == second


def test_a_tournament_of_a_club_is_for_its_members(api: Api) -> None:
    organiser, member, stranger = api.players(3)
    path = found_club(api.parts, organiser.account, f"Club {organiser.name}").path
    change_club(
        api.parts,
        organiser.account,
        path,
        ClubChanges(joining=Joining.OPEN, visible_to=ClubAudience.EVERYBODY),
    )
    join(api.parts, member.account, path)
    number = made(api, organiser, replace(PLAN, club=path))
    assert code(api, stranger, tournaments.enter, number) == Code.AGAINST_TERMS
    enter(api, member, number)
    change_club(api.parts, organiser.account, path, ClubChanges(visible_to=ClubAudience.CLUB))
    refused(Code.UNKNOWN_TOURNAMENT, view_of, api.parts, stranger.account, number)
    assert number not in names(api, None, "open")
    assert number in names(api, member.account, "open")
    mine = replace(PLAN, club=path)
    assert code(api, stranger, tournaments.draft_tournament, mine) in (
        Code.UNKNOWN_CLUB,
        Code.NOT_AN_ORGANISER,
    )
    api.parts.clubs.put_member(api.parts.clubs.at(path), member.account, ClubRole.ORGANISER)
    assert made(api, member, mine)


def test_an_organiser_enters_robots_where_the_tournament_says_so(api: Api) -> None:
    organiser, other = api.players()
    without, with_robots = made(api, organiser), made(api, organiser, replace(PLAN, robots=True))
    assert code(api, organiser, tournaments.enter, without, "robot-easy") == Code.AGAINST_TERMS
    assert code(api, other, tournaments.enter, with_robots, "robot-easy") == Code.NOT_AN_ORGANISER
    assert code(api, organiser, tournaments.enter, with_robots, other.name) == Code.AGAINST_TERMS
    enter(api, organiser, with_robots, "robot-easy")
    assert len(view_of(api.parts, None, with_robots).players) == 1


def test_the_organiser_changes_name_and_text_and_lists_have_names(api: Api) -> None:
    organiser, other = api.players()
    number = made(api, organiser)
    tournaments.change_text(api.parts, organiser.account, number, "Sling Cup", "Bring *stones*.")
    assert view_of(api.parts, None, number).said.text == "Bring *stones*."
    change = tournaments.change_text
    refused(Code.NOT_AN_ORGANISER, change, api.parts, other.account, number, "x", "")
    refused(Code.BAD_NAME, change, api.parts, organiser.account, number, " ", "")
    refused(Code.BAD_REQUEST, tournaments_for, api.parts, None, "best")


# players who leave


def begun(api: Api, organiser: Player, players: list[Player]) -> int:
    """The number of a tournament whose matches have begun."""
    count = len(players)
    number = made(api, organiser, replace(PLAN, section=count, players=count))
    for one in players:
        enter(api, one, number)
    tick(api)
    until(lambda: len(api.parts.tournaments.matches(number)) == count * (count - 1) // 2)
    return number


def running(api: Api, count: int = 4) -> tuple[Player, list[Player], int]:
    """Return the organiser, the players and the number of a section in which all matches have begun."""
    organiser, *players = api.players(count + 1)
    number = begun(api, organiser, players)
    by_number = [one.account for one in view_of(api.parts, None, number).state.entrants]
    return organiser, sorted(players, key=lambda one: by_number.index(one.account)), number


def take_out(api: Api, director: Player, player: Player, number: int, kind: str) -> None:
    do(api, director, tournaments.withdraw, number, player.name, kind, "No word for six weeks.")


def own_boards(api: Api, player: Player, number: int) -> list[int]:
    view = view_of(api.parts, None, number)
    place = view.players.index(player.account)
    pairings = dict(view.state.pairings)
    return [
        match.board
        for pairing, match in sorted(view.matches.items())
        if place in (pairings[pairing].first, pairings[pairing].second)
    ]


def cells(api: Api, number: int) -> list[str]:
    """Each player's cells, in the order of their numbers."""
    (table,) = view_of(api.parts, None, number).tables
    ordered = sorted(table.lines, key=lambda line: line.player)
    return [" ".join(cell.half or "." for cell in line.cells) for line in ordered]


def ended(api: Api, boards: list[int]) -> bool:
    return all(load_state(api.parts, board).over for board in boards)


def test_a_silent_player_loses_what_is_left_and_the_matches_end(api: Api) -> None:
    organiser, players, number = running(api)
    boards = own_boards(api, players[0], number)
    assert len(boards) == 3
    other = load_state(api.parts, boards[0]).seats
    (first,) = (one for one in players[1:] if one.account in other)
    assert first.give(boards[0], {"do": "resign"}).is_success
    tick(api)
    until(lambda: view_of(api.parts, None, number).left == 5)
    take_out(api, organiser, players[0], number, "silent")
    assert cells(api, number) == ["- - +", "+ . .", "+ . .", "- . ."]
    tick(api)
    until(lambda: ended(api, boards))
    later = load_state(api.parts, boards[1])
    assert later.result is not None
    assert later.seats[later.result.winners[0]] != players[0].account
    assert later.cases[0].arbiter == organiser.account
    said = statements_of(api.parts, boards[1])
    assert [one.text for one in said] == ["No word for six weeks.", ROUND_ENDED.text]
    # what the matches say of their ends changes no table
    tick(api)
    until(lambda: not api.parts.tournaments.waiting(9))
    assert cells(api, number) == ["- - +", "+ . .", "+ . .", "- . ."]
    assert check_match(api.parts.store, number).events


def test_the_last_withdrawal_finishes_the_tournament(api: Api) -> None:
    organiser, players, number = running(api, 3)
    for one in players[:2]:
        take_out(api, organiser, one, number, "silent")
    view = view_of(api.parts, None, number)
    assert (view.state.phase, view.left) == (Phase.FINISHED, 0)
    do(api, organiser, tournaments.confirm, number)
    assert [one.points for one in view_of(api.parts, None, number).state.places[0]]


def test_nobody_rules_in_the_own_section_and_only_directors_do(api: Api) -> None:
    organiser, players, number = running(api)
    other = api.player()

    def why(director: Player, leaver: Player, kind: str = "silent") -> Code:
        return code(api, director, tournaments.withdraw, number, leaver.name, kind, "No word.")

    for director in (other, players[1]):
        assert why(director, players[0]) == Code.NOT_AN_ORGANISER
    for one in (players[1], other):
        set_role(api.parts, TERMINAL, one.name, AccountRole.ARBITER, held=True)
    assert why(players[1], players[0]) == Code.AGAINST_TERMS
    take_out(api, other, players[0], number, "silent")
    assert why(organiser, players[0], "accepted") == Code.TOO_LATE
    assert why(organiser, players[1], "angry") == Code.BAD_REQUEST


def take_over(api: Api, director: Player, number: int, player: Player, new: Player) -> None:
    do(api, director, tournaments.substitute, number, player.name, new.name, "She is ill.")


def test_a_volunteer_takes_over_a_place_and_its_matches_with_the_reasons(api: Api) -> None:
    organiser, players, number = running(api, 3)
    leaver, new = players[0], api.player()
    assert code(api, leaver, tournaments.volunteer, number) == Code.ALREADY_ENTERED
    do(api, new, tournaments.volunteer, number)
    assert view_of(api.parts, new.account, number).volunteers
    boards = own_boards(api, leaver, number)
    take_over(api, organiser, number, leaver, new)
    tick(api)
    until(lambda: all(new.account in load_state(api.parts, one).seats for one in boards))
    view = view_of(api.parts, new.account, number)
    assert (view.entered, view.volunteers) == (True, False)
    assert [*view.before.values()] == [leaver.account]
    assert not view_of(api.parts, leaver.account, number).entered
    assert [one.text for one in statements_of(api.parts, boards[0])] == [
        "She is ill.",
        ROUND_ENDED.text,
    ]
    assert number in names(api, new.account, "own")
    for one in boards:
        assert check_match(api.parts.store, one).events


def test_only_directors_name_substitutes_and_only_volunteers_outside_the_own_section(
    api: Api,
) -> None:
    organiser, players, number = running(api)
    new, arbiter = api.players()
    set_role(api.parts, TERMINAL, arbiter.name, AccountRole.ARBITER, held=True)

    def why(director: Player, leaver: Player, substitute: Player) -> Code:
        named = (number, leaver.name, substitute.name, "Ill.")
        return code(api, director, tournaments.substitute, *named)

    assert why(players[1], players[0], new) == Code.NOT_AN_ORGANISER
    assert why(organiser, players[0], new) == Code.AGAINST_TERMS
    do(api, arbiter, tournaments.volunteer, number)
    assert why(arbiter, players[0], arbiter) == Code.AGAINST_TERMS
    assert why(organiser, new, arbiter) == Code.NOT_ENTERED
    take_out(api, organiser, players[0], number, "silent")
    assert why(organiser, players[0], arbiter) == Code.TOO_LATE
    impose(api, new)
    assert code(api, new, tournaments.volunteer, number) == Code.SANCTIONED
    fresh = made(api, organiser)
    assert code(api, players[1], tournaments.volunteer, fresh) == Code.NOT_STARTED


def test_a_deleted_account_is_no_longer_a_substitute_and_its_place_can_be_taken_over(
    api: Api,
) -> None:
    organiser, players, number = running(api, 3)
    gone, new = api.players()
    for one in (gone, new):
        do(api, one, tournaments.volunteer, number)
    api.caught_up()
    erase_account(api.parts, gone.account)
    until(lambda: len(view_of(api.parts, None, number).state.volunteers) == 1)
    take_over(api, organiser, number, players[0], new)
    tick(api)
    api.caught_up()
    erase_account(api.parts, players[0].account)
    assert view_of(api.parts, None, number).state.number_of(new.account) is not None


# --- directors of a tournament: who appoints them, what they decide, and who follows a


def test_the_organiser_appoints_directors_who_decide_matches(api: Api) -> None:
    app = api.parts
    organiser, director, stranger, *players = api.players(6)
    number = begun(api, organiser, players)
    board = app.tournaments.matches(number)[0].board

    def why(director: Player, board: int, result: str = "1-0") -> Code:
        return code(api, director, adjudicate, number, board, result, "Far ahead.")

    for one in (director, stranger):
        assert why(one, board) == Code.NOT_AN_ORGANISER
    assert code(api, director, appoint, number, [director.name]) == Code.NOT_AN_ORGANISER
    do(api, organiser, appoint, number, [director.name])
    found = director_view(app, director.account, number)
    assert [one.board for one in found.matches] == sorted(one.board for one in found.matches)
    assert [one.left for one in found.players] == [2, 2, 2]
    refused(Code.NOT_AN_ORGANISER, director_view, app, stranger.account, number)
    assert why(director, number) == Code.UNKNOWN_BOARD
    assert why(director, board, "--") == Code.BAD_REQUEST
    do(api, director, adjudicate, number, board, "1-0", "Far ahead.")
    tick(api)
    until(lambda: load_state(app, board).over)
    (case,) = cases_of(app, players[0].account, board)[1]
    assert [step.text for step in case.steps] == ["Far ahead."]
    assert why(director, board, "0-1") == Code.TOO_LATE


def test_a_director_rules_on_claims_at_matches_of_the_tournament(api: Api) -> None:
    app = api.parts
    organiser, stranger, *players = api.players(5)
    number = begun(api, organiser, players)
    board = app.tournaments.matches(number)[0].board
    claimant = next(one for one in players if one.account in load_state(app, board).seats)
    do(api, claimant, dispute, board, ClaimAction(0, "The clock was wrong."))
    api.caught_up()
    (waiting,) = director_view(app, organiser.account, number).claims
    assert waiting.board == board
    ruling = RuleAction(Verdict(kind="dismissed"), "It was right.")
    others = [one for one in players if one.account not in load_state(app, board).seats]
    for one in (stranger, *others):
        assert code(api, one, dispute, board, ruling) is Code.NOT_AN_ARBITER
    do(api, organiser, dispute, board, ruling)
    assert load_state(app, board).cases[0].arbiter == organiser.account


def test_the_arbiters_follow_an_organiser_who_deletes_the_account(api: Api) -> None:
    app = api.parts
    organiser, arbiter, *players = api.players(5)
    set_role(app, TERMINAL, arbiter.name, AccountRole.ARBITER, held=True)
    number = begun(api, organiser, players)
    draft = do(api, organiser, tournaments.draft_tournament, PLAN).board
    api.caught_up()
    erase_account(app, organiser.account)
    until(lambda: arbiter.account in view_of(app, arbiter.account, number).state.directors)
    assert view_of(app, None, number).state.phase is Phase.RUNNING
    until(lambda: view_of(app, organiser.account, draft).state.phase is Phase.CANCELLED)


def test_lots_are_drawn_at_the_start_and_can_be_verified(api: Api) -> None:
    number = made(api, api.player(), replace(PLAN, seed_by_lot=True, lot=True))
    for player in api.players(3):
        enter(api, player, number)
    checked = check_match(api.parts.store, number)
    assert "the server drew the lots" in checked.draw
    assert "anchored before as leaf" in checked.draw
    state = visible_state(api.parts, None, number)
    assert (state.phase, state.lots) == (Phase.RUNNING, (0, 1, 2))
    words = terms_lines(view_of(api.parts, None, number).terms, IN_ENGLISH)
    assert "a lot decides who meets whom, and not the rating" in words
    assert any(line.endswith("wins, lot, in this order") for line in words)
    like = plan_like(api.parts, None, number)
    assert (like.seed_by_lot, like.lot) == (True, True)


def test_the_feed_says_what_was_decided_once_and_who_challenges_whom_on_a_ladder(api: Api) -> None:
    app = api.parts
    organiser, *players = api.players(4)
    number = begun(api, organiser, players)
    board = app.tournaments.matches(number)[0].board
    do(api, organiser, adjudicate, number, board, "1-0", "Far ahead.")
    tick(api)
    until(lambda: load_state(app, board).over)
    tick(api)
    until(lambda: app.tournaments.matches(number)[0].counted)
    kinds = [(one.kind, one.result) for one in feed_of(app, number).news]
    assert kinds == [
        (NewsKind.RESULT, "1-0"),
        (NewsKind.STARTED, ""),
    ]  # and not again by the ruling
    ladder = made(api, organiser, replace(PLAN, form="ladder", players=0, when_full=False))
    for one in players[:2]:
        enter(api, one, ladder)
    do(api, organiser, tournaments.start, ladder)
    do(api, players[1], tournaments.challenge, ladder, players[0].name)
    found = feed_of(app, ladder).news[0]
    assert (found.kind, found.players) == (
        NewsKind.CHALLENGED,
        (players[0].account, players[1].account),
    )
    cancelled = made(api, organiser)
    do(api, organiser, tournaments.cancel, cancelled)
    assert [one.kind for one in feed_of(app, cancelled).news] == [NewsKind.CANCELLED]
