"""The languages, and their gettext catalogues, as they are found in files.

English is in the templates and the code. `LANGUAGE/*.po` have the words of another language, one file
for each area; what a game says has its words in the game's own package, as `LANGUAGE.po`. A language
is there as soon as its folder is. Nothing is read before it is needed, and each language once.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from importlib.resources.abc import Traversable
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from domain.rules import all_games
from domain.sentences import ENGLISH

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog, Message

_HERE: Final = "infra.languages"
_OF_SCRIPTS: Final = b"\n#. script\n"


def folder_of(package: str) -> Traversable:
    """Return the folder with the files of a package, where its catalogues are looked for."""
    return files(package)


@cache
def languages() -> tuple[str, ...]:
    """Return the codes of all languages, English first."""
    found = [one.name for one in folder_of(_HERE).iterdir() if _has_catalogues(one)]
    return (ENGLISH.code, *sorted(found))


def translated() -> tuple[str, ...]:
    """Return the codes of the languages with catalogues: all but English."""
    return languages()[1:]


def _has_catalogues(folder: Traversable) -> bool:
    return folder.is_dir() and any(one.name.endswith(".po") for one in folder.iterdir())


def _server_files(language: str) -> list[Traversable]:
    folder = folder_of(_HERE).joinpath(language)
    found = (one for one in folder.iterdir() if one.name.endswith(".po"))
    return sorted(found, key=lambda one: one.name)


def _catalogue_files(language: str) -> Iterator[Traversable]:
    yield from _server_files(language)
    for game in all_games():
        own = folder_of(game.package).joinpath(f"{language}.po")
        if own.is_file():
            yield own


def catalogues(language: str) -> Mapping[str, "Catalog"]:
    """Read the catalogues of a language, by the paths of their files; together some 17 MB of memory."""
    return {str(one): _read(one.read_bytes()) for one in _catalogue_files(language)}


def _read(data: bytes) -> "Catalog":
    from babel.messages.pofile import read_po  # noqa: PLC0415 - English needs none of it

    return read_po(BytesIO(data))


@cache
def translations(language: str) -> NullTranslations:
    """Return the words of a language as gettext looks them up; none for English."""
    if language not in translated():
        return NullTranslations()
    from babel.messages.catalog import Catalog  # noqa: PLC0415 - English needs none of it
    from babel.messages.mofile import write_mo  # noqa: PLC0415

    whole = Catalog()
    for file in _catalogue_files(language):
        catalogue = _read(file.read_bytes())
        whole.mime_headers = catalogue.mime_headers  # the rule for plurals is that of the files
        for message in catalogue:
            if _has_words(message):
                whole[message.id] = message.clone()  # a catalogue adds to a message that it has
    packed = BytesIO()
    write_mo(packed, whole)
    packed.seek(0)
    return GNUTranslations(packed)


def script_words(language: str) -> bytes:
    """Return a script with the words that scripts use, for `words.js` to read."""
    texts = (one.read_bytes() for one in _server_files(language))
    shown: Mapping[str, Any] = {
        message.id if isinstance(message.id, str) else message.id[0]: message.string
        for data in texts
        if _OF_SCRIPTS in data  # most have none, and reading them takes long
        for message in _read(data)
        if _has_words(message) and _is_of_scripts(message)
    }
    return f"globalThis.translated = {json.dumps(shown, ensure_ascii=False)};\n".encode()


def _has_words(message: "Message") -> bool:
    """Return whether a translator is done with a message; otherwise it is English."""
    words = (message.string,) if isinstance(message.string, str) else message.string
    return bool(message.id and words) and all(words or ()) and not message.fuzzy


def _is_of_scripts(message: "Message") -> bool:
    """Return whether a message is marked as used by scripts: `#. script` stands above it."""
    return "script" in message.auto_comments
