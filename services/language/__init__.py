"""The command language: one line in, one answer in text out; for terminal, mail and web alike."""

from services.language.answer import Answer
from services.language.desk import LOCAL, UNKNOWN, Desk, Origin
from services.language.language import Language

__all__ = ["LOCAL", "UNKNOWN", "Answer", "Desk", "Language", "Origin"]
