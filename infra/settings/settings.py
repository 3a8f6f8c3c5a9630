"""The settings: flags override the environment, which overrides the TOML file and the defaults.

Each setting is described once, at its field; `setting_table()` returns the descriptions, and `docs/settings.md`
lists them (a test compares the two). The variable of a field is `MATCHPOST_` and its name.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_type_hints

import msgspec

from infra.durability.mode import Mode
from infra.process.machine import MEMORY_PATTERN, default_workers
from infra.redis.addresses import Topology, redact_url, topology_of
from infra.settings.backup_settings import BackupSettings
from infra.settings.setting_values import (
    CONFIG_VARIABLE,
    FILE_NAME,
    SECRET,
    URL_EXPECTED,
    ServerUrl,
    SettingInfo,
    SettingsError,
    about,
    absolute,
    checker,
    parse_file,
    setting_rows,
)
from infra.settings.smtp_url import MailDomain

__all__ = ["CONFIG_VARIABLE", "Settings", "SettingsError", "load", "setting_table"]

_Listening = Annotated[str, msgspec.Meta(pattern=r"^(off|.+:[0-9]{1,5})$")]
_Positive = Annotated[int, msgspec.Meta(ge=1)]
_POSITIVE: Final = "a whole number, at least 1"


class Settings(BackupSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings. All values are validated; `data` is an absolute path."""

    data: Annotated[
        Path,
        about(
            "the path of a directory",
            "The data directory: the embedded server's files, its lock and log, and "
            "`matchpost.toml`. Only for the user that runs matchpost.",
            "`./matchpost-data`",
        ),
    ]
    redis_url: Annotated[
        ServerUrl | None,
        about(
            URL_EXPECTED,
            "The Redis or Valkey (7.2 or newer) that keeps the matches. Without it, "
            "`matchpost serve` runs an embedded server in the data directory.",
            "the embedded server",
        ),
    ] = None
    queue_url: Annotated[
        ServerUrl | None,
        about(
            URL_EXPECTED,
            "The Redis or Valkey of the work queues; one that is no cluster, and best one without "
            "an append-only file, because then no wake-up waits for a disk. Losing what it holds "
            "costs seconds, never a move.",
            "a second embedded server; with MATCHPOST_REDIS_URL the same server",
        ),
    ] = None
    http: Annotated[
        _Listening,
        about(
            "an address such as 127.0.0.1:8080, or off",
            "Where the HTTP API and the web pages are served; port 0 takes any that is free, `off` "
            "serves none. Put a server that speaks TLS before it where it is more than this "
            "machine.",
            "`127.0.0.1:8080`",
        ),
    ] = "127.0.0.1:8080"
    web: Annotated[
        Annotated[int, msgspec.Meta(ge=1, le=64)],
        about(
            "a whole number from 1 to 64",
            "How many processes of `serve` answer over HTTP, all at the same address. More than one "
            "pays where there are more cores than `workers`; limits of rates, connections and "
            "streams count in each process for itself.",
            "1",
        ),
    ] = 1
    gather: Annotated[
        Literal["on", "off"],
        about(
            "on or off",
            "Whether the roles of `serve` that rest most of the time (`side`, `scheduler`, `publisher`, `maintenance`, and "
            "`robots` if it is one process) share one process, which saves memory. With `off`, or with MATCHPOST_METRICS, "
            "each has a process of its own, which pays where several cores are busy.",
            "`on`",
        ),
    ] = "on"
    metrics: Annotated[
        _Listening,
        about(
            "an address such as 127.0.0.1:9100, or off",
            "Where a process serves `/metrics` for Prometheus; `off` serves none. Each process shows its own "
            "figures and needs an address of its own: of several under `serve` the second takes the next "
            "port, and so on, the processes of the HTTP API first (docs/monitoring.md has the order). Let only "
            "your own programs reach it.",
            "`off`",
        ),
    ] = "off"
    durability: Annotated[
        Mode,
        about(
            "fsync, replicated, managed or none",
            "What an accepted move promises: `fsync`, that it is on the disk of the server, which must "
            "have no replicas; `replicated`, that it is on the disks of the server and its replicas; "
            "`managed`, what your provider promises: nothing is verified; `none`, nothing, and moves are "
            "reported as pending only. With `none` the embedded server leaves syncing to the system: a "
            "killed process loses nothing, a crash of the machine about the last half minute.",
            "`fsync`",
        ),
    ] = Mode.FSYNC
    replicas: Annotated[
        Annotated[int, msgspec.Meta(ge=1, le=16)],
        about(
            "a whole number from 1 to 16",
            "How many replicas must have synced a move before it is accepted, with durability "
            "`replicated`. With all that there are, a failover to any of them takes nothing back.",
            "1",
        ),
    ] = 1
    workers: Annotated[
        Annotated[int, msgspec.Meta(ge=1, le=256)],
        about(
            "a whole number from 1 to 256",
            "How many processes decide commands. When the data is created, it is also the number of "
            "lanes into which the shards are divided; `matchpost lanes` changes those later.",
            "one less than there are cores, at least 1",
        ),
    ] = msgspec.field(default_factory=default_workers)
    shards: Annotated[
        Annotated[int, msgspec.Meta(ge=1, le=100)],
        about(
            "a whole number from 1 to 100",
            "How many shards the matches are spread over: 8 suits one server, 64 a cluster. "
            "Used when the data is created, and fixed from then on.",
            "8",
        ),
    ] = 8
    maxmemory: Annotated[
        Annotated[str, msgspec.Meta(pattern=MEMORY_PATTERN)],
        about(
            "a share such as 60%, a size such as 8gb or 500mb, or off",
            "The most memory that the embedded server's data may take: a share of the machine's, or of "
            "a container's limit. When it is full, moves are refused and nothing is lost. While the "
            "server rewrites its log it may need as much again. `off` sets no limit.",
            "60%",
        ),
    ] = "60%"
    seeds: Annotated[
        Path | None,
        about(
            "the path of a directory",
            "Where the workers keep the secret ends of the chains of seeds that draws come from. "
            "Back it up, share it among workers on several machines, and let nobody read it: "
            "anybody with it knows every draw to come.",
            "`seeds` in the data directory",
        ),
    ] = None
    store: Annotated[
        str | None,
        about(
            "a URL such as file:///var/lib/matchpost/log or s3://bucket/prefix",
            "The object store of the published log and the archive: `file://`, or `s3://`, `gs://` "
            "and `az://` with the package's group `cloud`. It is a second copy of every move: keep it "
            "on another disk than the data.",
            "files in `log` in the data directory",
        ),
    ] = None
    publish_seconds: Annotated[
        Annotated[int, msgspec.Meta(ge=1, le=3600)] | None,
        about(
            "a whole number from 1 to 3600",
            "The least time between two checkpoints of a shard's published log. Each costs some writes "
            "to the object store, for which clouds ask money.",
            "1 with files, 15 with other object stores",
        ),
    ] = None
    keys: Annotated[
        Path | None,
        about(
            "the path of a directory",
            "Where the keys are that sign the published log. Back them up, and let nobody read those "
            "without `.pub`: anybody with them can sign another history.",
            "`keys` in the data directory",
        ),
    ] = None
    archive_after: Annotated[
        _Positive,
        about(
            _POSITIVE,
            "How many days after its end a match leaves the server's memory, once its moves are in the "
            "published log. It is read from there then, and looks the same.",
            "40",
        ),
    ] = 40
    dump_hour: Annotated[
        Annotated[str, msgspec.Meta(pattern=r"^(off|1?[0-9]|2[0-3])$")],
        about(
            "an hour from 0 to 23, in UTC, or off",
            "The hour after which all finished matches are written to files each day, which anybody who "
            "sees matches may download: see [the dump](dump.md). With `off` there are none.",
            "`off`",
        ),
    ] = "off"
    scrub_percent: Annotated[
        Annotated[int, msgspec.Meta(ge=0, le=100)],
        about(
            "a whole number from 0 to 100",
            "How much of a core the scrubber takes, which checks all that is stored again and again; 3 is "
            "enough for half a million matches a day. With 0 nothing is checked.",
            "3",
        ),
    ] = 3
    robots: Annotated[
        Annotated[int, msgspec.Meta(ge=0, le=16)],
        about(
            "a whole number from 0 to 16",
            "How many processes of `serve` move for robots and analyse matches. With 0 no robot moves.",
            "1",
        ),
    ] = 1
    robot_seconds: Annotated[
        Annotated[int, msgspec.Meta(ge=0, le=3600)],
        about(
            "a whole number from 0 to 3600",
            "How many seconds a robot waits before it answers, so that a person can look.",
            "3",
        ),
    ] = 3
    queue_cap: Annotated[
        _Positive,
        about(
            _POSITIVE,
            "How many commands may wait in the inbox of one shard; further ones are refused as "
            "`busy` until some are done.",
            "100000",
        ),
    ] = 100_000
    command_rate: Annotated[
        _Positive,
        about(
            _POSITIVE,
            "How many commands a minute one account may give to one process of the server; "
            "each move of a puzzle that is handed in is one. Further ones are refused as `too-fast`.",
            "300",
        ),
    ] = 300
    address_rate: Annotated[
        _Positive,
        about(
            _POSITIVE,
            "How many requests without a token a minute may come from one address to one process "
            "of the HTTP API, and how many reads with a token and pages one account may ask it for; "
            "further ones are refused as `too-fast`. The networks of one /48 of IPv6 have ten times as "
            "many together.",
            "600",
        ),
    ] = 600
    password_rate: Annotated[
        _Positive,
        about(
            _POSITIVE,
            "How many wrong passwords and new accounts a minute may come from one network (an "
            "IPv4 address, a /64 of IPv6, ten times as many from a /48) to one process of the "
            "server; further ones are refused as `too-fast`. Raise it where many people share an "
            "address, as a class does.",
            "20",
        ),
    ] = 20
    smtp: Annotated[
        _Listening,
        about(
            "an address such as 127.0.0.1:2525, or off",
            "Where mail is taken by SMTP; `off` takes none there. Meant for this machine, behind "
            "a mail server that faces the world.",
            "`off`",
        ),
    ] = "off"
    lmtp: Annotated[
        Path | None,
        about("the path of a socket", "The unix socket on which mail is taken by LMTP.", "none"),
    ] = None
    relay: Annotated[
        str | None,
        about(
            "a URL such as smtp://127.0.0.1:25 or smtps://user:password@mail.example.org",
            "The mail server that takes outgoing mail: `smtp://`, with STARTTLS where it is "
            "offered, or `smtps://`, with a login if one is named. Without it no mail is sent.",
            "none",
        ),
    ] = None
    mail_domain: Annotated[
        MailDomain,
        about(
            "a domain such as play.example.org",
            "The part after the @ in the server's addresses.",
            "`localhost`",
        ),
    ] = "localhost"
    mail_key: Annotated[
        Path | None,
        about(
            "the path of a file",
            "The secret that the addresses of matches are made with; made by chance when it is not "
            "there. Back it up, share it among processes on several machines, and let nobody read "
            "it: anybody with it can play for everybody.",
            "`mail-key` in the data directory",
        ),
    ] = None
    mail_passwords: Annotated[
        Literal["on", "off"],
        about(
            "on or off", "Whether a line with userid and password is accepted in a mail.", "`on`"
        ),
    ] = "on"

    def environment(self) -> dict[str, str]:
        """Return the environment variables for a child process with the same settings."""
        values = {row.env: getattr(self, row.name) for row in setting_table()}
        return {name: str(value) for name, value in values.items() if value is not None}

    def __repr__(self) -> str:
        """Return the settings without the passwords in the URLs."""
        shown = {row.name: getattr(self, row.name) for row in setting_table()}
        shown |= {name: redact_url(url) for name in SECRET if (url := shown[name])}
        return f"Settings({', '.join(f'{name}={value}' for name, value in shown.items())})"

    @property
    def has_mailer(self) -> bool:
        """Whether there is something for a mailer to do."""
        return self.relay is not None or self.sends_push or self.sends_hooks

    @property
    def takes_mail(self) -> bool:
        """Whether mail is taken, by SMTP or LMTP."""
        return self.smtp != "off" or self.lmtp is not None

    @property
    def gathers(self) -> bool:
        """Whether roles of `serve` share a process; not if each is to show metrics, which are those of a process."""
        return self.gather == "on" and self.metrics == "off"


def setting_table() -> tuple[SettingInfo, ...]:
    """Return the descriptions of all settings, in the order of the fields."""
    return tuple(_TABLE.values())


def load(
    flags: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None
) -> Settings:
    """Read the settings: `flags` (by field name; None counts as not given) override `environ`
    (the process's environment if None; an empty variable counts as not set) and the file.

    `SettingsError` for an unknown key, an unusable value or an unreadable file.
    """  # noqa: D205
    environ = os.environ if environ is None else environ
    given: dict[str, Any] = {
        row.name: (row.env, environ.get(row.env) or None) for row in setting_table()
    }
    for name, value in (flags or {}).items():
        given[name] = given[name] if value is None else (f"--{name.replace('_', '-')}", value)
    over: dict[str, Any] = {
        name: _CONVERT[name](value, source, False)
        for name, (source, value) in given.items()
        if value is not None
    }
    named = environ.get(CONFIG_VARIABLE)
    data = over.get("data", absolute(Path("matchpost-data")))
    values = _from_file(Path(named), named=True) if named else _from_file(data / FILE_NAME)
    settings = Settings(**({"data": data} | values | over))
    _check_queue(settings)
    _check_push(settings)
    return settings


def _check_push(settings: Settings) -> None:
    if settings.push == "on" and settings.site is None:
        raise SettingsError(
            "MATCHPOST_PUSH is on, and push services want to know who sends; set MATCHPOST_SITE to the "
            "address of the pages"
        )
    if settings.hooks == "on" and settings.site is None:
        raise SettingsError(
            "MATCHPOST_HOOKS is on, and what is sent has links; set MATCHPOST_SITE to the address of the pages"
        )


def _check_queue(settings: Settings) -> None:
    url = settings.redis_url
    if url and settings.queue_url is None and topology_of(url) is Topology.CLUSTER:
        raise SettingsError(
            "MATCHPOST_REDIS_URL names a cluster, and the work queues can't be on one; set "
            "MATCHPOST_QUEUE_URL to a server of its own, one that may lose what it holds"
        )


def _from_file(path: Path, *, named: bool = False) -> dict[str, Any]:
    """Read and validate the TOML file; only one that was named must exist, or may set `data`."""
    values = parse_file(path, _TABLE, named=named)
    checked = {name: _CONVERT[name](values[name], f"{name} in {path}", True) for name in values}
    if "data" in values:  # a path in a file is relative to that file
        checked["data"] = absolute(path.parent / Path(values["data"]).expanduser())
    return checked


_FOUND: Final = get_type_hints(Settings, include_extras=True)
_HINTS: Final = {name: _FOUND[name] for name in Settings.__annotations__} | _FOUND
_TABLE: Final = setting_rows(_HINTS)
_CONVERT: Final = {name: checker(_TABLE[name], hint) for name, hint in _HINTS.items()}
