"""The options of the Power of Two in words."""

from typing import Final

from domain.rules.option_form import OptionField, Text, one_of, switch

OPTIONS_FORM: Final[tuple[OptionField, ...]] = (
    one_of(
        "start",
        Text("The start", "Der Beginn"),
        ("", Text("Two pieces each, in the corners", "Je zwei Steine in den Ecken")),
        ("-fast", Text("Fast: four pieces each", "Schnell: je vier Steine")),
        (
            "-middle",
            Text(
                "Middle: two pieces each, at the middles of the sides",
                "Mitte: je zwei Steine in den Mitten der Seiten",
            ),
        ),
        (
            "-free",
            Text(
                "Free: an empty board, on which you place four pieces each",
                "Frei: ein leeres Brett, auf das jeder vier Steine setzt",
            ),
        ),
    ),
    switch(
        "exact",
        Text(
            "Exact: a move is illegal if you lack pieces for all neighbours",
            "Genau: Ein Zug ist verboten, wenn die Steine nicht für alle Nachbarn reichen",
        ),
    ),
    switch(
        "noborder",
        Text(
            "No border: nothing travels along the four outer edges",
            "Ohne Rand: Auf den vier Außenkanten wird nicht gezogen",
        ),
    ),
)
