"""Writes the catalogues of a language: every message that has words in German, with the words that are there.

    .venv/bin/python tools/language.py fr

makes `infra/languages/fr/*.po` and `fr.po` in the package of each game. A message without words has an
empty `msgstr`, and is shown in English. Run once more, it adds what is new, and takes out what nothing
says any more; words that are there stay.
"""

import sys
from collections.abc import Callable, Mapping
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Final

from babel import Locale, UnknownLocaleError
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po, write_po

ROOT: Final = Path(__file__).parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from domain.rules import all_games  # noqa: E402 - found where the path says

MODEL: Final = "de"
"""The language that has words for every message; its files say which message stands in which."""
AREAS: Final = "infra.languages"

Translate = Callable[[Message], str | tuple[str, ...]]
"""Returns the words for a message; empty for none."""


def model_files() -> Mapping[str, Path]:
    """Return the packages of all catalogues with the German file of each; a folder for the areas."""
    areas = Path(str(files(AREAS).joinpath(MODEL)))
    games = {
        game.package: Path(str(files(game.package).joinpath(f"{MODEL}.po"))) for game in all_games()
    }
    return {AREAS: areas, **games}


def write_language(code: str, translate: Translate, place: Callable[[str], Path]) -> list[Path]:
    """Write all catalogues of a language into the folders that `place` returns for packages."""
    written = []
    for package, model in model_files().items():
        if model.is_dir():
            written += [
                _write(one, place(package) / code / one.name, code, translate)
                for one in sorted(model.glob("*.po"))
            ]
        elif model.is_file():
            written.append(_write(model, place(package) / f"{code}.po", code, translate))
    return written


def _write(model: Path, path: Path, code: str, translate: Translate) -> Path:
    there = read_po(BytesIO(path.read_bytes())) if path.is_file() else Catalog()
    german = read_po(BytesIO(model.read_bytes()))
    made = Catalog(
        locale=_locale(code),
        header_comment=german.header_comment,
        creation_date=there.creation_date,  # what has no new message stays as it is
    )
    made.mime_headers = [
        ("Language", code),
        ("Plural-Forms", there.plural_forms if len(there) else made.plural_forms),
        ("Content-Type", "text/plain; charset=utf-8"),
    ]
    for message in german:
        if message.id:
            own = there.get(message.id, message.context)
            words = own.string if own else translate(message)
            made.add(
                message.id, words, context=message.context, auto_comments=message.auto_comments
            )
    packed = BytesIO()
    write_po(packed, made, width=100)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(packed.getvalue())
    return path


def _locale(code: str) -> Locale | None:
    try:
        return Locale.parse(code)
    except (UnknownLocaleError, ValueError):
        return None


def _no_words(message: Message) -> str | tuple[str, ...]:
    return "" if isinstance(message.id, str) else ("", "")


def main(words: list[str]) -> int:
    """Write the catalogues of the language whose code is given."""
    if len(words) != 1 or not words[0].isalpha() or words[0] in (MODEL, "en"):
        sys.stderr.write("one code of a language is needed, such as fr\n")
        return 2
    for path in write_language(words[0], _no_words, lambda package: Path(str(files(package)))):
        sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
