"""Pairing from outside: who may pair whom, all or none, and each match once whatever breaks."""

import json
from itertools import count

import pytest
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.match.commands import CommandEnvelope
from infra.people import pairing_batches
from infra.people.clubs import ClubRole
from infra.people.pairing_batches import PairingBatch
from infra.projections.match_lists import MatchFilter
from services.app import tournaments
from services.app.accounts import erase_account, set_suspended
from services.app.clubs import ClubChanges, change_club, close_club, found_club
from services.app.context import Actor
from services.app.follows import add_block
from services.app.matches import load_state
from services.app.messages import inbox
from services.app.own_data import own_files
from services.app.pairings import PairedBatch, PairingPlan, WantedPairing, batch_of, pair
from services.app.play import submit
from services.app.tournament_plans import TournamentPlan
from tests.app.test_tournaments import impose
from tests.helpers.api import Api, Player

_KEYS = count()


def prepare(api: Api) -> None:
    api.parts.admissions.change({"clubs": "members"})


class World:
    """A club that lets its organisers pair, with an organiser who is no player and three members."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.organiser, *self.members = api.players(4)
        self.club = found_club(api.parts, self.organiser.account, f"Club {self.organiser.name}")
        for one in self.members:
            api.parts.clubs.put_member(self.club, one.account, ClubRole.MEMBER)
        self.allow(pairs=True)

    def allow(self, *, pairs: bool) -> None:
        changes = ClubChanges(pairs_members=pairs)
        change_club(self.api.parts, self.organiser.account, self.club.path, changes)

    def plan(self, *pairs: tuple[Player, ...]) -> PairingPlan:
        wanted = tuple(
            WantedPairing(tuple(one.name for one in pair), f"board {n}")
            for n, pair in enumerate(pairs or [tuple(self.members[:2])], 1)
        )
        terms = ("--days=3", "--unrated")
        return PairingPlan(club=self.club.path, game="goliath", terms=terms, pairings=wanted)

    def pair(self, plan: PairingPlan, key: str = "", by: Player | None = None) -> PairedBatch:
        account = (by or self.organiser).account
        actor = Actor(account, "test", key or str(next(_KEYS)))
        return submit(self.api.parts, pair(self.api.parts, actor, plan))

    def batch(self, plan: PairingPlan, key: str = "", by: Player | None = None) -> PairingBatch:
        """Pair, where nothing is refused."""
        batch = self.pair(plan, key, by).batch
        assert batch is not None
        return batch

    def codes(self, plan: PairingPlan) -> list[Code | None]:
        """Why each pairing of a plan is refused; nothing has started and nothing is stored then."""
        before = len(self.api.parts.pairing_batches.of(self.organiser.account))
        paired = self.pair(plan)
        assert paired.batch is None
        assert len(self.api.parts.pairing_batches.of(self.organiser.account)) == before
        return [one.code if one else None for one in paired.refused]

    def refused(self, plan: PairingPlan, key: str = "", by: Player | None = None) -> Code:
        with pytest.raises(Refusal) as reason:
            self.pair(plan, key, by)
        return reason.value.code


@pytest.fixture
def world(api: Api) -> World:
    return World(api)


def test_matches_of_a_batch_begin_at_once_with_its_terms_between_members(world: World) -> None:
    a, b, c = world.members
    batch = world.batch(world.plan((a, b), (b, c)))
    assert [one.label for one in batch.pairings] == ["board 1", "board 2"]
    state = load_state(world.api.parts, batch.pairings[1].board)
    assert state.seats == (b.account, c.account)
    assert (state.rules, state.invitation) == ("goliath/1", None)
    assert state.clock is not None
    assert (state.clock.terms.rated, state.pairing) == (False, None)


def test_a_repeated_batch_has_the_same_boards_and_another_plan_is_refused(world: World) -> None:
    plan = world.plan()
    first = world.batch(plan, "round 1")
    assert first == world.batch(plan, "round 1")
    assert world.refused(replace(plan, game="torere"), "round 1") == Code.ID_REUSED
    other = world.batch(plan, "round 2")
    assert other.pairings[0].board != first.pairings[0].board


def test_one_refused_pairing_stops_all_and_each_has_its_own_reason(world: World) -> None:
    a, b, c = world.members
    stranger = world.api.player()
    plan = world.plan((a, b), (a, stranger), (b, b), (a, b, c))
    nobody = replace(plan.pairings[0], players=(a.name, "nobody-here"))
    misread = replace(plan.pairings[0], terms=("--gather",))
    unknown = replace(plan.pairings[0], game="chess-of-nowhere")
    plan = replace(plan, pairings=(*plan.pairings, nobody, misread, unknown))
    codes = world.codes(plan)
    wrong = [Code.AGAINST_TERMS, Code.BAD_PLAYERS, Code.BAD_PLAYERS, Code.UNKNOWN_USER]
    assert codes[:5] == [None, *wrong]
    assert codes[5] in (Code.BAD_OPTION, Code.UNKNOWN_OPTION)
    assert codes[6] == Code.UNKNOWN_GAME
    world.batch(world.plan((a, b)))


def test_a_block_either_way_refuses_a_pair_and_names_both(world: World) -> None:
    a, b, c = world.members
    add_block(world.api.parts, b.account, a.name)
    paired = world.pair(world.plan((a, b), (b, a), (a, c)))
    said = Code.NOT_WANTED, f"{b.name} doesn't want to play with {a.name}"
    found = [one and (one.code, one.sentence) for one in paired.refused]
    assert found == [said, said, None]


def test_suspended_and_sanctioned_players_are_not_paired(world: World) -> None:
    a, b, c = world.members
    set_suspended(world.api.parts, a.name, suspended=True)
    impose(world.api, b)
    assert world.codes(world.plan((a, c), (c, b))) == [Code.NOT_WANTED, Code.SANCTIONED]


def test_only_organisers_of_an_open_club_that_says_so_pair(world: World) -> None:
    plan, parts = world.plan(), world.api.parts
    assert world.refused(plan, by=world.members[2]) == Code.NOT_AN_ORGANISER
    parts.clubs.put_member(world.club, world.members[2].account, ClubRole.ORGANISER)
    world.batch(plan, by=world.members[2])
    world.allow(pairs=False)
    assert world.refused(plan) == Code.NOT_WANTED
    world.allow(pairs=True)
    close_club(parts, world.organiser.account, world.club.path)
    assert world.refused(plan) == Code.CLUB_CLOSED
    assert world.refused(replace(plan, club="no-such-club")) == Code.UNKNOWN_CLUB
    assert world.refused(replace(plan, club="")) == Code.BAD_REQUEST
    assert world.refused(replace(plan, tournament=1)) == Code.BAD_REQUEST
    impose(world.api, world.organiser)
    assert world.refused(plan) == Code.SANCTIONED


def test_entrants_of_a_tournament_are_paired_on_its_terms_alone(world: World) -> None:
    api, (a, b, c) = world.api, world.members
    parts = api.parts

    def acting(player: Player) -> Actor:
        return Actor(player.account, "test", str(next(_KEYS)))

    cup = TournamentPlan(name="Cup", game="goliath", section=3, terms=("--days=4",))
    number = submit(parts, tournaments.draft_tournament(parts, acting(world.organiser), cup)).board
    submit(parts, tournaments.open_entry(parts, acting(world.organiser), number))
    for player in (a, b):
        submit(parts, tournaments.enter(parts, acting(player), number))
    plan = world.plan((a, b))
    plan = PairingPlan(tournament=number, pairings=plan.pairings)
    batch = world.batch(plan)
    state = load_state(parts, batch.pairings[0].board)
    assert state.clock is not None
    assert (state.rules, state.clock.terms.rated, state.pairing) == ("goliath/1", True, None)
    wanted = WantedPairing((a.name, c.name))
    assert world.codes(replace(plan, pairings=(wanted,))) == [Code.NOT_ENTERED]
    assert world.refused(replace(plan, game="goliath")) == Code.AGAINST_TERMS
    assert world.refused(plan, by=a) == Code.NOT_AN_ORGANISER
    submit(parts, tournaments.cancel(parts, acting(world.organiser), number))
    assert world.refused(plan) == Code.TOO_LATE


class _KilledError(BaseException):
    pass


@pytest.mark.parametrize("point", ["numbered", "stored", "sent"])
def test_a_batch_that_was_killed_in_the_middle_is_repeated_and_each_match_begins_once(
    world: World, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    a, b, c = world.members
    plan, key = world.plan((a, b), (b, c), (c, a)), f"killed {point}"
    parts = world.api.parts

    def die(*_: object) -> None:
        raise _KilledError

    def send_one(sents: list[CommandEnvelope]) -> None:
        parts.gateway.send(sents[0], 0)
        raise _KilledError

    with monkeypatch.context() as patch:
        if point == "numbered":
            patch.setattr(parts.pairing_batches, "add", die)
        else:
            patch.setattr(parts.gateway, "submit_all", send_one if point == "sent" else die)
        with pytest.raises(_KilledError):
            world.pair(plan, key)
    stored = parts.pairing_batches.get(world.organiser.account, key)
    assert (stored is None) == (point == "numbered")
    batch = world.batch(plan, key)
    assert stored in (None, batch)
    world.api.caught_up()
    for player in world.members:
        assert len(parts.lists.of(player.account, MatchFilter.ACTIVE)) == 2
    for one in batch.pairings:
        assert len(parts.store.events(one.board)) == 1
        assert load_state(parts, one.board).seats == one.start.seats


def test_the_batch_lists_its_matches_and_others_do_not_see_it(world: World) -> None:
    parts = world.api.parts
    world.pair(world.plan(), "listed")
    _, (match,) = batch_of(parts, world.organiser.account, "listed")
    assert (match.label, match.state.started, match.state.over) == ("board 1", True, False)
    world.members[0].give(match.board, {"do": "resign"})
    _, (match,) = batch_of(parts, world.organiser.account, "listed")
    assert match.state.result is not None
    assert match.state.result.winners == (1,)
    with pytest.raises(Refusal) as reason:
        batch_of(parts, world.members[0].account, "listed")
    assert reason.value.code == Code.NOT_FOUND
    world.batch(world.plan(), "listed")


def test_the_oldest_batches_are_dropped_and_still_start_nothing_twice(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairing_batches, "MOST_BATCHES", 2)
    first = world.batch(world.plan(), "a")
    for key in ("b", "c"):
        world.pair(world.plan(), key)
    kept = world.api.parts.pairing_batches.of(world.organiser.account)
    assert kept.keys() == {"b", "c"}
    again = world.batch(world.plan(), "a")
    assert again.pairings == first.pairings
    assert len(world.api.parts.store.events(first.pairings[0].board)) == 1


def test_batches_are_in_the_data_of_their_organiser(world: World) -> None:
    batch = world.batch(world.plan(), "own")
    files = {one.name: one.content for one in own_files(world.api.parts, world.organiser.account)}
    found = json.loads(files["pairings.json"])["own"]
    assert found["of"] == f"club {world.club.path}"
    assert found["matches"] == [{"board": batch.pairings[0].board, "label": "board 1"}]


def test_batches_are_erased_with_their_organiser(world: World) -> None:
    world.pair(world.plan(), "gone")
    parts, account = world.api.parts, world.organiser.account
    assert parts.pairing_batches.get(account, "gone") is not None
    erase_account(parts, account)
    assert parts.pairing_batches.of(account) == {}


def test_members_are_told_once_when_organisers_may_pair_them_from_now_on(world: World) -> None:
    member = world.members[0]
    texts = [one.text for one in inbox(world.api.parts, member.account)]
    wanted = f"Organisers of {world.club.name} may pair its members with each other now, in matches that begin at once; leave the club if you don't want that."
    assert texts.count(wanted) == 1
    change_club(
        world.api.parts, world.organiser.account, world.club.path, ClubChanges(pairs_members=True)
    )
    assert [one.text for one in inbox(world.api.parts, member.account)].count(wanted) == 1
    assert wanted not in [one.text for one in inbox(world.api.parts, world.organiser.account)]
