"""A whole match of every game, each move by the next front end, then verified."""

import html
import random
import re
from collections.abc import Sequence
from itertools import cycle

import pytest

from domain.match.state import position_of
from domain.rules import AnyRules, all_rules, rules_by_id, rules_id
from domain.sentences import ENGLISH, text_in
from infra.audit.stored_match import check
from tests.fakes.everywhere import FRONT_ENDS, Action, Everywhere, Result
from tests.helpers.api import Player
from tests.helpers.key_patterns import OF_RQ, all_rows, row_of

BY_NAME, OPENLY, BY_LINK = "by name", "openly", "by link"

MATCHES = [
    (rules, players, how)
    for rules in all_rules()
    for players in rules.players
    for how in (BY_NAME, OPENLY, BY_LINK)
    # what is dealt by chance is dealt when the last player accepts, in whatever way
    if how == BY_NAME or rules.needs_draw(rules.read_options(()), players)
]

QUICK = (("halves", 3, OPENLY), ("powerdrain", 2, BY_LINK), ("one", 1, BY_NAME))
"""Those that the ordinary run plays: no front end knows a game, and each way of beginning is there."""

_TURN = re.compile(r'<div id="turn"[^>]*>(.*?)</div>', re.DOTALL)

PLIES = 40
"""After which a puzzle, which would go on, is done."""


def verdict(winners: Sequence[int], seat: int, count: int) -> str:
    """Return what the page of a match that is over says first to the player of a seat."""
    if count == 1:
        return "Finished"
    if len(winners) == count:
        return "Draw"
    return "You won" if seat in winners else "You lost"


def start(everywhere: Everywhere, game: str, players: Sequence[Player], how: str) -> int:
    """Have the first player start a match, and the others accept it at one front end after the other."""
    if how == BY_NAME or len(players) == 1:
        board = everywhere.start_game(game, *players)
        for where, player in zip(FRONT_ENDS, players[1:], strict=False):
            action = Action("accept", {"do": "accept"}, {"do": "accept"}, game)
            assert everywhere.act(where, player, board, action) == Result(""), where
        return board
    body = {"game": game, "seats": len(players), "seat": 0, "listed": how == OPENLY}
    made = players[0].post("/api/challenges", body).json()["id"]
    for player in players[1:-1]:
        assert player.post(f"/api/challenges/{made}/accept").is_success
    assert everywhere.page(players[-1], f"/challenges/{made}/take", {}) == Result("")
    board = int(everywhere.api.http.get(f"/api/challenges/{made}").json()["board"])
    seats = everywhere.state(board).seats
    everywhere.boards(board, *sorted(players, key=lambda one: seats.index(one.account)))
    return board


@pytest.mark.parametrize(
    ("rules", "count", "how"),
    [
        pytest.param(
            *one,
            id=f"{rules_id(one[0])}-{one[1]}-{one[2]}",
            marks=() if (one[0].key, *one[1:]) in QUICK else pytest.mark.long,
        )
        for one in MATCHES
    ],
)
def test_a_whole_match_is_played_at_all_front_ends_in_turn_and_holds(
    everywhere: Everywhere, rules: AnyRules, count: int, how: str
) -> None:
    chance = random.Random(rules.key)
    players = [everywhere.player() for _ in range(count)]
    board = start(everywhere, rules.key, players, how)
    seats = everywhere.state(board).seats
    players.sort(key=lambda one: seats.index(one.account))
    turns = cycle(FRONT_ENDS)
    while not (state := everywhere.state(board)).over:
        legal = list(rules_by_id(state.rules).legal_moves(position_of(state)))
        if "done" in legal and state.ply < PLIES and len(legal) > 1:
            legal.remove("done")
        move = "done" if "done" in legal and state.ply >= PLIES else chance.choice(legal)
        assert state.next is not None
        body = {"do": "move", "move": move}
        action = Action(move, body, body, rules.key)
        where = next(turns)
        assert everywhere.act(where, players[state.next], board, action) == Result(""), where
        assert everywhere.state(board).ply == state.ply + 1, where
    result = everywhere.api.http.get(f"/api/matches/{board}").json()["result"]
    outcome = rules_by_id(state.rules).outcome(position_of(state))
    assert outcome, result
    detail = text_in(outcome.text, ENGLISH)
    assert detail, result
    assert result["text"].endswith(f"({detail})"), result
    for seat, player in enumerate(players):
        page = html.unescape(everywhere.guest(player).page(f"/m/{board}"))
        found = _TURN.search(page)
        assert found, page
        sentence, *_ = found[1].split('<span class="change">')  # once the ratings are counted
        assert sentence.strip() == f"{verdict(result['winners'], seat, count)}: {detail}."
    holds = check(everywhere.api.parts.store, board)
    assert holds.startswith(f"match {board} holds")
    dealt = count > 1 and rules.needs_draw(rules.read_options(()), count)
    assert ("the server dealt as soon as all had accepted" in holds) == dealt


def test_every_key_that_the_games_leave_is_in_the_tables(everywhere: Everywhere) -> None:
    players = [everywhere.player() for _ in range(2)]
    everywhere.start_game("pow2", *players)
    with everywhere.api.server.client() as client:
        names = [name.decode() for name in client.scan_iter(count=1_000)]
    rows = all_rows()
    unknown = [name for name in names if not (OF_RQ.fullmatch(name) or row_of(name, rows))]
    assert unknown == []
    assert {"{s07.a1y}:log", "{s07.a1y}:m:<board>:ev"} <= {row_of(name, rows) for name in names}
