"""The `matchpost` command: reads the command line and runs the part that is named.

Exit codes: 0 accepted or answered, 1 refused, 2 not delivered or outcome unknown; 130 and 141 when
a Ctrl-C or a closed pipe ended it, as shells have it. A refusal is one line on standard error,
`code: sentence`. Everything that is slow to import is imported by the command that needs it.
"""

import os
import sys
import traceback
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, Final, TypeAlias

from services import __version__
from services.cli.flags import add_settings, settings_of, split_line

WAIT_SECONDS: Final = 10.0

PROJECTIONS: Final = (
    "lists", "notifications", "scores", "history", "standings", "head-to-head", "ratings",
)  # fmt: skip
"""What can be rebuilt; a test keeps it as `infra.projections.specs` has it, which is slow to import."""

_INTERRUPTED: Final = 130
_PIPE_CLOSED: Final = 141
_FAILED: Final = 2

Commands: TypeAlias = "Any"  # argparse does not name the type of its sub-commands

_EXAMPLES: Final = """\
an example, with `matchpost serve` running in another terminal:
  matchpost do signup alice wonderland
  matchpost do signup bob builder2
  matchpost do pow2 challenge alice bob
  matchpost do pow2 move 1 alice wonderland m13-j7
  matchpost do help
"""


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line `words` (the process's own if None), and give the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # as it is when the caller has closed it
            # a terminal without UTF-8 shows what it can't show as an escape
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        code = _run(sys.argv[1:] if words is None else words)
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # what is still buffered would fail again when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED
    except Exception as error:  # noqa: BLE001 - whatever it is, it is said in a sentence
        if os.environ.get("MATCHPOST_DEBUG"):
            traceback.print_exc()
        return _call("services.cli.errors", error)
    return code


def _run(words: Sequence[str]) -> int:
    words, url = _split_url(words)
    parser, line_parser = _parsers()
    if url and words[:1] != ["do"]:
        parser.error("--url is for `do`: the other commands work on this machine")
    url = url or os.environ.get("MATCHPOST_URL", "")
    if words[:1] == ["do"]:
        ours, line = split_line(words[1:])
        arguments = line_parser.parse_args(ours)
        if not line:
            line_parser.error("say what to do, such as `help`")
        if line[0].startswith("-"):
            line_parser.error(f"there is no flag {line[0]}")
        arguments.line = " ".join(line)
        arguments.url = url
    elif words[:1] == ["bench"]:
        # benchmarks have flags of their own
        import_module("infra.game_packages").load_games()
        return _call("services.bench.main", list(words[1:]))
    else:
        arguments = parser.parse_args(words)
    import_module("infra.game_packages").load_games()
    run: Callable[[Namespace], int] = arguments.run
    return run(arguments)


def _split_url(words: Sequence[str]) -> tuple[Sequence[str], str]:
    """Return the words without `--url URL` at their beginning, and the URL of the server elsewhere."""
    if words[:1] == ["--url"]:
        return words[2:], "".join(words[1:2])
    if words and words[0].startswith("--url="):
        return words[1:], words[0].removeprefix("--url=")
    return words, ""


def _call(module: str, *args: object) -> int:
    """Call `run` of a module that is imported now."""
    code: int = import_module(module).run(*args)
    return code


def _parsers() -> tuple[ArgumentParser, ArgumentParser]:
    """Return the parser of the whole command line, and that of `do`."""
    parser = ArgumentParser(
        prog="matchpost",
        description="A correspondence match server for abstract board games.",
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--url",
        help="have `do` talk to a server elsewhere, such as https://play.example.org "
        "(also MATCHPOST_URL); a token of yours goes into MATCHPOST_TOKEN",
    )
    parser.add_argument("--version", action="version", version=f"matchpost {__version__}")
    commands: Commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    line_parser = _add_do(commands)
    _add_serve(commands)
    _add_doctor(commands)
    _add_arbiter(commands)
    _add_verify(commands)
    _add_rebuild(commands)
    _add_referee(commands)
    commands.add_parser("bench", help="measure, side by side with peers", add_help=False)
    _add_web(commands)
    _add_mail(commands)
    _add_mailer(commands)
    _add_worker(commands)
    return parser, line_parser


def _add(commands: Commands, name: str, run: Callable[[Namespace], int], **texts: str) -> Any:
    parser = commands.add_parser(name, allow_abbrev=False, **texts)
    parser.set_defaults(run=run)
    return parser


def _add_do(commands: Commands) -> ArgumentParser:
    parser: ArgumentParser = _add(
        commands,
        "do",
        lambda arguments: _call("services.cli.do", arguments, settings_of(arguments)),
        usage="matchpost do LINE [--key KEY] [--wait SECONDS] [settings]",
        help="carry out one command line; `matchpost do help` lists them",
        description="Carry out one command line, given as one argument or as several words. "
        "`-` in the place of a password asks for it; `multiple` reads lines from standard input.",
    )
    parser.add_argument(
        "--key", help="repeating a command with its key is safe: it is carried out once"
    )
    parser.add_argument(
        "--wait",
        type=_seconds,
        default=WAIT_SECONDS,
        metavar="SECONDS",
        help="how long to wait for an outcome (default 10)",
    )
    add_settings(parser)
    return parser


def _seconds(text: str) -> float:
    """Read a time to wait; `ValueError` becomes argparse's own sentence."""
    seconds = float(text)
    if not 0 <= seconds <= 24 * 3600:
        raise ValueError
    return seconds


_seconds.__name__ = "number of seconds"  # argparse puts it into "invalid ... value"


def _add_serve(commands: Commands) -> None:
    parser = _add(
        commands,
        "serve",
        lambda arguments: _call("services.serve.main", settings_of(arguments)),
        help="run the server, until Ctrl-C; prints `ready` once it takes moves",
        description="Run the server: matches, workers and keeper, on this machine.",
    )
    add_settings(parser)


def _add_doctor(commands: Commands) -> None:
    parser = _add(
        commands,
        "doctor",
        lambda arguments: _call("services.cli.doctor", settings_of(arguments), arguments.json),
        help="say what is wrong with the server, and what to do",
        description="Look at server, workers, inboxes, disk and clock. Exit code 0: all is well; "
        "1: something needs a look; 2: the server could not be asked.",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_settings(parser)


def _add_arbiter(commands: Commands) -> None:
    parser = _add(
        commands,
        "arbiter",
        lambda arguments: _call(
            "services.cli.arbiter", arguments.name, not arguments.revoke, settings_of(arguments)
        ),
        help="make an account an arbiter",
        description="Make an account an arbiter, who may write to everybody.",
    )
    parser.add_argument("name", metavar="USERID")
    parser.add_argument("--revoke", action="store_true", help="an arbiter no more")
    add_settings(parser)


def _add_verify(commands: Commands) -> None:
    parser = _add(
        commands,
        "verify",
        lambda arguments: _call("services.cli.verify", arguments.board, settings_of(arguments)),
        help="check a match's whole history",
        description="Check a match's whole history: chained, decided again by its rules, logged.",
    )
    parser.add_argument("board", metavar="BOARD", help="the match's number")
    add_settings(parser)


def _add_rebuild(commands: Commands) -> None:
    parser = _add(
        commands,
        "rebuild",
        lambda arguments: _call(
            "services.cli.rebuild", arguments.names, arguments.check, settings_of(arguments)
        ),
        help="make lists and ratings anew from the logs, or prove that they are right",
        description="Make lists, histories, ratings and notices anew from the logs, while the "
        "server plays. Exit code 1: with --check, what is there differs.",
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        type=_projection,
        help=f"{', '.join(PROJECTIONS)}; all if none is named",
    )
    parser.add_argument(
        "--check", action="store_true", help="compare with what is there, and replace nothing"
    )
    add_settings(parser)


def _projection(name: str) -> str:
    """Read a projection's name."""
    if name not in PROJECTIONS:
        raise ArgumentTypeError(f"there is no {name!r}; there are {', '.join(PROJECTIONS)}")
    return name


def _add_referee(commands: Commands) -> None:
    _add(
        commands,
        "referee",
        lambda _: _call("services.cli.referee"),
        help="judge moves: one JSON object a line in, one out; needs no server",
        description="The rules as a filter: one JSON object a line in, one a line out.",
    )


def _add_web(commands: Commands) -> None:
    parser = _add(
        commands,
        "web",
        lambda arguments: _call("services.cli.web", settings_of(arguments), arguments.fd),
        help="answer over HTTP only, for a server on several machines",
        description="Answer over HTTP until told to stop. `serve` starts one of these by itself.",
    )
    parser.add_argument("--fd", type=int, help="an open socket to answer on")
    add_settings(parser)


def _add_mail(commands: Commands) -> None:
    parser = _add(
        commands,
        "mail",
        lambda arguments: _call(
            "services.cli.mail", settings_of(arguments), arguments.smtp_fd, arguments.lmtp_fd
        ),
        help="take mail only, for a server on several machines",
        description="Take mail by SMTP and LMTP until told to stop, where MATCHPOST_SMTP and "
        "MATCHPOST_LMTP say. `serve` starts one of these by itself.",
    )
    parser.add_argument("--smtp-fd", type=int, help="an open socket to take mail on by SMTP")
    parser.add_argument("--lmtp-fd", type=int, help="an open socket to take mail on by LMTP")
    add_settings(parser)


def _add_mailer(commands: Commands) -> None:
    parser = _add(
        commands,
        "mailer",
        lambda arguments: _call("services.cli.mailer", settings_of(arguments)),
        help="send mail only, for a server on several machines",
        description="Send mail to the server MATCHPOST_RELAY names, until told to stop. `serve` "
        "starts one of these by itself, and tells it when there is something to do.",
    )
    add_settings(parser)


def _work(role: str, arguments: Namespace) -> int:
    return _call("services.cli.worker", settings_of(arguments), arguments.name, role)


def _add_worker(commands: Commands) -> None:
    # without help: roles that `serve` starts, not for people
    for role, what in (("worker", "Decide commands"), ("side", "Keep lists and ratings up")):
        parser = _add(
            commands,
            role,
            partial(_work, role),
            description=f"{what}, until told to stop.",
        )
        parser.add_argument("--name", default=role, help="what it calls itself in the log")
        add_settings(parser)
