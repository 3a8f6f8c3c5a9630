"""The recorded games: complete, legal, and recorded by the engine as the file says."""

from collections import Counter
from pathlib import Path

import pytest

from domain.game.engine import RobotLevel
from domain.rules import rules_by_id
from services.demo.record import MOST_PLIES, SERIES, GameSeries, record
from services.demo.recorded_matches import (
    RecordedGame,
    read_game,
    read_games,
    recorded_games,
    write_game,
)

MOST_BYTES = 500_000


def test_there_are_as_many_games_as_the_series_ask_for():
    wanted = sum(series.count for series in SERIES)
    assert len(recorded_games()) == wanted
    assert len(set(recorded_games())) == wanted


def test_the_file_is_small():
    assert sum(len(write_game(game)) + 1 for game in recorded_games()) < MOST_BYTES


def test_each_game_is_legal_and_ends_as_recorded():
    for game in recorded_games():
        rules = rules_by_id(game.rules)
        position = rules.start(rules.read_options(game.options), game.players, None)
        for seat, text in zip(game.seats, game.moves, strict=True):
            assert rules.to_move(position) == seat
            move = rules.check(position, rules.read(text))
            assert rules.write(move) == text
            position = rules.play(position, move)
        outcome = rules.outcome(position)
        if game.offer:
            assert outcome is None
            rules.check_offer(position, game.offer)
            outcome = rules.outcome_by_offer(position, game.offer)
        assert game.winners == (outcome.winners if outcome else ())
        assert outcome is not None or len(game.moves) == MOST_PLIES


def test_the_stronger_robot_wins_most_games():
    won: Counter[bool] = Counter()
    for game in recorded_games():
        if game.players == 2 and len(game.winners) == 1 and len(set(game.levels)) == 2:
            order = list(RobotLevel)
            better = max(range(2), key=lambda seat, game=game: order.index(game.levels[seat]))
            won[game.winners == (better,)] += 1
    assert won[True] > 2 * won[False]


def test_a_game_is_read_as_it_was_written():
    for game in recorded_games():
        assert read_game(write_game(game)) == game


def test_a_line_that_is_no_game_is_refused():
    with pytest.raises(ValueError, match="unpack"):
        read_game("pow2/1\tm13-j7")


def test_the_seats_are_written_if_they_do_not_alternate():
    easy = RobotLevel.EASY
    game = RecordedGame("line/1", (), (easy, easy), (1,), "", (0, 1, 1), ("a1", "b2", "c3"))
    assert write_game(game) == "line/1\t\teasy easy\t1\t\t011\ta1 b2 c3"
    assert read_games(["# a comment", write_game(game)]) == (game,)


def test_recording_again_gives_the_same_bytes(tmp_path: Path):
    series = [GameSeries("powerdrain", ("-o1", "-p"), 2, [(RobotLevel.EASY, RobotLevel.EASY)])]
    first, second = tmp_path / "first", tmp_path / "second"
    assert list(record(first, series)) == ["powerdrain -o1 -p: 2 games"]
    list(record(second, series))
    assert first.read_bytes() == second.read_bytes()
    one, other = read_games(first.read_text().splitlines())
    assert one.moves != other.moves
