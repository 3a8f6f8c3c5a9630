"""The options of Halves in words."""

from typing import Final

from domain.games.halves.position import HalvesOptions
from domain.rules.option_form import OptionField, Text, number, one_of, switch

OPTIONS_FORM: Final[tuple[OptionField, ...]] = (
    number(
        HalvesOptions,
        "tiles_each",
        Text("Tiles each", "Plättchen für jeden"),
        Text("More tiles make a longer match.", "Mit mehr Plättchen dauert die Partie länger."),
    ),
    one_of(
        "keep",
        Text("What survives when the tiles fall apart", "Was bleibt, wenn die Gruppe zerfällt"),
        ("", Text("The largest group", "Die größte Gruppe")),
        (
            "-keep_most_friendly",
            Text(
                "The group with most tiles of the mover's colour",
                "Die Gruppe mit den meisten Plättchen der Farbe dessen, der am Zug ist",
            ),
        ),
        (
            "-keep_chosen",
            Text("A group that the mover chooses", "Eine Gruppe nach Wahl dessen, der am Zug ist"),
        ),
    ),
    one_of(
        "touch",
        Text("A placed tile must touch", "Ein neues Plättchen berührt"),
        ("", Text("A tile of another colour", "Ein Plättchen von anderer Farbe")),
        ("-touch_any", Text("Any tile", "Irgendein Plättchen")),
    ),
    one_of(
        "must_touch",
        Text("How many tiles it must touch", "Wie viele Plättchen es berührt"),
        ("", Text("One", "Mindestens eines")),
        ("-must_touch=2", Text("Two", "Mindestens zwei")),
    ),
    number(
        HalvesOptions,
        "free_edges",
        Text(
            "Free edges that a tile needs to be removed",
            "Freie Kanten, die ein Plättchen braucht, um weggenommen zu werden",
        ),
        Text(
            "0 lets every tile of one's own be removed.",
            "Bei 0 kann jedes eigene Plättchen weggenommen werden.",
        ),
    ),
    switch(
        "manual_start",
        Text("The players place the tiles themselves", "Die Spieler legen die Plättchen selbst"),
    ),
    switch(
        "no_contract",
        Text(
            "No contract: the first player can't swap colours",
            "Kein Vertrag: Der erste Spieler kann die Farben nicht tauschen",
        ),
    ),
    switch(
        "invert_win",
        Text(
            "Inverted: the last player with tiles wins",
            "Umgekehrt: Der letzte Spieler mit Plättchen gewinnt",
        ),
    ),
)
