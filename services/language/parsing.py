"""Reading a command line by the grammar: which form it has, and the sender's words in it."""

from functools import cache
from importlib.resources import files

import msgspec
from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput

from domain.rules import all_rules


class Unparsed(Exception):  # noqa: N818 - it says what the line is
    """The line has no form of the language."""


class Line(msgspec.Struct, frozen=True):
    """A command line, read."""

    form: str
    """The grammar's rule."""
    words: tuple[tuple[str, str], ...]
    """The sender's words in their order, each with the name of its part, such as `userid`."""

    def all(self, part: str) -> list[str]:
        """Give the words of a part."""
        return [word for name, word in self.words if name == part]

    def get(self, part: str) -> str:
        """Give the word of a part, empty if there is none."""
        return next(iter(self.all(part)), "")

    def has(self, part: str) -> bool:
        """Tell whether there is such a part."""
        return any(name == part for name, _ in self.words)


def parse(text: str) -> Line:
    """Read a line; `Unparsed` when it has none of the forms. Linear in its length."""
    try:
        tree = _parser().parse(text)
    except UnexpectedInput:
        raise Unparsed from None  # the library's own words would repeat the sender's
    return Line(str(tree.data), tuple(_word(token) for token in tree.children))


def _word(token: Token | Tree[Token]) -> tuple[str, str]:
    assert isinstance(token, Token)  # no rule of ours nests another
    return token.type.lower().removeprefix("one_"), str(token).strip()


@cache
def games() -> tuple[str, ...]:
    """Give the keys of all games, sorted."""
    return tuple(sorted({rules.key for rules in all_rules()}))


@cache
def _parser() -> Lark:
    grammar = files("services.language").joinpath("grammar.lark").read_text("utf-8")
    of_games = f"GAME.3: /({'|'.join(games())})(?=\\s|$)/i\n"
    return Lark(grammar + of_games, parser="lalr", lexer="contextual", maybe_placeholders=False)


@cache
def rules() -> frozenset[str]:
    """Name the grammar's forms."""
    names = {str(rule.origin.name) for rule in _parser().rules}
    return frozenset(name for name in names if not name.startswith("_")) - {"start"}


@cache
def written() -> frozenset[str]:
    """Name the forms that may have a text of the sender's own."""
    texts = {"TEXT", "BODY"}
    return frozenset(
        str(rule.origin.name)
        for rule in _parser().rules
        if texts.intersection(symbol.name for symbol in rule.expansion)
    )
