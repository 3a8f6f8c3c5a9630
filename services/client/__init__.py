"""A client of the HTTP API, for programs in Python and for `matchpost --url ... do ...`."""

from services.client.client import Client, Outcome, ProblemError, Text
from services.client.draw_texts import Texts

__all__ = ["Client", "Outcome", "ProblemError", "Text", "Texts"]
