"""Offers, resigning and rematches on a board in the terminal, at a real server."""

from tests.helpers.api import Api
from tests.helpers.board import Seen, play


def state(api: Api, board: int):
    return api.http.get(f"/api/matches/{board}").json()


def test_offers_are_made_answered_and_shown(api, pair, tmp_path):
    one, other, board = pair
    assert one.move(board, "m13-j7").is_success

    async def steps(seen: Seen) -> None:
        assert other.give(board, {"do": "offer", "kind": "draw"}).is_success
        await seen.until(lambda: f"{other.name} offers a draw" in seen.message)
        assert "a accepts, r rejects" in " ".join(seen.side.split())
        await seen.press("r")
        assert seen.message.startswith("Rejected.")
        assert state(api, board)["offer"] is None
        await seen.press("o", "down", "enter")
        assert state(api, board)["offer"]["kind"] == "undo"
        assert "You asked for a takeback." in " ".join(seen.side.split())
        assert other.give(board, {"do": "accept"}).is_success
        await seen.until(lambda: "Moves were taken back; 0 moves are left." in seen.message)
        assert other.give(board, {"do": "offer", "kind": "draw"}).is_success
        await seen.until(lambda: seen.app.view.foreign_offer == "draw")
        await seen.press("a")
        await seen.until(lambda: seen.app.view.is_over)
        assert "Draw by agreement" in seen.message

    play(api.url, board, one, tmp_path, steps)
    assert state(api, board)["result"]["winners"] == [0, 1]


def test_a_player_resigns_only_after_a_question(api, pair, tmp_path):
    one, _, board = pair

    async def steps(seen: Seen) -> None:
        await seen.press("x", "n")
        assert state(api, board)["result"] is None
        await seen.press("x", "y")
        await seen.until(lambda: seen.app.view.is_over)
        assert seen.message.startswith("Resigned. ")
        await seen.press("x")
        assert "won by resignation." in seen.message

    play(api.url, board, one, tmp_path, steps)
    assert state(api, board)["result"]["winners"] == [1]


def test_a_rematch_is_started_from_the_end(api, pair, tmp_path):
    one, other, board = pair
    assert other.give(board, {"do": "resign"}).is_success

    async def steps(seen: Seen) -> None:
        assert "o starts a rematch." in seen.message
        await seen.press("o", "n")
        assert seen.app.board == board
        await seen.press("o", "y")
        await seen.until(lambda: seen.app.view and seen.app.view.board != board)
        await seen.idle()
        assert seen.app.view.name(0) == other.name
        assert seen.message == f"The match is waiting for {other.name}."

    play(api.url, board, one, tmp_path, steps)


def test_an_invitation_is_found_and_accepted_and_nothing_is_proposed_before(api, tmp_path):
    one, other = api.players()
    board, second = api.match(one, other), api.match(one, other, game="torere")
    api.caught_up()

    async def steps(seen: Seen) -> None:
        assert seen.message == "The match is waiting for you: a accepts it, r declines it."
        await seen.press("o")
        assert seen.message == "Nothing can be proposed before all have accepted the match."
        await seen.press("a")
        await seen.until(lambda: seen.app.view.match["state"] == "active")
        assert f"It is {one.name}'s turn." in seen.message
        await seen.press("n")
        await seen.until(lambda: seen.app.view and seen.app.view.board == second)
        await seen.idle()
        await seen.press("r", "y")
        await seen.until(lambda: seen.app.view.is_over)

    play(api.url, board, other, tmp_path, steps)
    assert state(api, second)["result"]["reason"] == "declined"


def test_in_a_sealed_match_the_deal_of_the_server_is_proposed(api, tmp_path):
    one, other = api.players()
    terms = {"terms": ["--gather"], "commitment": "ab" * 32}
    board = api.begun(one, other, game="powerdrain", **terms)

    async def steps(seen: Seen) -> None:
        await seen.press("o", "enter")
        await seen.until(lambda: state(api, board)["offer"] is not None)
        assert other.accept(board) == board
        assert state(api, board)["state"] == "active"
        await seen.until(lambda: seen.app.view.has_board)

    play(api.url, board, one, tmp_path, steps)


def test_a_board_is_in_the_language_of_its_player(api, pair, tmp_path):
    one, _, board = pair

    async def steps(seen: Seen) -> None:
        assert seen.message.startswith("Du bist am Zug.")
        assert "(du)" in seen.side
        assert {each.binding.description for each in seen.app.active_bindings.values()} >= {
            "Wählen",
            "Hilfe",
        }
        await seen.press("x", "y")
        await seen.until(lambda: seen.app.view.is_over)
        assert seen.message.startswith("Aufgegeben. ")
        assert "Aufgabe" in seen.message

    play(api.url, board, one, tmp_path, steps, language="de")
