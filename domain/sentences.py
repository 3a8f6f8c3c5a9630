"""Sentences that are stored as a key with arguments, and put into words when they are read.

A catalogue is declared next to the code that uses it:

    SAY = Sentences(
        "noughts",
        {"occupied": ("{at} is occupied by {mark:mark}", "{at} ist von {mark:mark} besetzt")},
        mark=words("x", "o"),
    )
    ...
    return SAY("occupied", at="b2", mark=1)

Each sentence has English and German words. A field `{name}` shows an argument, `{name!r}` shows it
in quotes, and `{name:form}` shows it by a function of the catalogue. The German words may leave a
field out. Keys and the names of fields are stored, so neither ever changes; the words may.
"""

import string
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Union

import msgspec

LANGUAGES: Final = ("en", "de")
"""The languages of sentences; the first is the usual one."""

Argument = Union[str, int, bytes, "Sentence"]
Form = Callable[[Any, str], str]
"""Puts an argument into words, in a language."""


class Sentence(msgspec.Struct, frozen=True):
    """A sentence by its key and its arguments. As a string it is English."""

    key: str
    args: tuple[Argument, ...] = ()
    """In the alphabetical order of the fields' names."""

    def __str__(self) -> str:
        return self.in_language(LANGUAGES[0])

    def in_language(self, language: str) -> str:
        """Return the sentence in a language, in English if there are no words in that one."""
        template = _find(self.key)
        if template is None or len(self.args) != len(template.names):
            return f"the reason {self.key!r} is unknown here; is its game no longer installed?"
        return template.render(self.args, language)


Text = str | Sentence
"""A sentence with a key, or a plain one, which is the same in every language."""


def text_in(text: Text, language: str) -> str:
    """Return a text in a language."""
    return text if isinstance(text, str) else text.in_language(language)


def pack_text(text: Text) -> list[Any]:
    """Return a text for MessagePack: its key and arguments, or an empty key and the plain text."""
    if isinstance(text, str):
        return ["", text]
    return [text.key, *(pack_text(arg) if isinstance(arg, Sentence) else arg for arg in text.args)]


def unpack_text(packed: list[Any]) -> Text:
    """Return the text that `pack_text` has packed; `ValueError` for any other list."""
    match packed:
        case ["", str(plain)]:
            return plain
        case [str(key), *stored] if key:
            return Sentence(key, tuple(map(_argument, stored)))
        case _:
            raise ValueError("a stored sentence has another form")


def _argument(stored: Any) -> Argument:
    match stored:
        case [str(key), *more]:
            return Sentence(key, tuple(map(_argument, more)))
        case str() | int() | bytes():
            return stored
        case _:
            raise ValueError("an argument of a sentence has another form")


class SentenceTemplate:
    """The words of one sentence, in each language."""

    def __init__(self, wordings: Sequence[str], forms: Mapping[str, Form]) -> None:
        self.wordings: Final = dict(zip(LANGUAGES, wordings, strict=True))
        parts = [tuple(string.Formatter().parse(wording)) for wording in wordings]
        self._parts = dict(zip(LANGUAGES, parts, strict=True))
        self.names: Final = tuple(sorted({part[1] for part in parts[0] if part[1]}))
        self._forms = forms
        for _, name, form, _ in (part for of in parts for part in of):
            if name and name not in self.names:
                raise ValueError(
                    f"{wordings[1]!r} has a field {name!r}, which {wordings[0]!r} lacks"
                )
            if form and form not in forms:
                raise ValueError(f"{wordings[0]!r} names {form!r}, which is no form")

    def render(self, args: Sequence[Argument], language: str) -> str:
        """Return the words with the arguments, which are in the order of `names`."""
        if language not in self._parts:
            language = LANGUAGES[0]
        values = dict(zip(self.names, args, strict=True))
        return "".join(
            literal + (self._value(values[name], form, conversion, language) if name else "")
            for literal, name, form, conversion in self._parts[language]
        )

    def _value(
        self, value: Argument, form: str | None, conversion: str | None, language: str
    ) -> str:
        if form:
            return self._forms[form](value, language)
        if isinstance(value, Sentence):
            return value.in_language(language)
        return repr(value) if conversion == "r" else str(value)


_TEMPLATES: Final[dict[str, SentenceTemplate]] = {}
"""All sentences by key."""


class Sentences:
    """A catalogue of sentences. Their keys begin with the game's, or are bare if they are no game's."""

    def __init__(self, game: str, sentences: Mapping[str, tuple[str, str]], **forms: Form) -> None:
        self.prefix = f"{game}." if game else ""
        self._wordings, self._forms = sentences, forms
        for key, template in self.templates.items():
            if key in _TEMPLATES:
                raise ValueError(f"there is a sentence {key!r} already")
            _TEMPLATES[key] = template

    @cached_property
    def templates(self) -> Mapping[str, SentenceTemplate]:
        """The sentences by their whole keys."""
        return {
            self.prefix + key: SentenceTemplate(wordings, self._forms)
            for key, wordings in self._wordings.items()
        }

    def __call__(self, key: str, /, **arguments: Argument) -> Sentence:
        """Return a sentence. `tests/domain/test_sentences.py` compares all calls with the catalogue."""
        whole = self.prefix + key
        return Sentence(whole, tuple(arguments[name] for name in self.templates[whole].names))


def words(*english: str, german: Sequence[str] = ()) -> Form:
    """Return the form of arguments that are indexes into lists of words, such as seats."""
    lists = {LANGUAGES[0]: english, LANGUAGES[1]: german or english}
    return lambda index, language: lists[language][index]


def counted(one: str, many: str, *, german: tuple[str, str]) -> Form:
    """Return the form of numbers with their noun, such as `1 stone` and `12 stones`."""
    nouns = {LANGUAGES[0]: (one, many), LANGUAGES[1]: german}
    return lambda number, language: f"{number} {nouns[language][number != 1]}"


_LOADERS: Final[list[Callable[[], object]]] = []


def add_catalogues(load: Callable[[], object]) -> None:
    """Have `load` import catalogues that are not imported yet, once a sentence is looked up that is in none."""
    _LOADERS.append(load)


def all_templates() -> Mapping[str, SentenceTemplate]:
    """Return the sentences of all imported catalogues by key, and those that loaders add."""
    for load in _LOADERS:
        load()
    return _TEMPLATES


def _find(key: str) -> SentenceTemplate | None:
    return _TEMPLATES.get(key) or all_templates().get(key)
