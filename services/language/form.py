"""A form of the command language: how one of its commands is written, and what carries it out."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import msgspec

from infra.languages.catalogues import languages
from services.language.answer import Answer
from services.language.authentication import Proof, nobody, signer
from services.language.invocation import Invocation


class CommandForm(msgspec.Struct, frozen=True):
    """A way to write a command."""

    rule: str
    """The grammar's rule."""
    name: str
    """The words it begins with, after the game's if it is one of a game's."""
    rest: str
    """The rest of the line, as usage shows it."""
    summary: str
    handler: Callable[[Invocation], Answer]
    of_game: bool = False
    proof: Proof = nobody
    """Returns the account that sends the command."""
    for_guests: bool = False
    """Whether it shows nothing of matches and players, or proves the account itself."""
    in_match: bool = False
    """Whether its board names a match, which is loaded before the proof."""

    def usage(self, game: str = "GAME") -> str:
        """Return how the command is written."""
        return " ".join(
            part for part in (game if self.of_game else "", self.name, self.rest) if part
        )

    def called(self, words: Sequence[str]) -> bool:
        """Return whether these are its name, or the beginning of it."""
        return bool(words) and self.name.split()[: len(words)] == list(words)


OWN: Final = "userid password"
OWN_IN_MATCH: Final = "BOARD userid password"
"""How the sender is written, and a match before it."""

LANGUAGES: Final = "|".join(languages())
"""The languages, as usages name them."""

signed: Final = partial(CommandForm, proof=signer)
"""Makes a form whose sender proves the account, by its password or otherwise."""
