"""A client of the HTTP API, for programs in Python and for the commands that talk to a server elsewhere.

What needs an HTTP library is imported when it is used, because that is slow and `login_file` needs none.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from services.client.client import Client, Outcome, ProblemError, Text
    from services.client.draw_texts import Texts

__all__ = ["Client", "Outcome", "ProblemError", "Text", "Texts"]

_PLACES: Final = dict.fromkeys(__all__, "client") | {"Texts": "draw_texts"}


def __getattr__(name: str) -> Any:
    """Return a name of this package, imported at its first use."""
    if name not in _PLACES:
        raise AttributeError(name)
    return getattr(import_module(f"services.client.{_PLACES[name]}"), name)
