"""Clubs: joining and leaving, roles, links, announcements, challenges, and an owner who can't vanish."""

from collections.abc import Iterator

import pytest

from domain.errors import Code
from infra.people.accounts import AccountRole
from infra.people.acts import TERMINAL
from infra.people.clubs import MOST_OF_ACCOUNT, ClubAudience, ClubRole, Joining
from infra.redis import keys
from services.app.accounts import erase_account, sign_up
from services.app.acts import acts_of
from services.app.admission import check_signups
from services.app.challenges import proposal_of, propose, take
from services.app.clubs import (
    ClubChanges,
    announce,
    answer_request,
    challenges_of_club,
    change_club,
    close_club,
    club_at,
    club_links,
    clubs_for,
    found_club,
    is_member,
    join,
    join_by_link,
    leave,
    make_club_link,
    matches_of_club,
    remove_from_club,
    revoke_club_link,
    set_club_role,
    view_of,
    visible_challenge,
)
from services.app.context import Actor
from services.app.follows import add_block
from services.app.games import read_game
from services.app.messages import inbox
from services.app.roles import set_role
from tests.helpers.api import PASSWORD, Api, Player
from tests.helpers.examples import next_millisecond, refused

NAME = "Rook & Pawn"
PATH = "rook-pawn"


@pytest.fixture(autouse=True)
def _no_clubs(api: Api) -> Iterator[None]:
    api.parts.admissions.change({"clubs": "members", "signups": "open"})
    yield
    for club in api.parts.clubs.all():
        for one in api.parts.clubs.members(club.id):
            api.parts.clubs.forget(one.account)
        api.parts.data.delete(keys.club(club.id))
    api.parts.data.delete(keys.CLUB_PATHS, keys.SIGNUP_LINKS, keys.SIGNUP_USES)


@pytest.fixture
def owner(api: Api) -> Player:
    player = api.player()
    found_club(api.parts, player.account, NAME)
    return player


def open_to_all(api: Api, owner: Player) -> None:
    change_club(api.parts, owner.account, PATH, ClubChanges(joining=Joining.OPEN))


def members(api: Api, *, of: Player, count: int = 2) -> list[Player]:
    """Return new players who have joined."""
    open_to_all(api, of)
    found = [api.player() for _ in range(count)]
    for one in found:
        next_millisecond()
        assert join(api.parts, one.account, PATH)
    return found


def roles(api: Api) -> list[tuple[bytes, str]]:
    club = api.parts.clubs.at(PATH)
    return [(one.account, one.role) for one in api.parts.clubs.members(club.id)]


def operator(api: Api) -> Player:
    player = api.player()
    set_role(api.parts, TERMINAL, player.name, AccountRole.OPERATOR, held=True)
    return player


def test_operators_found_clubs_and_members_where_the_admission_says_so(api):
    app, one = api.parts, api.player()
    app.admissions.change({"clubs": "operators"})
    refused(Code.NOT_AN_OPERATOR, found_club, app, one.account, NAME)
    assert found_club(app, operator(api).account, NAME).path == PATH
    app.admissions.change({"clubs": "members"})
    assert found_club(app, one.account, "Ärger & Spaß 7").path == "arger-spass-7"
    assert [club.name for club in clubs_for(app, one.account)] == [NAME, "Ärger & Spaß 7"]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("", Code.BAD_NAME),
        ("x" * 61, Code.BAD_NAME),
        ("a\x07b", Code.BAD_NAME),
        ("rook PAWN", Code.NAME_TAKEN),
        ("R00k & Pawn", Code.NAME_TAKEN),
    ],
)
def test_a_name_is_refused_and_leaves_nothing(api, owner, name, code):
    refused(code, found_club, api.parts, owner.account, name)
    assert [club.name for club, _ in api.parts.clubs.of(owner.account)] == [NAME]
    assert len(api.parts.data.keys("{club:*}")) == 1


def test_an_open_club_is_joined_and_another_is_asked(api, owner):
    app, one, other = api.parts, api.player(), api.player()
    assert not join(app, one.account, PATH)
    assert not join(app, other.account, PATH)
    assert view_of(app, one.account, PATH).has_asked
    assert view_of(app, one.account, PATH).requests == ()
    # both may have asked in the same millisecond
    assert set(view_of(app, owner.account, PATH).requests) == {one.account, other.account}
    answer_request(app, owner.account, PATH, one.name.upper(), admit=True)
    answer_request(app, owner.account, PATH, other.name, admit=False)
    refused(Code.NOT_FOUND, answer_request, app, owner.account, PATH, other.name, admit=True)
    assert roles(api) == [(owner.account, "owner"), (one.account, "member")]
    assert app.clubs.of(other.account) == []
    assert join(app, one.account, PATH)
    change_club(app, owner.account, PATH, ClubChanges(joining=Joining.LINK))
    refused(Code.NOT_WANTED, join, app, other.account, PATH)
    join_asked = ClubChanges(joining=Joining.REQUEST)
    change_club(app, owner.account, PATH, join_asked)
    assert not join(app, other.account, PATH)
    leave(app, other.account, PATH)
    assert view_of(app, owner.account, PATH).requests == ()


def test_a_link_makes_members_with_a_role_until_it_is_used_up_or_revoked(api, owner):
    app, one, two, three = api.parts, *(api.player() for _ in range(3))
    link, text = make_club_link(app, owner.account, PATH, 2, 7, ClubRole.CAPTAIN)
    assert join_by_link(app, one.account, text).name == NAME
    assert join_by_link(app, one.account, text).name == NAME  # and costs no use
    assert [(one.id, used) for one, used in club_links(app, owner.account, PATH)] == [(link.id, 1)]
    assert roles(api)[1:] == [(one.account, "captain")]
    join_by_link(app, two.account, text)
    refused(Code.SIGNUPS_CLOSED, join_by_link, app, three.account, text)
    _, other = make_club_link(app, owner.account, PATH, 1, 1)
    refused(Code.NOT_AN_ORGANISER, revoke_club_link, app, one.account, PATH, link.id)
    for made, _ in club_links(app, owner.account, PATH):
        revoke_club_link(app, owner.account, PATH, made.id)
    refused(Code.NOT_FOUND, revoke_club_link, app, owner.account, PATH, link.id)
    refused(Code.SIGNUPS_CLOSED, join_by_link, app, three.account, other)


def test_one_link_of_an_operator_makes_the_account_and_the_membership(api, owner):
    app, chief = api.parts, operator(api)
    _, by_owner = make_club_link(app, owner.account, PATH, 9, 7)
    _, by_operator = make_club_link(app, chief.account, PATH, 1, 7, ClubRole.ORGANISER)
    app.admissions.change({"signups": "link"})
    refused(Code.SIGNUPS_CLOSED, sign_up, app, "stranger", PASSWORD, link=by_owner)
    refused(Code.SIGNUPS_CLOSED, check_signups, app, by_owner)
    refused(Code.NAME_TAKEN, sign_up, app, owner.name, PASSWORD, link=by_operator)
    account = sign_up(app, "guided", PASSWORD, link=by_operator)
    assert (account, "organiser") in roles(api)
    refused(Code.SIGNUPS_CLOSED, sign_up, app, "second", PASSWORD, link=by_operator)
    app.admissions.change({"signups": "open"})
    joined = sign_up(app, "third", PASSWORD, link=by_owner)
    assert (joined, "member") in roles(api)
    assert not is_member(app, app.clubs.at(PATH).id, sign_up(app, "fourth", PASSWORD, link="nix"))


def test_who_may_do_what(api, owner):
    app = api.parts
    organiser, captain, member = members(api, of=owner, count=3)
    stranger, chief = api.player(), operator(api)
    set_club_role(app, owner.account, PATH, organiser.name, ClubRole.ORGANISER)
    set_club_role(app, owner.account, PATH, captain.name, ClubRole.CAPTAIN)
    owning = [
        lambda who: change_club(app, who, PATH, ClubChanges(text="about us")),
        lambda who: set_club_role(app, who, PATH, member.name, ClubRole.MEMBER),
        lambda who: make_club_link(app, who, PATH, 1, 1, ClubRole.ORGANISER),
    ]
    organising = [
        lambda who: make_club_link(app, who, PATH, 1, 1),
        lambda who: club_links(app, who, PATH),
        lambda who: announce(app, Actor(who, "test", who.hex()), PATH, "hello"),
    ]
    for acts, allowed in ((owning, (owner, chief)), (organising, (owner, chief, organiser))):
        for act in acts:
            for one in (owner, chief, organiser, captain, member, stranger):
                if one in allowed:
                    act(one.account)
                else:
                    refused(Code.NOT_AN_ORGANISER, act, one.account)
    refused(Code.NOT_AN_ORGANISER, remove_from_club, app, organiser.account, PATH, owner.name)
    refused(Code.NOT_AN_ORGANISER, remove_from_club, app, captain.account, PATH, member.name)
    remove_from_club(app, organiser.account, PATH, member.name)
    remove_from_club(app, owner.account, PATH, organiser.name)
    refused(Code.NOT_FOUND, set_club_role, app, owner.account, PATH, member.name, ClubRole.OWNER)
    assert roles(api) == [(owner.account, "owner"), (captain.account, "captain")]


def test_the_only_owner_hands_over_before_leaving(api, owner):
    app = api.parts
    (member,) = members(api, of=owner, count=1)
    refused(Code.LAST_OWNER, leave, app, owner.account, PATH)
    refused(Code.LAST_OWNER, set_club_role, app, owner.account, PATH, owner.name, ClubRole.MEMBER)
    refused(Code.LAST_OWNER, remove_from_club, app, owner.account, PATH, owner.name)
    set_club_role(app, owner.account, PATH, member.name, ClubRole.OWNER)
    leave(app, owner.account, PATH)
    assert roles(api) == [(member.account, "owner")]
    leave(app, member.account, PATH)
    assert roles(api) == []
    assert app.clubs.at(PATH).closed


def test_an_erased_owner_is_followed_by_an_organiser_else_by_the_first_member(api, owner):
    app = api.parts
    first, second, third = members(api, of=owner, count=3)
    set_club_role(app, owner.account, PATH, third.name, ClubRole.ORGANISER)
    announce(app, Actor(owner.account, "test", "1"), PATH, "by the owner")
    announce(app, Actor(third.account, "test", "1"), PATH, "by another")
    erase_account(app, owner.account)
    assert roles(api) == [
        (third.account, "owner"),
        *sorted(
            ((one.account, "member") for one in (first, second)),
            key=lambda pair: roles(api).index(pair),
        ),
    ]
    assert [one.text for one in view_of(app, first.account, PATH).news] == ["by another"]
    erase_account(app, third.account)
    assert roles(api)[0] == (first.account, "owner")
    erase_account(app, first.account)
    erase_account(app, second.account)
    assert app.clubs.at(PATH).closed
    assert app.data.keys(f"{keys.clubs_of_account(second.account)}") == []
    refused(Code.NAME_TAKEN, found_club, app, api.player().account, NAME)


def test_an_announcement_reaches_each_member_once_and_none_who_blocks_its_author(api, owner):
    app = api.parts
    reader, blocking = members(api, of=owner)
    add_block(app, blocking.account, owner.name)
    for _ in range(2):
        announce(app, Actor(owner.account, "test", "one"), PATH, "we meet on Friday")
    refused(Code.TOO_LONG, announce, app, Actor(owner.account, "test", "two"), PATH, "x" * 3000)
    assert [one.text for one in inbox(app, reader.account)] == [f"{NAME}: we meet on Friday"]
    assert inbox(app, blocking.account) == []
    assert len(view_of(app, blocking.account, PATH).news) == 1
    assert view_of(app, api.player().account, PATH).news == ()


def test_a_club_is_shown_to_those_whom_it_is_for(api, owner):
    app, member = api.parts, members(api, of=owner, count=1)[0]
    stranger, chief = api.player(), operator(api)
    seen = {
        ClubAudience.EVERYBODY: [None, stranger, member, chief],
        ClubAudience.ACCOUNTS: [stranger, member, chief],
        ClubAudience.CLUB: [member, chief],
    }
    for audience, readers in seen.items():
        change_club(app, owner.account, PATH, ClubChanges(visible_to=audience))
        for one in (None, stranger, member, chief):
            account = one and one.account
            assert (PATH in [club.path for club in clubs_for(app, account)]) == (one in readers)
            if one in readers:
                assert view_of(app, account, PATH).club.name == NAME
            else:
                refused(Code.UNKNOWN_CLUB, view_of, app, account, PATH)
    refused(Code.UNKNOWN_CLUB, join, app, stranger.account, PATH)
    refused(Code.UNKNOWN_CLUB, club_at, app, None, "nix")


def test_a_challenge_for_members_is_seen_and_taken_by_members_alone(api, owner):
    app, member = api.parts, members(api, of=owner, count=1)[0]
    club, stranger = app.clubs.at(PATH), api.player()
    proposal = proposal_of(read_game("torere"), (), (), seats=2, club=club.id)
    refused(Code.NOT_WANTED, propose, app, Actor(stranger.account, "test", "c"), proposal)
    made = propose(app, Actor(owner.account, "test", "c"), proposal)
    assert made.id not in [one.id for one in app.challenges.list_open(count=99)]
    assert made.id not in [one.id for one in app.challenges.list_open("torere", count=99)]
    assert [one.id for one in challenges_of_club(app, member.account, club)] == [made.id]
    assert challenges_of_club(app, stranger.account, club) == []
    assert visible_challenge(app, member.account, made.id).id == made.id
    for other in (None, stranger.account):
        refused(Code.UNKNOWN_CHALLENGE, visible_challenge, app, other, made.id)
    refused(Code.NOT_WANTED, take, app, Actor(stranger.account, "test", "t"), made.id)
    leave(app, member.account, PATH)
    refused(Code.NOT_WANTED, take, app, Actor(member.account, "test", "t"), made.id)
    join(app, member.account, PATH)
    take(app, Actor(member.account, "test", "t"), made.id)
    assert challenges_of_club(app, member.account, club) == []


def test_the_matches_of_a_club_are_those_between_its_members(api, owner):
    app, member = api.parts, members(api, of=owner, count=1)[0]
    stranger = api.player()
    running, over = api.begun(owner, member), api.begun(member, owner)
    api.begun(owner, stranger)
    assert owner.give(over, {"do": "resign"}).is_success
    api.caught_up()
    found = app.clubs.members(app.clubs.at(PATH).id)
    assert [row.board for row in matches_of_club(app, found, over=False)] == [running]
    assert [row.board for row in matches_of_club(app, found, over=True)] == [over]


def test_a_closed_club_stays_readable_and_takes_nobody(api, owner):
    app, member = api.parts, members(api, of=owner, count=1)[0]
    chief = operator(api)
    _, text = make_club_link(app, owner.account, PATH, 9, 9)
    refused(Code.NOT_AN_ORGANISER, close_club, app, member.account, PATH)
    close_club(app, chief.account, PATH, "over")
    assert [(act.act, act.what, act.why) for act in acts_of(app, TERMINAL)[:1]] == [
        ("club-closed", NAME, "over")
    ]
    other = api.player()
    refused(Code.CLUB_CLOSED, join, app, other.account, PATH)
    refused(Code.SIGNUPS_CLOSED, join_by_link, app, other.account, text)
    refused(Code.CLUB_CLOSED, announce, app, Actor(owner.account, "test", "9"), PATH, "hello")
    assert len(view_of(app, member.account, PATH).members) == 2


def test_an_account_is_in_so_many_clubs_at_most_and_none_after_it_is_erased(api, owner):
    app, one = api.parts, api.player()
    for at in range(MOST_OF_ACCOUNT):
        app.data.hset(keys.clubs_of_account(one.account), f"{at:016x}", "")
    open_to_all(api, owner)
    refused(Code.TOO_MANY, join, app, one.account, PATH)
    assert one.account not in [account for account, _ in roles(api)]
    gone = api.player()
    app.data.delete(keys.account(gone.account))
    refused(Code.UNKNOWN_USER, join, app, gone.account, PATH)
    assert gone.account not in [account for account, _ in roles(api)]
