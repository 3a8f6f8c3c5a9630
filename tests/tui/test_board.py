"""A board in the terminal, at a real server."""

import pytest

from services.tui.board_panes import DrawingPane
from tests.helpers.api import Api
from tests.helpers.board import Seen, play

GAMES = {"pow2": 2, "goliath": 2, "line": 2, "powerdrain": 2, "halves": 2, "halves of three": 3, "torere": 2,
         "jump": 1, "one": 1, "two": 1, "duo": 1}  # fmt: skip

QUICK = ("powerdrain", "halves of three", "one")
"""Games of which the ordinary run plays, beside those below: their moves are chosen in different ways."""


def state(api: Api, board: int):
    return api.http.get(f"/api/matches/{board}").json()


@pytest.mark.parametrize(
    ("name", "players"),
    [
        pytest.param(*one, id=one[0], marks=() if one[0] in QUICK else pytest.mark.long)
        for one in GAMES.items()
    ],
)
@pytest.mark.parametrize(
    "size", [(80, 24), pytest.param((140, 60), marks=pytest.mark.long)], ids=["80x24", "140x60"]
)
def test_a_move_of_every_game_is_chosen_with_the_keyboard(api, tmp_path, name, players, size):
    game, *of = name.split()
    people = api.players(players)
    board = api.begun(*people, game=game, options=["-manual_start"] if of else [])

    async def steps(seen: Seen) -> None:
        for _ in range(6):
            if seen.app.choice.preview:
                break
            assert "[" in seen.drawing
            assert seen.app.choice.cursor in seen.app.targets
            await seen.press("enter")
        assert seen.message.startswith("Play ")
        shown, before = seen.app.choice.preview, state(api, board)
        assert before["ply"] == 0
        assert shown.move in before["at"]["legal"]
        await seen.press("enter")
        assert state(api, board)["moves"] == [shown.move]
        assert seen.message.startswith(f"Played {shown.move}.")
        await seen.until(lambda: seen.app.view.ply == 1)
        assert seen.app.drawn.move == shown.move

    play(api.url, board, people[0], tmp_path, steps, size)


def test_nothing_is_played_before_the_result_was_shown(api, pair, tmp_path):
    one, other, board = pair

    async def steps(seen: Seen) -> None:
        assert f"> Light {one.name} (you)" in seen.side
        assert f"  Dark {other.name}" in seen.side
        first = seen.side.splitlines()[2]
        assert first.strip().startswith("2d 23:59:")
        assert "3d 00:00:00" in seen.side.splitlines()[4]
        assert "Choose a piece to move." in seen.message
        assert set(seen.app.targets) == {"m1", "m13"}
        await seen.press("down")
        assert "[O]" in seen.drawing
        assert seen.app.choice.cursor == "m13"
        await seen.press("enter")
        assert seen.message.startswith("Chosen: m13. Next, 24 places: ")
        assert "(O)" in seen.drawing
        plain = seen.drawing
        # a refusal is a sentence and changes nothing
        for move, said in (("m13-a1", "! "), ("over there", "! 'over there' isn't a move")):
            await seen.press("m", *move, "enter")
            assert seen.message.lower().startswith(said.lower()), seen.message
            assert (seen.app.choice.chosen, seen.drawing) == (("m13",), plain)
            assert seen.app.choice.preview is None
        await seen.press("enter")
        assert f"Enter plays it, Escape goes back. It will be {other.name}'s turn." in seen.message
        assert seen.drawing != plain
        await seen.press("escape")
        assert seen.message.startswith("Chosen: m13.")
        await seen.press("escape")
        assert not seen.app.choice.is_begun
        await seen.until(lambda: seen.side.splitlines()[2] < first)
        await seen.press("m", *"M13-J7", "enter")
        assert seen.message.startswith("Play m13-j7?")
        await seen.press("escape")
        assert (seen.app.choice.preview, state(api, board)["ply"]) == (None, 0)
        await seen.press("colon", *"m13 - j7", "enter", "enter")
        assert state(api, board)["moves"] == ["m13-j7"]
        assert f"It is {other.name}'s turn." in seen.message

    play(api.url, board, one, tmp_path, steps)


def test_a_move_that_came_too_late_is_refused_and_the_board_is_right(api, pair, tmp_path):
    one, other, board = pair
    assert one.move(board, "m13-j7").is_success

    async def steps(seen: Seen) -> None:
        await seen.press("m", *"a13-d7", "enter")
        seen.app._follower.close()  # the news of the other terminal are late
        assert other.move(board, "a13-d10").is_success
        await seen.press("enter")
        assert seen.message.startswith("! "), seen.message
        assert f"It is {one.name}'s turn." in seen.message
        assert seen.app.view.moves == ("m13-j7", "a13-d10")

    play(api.url, board, other, tmp_path, steps)
    assert state(api, board)["ply"] == 2


def test_a_move_of_the_opponent_appears_by_itself_and_earlier_positions_are_looked_at(
    api, pair, tmp_path
):
    one, other, board = pair

    async def steps(seen: Seen) -> None:
        assert f"It is {one.name}'s turn." in seen.message
        bells = []
        seen.app.bell = lambda: bells.append(1)
        assert one.move(board, "m13-j7").is_success
        await seen.until(lambda: seen.app.view.ply == 1)
        await seen.idle()
        assert seen.message == "Played: m13-j7. It is your turn."
        assert bells == [1]
        assert "  1 m13-j7" in seen.side
        assert "[X]" in seen.drawing
        await seen.press("enter", "enter", "enter")
        assert len(bells) == 1
        present = seen.drawing
        await seen.press("left_square_bracket")
        assert seen.message.startswith("After 1 of 2 moves. m13-j7 was played.")
        await seen.press("left_square_bracket", "left_square_bracket")
        assert seen.message.startswith("After 0 of 2 moves.")
        assert seen.drawing != present
        await seen.press("right_square_bracket", "escape")
        assert seen.drawing == present

    play(api.url, board, other, tmp_path, steps)
    assert state(api, board)["ply"] == 2


def test_the_drawing_has_the_largest_size_that_fits_and_a_place_is_clicked(api, pair, tmp_path):
    one, _, board = pair

    async def large(seen: Seen) -> None:
        assert seen.app.drawn.display == "large"
        for width, height in ((80, 60), (80, 24)):
            await seen.pilot.resize_terminal(width, height)
            await seen.until(lambda: seen.app.drawn.display == "small")
            await seen.pilot.resize_terminal(140, 60)
            await seen.until(lambda: seen.app.drawn.display == "large")

    async def small(seen: Seen) -> None:
        async def click(place: str) -> None:
            box, drawing = seen.app.shown.boxes[place], seen.app.query_one(DrawingPane)
            # it is scrolled back once the screen has been laid out again
            await seen.until(lambda: seen.app.pane.region.contains_region(drawing.region))
            await seen.pilot.click("DrawingPane", offset=(box.column, box.line))
            await seen.idle()

        assert seen.app.drawn.display == "small"
        await seen.press("s")
        assert seen.app.drawn.display == "large"
        await seen.press("s")
        await seen.until(lambda: seen.app.drawn.display == "small")
        await click("m13")
        await seen.until(lambda: seen.app.choice.chosen == ("m13",))
        await click("a1")
        assert seen.message.startswith("! "), seen.message
        await click("j7")
        assert seen.app.choice.preview.move == "m13-j7"
        await seen.press("enter")
        assert state(api, board)["moves"] == ["m13-j7"]

    play(api.url, board, one, tmp_path, large, (140, 60))
    play(api.url, board, one, tmp_path, small)


def test_the_next_match_that_waits_is_opened_and_an_invitation_is_answered(api, pair, tmp_path):
    one, other, board = pair
    # the newest invitation comes first
    third, second = (api.match(two, one, game="torere") for two in (api.player(), other))
    assert one.move(board, "m13-j7").is_success
    api.caught_up()

    async def opened(seen: Seen, board: int) -> None:
        await seen.press("n")
        await seen.until(lambda: seen.app.view and seen.app.view.board == board)
        await seen.idle()

    async def steps(seen: Seen) -> None:
        await opened(seen, second)
        assert f"{second} Mū tōrere" in seen.side
        assert seen.message == "The match is waiting for you: a accepts it, r declines it."
        await seen.press("o")
        assert seen.message == "Nothing can be proposed before all have accepted the match."
        await seen.press("a")
        await seen.until(lambda: seen.app.view.match["state"] == "active")
        assert f"It is {other.name}'s turn." in seen.message
        await opened(seen, third)
        await seen.press("r", "y")
        await seen.until(lambda: seen.app.view.is_over)
        api.caught_up()
        await seen.press("n")
        assert seen.message == "No other match is waiting for you."

    play(api.url, board, one, tmp_path, steps)
    assert state(api, third)["result"]["reason"] == "declined"


def test_a_spectator_sees_the_match_and_changes_nothing(api, pair, tmp_path):
    one, _, board = pair

    async def steps(seen: Seen) -> None:
        assert seen.message == f"It is {one.name}'s turn. You watch this match."
        assert seen.app.targets == ()
        for key in ("enter", "x", "o", "a", "r"):
            await seen.press(key)
            assert seen.message == "You watch this match; only its players act in it.", key
        await seen.press("m", *"m13-j7", "enter")
        assert seen.message.startswith("After m13-j7, which is not played.")
        await seen.press("enter")
        assert state(api, board)["ply"] == 0
        assert one.move(board, "m13-k8").is_success
        await seen.until(lambda: "Played: m13-k8." in seen.message)

    play(api.url, board, None, tmp_path, steps)


# offers, resigning and rematches


def test_offers_are_made_answered_and_shown_and_a_rematch_is_started_from_the_end(
    api, pair, tmp_path
):
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
        assert "o starts a rematch." in seen.message
        await seen.press("o", "n")
        assert seen.app.board == board
        await seen.press("o", "y")
        await seen.until(lambda: seen.app.view and seen.app.view.board != board)
        await seen.idle()
        assert seen.app.view.name(0) == other.name
        assert seen.message == f"The match is waiting for {other.name}."

    play(api.url, board, one, tmp_path, steps)
    assert state(api, board)["result"]["winners"] == [0, 1]


def test_a_board_is_in_the_language_of_its_player(api, pair, tmp_path):
    one, _, board = pair

    async def steps(seen: Seen) -> None:
        assert seen.message.startswith("Du bist am Zug.")
        assert "(du)" in seen.side
        keys = {each.binding.description for each in seen.app.active_bindings.values()}
        assert keys >= {"Wählen", "Hilfe"}
        await seen.press("x", "y")
        await seen.until(lambda: seen.app.view.is_over)
        assert seen.message.startswith("Aufgegeben. ")
        assert "Aufgabe" in seen.message

    play(api.url, board, one, tmp_path, steps, language="de")


def test_a_question_is_answered_before_anything_else(api, pair, tmp_path):
    one, _, board = pair

    async def asked(seen: Seen, key: str, *then: str) -> None:
        await seen.press(key)
        await seen.until(lambda: len(seen.app.screen_stack) == 2)
        for each in then:
            await seen.pilot.press(each)
        await seen.until(lambda: len(seen.app.screen_stack) == 1)

    async def steps(seen: Seen) -> None:
        # which `m` closes where any key does
        for key, *then in (("x", "m", "escape"), ("o", "m", "escape"), ("question_mark", "m")):
            await asked(seen, key, *then)
            assert not seen.app.query_one("#typed").display
            assert seen.app.choice.chosen == ()
        await seen.press("enter")
        chosen = seen.app.choice.chosen
        for key in ("escape", "q"):  # do nothing on the board below the help
            await asked(seen, "question_mark", key)
            assert seen.app.choice.chosen == chosen != ()
            assert seen.app.is_running
        await seen.idle()
        assert (state(api, board)["result"], state(api, board)["offer"]) == (None, None)

    play(api.url, board, one, tmp_path, steps)
