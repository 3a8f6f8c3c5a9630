"""The whole life of an invitation, at every front end: accepted, declined, lapsed, and what meets it."""

from domain.clocks.time_control import DAY
from domain.match.history import decode_event
from domain.match.state import Reason
from domain.sentences import Translation
from infra.languages.wording import wording
from infra.people.pending_starts import MOST_BETWEEN_TWO
from infra.redis import keys
from services.words.matches import describe_events
from services.words.named_match import NamedMatch
from tests.fakes.everywhere import API, MAIL, TERMINAL, Action, Everywhere, Result
from tests.helpers.api import PASSWORD, Player, until
from tests.helpers.timed import act_when_due

ACCEPT = Action("accept", {"do": "accept"}, {"do": "accept"})
DECLINE = Action("decline", {"do": "decline"}, {"do": "decline"})
MOVE = Action("m13-j7", {"do": "move", "move": "m13-j7"}, {"do": "move", "move": "m13-j7"})


def invited_first(everywhere: Everywhere, one: Player, other: Player, *terms: str) -> int:
    """Have a player invite another, who moves first; gives the board."""
    body = {"game": "pow2", "players": [other.name, one.name], "terms": terms}
    board: int = one.post("/api/matches", body).json()["board"]
    everywhere.boards(board, other, one)
    return board


def shown(everywhere: Everywhere, board: int) -> dict:
    return everywhere.api.http.get(f"/api/matches/{board}").json()


def last_sentence(everywhere: Everywhere, board: int, language: Translation) -> str:
    """The sentence on the events of the last command."""
    events = [decode_event(data) for data in everywhere.api.parts.store.events(board)]
    scene = NamedMatch.of(everywhere.api.parts, board, everywhere.state(board), language)
    return describe_events(scene, [one for one in events if one.command == events[-1].command])


def test_it_lapses_after_14_days_and_makes_room_at_once(everywhere, pair):
    one, other = pair
    board = everywhere.match(one, other)
    body = {"game": "pow2", "players": [one.name, other.name]}
    for _ in range(MOST_BETWEEN_TWO - 1):
        assert one.post("/api/matches", body).is_success
    assert one.post("/api/matches", body).json()["code"] == "too-many"
    began = shown(everywhere, board)["updated"]
    everywhere.api.caught_up()
    assert other.post("/api/account/vacation", {"days": 20}).is_success
    act_when_due(everywhere.api, board)
    until(lambda: everywhere.state(board).over)
    state = everywhere.state(board)
    assert (state.result.reason, state.at - began) == (Reason.DECLINED, 14 * DAY)
    said = last_sentence(everywhere, board, wording("en"))
    assert f"Dark ({other.name}) didn't accept in time; the match is over: declined" in said
    assert "hat nicht rechtzeitig angenommen" in last_sentence(everywhere, board, wording("de"))
    data, starts = everywhere.api.parts.data, keys.pending_starts(one.account)
    for command, value in data.hgetall(starts).items():
        at, _, others = value.decode().partition(":")
        data.hset(starts, command, f"{int(at) - 14 * DAY}:{others}")
    assert one.post("/api/matches", body).is_success


def test_all_of_one_challenger_are_declined_in_one_go_and_no_others(everywhere):
    one, other, third = (everywhere.player() for _ in range(3))
    for where in (TERMINAL, MAIL, API):
        mine = [everywhere.match(one, other) for _ in range(3)]
        played = everywhere.match(one, other)
        assert everywhere.act(API, other, played, ACCEPT) == Result("")
        kept = [everywhere.match(other, one), everywhere.match(third, other), played]
        everywhere.api.caught_up()
        line = f"decline all {other.name} {PASSWORD} {one.name.upper()}"
        if where == API:
            asked = {"userid": one.name}
            answer = other.post("/api/account/challenges/decline", asked)
            assert answer.json() == {"declined": 3}
            until(lambda mine=mine: all(everywhere.state(board).over for board in mine))
            assert other.post("/api/account/challenges/decline", asked).json() == {"declined": 0}
        elif where == MAIL:
            assert everywhere.mail(other, line) == Result("")
        else:
            assert everywhere.answer(line).sentence == "3 matches were declined"
        until(lambda mine=mine: all(everywhere.state(board).over for board in mine))
        assert not any(everywhere.state(board).over for board in kept)


def test_a_block_declines_what_the_blocker_has_not_moved_in_and_says_how_many(everywhere, pair):
    one, other = pair
    ended = [everywhere.match(one, other), everywhere.match(other, one)]
    ended.append(everywhere.match(one, other))
    assert everywhere.act(API, other, ended[2], ACCEPT) == Result("")
    going = invited_first(everywhere, one, other)
    assert everywhere.act(API, other, going, MOVE) == Result("")
    everywhere.api.caught_up()
    said = everywhere.answer(f"block {other.name} {PASSWORD} {one.name}").sentence
    assert said.endswith("continue; 3 matches in which you hadn't moved were declined")
    until(lambda: all(everywhere.state(board).over for board in ended))
    assert not everywhere.state(going).over
