"""All games of the plugin, against OpenSpiel itself and by the laws that every game keeps."""

import re
import subprocess
import sys
import tomllib
from copy import copy
from pathlib import Path
from random import Random
from xml.etree import ElementTree as ET

import pyspiel
import pytest

from domain.drawing import draw_svg
from domain.game.protocol import IllegalMove, NoOptions, TextInput, UnreadableMove
from domain.rules import register_game, registry
from domain.rules.laws import faults_of
from matchpost_openspiel import GAMES, rules_version, states
from matchpost_openspiel.board import links
from matchpost_openspiel.table import SPIELE

PLUGIN = Path(__file__).parents[1]
LEFT_OUT = {"cliff_walking", "cursor_go", "hive", "mnk", "morpion_solitaire", "quoridor"}
LONG = {"oschinesecheckers", "oscrazyhouse", "osgo", "osshogi"}
QUICK_AND_LONG = [
    pytest.param(key, marks=pytest.mark.long if key in LONG else ()) for key in sorted(vars(GAMES))
]


@pytest.fixture(scope="module", autouse=True)
def _registered():
    known = vars(registry._REGISTRY)
    before = {name: copy(value) for name, value in known.items()}
    for game in vars(GAMES).values():
        register_game(game)
    yield
    known.update(before)


def rules_of(key):
    return getattr(GAMES, key).latest


def positions(key, seed=1):
    """Yield each position of a match at random, with the move that led there."""
    rules, chance = rules_of(key), Random(f"{key} {seed}")
    position, move = rules.start(NoOptions(), 2, None), ""
    yield position, move
    while rules.to_move(position) is not None:
        move = chance.choice(rules.moves(position))
        position = rules.play(position, move)
        yield position, move


def played(key, *moves):
    rules = rules_of(key)
    position = rules.start(NoOptions(), 2, None)
    for move in moves:
        position = rules.play(position, rules.check(position, rules.read(move)))
    return position


def test_every_game_that_fits_is_there_or_left_out_on_purpose():
    def fits(kind):
        return (
            kind.default_loadable
            and kind.dynamics == pyspiel.GameType.Dynamics.SEQUENTIAL
            and kind.chance_mode == pyspiel.GameType.ChanceMode.DETERMINISTIC
            and kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION
        )

    known = {kind.short_name for kind in pyspiel.registered_games() if fits(kind)}
    assert {spiel.name for spiel in SPIELE} == known - LEFT_OUT


@pytest.mark.parametrize("spiel", SPIELE, ids=lambda spiel: spiel.key)
def test_the_table_says_what_openspiel_says(spiel):
    game = pyspiel.load_game(spiel.name, dict(spiel.parameters))
    state = game.new_initial_state()
    assert spiel.longest == game.max_game_length()
    assert spiel.wide == (game.num_distinct_actions() > 256)
    assert spiel.begins == state.current_player()
    assert game.num_players() == len(spiel.sides) == 2
    assert rules_of(spiel.key).read(spiel.example) == spiel.example


@pytest.mark.parametrize("key", QUICK_AND_LONG)
def test_every_law_of_games_is_kept(key):
    assert list(faults_of(getattr(GAMES, key), 1)) == []


@pytest.mark.parametrize("key", QUICK_AND_LONG)
def test_what_a_move_names_changes_where_the_board_says_so(key):
    """A name that stood for another place would show the pieces elsewhere than where they were put."""
    rules, board, unchanged = rules_of(key), {}, 0
    # a column, what is taken with a token, a whole board; an amazon that will move; a stone that is turned away at once
    named_otherwise = {"osconnectfour", "osnim", "osultimatetictactoe", "osamazons", "ospentago"}
    kinds = rules.spiel.pieces
    for position, move in positions(key):
        now = rules.to_json(position)["board"]
        if kinds:
            assert set(now.values()) <= set(kinds)
        names = re.findall(r"[a-z]*\d+", move)
        if names and key not in named_otherwise:
            unchanged += any(board.get(name) == now.get(name) for name in names)
        board = now
    assert unchanged == 0


@pytest.mark.parametrize("key", sorted(vars(GAMES)))
def test_both_drawings_show_a_board_and_the_places_of_the_last_move(key):
    game, rules = getattr(GAMES, key), rules_of(key)
    for ply, (position, move) in enumerate(positions(key)):
        if ply not in {0, 5, 6, 7}:
            continue
        svg = draw_svg(rules, position, ("alice", "bob"), last=move)
        root = ET.fromstring(svg)
        places = [one for one in root.iter() if one.get("data-place")]
        assert len({one.get("data-place") for one in places}) == len(places)
        assert len(svg) < max(44_000, 400 * len(places))
        shown = TextInput(rules.to_json(position), "large")
        lines = game.draw(shown).split("\n")
        for place in game.text_places(shown):
            assert lines[place.line][place.column] != " "


def test_a_refusal_says_why_and_names_a_legal_move():
    rules = rules_of("oschess")
    with pytest.raises(
        UnreadableMove, match="'Nf3!' isn't a move; a move is written such as e2-e4"
    ):
        rules.read("Nf3!")
    with pytest.raises(
        IllegalMove, match="e2-e5: that is no legal move here; for example a2-a3 is one"
    ):
        played("oschess", "e2-e5")
    with pytest.raises(IllegalMove, match="e2-e4: the match is over: Black has won"):
        played("oschess", "f2-f3", "e7-e5", "g2-g4", "d8-h4", "e2-e4")


def test_chess_names_squares_whatever_stands_there():
    castled = played("oschess", "e2-e4", "e7-e5", "g1-f3", "b8-c6", "f1-c4", "f8-c5", "e1-g1")
    board = rules_of("oschess").to_json(castled)["board"]
    assert (board["g1"], board["f1"]) == ("K", "R")
    promoted = played(
        "oschess", "a2-a4", "b7-b5", "a4-b5", "a7-a6", "b5-a6", "c8-b7", "a6-b7", "h7-h6", "b7-a8n"
    )
    assert rules_of("oschess").to_json(promoted)["board"]["a8"] == "N"


def test_a_piece_in_hand_is_dropped_by_its_letter():
    position = played("oscrazyhouse", "e2-e4", "d7-d5", "e4-d5", "h7-h6")
    assert "In hand: P" in rules_of("oscrazyhouse").to_json(position)["text"]
    dropped = played("oscrazyhouse", "e2-e4", "d7-d5", "e4-d5", "h7-h6", "p@e6")
    assert rules_of("oscrazyhouse").to_json(dropped)["board"]["e6"] == "P"


def test_the_seat_that_begins_is_the_first_and_wins_as_such():
    position = played("osbreakthrough")
    assert rules_of("osbreakthrough").to_move(position) == 0
    mated = played("oschess", "f2-f3", "e7-e5", "g2-g4", "d8-h4")
    assert rules_of("oschess").outcome(mated).winners == (1,)
    drawn = played("ostictactoe", "a1", "b1", "c1", "b2", "a2", "c2", "b3", "a3", "c3")
    assert rules_of("ostictactoe").outcome(drawn).winners == (0, 1)


def test_links_of_twixt_are_those_that_nothing_crosses():
    def crossed(one, other):
        def turn(a, b, c):
            area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
            return (area > 0) - (area < 0)

        (a, b), (c, d) = one, other
        return turn(a, b, c) * turn(a, b, d) < 0 and turn(c, d, a) * turn(c, d, b) < 0

    def at(name):
        return ord(name[0]), int(name[1:])

    rules, pegs, linked = rules_of("ostwixt"), {}, set()
    for position, move in positions("ostwixt"):
        if move:
            here, own = at(move), len(position.actions) % 2
            pegs[here] = own
            for across, down in (
                (1, 2),
                (2, 1),
                (-1, 2),
                (-2, 1),
                (1, -2),
                (2, -1),
                (-1, -2),
                (-2, -1),
            ):
                link = frozenset({here, (here[0] + across, here[1] + down)})
                way = tuple(link)
                if all(pegs.get(end) == own for end in link) and not any(
                    crossed(way, tuple(other)) for other in linked
                ):
                    linked.add(link)
        text = rules.to_json(position)["text"]
        found = links(text, [cell[:5] for cell in rules.spiel.board.cells(text)])
        assert {frozenset({at(one), at(other)}) for one, other, _ in found} == linked
    assert len(linked) > 20


def test_a_position_read_from_the_store_is_replayed_to_the_same_board():
    *_, (position, _) = positions("osshogi")
    shown = rules_of("osshogi").to_json(position)
    states._KEPT.clear()
    assert rules_of("osshogi").to_json(position) == shown


def test_an_error_of_openspiel_is_an_exception_and_no_end_of_the_process():
    state = pyspiel.load_game("chess").new_initial_state()
    with pytest.raises(pyspiel.SpielError):
        state.apply_action(99_999)
    position = played("oschess", "e2-e4")
    assert rules_of("oschess").count_moves(position) == 20


def test_known_games_need_no_openspiel_until_one_is_played():
    program = """
import sys
from matchpost_openspiel import GAMES
rules = GAMES.oschess.latest
print(rules.title, 'pyspiel' in sys.modules)
rules.moves(rules.start(rules.read_options([]), 2, None))
print('pyspiel' in sys.modules)
"""
    said = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": f"{PLUGIN}:{PLUGIN.parents[1]}"},
    )
    assert said.stdout == "Chess (OpenSpiel) False\nTrue\n"


def test_the_version_of_the_rules_is_that_of_openspiel():
    assert (rules_version("2.0.2"), rules_version("1.6"), rules_version("2.1.0.dev1")) == (
        20002,
        10600,
        20100,
    )
    assert rules_of("oschess").version == rules_version(pyspiel.__version__)


def test_each_game_has_an_entry_point_and_a_help_page_with_moves_that_are_read():
    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text())["project"]
    points = project["entry-points"]["matchpost.games.v1"]
    assert points == {key: f"matchpost_openspiel:GAMES.{key}" for key in vars(GAMES)}
    for key in points:
        page = (PLUGIN / "matchpost_openspiel/help" / key / "help.txt").read_text()
        assert page.startswith(rules_of(key).title + "\n")
        assert f"  {key} challenge userid1 userid2\n" in page
        assert max(map(len, page.split("\n"))) <= 78
        for move in re.findall(r"^  (\S+)  ", page.partition("WRITING A MOVE")[2], re.MULTILINE):
            rules_of(key).read(move)


def test_the_plugin_uses_only_what_the_interface_promises():
    promised = {"game", "boards", "sentences", "errors", "rules"}
    for file in (PLUGIN / "matchpost_openspiel").glob("*.py"):
        used = re.findall(
            r"^(?:from|import) (domain|infra|workers|services)(?:\.(\w+))?",
            file.read_text(),
            re.MULTILINE,
        )
        assert all(layer == "domain" and room in promised for layer, room in used), file


def test_a_version_of_openspiel_that_can_not_be_counted_is_refused():
    with pytest.raises(ValueError, match="nightly"):
        rules_version("nightly")
