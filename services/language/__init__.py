"""The command language: one line in, one answer in text out; for terminal, mail and web alike."""

from services.language.answer import Answer
from services.language.invocation import LOCAL, UNKNOWN, Origin
from services.language.run import Language

__all__ = ["LOCAL", "UNKNOWN", "Answer", "Language", "Origin"]
