"""The games of OpenSpiel that people can play by correspondence.

Left out are games for one (cliff_walking, morpion_solitaire), another way to type Go (cursor_go), the same as Gomoku (mnk),
Quoridor, of whose rules OpenSpiel says itself that they have known faults, and Hive, whose tiles lie on no board.
"""

from typing import Final

from domain.game.protocol import PIECE_PROMPT
from matchpost_openspiel import notation as written
from matchpost_openspiel.board import (
    Board,
    Pieces,
    Shape,
    downward,
    go_points,
    hexagon_of,
    mancala_pits,
    numbered,
    oware_pits,
    shogi_squares,
    upward,
)
from matchpost_openspiel.spiel import Spiel

_RANK: Final = r"\d(\S{8})"
_CHESS: Final = r"[1-8] (( +\S){8})"
_LIMIT: Final = 17_695
"""The longest match of chess and its kin."""


def _stones(first: str, second: str, looks: str = "dark light", name: str = "stone") -> Pieces:
    """Return the stones of both seats by their letters."""
    colours = {"dark": "black", "light": "white"}
    return {
        letter: (look, seat, "", f"a {colours[look]} {name}")
        for seat, (letter, look) in enumerate(zip((first, second), looks.split(), strict=True))
    }


def _army(names: str, looks: str = "light dark", colours: str = "white black") -> Pieces:
    """Return pieces by their letters, capital ones of seat 0, from names such as `K=king`."""
    found: dict[str, tuple[str, int, str, str]] = {}
    for one in names.split():
        letter, name = one.split("=")
        for seat, (look, colour) in enumerate(zip(looks.split(), colours.split(), strict=True)):
            own = letter.lower() if seat else letter
            found[own] = (look, seat, letter, f"a {colour} {name.replace('_', ' ')}")
    return found


_WHITE_BLACK: Final = ("White", "Black")
_BLACK_WHITE: Final = ("Black", "White")
_X_O: Final = ("X", "O")
_CHESS_ARMY: Final = "K=king Q=queen R=rook B=bishop N=knight P=pawn"
_PROMOTED: Final = " A=promoted_bishop C=promoted_rook E=promoted_queen H=promoted_knight"
_SHOGI_ARMY: Final = (
    "K=king R=rook B=bishop G=gold_general S=silver_general N=knight L=lance P=pawn +R=dragon "
    "+B=horse +S=promoted_silver +N=promoted_knight +L=promoted_lance +P=promoted_pawn"
)
_XIANGQI_ARMY: Final = "G=general A=advisor E=elephant H=horse R=chariot C=cannon S=soldier"
_IN_HAND: Final = r"In hand: (\S+)"

SPIELE: Final = (
    Spiel("amazons", "Amazons", _WHITE_BLACK,
        Board(Shape.CHECKERED, r"([.#XO]{10})", upward),
        {"X": ("light", 0, "", "a white amazon"), "O": ("dark", 1, "", "a black amazon"), "#": ("third", -1, "", "an arrow")},
        written.pairs(10, 1), "a4", 300, prompt=PIECE_PROMPT,
        asks=((" From ", "Choose an amazon to move"), (" To ", "Choose where the amazon goes"), (" Shoot", "Choose where its arrow goes"))),
    Spiel("antichess", "Antichess", _WHITE_BLACK,
        Board(Shape.CHECKERED, _CHESS, upward, code=True), _army(_CHESS_ARMY),
        written.chess(76), "e2-e4", _LIMIT, wide=True, begins=1, prompt=PIECE_PROMPT),
    Spiel("breakthrough", "Breakthrough", _BLACK_WHITE,
        Board(Shape.CHECKERED, _RANK, upward), _stones("b", "w"),
        written.places, "a7-a6", 209, wide=True, prompt=PIECE_PROMPT),
    Spiel("checkers", "Checkers", _WHITE_BLACK,
        Board(Shape.CHECKERED, _RANK, upward),
        {"o": ("light", 0, "", "a white man"), "+": ("dark", 1, "", "a black man"),
         "8": ("light", 0, "K", "a white king"), "*": ("dark", 1, "K", "a black king")},
        written.places, "a3-b4", 1000, wide=True, prompt=PIECE_PROMPT),
    Spiel("chess", "Chess", _WHITE_BLACK,
        Board(Shape.CHECKERED, _CHESS, upward, code=True), _army(_CHESS_ARMY),
        written.chess(73), "e2-e4", _LIMIT, wide=True, begins=1, prompt=PIECE_PROMPT),
    Spiel("chinese_checkers", "Chinese Checkers", _BLACK_WHITE,
        Board(Shape.POINTS, r" *([.12](?: [.12])*)", numbered), _stones("1", "2"),
        written.numbers, "3-14", 22_000, wide=True, prompt=PIECE_PROMPT,
        asks=(("hopping", "Choose where the same piece jumps next, or pass"),)),
    Spiel("clobber", "Clobber", _WHITE_BLACK,
        Board(Shape.CHECKERED, r"\d([.ox]{6})", upward), _stones("o", "x", "light dark"),
        written.places, "a5-b5", 29, prompt=PIECE_PROMPT),
    Spiel("connect_four", "Connect Four", _X_O,
        Board(Shape.SQUARES, r"([.xo]{7})", upward, columns=True), _stones("x", "o"),
        written.column, "4", 42),
    Spiel("crazyhouse", "Crazyhouse", _WHITE_BLACK,
        Board(Shape.CHECKERED, _CHESS, upward, code=True, note=_IN_HAND), _army(_CHESS_ARMY + _PROMOTED),
        written.chess(73), "e2-e4", _LIMIT, wide=True, begins=1, prompt=PIECE_PROMPT),
    Spiel("dots_and_boxes", "Dots and Boxes", ("First", "Second"),
        Board(Shape.BARS, "", downward), {"h": ("dark", -1, "", "a line across"), "v": ("dark", -1, "", "an upright line")},
        written.edge, "h11", 60, prompt="Choose a line to draw",
        parameters={"num_rows": 5, "num_cols": 5}),
    Spiel("go", "Go", _BLACK_WHITE,
        Board(Shape.CROSSINGS, r" ?\d+ ([+XO]{19})", go_points, empty="+"), _stones("X", "O"),
        written.places, "d4", 722, wide=True),
    Spiel("gomoku", "Gomoku", _BLACK_WHITE,
        Board(Shape.CROSSINGS, r"([.bw]{15})", downward), _stones("b", "w"),
        written.cell(15), "h8", 225),
    Spiel("havannah", "Havannah", _WHITE_BLACK,
        Board(Shape.HEXAGONS, r" *\d+([ .@O[\]]+)[a-o]?", hexagon_of(8), cell="[.@O]"), _stones("O", "@", "light dark"),
        written.places, "h8", 169),
    Spiel("hex", "Hex", _BLACK_WHITE,
        Board(Shape.HEXAGONS, r" *([.xo](?: [.xo])*)", downward), _stones("x", "o"),
        written.places, "f6", 121),
    Spiel("lines_of_action", "Lines of Action", _BLACK_WHITE,
        Board(Shape.CHECKERED, _RANK, upward), _stones("x", "o"),
        written.places, "b1-b3", 1000, wide=True, prompt=PIECE_PROMPT),
    Spiel("mancala", "Mancala (Kalah)", ("South", "North"),
        Board(Shape.PITS, r"-((?:\d+-)+)", mancala_pits, cell=r"\d+", empty="", scores=(r"-{5,}(\d+)", r"(\d+)-{5,}")), {},
        written.numbers, "3", 1000, prompt="Choose a pit to sow from"),
    Spiel("nim", "Nim", ("First", "Second"),
        Board(Shape.SQUARES, "", downward, heaps=4), {"x": ("dark", -1, "", "a token")},
        written.heap, "c2", 16, prompt="Choose the lowest token to take: those above it go, too"),
    Spiel("nine_mens_morris", "Nine Men’s Morris", _WHITE_BLACK,
        Board(Shape.POINTS, r"(?=.*[.WB])([.WB|][ .WB|-]*)", numbered, cell="[.WB]", across=0.857, note="(Men to deploy: .*)"), _stones("W", "B", "light dark"),
        written.numbers, "0-9", 214, wide=True, prompt=PIECE_PROMPT,
        asks=(("Capture time", "Choose a piece to capture"), ("Point", "Choose where to place your stone"))),
    Spiel("othello", "Othello", _BLACK_WHITE,
        Board(Shape.SQUARES, r"\d((?: [-xo]){8}) \d", downward, empty="-"), _stones("x", "o"),
        written.places, "d3", 128),
    Spiel("oware", "Oware", ("South", "North"),
        Board(Shape.PITS, r"((?: +\d+){6})", oware_pits, cell=r"\d+", empty="",
            scores=(r"Player 0 score = (\d+)", r"Player 1 score = (\d+)")), {},
        written.pits, "c1", 1000, prompt="Choose a pit to sow from"),
    Spiel("pentago", "Pentago", _WHITE_BLACK,
        Board(Shape.SQUARES, r".{2}\d((?: [.@O]){6}).*", downward, blocks=3), _stones("O", "@", "light dark"),
        written.lower, "c2w", 36, wide=True),
    Spiel("shogi", "Shogi", _BLACK_WHITE,
        Board(Shape.SQUARES, r"[a-i] (( +\S+){9})", shogi_squares, cell=r"\S+", code=True, note=_IN_HAND),
        _army(_SHOGI_ARMY, "dark light", "black white"),
        written.shogi, "g7-f7", _LIMIT, wide=True, prompt=PIECE_PROMPT),
    Spiel("tic_tac_toe", "Tic-tac-toe", _X_O,
        Board(Shape.SQUARES, r"([.xo]{3})", downward), _stones("x", "o"),
        written.cell(3), "b2", 9),
    Spiel("twixt", "TwixT", _BLACK_WHITE,
        Board(Shape.PEGS, r" *\d+ (.*)", downward, cell="[.xo]", across=0.8, spread=(5, 3)), _stones("x", "o"),
        written.places, "f6", 141, prompt="Choose where to place your peg",
        parameters={"board_size": 12, "ansi_color_output": False}),
    Spiel("ultimate_tic_tac_toe", "Ultimate Tic-tac-toe", _X_O,
        Board(Shape.SQUARES, r"([.xo]{3} [.xo]{3} [.xo]{3})", downward, cell="[.xo]", blocks=3), _stones("x", "o"),
        written.nested, "e5", 162,
        asks=(("Choose local board", "Choose a board by its middle"),)),
    Spiel("xiangqi", "Xiangqi", ("Red", "Black"),
        Board(Shape.CROSSINGS, r"([.a-zA-Z]{9})", upward), _army(_XIANGQI_ARMY, colours="red black"),
        written.pairs(10), "a4-a5", 500, wide=True, prompt=PIECE_PROMPT),
    Spiel("y", "Y", _WHITE_BLACK,
        Board(Shape.HEXAGONS, r" *\d+([ .@O[\]]+)", downward, cell="[.@O]"), _stones("O", "@", "light dark"),
        written.places, "g7", 190, wide=True),
)  # fmt: skip
"""All of them, by their names in OpenSpiel."""
