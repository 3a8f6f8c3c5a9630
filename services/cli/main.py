"""The `matchpost` command: read the command line, and run the subcommand it names.

Exit codes: 0 accepted or answered, 1 refused, 2 not delivered or outcome unknown; 130 after Ctrl-C
and 141 after a closed pipe, as in shells. A refusal is one line on standard error, `code: sentence`.
Only the subcommand that runs imports what is slow to import.
"""

import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Collection, Sequence
from importlib import import_module
from typing import Any, Final

from services import __version__
from services.cli.author_subcommands import AUTHOR_SUBCOMMANDS
from services.cli.flags import (
    SETTINGS,
    add_settings,
    add_settings_help,
    chooses_local_data,
    settings_of,
    split_line,
)
from services.cli.player_subcommands import PLAYER_SUBCOMMANDS, Subcommand
from services.cli.subcommands import SUBCOMMANDS

_PROGRAM: Final = "matchpost"

_INTERRUPTED: Final = 130
_PIPE_CLOSED: Final = 141

_WITH_URL: Final = [one.name for one in SUBCOMMANDS if one.takes_url]
"""Subcommands that take `--url`."""

_NAMES: Final = [one.name for one in SUBCOMMANDS]

_ROLES: Final = (
    "web", "mail", "mailer", "scheduler", "maintenance", "robots", "publisher", "gathered",
)  # fmt: skip
"""Subcommands that are one process of a server on several machines."""

_EXAMPLES: Final = """\
an example, with `matchpost serve` running in another terminal:
  matchpost do signup alice mad-hatter
  matchpost do signup bob yes-we-can
  matchpost do pow2 challenge alice bob
  matchpost do pow2 move 1 alice mad-hatter m13-j7
  matchpost do help
"""


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line `words` (the process's own if None), and return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # as it is when the caller has closed it
            # a terminal without UTF-8 shows an escape for other characters
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        code = _run(sys.argv[1:] if words is None else words)
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # otherwise Python would fail again when it flushes what is still buffered
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED
    except Exception as error:  # noqa: BLE001 - the user gets a sentence for any error
        if os.environ.get("MATCHPOST_DEBUG"):
            import_module("traceback").print_exc()
        code = import_module("services.cli.errors").report(error)
    return code


def _run(words: Sequence[str]) -> int:
    words, url = _split_url(words)
    if list(words) == ["completion", "boards"]:
        # before all else, because a shell waits for it while a line is typed
        boards: int = import_module("services.cli.own_boards").run()
        return boards
    parser, line_parser = _parsers(words)
    values: dict[str, Any] = {}
    if words[:1] and words[0] in _WITH_URL:
        values["url"] = url
    elif url:
        named = ", ".join(f"`{name}`" for name in _WITH_URL)
        parser.error(f"--url is for {named}: the other commands work on this machine")
    if words and not words[0].startswith("-") and words[0] not in _NAMES:
        parser.error(_unknown(words[0]))
    if words[:1] == ["do"]:
        arguments, values["line"] = _parse_line(line_parser, words[1:])
        values["is_local"] = chooses_local_data(arguments)
    else:
        arguments = parser.parse_args(words)
    return _call(arguments, values)


def _unknown(word: str) -> str:
    """Return a sentence on a word that names no subcommand, with all that there are, in groups."""
    from difflib import get_close_matches  # noqa: PLC0415 - only for this

    near = "".join(f"; did you mean {name!r}?" for name in get_close_matches(word, _NAMES, n=1))
    players = [one.name for one in PLAYER_SUBCOMMANDS]
    authors = [one.name for one in AUTHOR_SUBCOMMANDS]
    listed = [
        one.name
        for one in SUBCOMMANDS
        if one.help and one.name not in (*players, *authors, *_ROLES)
    ]
    groups = {
        "for players": players,
        "for operators": listed,
        "for authors of games": authors,
        "one process each": _ROLES,
    }
    lines = [f"  {group}: {', '.join(names)}" for group, names in groups.items()]
    return "\n".join([f"there is no command {word[:24]!r}{near}", *lines])


def _split_url(words: Sequence[str]) -> tuple[Sequence[str], str]:
    """Return the words without `--url URL`, and the URL; it is empty if there is none.

    It may stand before the name of the subcommand, or after one that takes it.
    """
    at = int(words[:1] != [] and words[0] in _WITH_URL)
    before, rest = list(words[:at]), list(words[at:])
    if rest[:1] == ["--url"]:
        return before + rest[2:], "".join(rest[1:2])
    if rest and rest[0].startswith("--url="):
        return before + rest[1:], rest[0].removeprefix("--url=")
    return words, ""


def _parse_line(parser: ArgumentParser, words: Sequence[str]) -> tuple[Namespace, str]:
    """Return the arguments of `do`, and the command line between them."""
    ours, line = split_line(words)
    arguments = parser.parse_args(ours)
    if not line:
        parser.error("say what to do, such as `help`")
    if line[0].startswith("-"):
        parser.error(f"there is no flag {line[0]}")
    return arguments, " ".join(line)


def _call(arguments: Namespace, values: dict[str, Any]) -> int:
    """Run the subcommand that was parsed, with its arguments and `values`."""
    subcommand: Subcommand = arguments.subcommand
    if not subcommand.is_light:
        import_module("infra.settings.game_packages").load_games()
    if subcommand.has_settings:
        values["settings"] = settings_of(arguments)
        if values["settings"].security_log is not None and not subcommand.is_light:
            # what an operator does here belongs there, too
            logs = import_module("services.serve.logging")
            logs.open_security_log(subcommand.name, values["settings"])
    elsewhere = {"subcommand", "server_url"}
    if subcommand.has_settings:
        elsewhere |= {"config", *SETTINGS}
    own = {name: value for name, value in vars(arguments).items() if name not in elsewhere}
    run = import_module(subcommand.module or f"services.cli.{subcommand.name}").run
    code: int = run(**own, **values, **subcommand.fixed)
    return code


def _parsers(words: Collection[str] = _NAMES) -> tuple[ArgumentParser, ArgumentParser]:
    """Return the parser of a command line with these words, and that of `do`.

    Subcommands that are not among the words are listed, but have no arguments, because a thousand take long.
    """
    parser = ArgumentParser(
        prog=_PROGRAM,
        description="A correspondence match server for abstract board games.",
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--url",
        dest="server_url",
        help="run `do` or `watch` on a server elsewhere, such as https://play.example.org "
        "(also MATCHPOST_URL); your token goes into MATCHPOST_TOKEN",
    )
    add_settings_help(parser)
    parser.add_argument("--version", action="version", version=f"matchpost {__version__}")
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True, prog=_PROGRAM
    )
    for subcommand in SUBCOMMANDS:
        parser_of_one = _add(commands, subcommand)
        if subcommand.name in words:
            _add_arguments(parser_of_one, subcommand)
    return parser, commands.choices["do"]


def _add(commands: Any, subcommand: Subcommand) -> ArgumentParser:
    """Add a subcommand's parser, and return it; `commands` is of a type that argparse does not name."""
    parser: ArgumentParser = commands.add_parser(
        subcommand.name,
        usage=subcommand.usage,
        description=subcommand.description,
        allow_abbrev=False,
        help=subcommand.help,
    )
    parser.set_defaults(subcommand=subcommand)
    return parser


def _add_arguments(parser: ArgumentParser, subcommand: Subcommand) -> None:
    """Add a subcommand's arguments to its parser."""
    one_of = parser.add_mutually_exclusive_group(required=True) if subcommand.one_of else parser
    for name, options in subcommand.arguments:
        (one_of if name in subcommand.one_of else parser).add_argument(name, **options)
    if subcommand.has_settings:
        add_settings(parser)
