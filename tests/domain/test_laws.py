"""The laws of every game: each fault of a package is found, and is said in a sentence."""

from dataclasses import replace

import msgspec
import pytest

from domain.game.protocol import GameOutcome
from domain.games.reversi.rules import ReversiRules
from domain.rules import all_games, game_by_key
from domain.rules.laws import faults_of, keeps_the_laws

REVERSI = game_by_key("reversi")


@pytest.mark.parametrize("game", all_games(), ids=lambda game: game.key)
def test_our_games_declare_what_fits_together(game):
    assert list(faults_of(game, 0)) == []


def test_a_match_at_random_is_the_same_for_a_seed():
    assert (
        keeps_the_laws(REVERSI, 2, (), bytes(32)) == keeps_the_laws(REVERSI, 2, (), bytes(32)) > 50
    )


class Twice(ReversiRules):
    def moves(self, position):
        return super().moves(position) * 2


class Miscounted(ReversiRules):
    def count_moves(self, position):
        return super().count_moves(position) + 1


class Deaf(ReversiRules):
    def read(self, text):
        return super().read(text if text.islower() else "")


class Refusing(ReversiRules):
    def why_illegal(self, position, move):  # noqa: ARG002 - refuses all
        return "not today, thank you"


class Lenient(ReversiRules):
    def why_illegal(self, position, move):  # noqa: ARG002 - refuses nothing
        return None


class Blank(ReversiRules):
    def write(self, move):
        return f" {super().write(move)}"


class Unreasonable(ReversiRules):
    def outcome(self, position):
        found = super().outcome(position)
        return found and GameOutcome(found.winners, "More Discs", found.text)


class Unwon(ReversiRules):
    def outcome(self, position):
        found = super().outcome(position)
        return found and GameOutcome((2,), found.reason, found.text)


class Failing(ReversiRules):
    def play(self, position, move):
        if (position.black | position.white).bit_count() > 5:
            raise ZeroDivisionError("a division by zero")
        return super().play(position, move)


class Nameless(ReversiRules):
    title = " "
    sides = ("Black",)


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (Twice, "a move is listed twice: "),
        (Miscounted, "`legal_moves` lists 4 moves, `moves` 4 and `count_moves` counts 5; in a match of 2, at the start"),
        (Deaf, "the legal move "),
        (Refusing, "the legal move "),
        (Blank, "the move ' "),
        (Unreasonable, "the reason 'More Discs' isn't one word in lower case with hyphens"),
        (Unwon, "the winners of a match of 2 are the seats (2,)"),
        (Failing, "ZeroDivisionError: a division by zero; in a match of 2, after "),
        (Nameless, "the game has no title"),
    ],
)  # fmt: skip
def test_a_broken_law_is_said(rules, said):
    found = list(faults_of(replace(REVERSI, versions=(rules(),)), 1))
    assert any(fault.startswith(said) for fault in found), found


def test_a_move_that_is_accepted_and_not_listed_is_found():
    found = list(faults_of(replace(REVERSI, versions=(Lenient(),)), 3))
    assert any("which is not among the moves" in fault for fault in found), found


def painted(change):
    """Return Reversi with another drawing."""
    return replace(REVERSI, paint=lambda board: change(REVERSI.paint(board)))


def without_a_row(picture):
    body = tuple(part for part in picture.body if 'data-place="d3"' not in part)
    return msgspec.structs.replace(picture, body=body)


def without_looks(picture):
    players = [
        msgspec.structs.replace(one, icon=one.icon.replace('"icon ', '"icon'))
        for one in picture.players
    ]
    return msgspec.structs.replace(picture, players=tuple(players))


@pytest.mark.parametrize(
    ("game", "said"),
    [
        (painted(without_a_row), "the drawing in SVG has no place d3, which moves name; in a match of 2, at the start"),
        (painted(without_looks), "the icon of each player needs one of the classes "),
        (replace(REVERSI, draw=lambda _: ""), "the drawing 'large' as text is empty; in a match of 2, at the start"),
        (replace(REVERSI, options_form=game_by_key("pow2").options_form), "the option form and the options differ in "),
    ],
)  # fmt: skip
def test_drawings_show_what_moves_name_and_forms_the_options(game, said):
    (fault,) = faults_of(game, 1)
    assert fault.startswith(said)
