"""Sentences that are stored as a key with arguments, and put into words when they are read.

A catalogue is declared next to the code that uses it:

    SAY = Sentences(
        "noughts",
        {"occupied": "{at} is occupied by {mark:mark}"},
        mark=words("a cross", "a nought"),
    )
    ...
    return SAY("occupied", at="b2", mark=1)

The sentences are English; a `Translation` has the words of another language, in the context of the
whole key, such as `noughts.occupied`. A field `{name}` shows an argument, `{name!r}` shows it in
quotes, and `{name:form}` shows it by a form of the catalogue; the words of a form are in the context
`noughts:form`. A translation may leave a field out, and use another form. Keys and the names of
fields are stored, so neither ever changes; the words may.

The words of one language in place of the English ones, as gettext has them.

English stands in the code. A translation is given to what puts a text into words; which languages
there are is nothing that the domain knows.
"""

import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, Final, NamedTuple, Protocol, Union

import msgspec


class Translation(Protocol):
    """The words of a language. What it has no words for is English."""

    def __hash__(self) -> int: ...

    @property
    def code(self) -> str:
        """The code of the language, such as `de`."""
        ...

    def pgettext(self, context: str, message: str, /) -> str:
        """Return the words for an English message in a context, such as the key of a sentence."""
        ...

    def npgettext(self, context: str, one: str, many: str, count: int, /) -> str:
        """Return the words for a message that depends on a count."""
        ...


class _English:
    """English: each message as it stands in the code."""

    code: Final = "en"

    def pgettext(self, context: str, message: str, /) -> str:
        """Return the message."""
        del context
        return message

    def npgettext(self, context: str, one: str, many: str, count: int, /) -> str:
        """Return the message for the count."""
        del context
        return one if count == 1 else many


ENGLISH: Final[Translation] = _English()
"""The language of the code, and of programs that ask for none."""


Argument = Union[str, int, bytes, "Sentence"]
Message = str | tuple[str, str]
"""An English message: one text, or those for one and for many."""


class FormWords(NamedTuple):
    """The words that a form has in a language."""

    language: Translation
    context: str

    def __call__(self, message: str) -> str:
        """Return the words for a message of the form."""
        return self.language.pgettext(self.context, message)

    def counted(self, one: str, many: str, count: int) -> str:
        """Return the words for a count, which is `{n}` in them."""
        words = self.language.npgettext(self.context, one, many, count)
        return words.replace("{n}", str(count))


class ArgumentForm(Protocol):
    """Puts an argument into words."""

    def __call__(self, value: Any, words: FormWords, /) -> str:
        """Return an argument in the words of the reader's language."""
        ...


class Sentence(msgspec.Struct, frozen=True):
    """A sentence by its key and its arguments. As a string it is English."""

    key: str
    args: tuple[Argument, ...] = ()
    """In the alphabetical order of the fields' names."""

    def __str__(self) -> str:
        return self.in_language(ENGLISH)

    def in_language(self, language: Translation) -> str:
        """Return the sentence in a language, in English if there are no words in that one."""
        template = _find(self.key)
        if template is None or len(self.args) != len(template.names):
            return f"the reason {self.key!r} is unknown here; is its game no longer installed?"
        return template.render(self.args, language)


Text = str | Sentence
"""A sentence with a key, or a plain one, which is the same in every language."""


def text_in(text: Text, language: Translation) -> str:
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


class _TemplatePiece(NamedTuple):
    """A piece of a sentence: some text, and the field that follows it, if one does."""

    literal: str
    name: str
    form: str
    quoted: bool


@cache
def _parse(words: str) -> tuple[_TemplatePiece, ...]:
    return tuple(
        _TemplatePiece(literal, name or "", form or "", conversion == "r")
        for literal, name, form, conversion in string.Formatter().parse(words)
    )


class SentenceTemplate:
    """A sentence without its arguments: the English words, which are the message of translations."""

    def __init__(self, key: str, english: str, forms: Mapping[str, ArgumentForm]) -> None:
        self.key: Final = key
        self.english: Final = english
        self._parts: Final = _parse(english)
        self.names: Final = tuple(sorted({part.name for part in self._parts if part.name}))
        self._forms = forms
        if wrong := self.misfit(english):
            raise ValueError(f"{english!r} {wrong}")

    def misfit(self, words: str) -> str:
        """Return why these words can't stand for the sentence; empty if they can."""
        try:
            parts = _parse(words)
        except ValueError as why:
            return str(why)
        for part in parts:
            if part.name and part.name not in self.names:
                return f"has a field {part.name!r}, which {self.english!r} lacks"
            if part.form and part.form not in self._forms:
                return f"names {part.form!r}, which is no form"
        return ""

    def render(self, args: Sequence[Argument], language: Translation) -> str:
        """Return the words with the arguments, which are in the order of `names`."""
        words = language.pgettext(self.key, self.english)
        # a mistake of a translator does not keep a player from reading what happened
        parts = self._parts if words == self.english or self.misfit(words) else _parse(words)
        values = dict(zip(self.names, args, strict=True))
        return "".join(
            part.literal + (self._value(values[part.name], part, language) if part.name else "")
            for part in parts
        )

    def _value(self, value: Argument, part: _TemplatePiece, language: Translation) -> str:
        if part.form:
            words = FormWords(language, form_context(self.key, part.form))
            return self._forms[part.form](value, words)
        if isinstance(value, Sentence):
            return value.in_language(language)
        return repr(value) if part.quoted else str(value)


def form_context(key: str, form: str) -> str:
    """Return the context of the words of a form, such as `noughts:mark`, by the key of a sentence."""
    game, dot, _ = key.partition(".")
    return f"{game if dot else ''}:{form}"


_TEMPLATES: Final[dict[str, SentenceTemplate]] = {}
"""All sentences by key."""
_MESSAGES: Final[dict[tuple[str, Message], None]] = {}
"""The messages of all catalogues, each with its context."""


class Sentences:
    """A catalogue of sentences. Their keys begin with the game's, or are bare if they are no game's."""

    def __init__(self, game: str, sentences: Mapping[str, str], **forms: ArgumentForm) -> None:
        self.prefix = f"{game}." if game else ""
        self._sentences, self._forms = sentences, forms
        for key, template in self.templates.items():
            if key in _TEMPLATES:
                raise ValueError(f"there is a sentence {key!r} already")
            _TEMPLATES[key] = template
        _MESSAGES.update(dict.fromkeys(self.messages()))

    @cached_property
    def templates(self) -> Mapping[str, SentenceTemplate]:
        """The sentences by their whole keys."""
        return {
            self.prefix + key: SentenceTemplate(self.prefix + key, english, self._forms)
            for key, english in self._sentences.items()
        }

    def messages(self) -> Iterator[tuple[str, Message]]:
        """Yield what a translation has words for: each message of sentences and forms, with its context."""
        for key, template in self.templates.items():
            yield key, template.english
        for name, form in self._forms.items():
            for message in messages_of(form):
                yield form_context(self.prefix, name), message

    def __call__(self, key: str, /, **arguments: Argument) -> Sentence:
        """Return a sentence. `tests/domain/test_sentences.py` compares all calls with the catalogue."""
        whole = self.prefix + key
        return Sentence(whole, tuple(arguments[name] for name in self.templates[whole].names))


def with_messages(*messages: Message) -> Callable[[Callable[[Any, FormWords], str]], ArgumentForm]:
    """Return a decorator of a form whose words are these messages."""

    def declared(form: Callable[[Any, FormWords], str]) -> ArgumentForm:
        form.messages = messages  # type: ignore[attr-defined]
        return form

    return declared


def messages_of(form: ArgumentForm) -> Sequence[Message]:
    """Return the messages of a form; none if it shows nothing but names and numbers."""
    messages: Sequence[Message] = getattr(form, "messages", ())
    return messages


def words(*english: str) -> ArgumentForm:
    """Return the form of arguments that are indexes into a list of words, such as seats."""

    @with_messages(*english)
    def word(index: int, words: FormWords) -> str:
        return words(english[index])

    return word


def names(*all_names: str) -> ArgumentForm:
    """Return the form of arguments that are indexes into a list of names, the same in every language."""

    def name(index: int, words: FormWords) -> str:
        del words
        return all_names[index]

    return name


def counted(one: str, many: str) -> ArgumentForm:
    """Return the form of numbers with their noun, such as `{n} stone` and `{n} stones`."""

    @with_messages((one, many))
    def count(number: int, words: FormWords) -> str:
        return words.counted(one, many, number)

    return count


def list_in_words(shown: Sequence[str], joint: str) -> str:
    """Return names as a sentence has them, such as `a13, b10 and d12`, with the word before the last."""
    *others, last = shown or [""]
    return f"{', '.join(others)} {joint} {last}" if others else last


_LOADERS: Final[list[Callable[[], object]]] = []


def add_catalogues(load: Callable[[], object]) -> None:
    """Have `load` import catalogues that are not imported yet, once a sentence is looked up that is in none."""
    _LOADERS.append(load)


def all_templates() -> Mapping[str, SentenceTemplate]:
    """Return the sentences of all imported catalogues by key, and those that loaders add."""
    for load in _LOADERS:
        load()
    return _TEMPLATES


def all_messages() -> Mapping[tuple[str, Message], None]:
    """Return the messages of all imported catalogues with their contexts, and those that loaders add."""
    all_templates()
    return _MESSAGES


def _find(key: str) -> SentenceTemplate | None:
    return _TEMPLATES.get(key) or all_templates().get(key)
