"""`matchpost completion SHELL`: a script that completes command lines in bash, zsh or fish.

The words come from the tables of subcommands, of settings and of the command language. Each shell's
script asks one function for the words of a key:

| key | words |
|---|---|
| `commands` | the subcommands |
| `flags SUBCOMMAND` | its flags |
| `value SUBCOMMAND FLAG` | what follows a flag that has a value |
| `arguments SUBCOMMAND` | its arguments |
| `line`, `line WORD ...` | what follows these words of the command language; `GAME` stands for any game |

Words with an @ stand for others: `@files`, `@boards`, `@line`; `@none` for any word that can't be completed.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, Final, TypeAlias

from domain.rules import game_keys, latest_rules
from services.app.error_codes import EXIT_OK
from services.cli.flags import HELP, PROJECTIONS, SETTINGS, projection
from services.cli.player_subcommands import Subcommand
from services.cli.subcommands import SUBCOMMANDS
from services.language.commands import GENERAL_FORMS
from services.language.form import CommandForm
from services.language.game_forms import GAME_FORMS

Words: TypeAlias = Mapping[str, str]
"""Words, each with its meaning, which may be empty."""

_BOARDS: Final = {"@boards": ""}
_FILES: Final = {"@files": ""}
_NONE: Final = {"@none": ""}

_FILE_NAMES: Final = frozenset({"FILE", "PLAN", "WHAT", "DIR", "DIR|URL", "FILE|URL"})
"""Metavars that stand for a file or a folder."""

_FILE_SETTINGS: Final = frozenset({"config", "data", "seeds", "keys", "lmtp", "mail_key"})

_PLACE: Final = "@TABLE@"
"""Where the words stand in a shell's script."""


def run(shell: str) -> int:
    """Print the script for a shell, and return the exit code."""
    script = files("services.cli").joinpath("shells", f"completion.{shell}").read_text("utf-8")
    branch = _fish_branch if shell == "fish" else _bash_branch if shell == "bash" else _zsh_branch
    cases = "\n".join(branch(keys, words) for keys, words in _grouped(table()))
    print(script.replace(_PLACE, cases), end="")
    return EXIT_OK


def table() -> dict[str, Words]:
    """Return the words by key."""
    found: dict[str, Words] = {
        "commands": {subcommand.name: subcommand.help for subcommand in SUBCOMMANDS},
        "flags ": {
            "--url": "a server elsewhere",
            "--version": "print the version",
            "--help": "print help",
            HELP: "list the settings",
        },
    }
    for subcommand in SUBCOMMANDS:
        found |= _of_subcommand(subcommand)
    found["arguments do"] = {"@line": ""}
    found |= _of_language()
    return found


def _of_subcommand(subcommand: Subcommand) -> Iterator[tuple[str, Words]]:
    """Yield the keys of a subcommand with their words."""
    name = subcommand.name
    flags = {"--help": "print help"}
    for word, options in subcommand.arguments:
        if not word.startswith("-"):
            yield f"arguments {name}", _values(options)
            continue
        flags[word] = options.get("help", "")
        if options.get("action") not in ("store_true", "store_false"):
            yield f"value {name} {word}", _values(options)
    if subcommand.has_settings:
        flags[HELP] = "list the settings"
        flags["--config"] = "a TOML file with settings"
        yield f"value {name} --config", _FILES
        for setting, meaning in SETTINGS.items():
            flag = f"--{setting.replace('_', '-')}"
            flags[flag] = meaning
            yield f"value {name} {flag}", _FILES if setting in _FILE_SETTINGS else _NONE
    yield f"flags {name}", flags


def _values(options: Mapping[str, Any]) -> Words:
    """Return the words that an argument can have."""
    if "choices" in options:
        return dict.fromkeys(options["choices"], "")
    if options.get("type") is projection:
        return dict.fromkeys(PROJECTIONS, "")
    metavar = options.get("metavar", "")
    if metavar == "BOARD":
        return _BOARDS
    return _FILES if metavar in _FILE_NAMES else _NONE


def _of_language() -> Iterator[tuple[str, Words]]:
    """Yield the keys of the command language with their words."""
    games = {key: latest_rules(key).title for key in game_keys()}
    general = _first_words(GENERAL_FORMS)
    yield "games", games
    yield "line", {**general, **games}
    yield "line help", {**general, **games}
    yield "line GAME", _first_words(GAME_FORMS)
    for form in GENERAL_FORMS:
        first, _, second = form.name.partition(" ")
        if second:
            seconds = [other.name for other in GENERAL_FORMS if other.name.startswith(f"{first} ")]
            yield f"line {first}", {name.partition(" ")[2]: "" for name in seconds}
        elif _needs_board(form):
            yield f"line {first}", _BOARDS
    for name in {form.name: "" for form in GAME_FORMS if _needs_board(form)}:
        yield f"line GAME {name}", _BOARDS


def _first_words(forms: Sequence[CommandForm]) -> Words:
    """Return the words with which forms begin; of several forms the meaning is that of the first."""
    return {form.name.split()[0]: form.summary for form in reversed(forms)}


def _needs_board(form: CommandForm) -> bool:
    return form.rest.startswith(("BOARD", "userid password [BOARD"))


def _grouped(words_of: Mapping[str, Words]) -> Iterator[tuple[list[str], Words]]:
    """Yield the keys that have the same words together, because that makes a script much shorter."""
    keys: dict[tuple[tuple[str, str], ...], list[str]] = defaultdict(list)
    for key, words in words_of.items():
        keys[tuple(words.items())].append(key)
    for items, same in keys.items():
        yield same, dict(items)


def _bash_branch(keys: Sequence[str], words: Words) -> str:
    """Return the branch of `case` for keys, in bash."""
    return _case_branch(keys, " ".join(words))


def _zsh_branch(keys: Sequence[str], words: Words) -> str:
    """Return the branch of `case` for keys, in zsh, where a colon stands between word and meaning."""
    return _case_branch(
        keys, "\n".join(f"{word}:{text}" if text else word for word, text in words.items())
    )


def _case_branch(keys: Sequence[str], words: str) -> str:
    patterns = " | ".join(map(_quoted, keys))
    return f"    {patterns})\n        _matchpost_words={_quoted(words)}\n        ;;"


def _fish_branch(keys: Sequence[str], words: Words) -> str:
    """Return the branch of `switch` for keys, in fish, where a tab stands between word and meaning."""
    shown = " ".join(_fish_quoted(f"{word}\t{text}") for word, text in words.items())
    patterns = " ".join(map(_fish_quoted, keys))
    return f"        case {patterns}\n            printf '%s\\n' {shown}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
