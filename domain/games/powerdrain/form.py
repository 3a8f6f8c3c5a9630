"""The options of Powerdrain in words."""

from typing import Final

from domain.rules.option_form import OptionField, Text, one_of, switch

OPTIONS_FORM: Final[tuple[OptionField, ...]] = (
    one_of(
        "order",
        Text("The edges", "Die Ränder"),
        ("", Text("In an order drawn by chance", "In zufälliger Reihenfolge")),
        ("-o1", Text("1 3 5 7 9", "1 3 5 7 9")),
        ("-o2", Text("7 9 1 3 5", "7 9 1 3 5")),
    ),
    switch(
        "p",
        Text(
            "A common pool of plugs instead of hands", "Ein gemeinsamer Vorrat statt zweier Hände"
        ),
    ),
)
