"""The sentences of the Power of Two: refused moves, endings, and the words of drawings."""

from domain.boards.pow2_board import ADJACENT, ALL_PLACES, ANY_PLACE, PLACE, bits, names_of, set_of
from domain.sentences import Sentences, words

_PLACE_BITS = 6
"""Enough for the index of an intersection."""


def neighbours(target: int, board: int) -> int:
    """Return a set of neighbours of an intersection as an argument, a number of two bytes or three."""
    near = list(bits(ADJACENT[target]))
    return sum(1 << n for n, at in enumerate(near) if board >> at & 1) << _PLACE_BITS | target


def _unpacked(packed: int) -> int:
    near = list(bits(ADJACENT[packed & ((1 << _PLACE_BITS) - 1)]))
    return set_of(tuple(near[n] for n in bits(packed >> _PLACE_BITS)))


_COLOURED = (("a light piece", "ein heller Stein"), ("a dark piece", "ein dunkler Stein"))


def _pieces_have(due: int, language: str) -> str:
    if language == "de":
        return "1 Stein" if due == 1 else f"{due} Steine"
    return "1 piece has" if due == 1 else f"{due} pieces have"


def _are_named(named: int, language: str) -> str:
    if language == "de":
        return str(named or "keiner")
    return f"{named} are" if named > 1 else "1 is" if named else "none is"


SAY = Sentences(
    "pow2",
    {
        "side": ("{seat:side}", "{seat:side}"),
        "form": (
            "a move is written from-to or from-to:p1,p2, such as m13-j7 or m13-m5:l4",
            "ein Zug ist von-nach oder von-nach:p1,p2, zum Beispiel m13-j7 oder m13-m5:l4",
        ),
        "repeated": ("{name} is named twice; {form}", "{name} kommt zweimal vor; {form}"),
        "over": (
            "the match is over: {winner:side} has all 16 pieces on the board",
            "die Partie ist zu Ende: {winner:side} hat alle 16 Steine auf dem Brett",
        ),
        # the first pieces, with -free
        "hand": (
            "single pieces are placed only before the first turn of -free; {form}",
            "einzelne Steine werden nur am Anfang von -free gesetzt; {form}",
        ),
        "free": (
            "the players first place four pieces each (-free); name one intersection, as in c3",
            "zuerst setzen beide je vier Steine (-free); ein Zug ist dann ein Schnittpunkt wie c3",
        ),
        "beside": (
            "{at:place} is adjacent to {beside:all}; no piece is placed next to another (-free)",
            "{at:place} liegt neben {beside:all}; kein Stein wird neben einen anderen gesetzt (-free)",
        ),
        # the piece and its way
        "none": ("there is no piece at {at:place}", "auf {at:place} steht kein Stein"),
        "owner": (
            "the piece at {at:place} is {other:side}'s, and it is {mover:side}'s turn",
            "der Stein auf {at:place} gehört {other:side}, und am Zug ist {mover:side}",
        ),
        "stays": (
            "the piece at {at:place} has to move",
            "der Stein auf {at:place} muss sich bewegen",
        ),
        "line": (
            "no line joins {origin:place} and {target:place}",
            "keine Linie verbindet {origin:place} und {target:place}",
        ),
        "border": (
            "the four outer edges can't be travelled (-noborder)",
            "auf den vier Randlinien wird nicht gezogen (-noborder)",
        ),
        "way": (
            "the way is blocked by {piece:piece} at {at:place}",
            "den Weg versperrt {piece:piece} auf {at:place}",
        ),
        "taken": ("{at:place} is occupied by {piece:piece}", "auf {at:place} steht {piece:piece}"),
        # the pieces that are placed
        "alone": (
            "{at:place} has no occupied neighbour, so nothing is placed",
            "{at:place} hat keinen besetzten Nachbarn, also wird nichts gesetzt",
        ),
        "exact": (
            "{due} pieces would have to be placed, with {supply} left (-exact)",
            "zu setzen wären {due} Steine, und es sind noch {supply} da (-exact)",
        ),
        "barred": (
            "no free intersection forms a triangle with {barred:any}",
            "kein freier Schnittpunkt bildet ein Dreieck mit {barred:any}",
        ),
        "few": (
            "{those:all} need an intersection each, and have only {places:all}",
            "{those:all} brauchen je einen Schnittpunkt und haben nur {places:all}",
        ),
        "serve": (
            (
                "{those:near} can't serve {around:near} with an intersection each; "
                "such as {origin:place}-{target:place}:{placed:list}"
            ),
            (
                "mit {those:near} hat nicht jeder auf {around:near} seinen eigenen Schnittpunkt; "
                "zum Beispiel {origin:place}-{target:place}:{placed:list}"
            ),
        ),
        "due": (
            (
                "{due:have} to be placed for {around:near}, and {named:are} named; "
                "such as {origin:place}-{target:place}:{placed:list}"
            ),
            (
                "für {around:near} zu setzen: {due:have}; genannt: {named:are}; "
                "zum Beispiel {origin:place}-{target:place}:{placed:list}"
            ),
        ),
        "moved": (
            "{at:place} is taken by the piece that moves there",
            "auf {at:place} steht dann der Stein, der dorthin zieht",
        ),
        "triangle": (
            "{at:place} forms no triangle with {target:place} and {around:any}",
            "{at:place} bildet kein Dreieck mit {target:place} und {around:any}",
        ),
        # the ending
        "all-placed": (
            "{winner:side} has all {pieces} pieces on the board",
            "{winner:side} hat alle {pieces} Steine auf dem Brett",
        ),
        "no-move": ("{mover:side} has no legal move", "{mover:side} hat keinen erlaubten Zug"),
        # drawings
        "fresh": ("{seat:side}, fresh", "{seat:side}, frisch"),
        "aged": ("{seat:side}, aged", "{seat:side}, gealtert"),
        "left": ("{left} left to place", "noch {left} zu setzen"),
    },
    side=words("Light", "Dark", german=("Hell", "Dunkel")),
    place=PLACE,
    piece=lambda letter, language: _COLOURED[letter in "xX"][language == "de"],
    all=ALL_PLACES,
    any=ANY_PLACE,
    have=_pieces_have,
    are=_are_named,
    near=lambda packed, language: ALL_PLACES(_unpacked(packed), language),
    list=lambda packed, _: ",".join(names_of(_unpacked(packed))),
)
