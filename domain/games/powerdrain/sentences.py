"""The sentences of Powerdrain: refused moves, endings, and the words of drawings."""

from domain.games.powerdrain.grid import PLUGS, SECTIONS
from domain.sentences import Sentences, counted, words

SIDES = ("Positive", "Negative")

SAY = Sentences(
    "powerdrain",
    {
        "side": ("{seat:side}", "{seat:side}"),
        "form": (
            "a move is written plug-section, two even digits and two odd ones, such as 24-57",
            "ein Zug ist Stecker-Feld, zwei gerade Ziffern und zwei ungerade, zum Beispiel 24-57",
        ),
        "over": (
            "the match is over: all {plugs} plugs are in",
            "die Partie ist zu Ende: alle {plugs} Stecker stecken",
        ),
        "used": (
            "plug {plug:plug} is in section {section:section} already",
            "Stecker {plug:plug} steckt schon in Feld {section:section}",
        ),
        "owner": (
            "plug {plug:plug} is {other:side}'s, and it is {mover:side}'s turn",
            "Stecker {plug:plug} gehört {other:side}, und am Zug ist {mover:side}",
        ),
        "taken": (
            "section {section:section} holds plug {plug:plug} already",
            "in Feld {section:section} steckt schon Stecker {plug:plug}",
        ),
        # the ending
        "more-active": ("{plugs:active} to {fewer}", "{plugs:active} gegen {fewer}"),
        "more-power": (
            "{plugs:active} each, {volts} volts to {less}",
            "je {plugs:active}, {volts} Volt gegen {less}",
        ),
        "equal-power": (
            "{plugs:active} each, {volts} volts each",
            "je {plugs:active} und je {volts} Volt",
        ),
        # drawings
        "held": (
            "{section}: {owner:side}'s plug {plug}, {full}, {left} left",
            "{section}: Stecker {plug} von {owner:side}, {full}, noch {left}",
        ),
        "chip": ("plug {plug}", "Stecker {plug}"),
        "counts": ("{active} active, {volts:volts}", "{active} aktiv, {volts:volts}"),
        "edges": ("Left edge {left}, top edge {top}", "Linker Rand {left}, oberer Rand {top}"),
        "grid": ("{owner:side} in the grid", "{owner:side} auf dem Feld"),
        "hand": ("{owner:side} in hand", "{owner:side} auf der Hand"),
        "prompt": ("Choose a plug", "Wähle einen Stecker"),
        "pool": ("Pool", "Vorrat"),
        "in": ("{plug} in {section}", "{plug} in Feld {section}"),
    },
    side=words(*SIDES, german=("Positiv", "Negativ")),
    plug=words(*PLUGS),
    section=words(*SECTIONS),
    active=counted("active plug", "active plugs", german=("aktiver Stecker", "aktive Stecker")),
    volts=counted("volt", "volts", german=("Volt", "Volt")),
)
