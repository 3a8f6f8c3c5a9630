"""What a route may be answered with, as it says at the route; the document and its test go by it."""

from typing import Any, Final

from domain.errors import Code

REFUSES: Final = "refuses"
TAGGED: Final = "tagged"
WAITS: Final = "waits"


def refuses(*codes: Code, tagged: bool = False, waits: bool = False) -> dict[str, Any]:
    """Say which codes a route has of its own, beside those of any route that is as it is.

    A `tagged` answer has an entity tag, and may be 304. One that `waits` for an outcome may be 202.
    """
    return {REFUSES: codes, TAGGED: tagged, WAITS: waits}


APART: Final = {**refuses(), "apart": True}
"""Of routes that are for the operator's own programs: nothing is counted, nobody is asked."""
