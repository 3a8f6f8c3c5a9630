"""The sentences of Halves: refused moves, endings, and the words of drawings."""

from collections.abc import Iterable, Sequence

from domain.boards.hexes import bits
from domain.sentences import Sentences, counted, words

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


def _any_group(groups: bytes, language: str) -> str:
    listed = map(_group_text, groups[:-1].split(bytes([_END])))
    return (" oder " if language == "de" else " or ").join(listed)


def _sides(seats: bytes, language: str) -> str:
    """Return the names of seats, as in `A, B and C`."""
    *others, final = (SIDES[seat] for seat in seats)
    joint = "und" if language == "de" else "and"
    return f"{', '.join(others)} {joint} {final}" if others else final


def _have(seats: bytes, language: str) -> str:
    one, many = ("hat", "haben") if language == "de" else ("has", "have")
    return one if len(seats) == 1 else many


def _each(owners: int, language: str) -> str:
    """Return the word for a number that each of several has, with the blank beside it."""
    if owners == 1:
        return ""
    return "je " if language == "de" else " each"


SAY = Sentences(
    "halves",
    {
        "may-be-stuck": (
            (
                "with -free_edges={edges} it can come to a position in which nobody can remove a tile; "
                "then the {winner:most} tiles win"
            ),
            (
                "mit -free_edges={edges} kann eine Stellung entstehen, in der niemand ein Plättchen "
                "wegnehmen kann; dann gewinnen die {winner:most} Plättchen"
            ),
        ),
        "form": (
            "a move is a number, as 3, or two, as 4,2 (remove 4, keep the group of 2), or keep or swap",
            (
                "ein Zug ist eine Nummer wie 3, oder zwei wie 4,2 (4 wegnehmen, die Gruppe von 2 "
                "behalten), oder keep oder swap"
            ),
        ),
        "over": ("the match is over: {detail}", "die Partie ist zu Ende"),
        "colour": ("{colour:colour}", "{colour:colour}"),
        # contract and placing
        "due": (
            "{mover:side} first says keep or swap, for the colours",
            "zuerst sagt {mover:side} keep oder swap, wegen der Farben",
        ),
        "not-due": (
            "keep and swap are for the contract, and none is due",
            "keep und swap gehören zum Vertrag, und keiner steht an",
        ),
        "early": (
            "while tiles are placed a move is one number, that of a cell; groups come later",
            (
                "solange Plättchen gelegt werden, ist ein Zug eine Nummer, die einer Stelle; "
                "Gruppen kommen später"
            ),
        ),
        "cell": (
            "there is no cell {number}; they are numbered 1 to {most}",
            "es gibt keine Stelle {number}; sie haben die Nummern 1 bis {most}",
        ),
        # the tile
        "owner": (
            "tile {number} is {other:side}'s, and it is {mover:side}'s turn",
            "Plättchen {number} gehört {other:side}, und am Zug ist {mover:side}",
        ),
        "edge": (
            "tile {number} has 1 free edge, and needs {needed} to be removed (-free_edges)",
            (
                "Plättchen {number} hat 1 freie Kante und braucht {needed}, damit es weggenommen werden "
                "kann (-free_edges)"
            ),
        ),
        "edges": (
            "tile {number} has {free} free edges, and needs {needed} to be removed (-free_edges)",
            (
                "Plättchen {number} hat {free} freie Kanten und braucht {needed}, damit es weggenommen "
                "werden kann (-free_edges)"
            ),
        ),
        "tile": (
            "there is no tile {number}; they are numbered 1 to {most}",
            "es gibt kein Plättchen {number}; sie haben die Nummern 1 bis {most}",
        ),
        "gone": ("tile {number} has gone already", "Plättchen {number} ist schon weg"),
        # the group
        "which": (
            (
                "you choose which group survives, {groups:any}; name a tile of it, "
                "such as {number},{groups:first}"
            ),
            (
                "zu wählen ist, welche Gruppe bleibt, {groups:any}; dafür steht eines ihrer Plättchen, "
                "zum Beispiel {number},{groups:first}"
            ),
        ),
        "removed": (
            "tile {kept} is the one removed; name one of the group that is kept",
            "Plättchen {kept} wird selbst weggenommen; zu nennen ist eines der Gruppe, die bleibt",
        ),
        "may": (
            (
                "the group of tile {kept} does not survive; {groups:any} may, "
                "such as {number},{groups:first}"
            ),
            (
                "die Gruppe von Plättchen {kept} bleibt nicht; bleiben kann {groups:any}, "
                "zum Beispiel {number},{groups:first}"
            ),
        ),
        "does": (
            "the group of tile {kept} does not survive; {groups:any} does, with the most tiles",
            (
                "die Gruppe von Plättchen {kept} bleibt nicht; {groups:any} bleibt, mit den meisten "
                "Plättchen"
            ),
        ),
        "friendly": (
            "the group of tile {kept} does not survive; {groups:any} does, with the most of your tiles",
            (
                "die Gruppe von Plättchen {kept} bleibt nicht; {groups:any} bleibt, mit den meisten "
                "eigenen Plättchen"
            ),
        ),
        # the ending
        "alone": ("{owner:side} alone has tiles left", "nur {owner:side} hat noch Plättchen"),
        "at-once": (
            "{seats:sides} lost their last tiles at once",
            "{seats:sides} haben ihre letzten Plättchen zugleich verloren",
        ),
        "no-tile": (
            "{seats:sides} {seats:have} no tile left",
            "{seats:sides} {seats:have} kein Plättchen mehr",
        ),
        "stuck-each": (
            "nobody can remove a tile; {seats:sides} have {tiles} each",
            "niemand kann ein Plättchen wegnehmen; {seats:sides} haben je {tiles}",
        ),
        "stuck-most": (
            "nobody can remove a tile; {seats:sides} {seats:have} the most, {tiles}{each:each}",
            "niemand kann ein Plättchen wegnehmen; {seats:sides} {seats:have} die meisten, {each:each}{tiles}",
        ),
        "stuck-fewest": (
            "nobody can remove a tile; {seats:sides} {seats:have} the fewest, {tiles}{each:each}",
            "niemand kann ein Plättchen wegnehmen; {seats:sides} {seats:have} die wenigsten, {each:each}{tiles}",
        ),
        # what a player chooses
        "choose-cell": ("Choose where to place a tile", "Wähle, wohin ein Plättchen kommt"),
        "choose-tile": ("Choose a tile to remove", "Wähle ein Plättchen, das weg soll"),
        "choose-colour": ("Which colour do you want?", "Welche Farbe soll es sein?"),
        "play-colour": ("Play the {colour:light} tiles", "Die {colour:light} Plättchen spielen"),
        "other-colour": (
            "the {colour:light} ones go to {player}",
            "die {colour:light} bekommt {player}",
        ),
        "other-begins": (
            "the {colour:light} ones go to {player}, who removes the first tile",
            "die {colour:light} bekommt {player} und nimmt das erste Plättchen weg",
        ),
        # drawings
        "tile-of": ("{owner:side}'s tile", "Plättchen von {owner:side}"),
        "tiles-of": ("{owner:side}'s tiles", "Plättchen von {owner:side}"),
        "free": ("{cell}, free", "{cell}, frei"),
        "is-gone": ("{cell} is gone", "{cell} ist weg"),
        "cells": ("Cells where a tile can be placed", "Stellen für ein neues Plättchen"),
        "tiles": ("{tiles:tiles}", "{tiles:tiles}"),
        "out": ("{tiles:tiles}, out", "{tiles:tiles}, ausgeschieden"),
    },
    side=words(*SIDES),
    colour=words("Light", "Dark", "Teal", german=("Hell", "Dunkel", "Türkis")),
    light=words("light", "dark", "teal", german=("hellen", "dunklen", "türkisen")),
    most=words("fewest", "most", german=("wenigsten", "meisten")),
    sides=_sides,
    have=_have,
    each=_each,
    tiles=counted("tile", "tiles", german=("Plättchen", "Plättchen")),
    any=_any_group,
    first=lambda groups, _: str(groups[0]),
)
