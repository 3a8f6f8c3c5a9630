"""The sentences of the Power of Two: refused moves, endings, and the words of drawings."""

from domain.boards.pow2_board import ADJACENT, ALL_PLACES, ANY_PLACE, PLACE, names_of, set_of
from domain.boards.sets import bits
from domain.sentences import FormWords, Sentences, counted, messages_of, with_messages, words

_PLACE_BITS = 6
"""Enough for the index of an intersection."""


def neighbours(target: int, board: int) -> int:
    """Return a set of neighbours of an intersection as an argument, a number of two bytes or three."""
    near = list(bits(ADJACENT[target]))
    return sum(1 << n for n, at in enumerate(near) if board >> at & 1) << _PLACE_BITS | target


def _unpacked(packed: int) -> int:
    near = list(bits(ADJACENT[packed & ((1 << _PLACE_BITS) - 1)]))
    return set_of(tuple(near[n] for n in bits(packed >> _PLACE_BITS)))


_COLOURED = ("a light piece", "a dark piece")


@with_messages(*_COLOURED)
def _piece(letter: str, words: FormWords) -> str:
    return words(_COLOURED[letter in "xX"])


@with_messages("none is", ("{n} is", "{n} are"))
def _are_named(named: int, words: FormWords) -> str:
    return words.counted("{n} is", "{n} are", named) if named else words("none is")


@with_messages(*messages_of(ALL_PLACES))
def _near(packed: int, words: FormWords) -> str:
    return ALL_PLACES(_unpacked(packed), words)


SAY = Sentences(
    "pow2",
    {
        "side": "{seat:side}",
        "form": "a move is written from-to or from-to:p1,p2, such as m13-j7 or m13-m5:l4",
        "repeated": "{name} is named twice; {form}",
        "over": "the match is over: {winner:side} has all 16 pieces on the board",
        # the first pieces, with -free
        "hand": "single pieces are placed only before the first turn of -free; {form}",
        "free": "first each player places four pieces (-free); name one intersection, such as c3",
        "beside": "{at:place} is adjacent to {beside:all}; no piece is placed next to another (-free)",
        # the piece and its way
        "none": "there is no piece at {at:place}",
        "owner": "the piece at {at:place} is {other:side}'s, and it is {mover:side}'s turn",
        "stays": "the piece at {at:place} has to move",
        "line": "no line connects {origin:place} and {target:place}",
        "border": "the four outer edges can't be travelled (-noborder)",
        "way": "{piece:piece} at {at:place} is in the way",
        "taken": "{at:place} is occupied by {piece:piece}",
        # the pieces that are placed
        "alone": "{at:place} has no occupied neighbour, so nothing is placed",
        "exact": "{due} pieces would have to be placed, with {supply} left (-exact)",
        "barred": "no free intersection forms a triangle with {barred:any}",
        "few": "{those:all} need an intersection each, and have only {places:all}",
        "serve": (
            "{those:near} don't give {around:near} an intersection each; for example "
            "{origin:place}-{target:place}:{placed:list}"
        ),
        "due": (
            "{due:have} to be placed for {around:near}, and {named:are} named; for example "
            "{origin:place}-{target:place}:{placed:list}"
        ),
        "moved": "{at:place} is taken by the piece that moves there",
        "triangle": "{at:place} forms no triangle with {target:place} and {around:any}",
        # the ending
        "all-placed": "{winner:side} has all {pieces} pieces on the board",
        "no-move": "{mover:side} has no legal move",
        # drawings
        "fresh": "{seat:side}, fresh",
        "aged": "{seat:side}, aged",
        "left": "{left} left to place",
    },
    side=words("Light", "Dark"),
    place=PLACE,
    piece=_piece,
    all=ALL_PLACES,
    any=ANY_PLACE,
    have=counted("{n} piece has", "{n} pieces have"),
    are=_are_named,
    near=_near,
    list=lambda packed, _: ",".join(names_of(_unpacked(packed))),
)
