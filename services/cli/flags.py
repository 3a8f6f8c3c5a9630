"""Flags for settings, and the split of `do`'s words into flags and the command line.

Only the standard library is imported at the top, because `matchpost --help` must be quick.

Types of arguments on the command line: each reads a word, or raises an error that argparse reports.

Only the standard library is imported, because `matchpost --help` must be quick.
"""

import itertools
from argparse import SUPPRESS, Action, ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping, Sequence
from typing import Any, Final

SETTINGS: Final[Mapping[str, str]] = {
    "data": "the data directory",
    "redis_url": "the Redis or Valkey for the matches, instead of an embedded server",
    "queue_url": "the Redis or Valkey for the work queues",
    "http": "where the HTTP API is served: host:port, or off",
    "web": "how many processes answer over HTTP",
    "gather": "whether the roles of `serve` that rest most of the time share one process: on or off",
    "metrics": "where metrics for Prometheus are served: host:port, or off",
    "durability": "when a move counts as accepted: fsync (once it is on disk), replicated, managed or none",
    "replicas": "how many replicas must have synced a move, with durability replicated",
    "workers": "how many processes decide commands",
    "shards": "how many shards new data is divided into",
    "maxmemory": "the most memory for the data of the embedded server: 60%, 8gb, or off",
    "seeds": "the folder where workers keep the secret seeds of draws",
    "store": "where the log is published: file:///path, s3://bucket/prefix, gs:// or az://",
    "publish_seconds": "the least time between two checkpoints of the published log",
    "keys": "the folder with the keys that sign the published log",
    "archive_after": "after how many days a match that is over leaves the server's memory",
    "dump_hour": "the hour (UTC) of the daily dump of finished matches: 0 to 23, or off",
    "scrub_percent": "how much of a core the check of all that is stored may take: 0 to 100",
    "robots": "how many processes move for robots; 0 for none",
    "robot_seconds": "how many seconds a robot waits before it answers",
    "queue_cap": "how many commands may wait in a shard",
    "command_rate": "how many commands a minute an account may send",
    "address_rate": "how many requests without a token an address may send a minute",
    "password_rate": "how many wrong passwords a network may send a minute",
    "smtp": "where mail is accepted by SMTP: host:port, or off",
    "lmtp": "the unix socket where mail is accepted by LMTP",
    "relay": "the mail server for outgoing mail: an smtp:// or smtps:// URL",
    "mail_domain": "the domain after the @ in the server's addresses",
    "mail_key": "the file with the secret that signs those addresses",
    "mail_passwords": "whether userid and password are accepted in a mail: on or off",
    "log_format": "the form of the log lines: text or json",
    "log_level": "the least level of the log lines: debug, info, warning or error",
    "security_log": "the file of the security log",
    "trusted_proxy": "whether your own proxy passes on the client's address: on or off",
    "mail_authserv": "the name in the Authentication-Results headers that are believed",
    "postmaster": "where mail to postmaster@ and abuse@ is sent on to",
    "site": "the address of the pages as browsers know it: https://play.example.org",
    "signups": "whether people may make accounts: on or off",
    "push": "whether players may have notifications in their browsers: on or off",
    "push_services": "the push services that notifications are given to: hosts or origins",
    "hooks": "whether players may have notices sent to webhooks and chats: on or off",
    "hook_hosts": "hosts of your own network to which webhooks may be sent",
    "transfer_to": "the servers at which matches may go on, separated by blanks",
    "oidc_issuer": "the group's own sign-in service, an OpenID Connect provider: its URL",
    "oidc_client": "the name of this server at that service",
    "oidc_secret_file": "the file with this server's secret at that service",
    "oidc_label": "the name of that service on the button of the log-in page",
    "backup": "where a backup is made each day: a folder, s3://bucket/prefix, gs:// or az://",
    "backup_keys": "where keys and seeds go with each backup: another place",
    "backup_encrypt_to": "the key to which backups are encrypted",
}
"""The flags for settings, by field of `infra.settings.settings.Settings`; a test keeps them complete."""


HELP: Final = "--help-settings"


def add_settings(parser: ArgumentParser) -> None:
    """Add the flags for settings to a command, whose help leaves them out; `infra.settings.settings` checks the values."""
    add_settings_help(parser)
    parser.add_argument("--config", metavar="FILE", help="a TOML file with settings")
    for name in SETTINGS:
        parser.add_argument(f"--{name.replace('_', '-')}", metavar="VALUE", help=SUPPRESS)


def add_settings_help(parser: ArgumentParser) -> None:
    """Add the flag that lists the settings."""
    about = "list the settings, and exit"
    parser.add_argument(HELP, action=_ListSettings, nargs=0, default=SUPPRESS, help=about)


class _ListSettings(Action):
    """Lists the settings, as `--help` lists flags."""

    def __call__(self, parser: ArgumentParser, *_: object) -> None:
        """Print the list, and end the program."""
        rows = [
            f"--{name.replace('_', '-')} VALUE\n    {meaning}" for name, meaning in SETTINGS.items()
        ]
        print("Flags of commands that have settings; see docs/settings.md:\n", *rows, sep="\n")
        parser.exit()


def settings_of(arguments: Namespace) -> Any:
    """Return the settings; raise `infra.settings.settings.SettingsError` if one is unusable."""
    import os  # noqa: PLC0415 - like the next, only for commands that have settings

    from infra.settings.settings import CONFIG_VARIABLE, load  # noqa: PLC0415

    environ = dict(os.environ)
    if arguments.config is not None:
        environ[CONFIG_VARIABLE] = arguments.config
    return load({name: getattr(arguments, name) for name in SETTINGS}, environ)


_LOCAL: Final = ("data", "redis_url", "queue_url", "config")
"""Flags by which a caller chooses the data of this machine."""

LOCAL_VARIABLES: Final = tuple(f"MATCHPOST_{name.upper()}" for name in _LOCAL)
"""Variables by which a caller chooses the data of this machine."""


def chooses_local_data(arguments: Namespace) -> bool:
    """Return whether the command line or the environment names the data of this machine."""
    import os  # noqa: PLC0415 - only for `do`

    flags = any(getattr(arguments, name) is not None for name in _LOCAL)
    return flags or any(os.environ.get(name) for name in LOCAL_VARIABLES)


_VALUED: Final = frozenset({"--key", "--wait", "--receipt", "--config"}) | {
    f"--{name.replace('_', '-')}" for name in SETTINGS
}
_FLAGS: Final = _VALUED | {"-h", "--help", HELP, "--json"}


def split_line(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the flags of `do` with their values, and all other words in order.

    A command line has options of its own (`-fast`, `--display=small`) that argparse would refuse.
    Every word after `--` belongs to the command line.
    """
    ours: list[str] = []
    line: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            line.extend(rest)
        elif word in _VALUED:
            # argparse reports a missing value
            ours += [word, *itertools.islice(rest, 1)]
        else:
            (ours if word.partition("=")[0] in _FLAGS else line).append(word)
    return ours, line


PROJECTIONS: Final = (
    "lists", "notifications", "scores", "history", "standings", "head-to-head", "ratings",
    "cases", "robots", "tournaments",
)  # fmt: skip
"""Names for `rebuild`; a test keeps them equal to `infra.projections.buckets`, which is slow to import."""

SECRETS: Final = ("seeds", "mail-key", "log-key", "receipts-key", "accounts-key", "store")
"""Names for `secrets --accept`; a test keeps them equal to `infra.health.secrets`."""

ROLES: Final = (
    "worker", "side", "scheduler", "publisher", "maintenance", "robots", "web", "mail", "mailer",
)  # fmt: skip
"""Names for `alive`; a test keeps them equal to `infra.health.heartbeats.Role`."""

_MOST_BUCKETS: Final = 1_024
_MOST_PROCESSES: Final = 256


def seconds(text: str) -> float:
    """Read a time to wait; argparse turns `ValueError` into a sentence."""
    seconds = float(text)
    if not 0 <= seconds <= 24 * 3600:
        raise ValueError
    return seconds


seconds.__name__ = "number of seconds"  # argparse puts it into "invalid ... value"


def whole_number(text: str) -> int:
    """Read a whole number; argparse turns `ValueError` into a sentence."""
    return int(text)


whole_number.__name__ = "whole number"


def projection(name: str) -> str:
    """Read a projection's name."""
    if name not in PROJECTIONS:
        raise ArgumentTypeError(f"there is no {name!r}; there are {', '.join(PROJECTIONS)}")
    return name


def bucket_count(text: str) -> int:
    """Read a number of buckets; argparse turns `ValueError` into a sentence."""
    count = int(text)
    if not 1 <= count <= _MOST_BUCKETS:
        raise ValueError
    return count


bucket_count.__name__ = "number of buckets"  # argparse puts it into "invalid ... value"


def process_count(text: str) -> int:
    """Read a number of processes; argparse turns `ValueError` into a sentence."""
    count = int(text)
    if not 1 <= count <= _MOST_PROCESSES:
        raise ValueError
    return count


process_count.__name__ = "number of processes"  # argparse puts it into "invalid ... value"
