"""The subcommands for players, and the form in which a subcommand is described."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from services.cli.flags import seconds, whole_number

WAIT_SECONDS: Final = 10.0

_Argument: TypeAlias = tuple[str, Mapping[str, Any]]
"""The first and the keyword arguments of `add_argument`."""


class Subcommand(NamedTuple):
    """A subcommand; `run` of its module takes its arguments, and the settings, by keyword."""

    name: str
    help: str
    description: str
    arguments: Sequence[_Argument] = ()
    module: str = ""
    """`services.cli.NAME` if empty."""
    usage: str | None = None
    fixed: Mapping[str, Any] = {}
    """Arguments of `run` that are not on the command line."""
    has_settings: bool = True
    one_of: Sequence[str] = ()
    """Arguments of which exactly one must be there."""
    takes_url: bool = False
    """Whether it may talk to the server at `--url`, or to that of the login."""
    is_light: bool = False
    """Whether it loads games and opens the security log itself, and only where it needs them, because both are slow."""


PLAYER_SUBCOMMANDS: Final = (
    Subcommand(
        "do",
        "run one command line; `matchpost do help` lists them",
        "Run one command line, written as one argument or as several words. "
        "`-` in place of a password asks for it; `multiple` reads lines from standard input.",
        (
            ("--key", {"help": "repeating a command with the same key is safe: it runs once"}),
            ("--wait", {
                "type": seconds, "default": WAIT_SECONDS, "metavar": "SECONDS",
                "help": "how long to wait for an outcome (default 10)",
            }),
            ("--receipt", {"metavar": "FILE", "help": "write the command's receipt to this file"}),
            ("--json", {"dest": "as_json", "action": "store_true", "help": "print one JSON object"}),
        ),
        usage="matchpost do [--url URL] LINE [--key KEY] [--wait SECONDS] [--receipt FILE] [--json] [settings]",
        takes_url=True,
        is_light=True,
    ),
    Subcommand(
        "login",
        "log in to a server elsewhere, for `do`, `watch` and `play`",
        "Ask for userid and password, make a token for this machine, and store it in a file that only "
        "you can read. From then on `do`, `watch` and `play` use that server, unless the command line or "
        "the environment names another. Logging in again revokes the earlier token.",
        (
            ("url", {"metavar": "URL", "help": "the server, such as https://play.example.org"}),
            ("--userid", {"metavar": "NAME", "help": "the account (default: ask for it)"}),
            ("--token", {
                "metavar": "-", "help": "use an existing token, which is asked for or read from standard input",
            }),
            ("--device", {
                "action": "store_true",
                "help": "show a code, and let a browser where you are logged in allow it: no password is typed here",
            }),
        ),
        has_settings=False,
    ),
    Subcommand(
        "logout",
        "log out: revoke the login's token, and delete it from this machine",
        "Revoke the login's token on its server, and delete it from this machine. With a USERID, for the operator of "
        "a server: end all sessions and revoke all tokens of that account.",
        (("name", {
            "metavar": "USERID", "nargs": "?", "default": "",
            "help": "an account of the server on this machine, to log out everywhere",
        }),),
    ),
    Subcommand(
        "watch",
        "print a line for each event of your matches, or of one, as it happens",
        "Print a line for each event as it happens: news of all your matches or, if you name some, every event "
        "of these, even without a login. A lost connection is restored. Ctrl-C ends it with exit code 0.",
        (
            ("boards", {"nargs": "*", "metavar": "BOARD", "help": "the number of a match"}),
            ("--json", {"dest": "as_json", "action": "store_true", "help": "print one JSON object per line"}),
            ("--until-over", {"action": "store_true", "help": "stop once all these matches are over"}),
        ),
        has_settings=False,
        takes_url=True,
    ),
    Subcommand(
        "bot",
        "let a program of yours play for a bot",
        "Start a program that reads positions on its standard input and answers with moves, and let it play all matches "
        "of a bot, until Ctrl-C: on the server of the login, or at --url with the bot's token in MATCHPOST_TOKEN. "
        "Challenges that the bot's rules allow are accepted. See docs/bots.md.",
        (
            ("command", {
                "nargs": "+", "metavar": "COMMAND",
                "help": "the program with its arguments, as one argument; or after `--` as several words",
            }),
            ("--plain", {"action": "store_true", "help": "speak the plain form in place of JSON"}),
            ("--seconds", {
                "type": seconds, "default": 60.0, "metavar": "SECONDS",
                "help": "how long the program may take for a move before it is started again (default 60)",
            }),
        ),
        has_settings=False,
        takes_url=True,
    ),
    Subcommand(
        "completion",
        "print a script that completes command lines in bash, zsh or fish",
        "Print a script that completes command lines in a shell: subcommands, flags, games, commands of `do`, "
        "and, with a login, the numbers of your matches. See docs/terminal.md.",
        (("shell", {"choices": ("bash", "zsh", "fish"), "help": "the shell"}),),
        has_settings=False,
    ),
    Subcommand(
        "play",
        "show a match as a board in the terminal, and play it",
        "Show a match as a board in the terminal, on the server of the login or at --url. Moves are chosen "
        "with the arrows, the mouse or by typing, and shown before they are played; `?` lists the keys. "
        "Anybody can watch a match.",
        (("board", {
            "metavar": "BOARD", "nargs": "?", "type": whole_number,
            "help": "the match's number (default: the one that has waited longest for you)",
        }),),
        has_settings=False,
        takes_url=True,
    ),
)  # fmt: skip
