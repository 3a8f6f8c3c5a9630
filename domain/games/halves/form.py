"""The options of Halves in words."""

from functools import partial
from typing import Final

from domain.game.option_form import OptionField, option
from domain.games.halves.position import HalvesOptions

_option = partial(option, HalvesOptions)

OPTIONS_FORM: Final[tuple[OptionField, ...]] = (
    _option(
        "tiles_each", "Tiles each", "Plättchen für jeden",
        hint=("More tiles make a longer match.", "Mit mehr Plättchen dauert die Partie länger."),
    ),
    _option(
        "keep", "What survives when the tiles fall apart", "Was bleibt, wenn die Gruppe zerfällt",
        ("", "The largest group", "Die größte Gruppe"),
        ("-keep_most_friendly", "The group with most tiles of the mover's colour",
         "Die Gruppe mit den meisten Plättchen der Farbe dessen, der am Zug ist"),
        ("-keep_chosen", "A group that the mover chooses",
         "Eine Gruppe, die wählt, wer am Zug ist"),
    ),
    _option(
        "touch", "A placed tile must touch", "Ein neues Plättchen berührt",
        ("", "A tile of another colour", "Ein Plättchen von anderer Farbe"),
        ("-touch_any", "Any tile", "Irgendein Plättchen"),
    ),
    _option(
        "must_touch", "How many tiles it must touch", "Wie viele Plättchen es berührt",
        ("", "One", "Mindestens eines"), ("-must_touch=2", "Two", "Mindestens zwei"),
    ),
    _option(
        "free_edges", "Free edges that a tile needs to be removed",
        "Freie Kanten, die ein Plättchen braucht, um weggenommen zu werden",
        hint=("0 lets every tile of one's own be removed.",
              "Bei 0 kann jedes eigene Plättchen weggenommen werden."),
    ),
    _option("manual_start", "The players place the tiles themselves",
            "Die Spieler legen die Plättchen selbst"),
    _option("no_contract", "No contract: the first player can't swap colours",
            "Kein Vertrag: Der erste Spieler kann die Farben nicht tauschen"),
    _option("invert_win", "Inverted: the last player with tiles wins",
            "Umgekehrt: Der letzte Spieler mit Plättchen gewinnt"),
)  # fmt: skip
