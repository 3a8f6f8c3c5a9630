"""The `matchpost` command: read the command line, and run the subcommand it names.

Exit codes: 0 accepted or answered, 1 refused, 2 not delivered or outcome unknown; 130 after Ctrl-C
and 141 after a closed pipe, as in shells. A refusal is one line on standard error, `code: sentence`.
Only the subcommand that runs imports what is slow to import.
"""

import os
import sys
import traceback
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple, TypeAlias

from services import __version__
from services.cli.flags import SETTINGS, add_settings, settings_of, split_line

WAIT_SECONDS: Final = 10.0

PROJECTIONS: Final = (
    "lists", "notifications", "scores", "history", "standings", "head-to-head", "ratings",
    "cases",
)  # fmt: skip
"""Names for `rebuild`; a test keeps them equal to `infra.projections.specs`, which is slow to import."""

_MOST_BUCKETS: Final = 1_024

_INTERRUPTED: Final = 130
_PIPE_CLOSED: Final = 141

_EXAMPLES: Final = """\
an example, with `matchpost serve` running in another terminal:
  matchpost do signup alice wonderland
  matchpost do signup bob builder2
  matchpost do pow2 challenge alice bob
  matchpost do pow2 move 1 alice wonderland m13-j7
  matchpost do help
"""


def _seconds(text: str) -> float:
    """Read a time to wait; argparse turns `ValueError` into a sentence."""
    seconds = float(text)
    if not 0 <= seconds <= 24 * 3600:
        raise ValueError
    return seconds


_seconds.__name__ = "number of seconds"  # argparse puts it into "invalid ... value"


def _whole(text: str) -> int:
    """Read a whole number; argparse turns `ValueError` into a sentence."""
    return int(text)


_whole.__name__ = "whole number"


def _projection(name: str) -> str:
    """Read a projection's name."""
    if name not in PROJECTIONS:
        raise ArgumentTypeError(f"there is no {name!r}; there are {', '.join(PROJECTIONS)}")
    return name


def _bucket_count(text: str) -> int:
    """Read a number of buckets; argparse turns `ValueError` into a sentence."""
    count = int(text)
    if not 1 <= count <= _MOST_BUCKETS:
        raise ValueError
    return count


_bucket_count.__name__ = "number of buckets"  # argparse puts it into "invalid ... value"


_Argument: TypeAlias = tuple[str, Mapping[str, Any]]
"""The first and the keyword arguments of `add_argument`."""


class _Subcommand(NamedTuple):
    """A subcommand; `run` of its module takes its arguments, and the settings, by keyword."""

    name: str
    help: str
    """Empty for a role that `serve` starts: it is not listed."""
    description: str
    arguments: Sequence[_Argument] = ()
    module: str = ""
    """`services.cli.NAME` if empty."""
    usage: str | None = None
    fixed: Mapping[str, Any] = {}
    """Arguments of `run` that are not on the command line."""
    has_settings: bool = True


_SUBCOMMANDS: Final = (
    _Subcommand(
        "do",
        "run one command line; `matchpost do help` lists them",
        "Run one command line, written as one argument or as several words. "
        "`-` in the place of a password asks for it; `multiple` reads lines from standard input.",
        (
            ("--key", {"help": "repeating a command with the same key is safe: it runs once"}),
            ("--wait", {
                "type": _seconds, "default": WAIT_SECONDS, "metavar": "SECONDS",
                "help": "how long to wait for an outcome (default 10)",
            }),
        ),
        usage="matchpost do LINE [--key KEY] [--wait SECONDS] [settings]",
    ),
    _Subcommand(
        "serve",
        "run the server until Ctrl-C; prints `ready` once it accepts moves",
        "Run the whole server on this machine: data, workers, web pages and mail.",
        module="services.serve.main",
    ),
    _Subcommand(
        "doctor",
        "report what is wrong with the server, and what to do",
        "Check server, workers, inboxes, disk and clock. Exit code 0: all is well; "
        "1: something needs a look; 2: the server does not answer.",
        (("--json", {"dest": "as_json", "action": "store_true", "help": "print one JSON object"}),),
    ),
    _Subcommand(
        "queue",
        "show what waits in the lanes and in RQ's queues, and who works on it",
        "Show for each lane how many commands wait, since when, who has the lease and what the last "
        "turn did; and the jobs and workers of RQ's queues.",
        (
            ("--json", {"dest": "as_json", "action": "store_true", "help": "print one JSON object"}),
            ("--interval", {
                "type": _seconds, "metavar": "SECONDS", "help": "show it again and again",
            }),
        ),
    ),
    _Subcommand(
        "arbiter",
        "make an account an arbiter, or list them",
        "Make an account an arbiter, or list them all with `matchpost arbiter list`. Arbiters rule on "
        "claims, and may write to every player.",
        (
            ("name", {"metavar": "USERID", "help": "the account, or `list`"}),
            ("--revoke", {
                "dest": "is_arbiter", "action": "store_false", "help": "dismiss an arbiter",
            }),
        ),
    ),
    _Subcommand(
        "correct",
        "apply one ruling to many matches, in the name of an arbiter",
        "Apply one ruling to many matches, in the name of an arbiter. Shows for each match what would "
        "change, or why it can't be ruled on. It can be stopped and run again: no match is ruled on "
        "twice. Exit code 1: some matches can't be ruled on; 2: an outcome is not known, run it again.",
        (
            ("plan", {"metavar": "PLAN", "help": "a JSON file; see docs/disputes.md"}),
            ("--dry-run", {
                "dest": "dry_run", "action": "store_true", "help": "only show what would be done",
            }),
            ("--yes", {"action": "store_true", "help": "do it"}),
        ),
    ),
    _Subcommand(
        "verify",
        "check a match's whole history",
        "Check that a match's history is complete, chained and logged, and decide it again.",
        (("number", {"metavar": "BOARD", "help": "the match's number"}),),
    ),
    _Subcommand(
        "rebuild",
        "rebuild lists and ratings from the logs, or check them",
        "Rebuild lists, histories, ratings and notices from the logs, while the server "
        "runs. Exit code 1: with --check, a list differs from its rebuild.",
        (
            ("names", {
                "nargs": "*", "metavar": "NAME", "type": _projection,
                "help": f"{', '.join(PROJECTIONS)}; all if none is named",
            }),
            ("--check", {
                "action": "store_true", "help": "only compare with a rebuild, and replace nothing",
            }),
            ("--buckets", {
                "type": _bucket_count, "metavar": "N",
                "help": "divide the data into N buckets from now on (default: as many as there are)",
            }),
        ),
    ),
    _Subcommand(
        "lanes",
        "show or change into how many lanes the shards are divided",
        "Show into how many lanes the shards are divided, or change it while the server runs. "
        "A command worker drains one lane at a time: make as many lanes as there are workers.",
        (("count", {
            "nargs": "?", "type": _whole, "metavar": "N",
            "help": "how many lanes there shall be, from 1 to the number of shards",
        }),),
    ),
    _Subcommand(
        "upgrade",
        "turn data of an earlier format into this version's, once",
        "Turn data of the first format into the format of this version, while no server and no "
        "worker runs. It can be stopped and run again. Exit code 1: the data can't be upgraded.",
    ),
    _Subcommand(
        "referee",
        "judge moves: one JSON object a line in, one a line out; needs no server",
        "Judge moves as a filter: one JSON object a line in, one a line out.",
        has_settings=False,
    ),
    _Subcommand("bench", "measure matchpost beside other programs", ""),
    _Subcommand(
        "web",
        "run only the web process, for a server on several machines",
        "Answer over HTTP until a stop signal. `serve` starts this process by itself.",
        (
            ("--fd", {"type": int, "help": "an open socket to answer on"}),
            ("--name", {"default": "web", "help": "the process's name in the log"}),
        ),
    ),
    _Subcommand(
        "mail",
        "only accept mail, for a server on several machines",
        "Accept mail by SMTP and LMTP until a stop signal, at MATCHPOST_SMTP and "
        "MATCHPOST_LMTP. `serve` starts this process by itself.",
        (
            ("--smtp-fd", {"type": int, "help": "an open socket to accept mail on by SMTP"}),
            ("--lmtp-fd", {"type": int, "help": "an open socket to accept mail on by LMTP"}),
        ),
    ),
    _Subcommand(
        "mailer",
        "only send mail, for a server on several machines",
        "Send mail to the server at MATCHPOST_RELAY until a stop signal. `serve` starts "
        "this process by itself, and wakes it when there is mail to send.",
    ),
    _Subcommand(
        "maintenance",
        "run rebuilds and checks as jobs, which outlive the terminal",
        "Run the rebuilds and checks that `matchpost rebuild` asks for, until a stop signal, which "
        "the job at work outlasts.",
        (("--name", {"default": "maintenance", "help": "the process's name in the log"}),),
        "services.cli.worker",
        fixed={"role": "maintenance"},
    ),
    _Subcommand(
        "scheduler",
        "only let clocks run and repeat lost jobs, for a server on several machines",
        "Send reminders, let flags fall, start full challenges and repeat lost jobs until a stop "
        "signal. `serve` starts this process by itself; several do no harm.",
        (("--name", {"default": "scheduler", "help": "the process's name in the log"}),),
    ),
    _Subcommand(
        "publisher",
        "only publish the log, for a server on several machines",
        "Write the log to the object store, signed, until a stop signal. `serve` starts this process "
        "by itself; of several one works at a time.",
        (("--name", {"default": "publisher", "help": "the process's name in the log"}),),
    ),
    _Subcommand(
        "log",
        "decide that the published log is right where the data differ from it",
        "Discard the leaves of a closed shard that differ from the published log, with all that "
        "follows from them; the published ones are then restored. Shows first what that is.",
        (
            ("action", {"choices": ["discard"], "help": "what to do"}),
            ("shard", {"type": _whole, "metavar": "SHARD", "help": "the shard's number"}),
            ("--yes", {"action": "store_true", "help": "do it"}),
        ),
    ),
    _Subcommand(
        "keygen",
        "make the keys that sign the published log",
        "Make the keys that sign the published log and receipts, and print the public ones. Keys that "
        "are there are never overwritten.",
        (("--host", {
            "metavar": "NAME",
            "help": "the server's name in the log, for good, such as play.example.org "
            "(default: MATCHPOST_MAIL_DOMAIN)",
        }),),
        "services.serve.log_keys",
    ),
    *(
        _Subcommand(
            role,
            "",
            f"{what} until a stop signal.",
            (("--name", {"default": role, "help": "the process's name in the log"}),),
            "services.cli.worker",
            fixed={"role": role},
        )
        for role, what in (("worker", "Decide commands"), ("side", "Keep lists and ratings up to date"))
    ),
)  # fmt: skip


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
            traceback.print_exc()
        code = import_module("services.cli.errors").report(error)
    return code


def _run(words: Sequence[str]) -> int:
    words, url = _split_url(words)
    parser, line_parser = _parsers()
    if url and words[:1] != ["do"]:
        parser.error("--url is for `do`: the other commands work on this machine")
    values: dict[str, Any] = {}
    if words[:1] == ["do"]:
        arguments, values["line"] = _parse_line(line_parser, words[1:])
        values["url"] = url or os.environ.get("MATCHPOST_URL", "")
    elif words[:1] != ["bench"]:
        arguments = parser.parse_args(words)
    import_module("infra.game_packages").load_games()
    if words[:1] == ["bench"]:
        # benchmarks have flags of their own
        code: int = import_module("services.bench.main").run(list(words[1:]))
        return code
    return _call(arguments, values)


def _split_url(words: Sequence[str]) -> tuple[Sequence[str], str]:
    """Return the words after a leading `--url URL`, and the URL; it is empty if there is none."""
    if words[:1] == ["--url"]:
        return words[2:], "".join(words[1:2])
    if words and words[0].startswith("--url="):
        return words[1:], words[0].removeprefix("--url=")
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
    subcommand: _Subcommand = arguments.subcommand
    if subcommand.has_settings:
        values["settings"] = settings_of(arguments)
    elsewhere = {"subcommand", "url", "config", *SETTINGS}
    own = {name: value for name, value in vars(arguments).items() if name not in elsewhere}
    run = import_module(subcommand.module or f"services.cli.{subcommand.name}").run
    code: int = run(**own, **values, **subcommand.fixed)
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
        help="run `do` on a server elsewhere, such as https://play.example.org "
        "(also MATCHPOST_URL); your token goes into MATCHPOST_TOKEN",
    )
    parser.add_argument("--version", action="version", version=f"matchpost {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for subcommand in _SUBCOMMANDS:
        _add(commands, subcommand)
    return parser, commands.choices["do"]


def _add(commands: Any, subcommand: _Subcommand) -> None:
    """Add a subcommand's parser; `commands` is of a type that argparse does not name."""
    if subcommand.name == "bench":  # its flags are its own
        commands.add_parser("bench", help=subcommand.help, add_help=False)
        return
    listed = {"help": subcommand.help} if subcommand.help else {}
    parser = commands.add_parser(
        subcommand.name,
        usage=subcommand.usage,
        description=subcommand.description,
        allow_abbrev=False,
        **listed,
    )
    parser.set_defaults(subcommand=subcommand)
    for name, options in subcommand.arguments:
        parser.add_argument(name, **options)
    if subcommand.has_settings:
        add_settings(parser)
