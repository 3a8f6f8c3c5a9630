"""The sentences of Powerdrain: refused moves, endings, and the words of drawings."""

from domain.games.powerdrain.grid import PLUGS, SECTIONS
from domain.sentences import Sentences, counted, names, words

SIDES = ("Positive", "Negative")

SAY = Sentences(
    "powerdrain",
    {
        "side": "{seat:side}",
        "form": "a move is written plug-section, two even digits and two odd ones, such as 24-57",
        "over": "the match is over: all {plugs} plugs are in",
        "used": "plug {plug:plug} is already in section {section:section}",
        "owner": "plug {plug:plug} is {other:side}'s, and it is {mover:side}'s turn",
        "taken": "section {section:section} already holds plug {plug:plug}",
        # the ending
        "more-active": "{plugs:active} to {fewer}",
        "more-power": "{plugs:active} each, {volts} volts to {less}",
        "equal-power": "{plugs:active} each, {volts} volts each",
        # drawings
        "held": "{section}: {owner:side}'s plug {plug}, {full}, {left} left",
        "chip": "plug {plug}",
        "counts": "{active} active, {volts:volts}",
        "edges": "Left edge {left}, top edge {top}",
        "grid": "{owner:side} in the grid",
        "hand": "{owner:side} in hand",
        "prompt": "Choose a plug",
        "pool": "Pool",
        "in": "{plug} in {section}",
    },
    side=words(*SIDES),
    plug=names(*PLUGS),
    section=names(*SECTIONS),
    active=counted("{n} active plug", "{n} active plugs"),
    volts=counted("{n} volt", "{n} volts"),
)
