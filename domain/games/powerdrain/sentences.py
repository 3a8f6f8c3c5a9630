"""Why a move of Powerdrain is refused, in words."""

from domain.games.powerdrain.position import PLUGS, SECTIONS, SIDES
from domain.sentences import Sentences, words

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
    },
    side=words(*SIDES, german=("Positiv", "Negativ")),
    plug=words(*PLUGS),
    section=words(*SECTIONS),
)
