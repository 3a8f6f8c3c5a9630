"""The command line's words, sorted into flags and the rest.

Nothing here imports more than the standard library: `matchpost --help` must be quick.
"""

import itertools
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from typing import Any, Final

SETTINGS: Final[Mapping[str, str]] = {
    "data": "the data directory",
    "redis_url": "the Redis or Valkey of the matches, instead of an embedded server",
    "queue_url": "the Redis or Valkey of the work queues",
    "http": "where the HTTP API is served: host:port, or off",
    "metrics": "where figures for Prometheus are served: host:port, or off",
    "durability": "what an accepted move promises: fsync or none",
    "workers": "how many processes decide commands",
    "shards": "how many shards new data is spread over",
    "seeds": "where the workers keep the secrets that draws come from",
    "queue_cap": "how many commands may wait in a shard",
    "command_rate": "how many commands a minute an account may give",
    "address_rate": "how many requests without a token a minute may come from an address",
    "password_rate": "how many wrong passwords a minute may come from a network",
    "trusted_proxy": "whether a proxy of yours says where requests come from: on or off",
    "smtp": "where mail is taken by SMTP: host:port, or off",
    "lmtp": "the unix socket on which mail is taken by LMTP",
    "relay": "the mail server that takes outgoing mail: an smtp:// or smtps:// URL",
    "mail_domain": "what stands after the @ in the server's addresses",
    "mail_key": "the file of the secret that those addresses are made with",
    "mail_passwords": "whether userid and password are accepted in a mail: on or off",
}
"""The flags for settings, by field of `infra.settings.Settings`; a test keeps them complete."""


def add_settings(parser: ArgumentParser) -> None:
    """Return a command the flags for settings; the values are checked by `infra.settings`."""
    group = parser.add_argument_group("settings (above environment and file; see docs/settings.md)")
    group.add_argument("--config", metavar="FILE", help="a TOML file with settings")
    for name, meaning in SETTINGS.items():
        group.add_argument(f"--{name.replace('_', '-')}", metavar="VALUE", help=meaning)


def settings_of(arguments: Namespace) -> Any:
    """Read the settings; `infra.settings.SettingsError` when one is unusable."""
    import os  # noqa: PLC0415 - with the next, only for commands that have settings

    from infra.settings import CONFIG_VARIABLE, load  # noqa: PLC0415

    environ = dict(os.environ)
    if arguments.config is not None:
        environ[CONFIG_VARIABLE] = arguments.config
    return load({name: getattr(arguments, name) for name in SETTINGS}, environ)


_VALUED: Final = frozenset({"--key", "--wait", "--config"}) | {
    f"--{name.replace('_', '-')}" for name in SETTINGS
}
_FLAGS: Final = _VALUED | {"-h", "--help"}


def split_line(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the words that are flags of `do`, with their values, and all others in order.

    A command line has options of its own (`-fast`, `--display=small`) that argparse would refuse.
    What follows `--` is never taken for a flag of ours.
    """
    ours: list[str] = []
    line: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            line.extend(rest)
        elif word in _VALUED:
            # a value that is missing is argparse's to complain of
            ours += [word, *itertools.islice(rest, 1)]
        else:
            (ours if word.partition("=")[0] in _FLAGS else line).append(word)
    return ours, line
