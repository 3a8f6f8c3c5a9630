"""The options of David and Goliath in words."""

from typing import Final

from domain.rules.option_form import OptionField, Text, switch

OPTIONS_FORM: Final[tuple[OptionField, ...]] = (
    switch("goliath_first", Text("Goliath moves first", "Goliath zieht zuerst")),
    switch(
        "count",
        Text(
            "Count: the larger region wins as soon as the figures are separated",
            "Zählen: Sobald die Figuren getrennt sind, gewinnt das größere Gebiet",
        ),
    ),
)
