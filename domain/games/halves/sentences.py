"""The sentences of Halves: refused moves, endings, and the words of drawings."""

from collections.abc import Iterable, Sequence

from domain.boards.sets import bits
from domain.sentences import (
    FormWords,
    Sentences,
    counted,
    list_in_words,
    names,
    with_messages,
    words,
)

SIDES = ("A", "B", "C")

_SHOWN = 5
"""The most tiles of a group that are named."""
_END = 0


def packed_groups(groups: Iterable[int]) -> bytes:
    """Return the groups as an argument: the numbers of the first tiles of each, then a zero."""
    packed: list[int] = []
    for group in groups:
        packed += [*[tile + 1 for tile in bits(group)][: _SHOWN + 1], _END]
    return bytes(packed)


def _group_text(numbers: Sequence[int]) -> str:
    """Return a group by its tiles, at most five of them, as `{1 3 5}`."""
    shown = " ".join(map(str, numbers[:_SHOWN]))
    return f"{{{shown}{' ...' if len(numbers) > _SHOWN else ''}}}"


@with_messages("or")
def _any_group(groups: bytes, words: FormWords) -> str:
    listed = map(_group_text, groups[:-1].split(bytes([_END])))
    return f" {words('or')} ".join(listed)


@with_messages("and")
def _sides(seats: bytes, words: FormWords) -> str:
    """Return the names of seats, as in `A, B and C`."""
    return list_in_words([SIDES[seat] for seat in seats], words("and"))


@with_messages(("has", "have"))
def _have(seats: bytes, words: FormWords) -> str:
    return words.counted("has", "have", len(seats))


@with_messages(" each")
def _each(owners: int, words: FormWords) -> str:
    """Return the word for a number that each of several has, with the blank beside it."""
    return "" if owners == 1 else words(" each")


SAY = Sentences(
    "halves",
    {
        "may-be-stuck": (
            "with -free_edges={edges} it can happen that nobody can remove a tile; then the "
            "player with the {winner:most} tiles wins"
        ),
        "form": (
            "a move is a number, such as 3, or two, such as 4,2 (remove 4, keep the group of 2), "
            "or keep or swap"
        ),
        "over": "the match is over: {detail}",
        "colour": "{colour:colour}",
        # contract and placing
        "due": "{mover:side} must first choose a colour: keep or swap",
        "not-due": "keep and swap are only for choosing colours, and that isn't due now",
        "early": "while tiles are being placed, a move is the number of a cell; groups come later",
        "cell": "there is no cell {number}; they are numbered 1 to {most}",
        # the tile
        "owner": "tile {number} is {other:side}'s, and it is {mover:side}'s turn",
        "edge": "tile {number} has 1 free edge, and needs {needed} to be removed (-free_edges)",
        "edges": "tile {number} has {free} free edges, and needs {needed} to be removed (-free_edges)",
        "tile": "there is no tile {number}; they are numbered 1 to {most}",
        "gone": "tile {number} is already gone",
        # the group
        "which": (
            "you choose which group survives, {groups:any}; name a tile of it, "
            "such as {number},{groups:first}"
        ),
        "removed": "tile {kept} is the one removed; name one of the group that is kept",
        "may": (
            "the group of tile {kept} does not survive; {groups:any} may, "
            "such as {number},{groups:first}"
        ),
        "does": "the group of tile {kept} does not survive; {groups:any} does, with the most tiles",
        "friendly": "the group of tile {kept} does not survive; {groups:any} does, with the most of your tiles",
        # the ending
        "alone": "{owner:side} alone has tiles left",
        "at-once": "{seats:sides} lost their last tiles at once",
        "no-tile": "{seats:sides} {seats:have} no tile left",
        "stuck-each": "nobody can remove a tile; {seats:sides} have {tiles} each",
        "stuck-most": "nobody can remove a tile; {seats:sides} {seats:have} the most, {tiles}{each:each}",
        "stuck-fewest": "nobody can remove a tile; {seats:sides} {seats:have} the fewest, {tiles}{each:each}",
        # what a player chooses
        "choose-cell": "Choose where to place a tile",
        "choose-tile": "Choose a tile to remove",
        "choose-colour": "Which colour do you want?",
        "play-colour": "Play the {colour:light} tiles",
        "other-colour": "the {colour:light} ones go to {player}",
        "other-begins": "the {colour:light} ones go to {player}, who removes the first tile",
        # drawings
        "tile-of": "{owner:side}'s tile",
        "tiles-of": "{owner:side}'s tiles",
        "free": "{cell}, free",
        "is-gone": "{cell} is gone",
        "cells": "Cells where a tile can be placed",
        "tiles": "{tiles:tiles}",
        "out": "{tiles:tiles}, out",
    },
    side=names(*SIDES),
    colour=words("Light", "Dark", "Teal"),
    light=words("light", "dark", "teal"),
    most=words("fewest", "most"),
    sides=_sides,
    have=_have,
    each=_each,
    tiles=counted("{n} tile", "{n} tiles"),
    any=_any_group,
    first=lambda groups, _: str(groups[0]),
)
