"""The options of That's My Line in words."""

from typing import Final

from domain.games.line.game import LineOptions
from domain.rules.option_form import OptionField, Text, number

OPTIONS_FORM: Final[tuple[OptionField, ...]] = (
    number(
        LineOptions,
        "stones",
        Text("Stones each", "Steine für jeden"),
        Text(
            "0 for as many as find room; the printed rules say 16.",
            "0 für so viele, wie Platz finden; die gedruckte Regel nennt 16.",
        ),
    ),
)
