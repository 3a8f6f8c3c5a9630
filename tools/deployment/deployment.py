"""Writes the files for Compose, Kubernetes and systemd, all from one table of roles; see `make deployment`.

The secrets of a role are those that it checks at its start. Beside this module are the templates of the files; the
`Dockerfile` is written by hand.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from infra.health.secrets import Secret
from infra.redis.access import USER_PREFIX
from services.secret_checks import NEEDED

DOCS: Final = Path(__file__).parents[2] / "docs"

PROGRAM: Final = "/opt/matchpost/bin/matchpost"
"""Where the image has it."""

SETTINGS: Final = {
    "MATCHPOST_SHARDS": "64",
    "MATCHPOST_SEEDS": "/shared/seeds",
    "MATCHPOST_MAIL_DOMAIN": "play.example.org",
    "MATCHPOST_SITE": "https://play.example.org",
}
"""Settings of all roles on several machines that are the same with Compose and Kubernetes."""

PUBLIC_KEYS: Final = ("log-key.pub", "receipts-key.pub")
"""The files of keys that every role has."""

SIGNING_KEYS: Final = (Secret.ACCOUNTS_KEY, Secret.LOG_KEY, Secret.RECEIPTS_KEY)
"""The secrets that are files in the folder of keys."""


class Port(NamedTuple):
    """A port on which a role listens."""

    setting: str
    number: int
    caller: str
    """The word in the label `matchpost-WORD` of those that may connect in a cluster."""
    published: str = ""
    """Where Compose publishes it on this machine; empty for nowhere, and then it does not listen there."""


class Run(NamedTuple):
    """How a role runs on several machines; most do it alike."""

    containers: int = 1
    """How many there are with Compose."""
    pods: int = 2
    cpu: str = "100m"
    """What Kubernetes reserves for a pod."""
    sends: bool = False
    """Whether it has to know the relay for mail."""
    leaves: bool = False
    """Whether its container reaches other networks."""
    ports: Mapping[str, Port] = {}
    log: str = ":ro"
    """How Compose mounts the folder of the published log."""


_RUNS: Final[Mapping[str, Run]] = {
    "worker": Run(containers=2, pods=4, cpu="500m"),
    "side": Run(cpu="250m"),
    "scheduler": Run(containers=2, sends=True),  # it asks for a mailer only where mail is sent
    "publisher": Run(log=""),
    "maintenance": Run(pods=1, log=""),
    "web": Run(
        containers=2,
        cpu="500m",
        leaves=True,
        ports={
            "http": Port("MATCHPOST_HTTP", 8080, "proxy", "8080-8081"),
            "metrics": Port("MATCHPOST_METRICS", 9100, "metrics"),
        },
    ),
    "mail": Run(leaves=True, ports={"smtp": Port("MATCHPOST_SMTP", 2525, "mail", "2525")}),
    "mailer": Run(sends=True, leaves=True),
}


class DeployedRole(NamedTuple):
    """A role with all that the files say about it."""

    name: str
    user: str
    """Its user on the servers of the data and of the queue."""
    run: Run
    keys: tuple[str, ...]
    """The secret files that it has from the folder of keys."""
    seeds: bool
    mail_key: bool

    @property
    def secrets(self) -> list[str]:
        """All its secret files, and the public keys."""
        return [*PUBLIC_KEYS, *self.keys, *(["mail-key"] if self.mail_key else [])]

    @property
    def password(self) -> str:
        """The password of its user, as Compose takes it from `.env`."""
        return f"${{{self.user.removeprefix(USER_PREFIX).upper()}_PASSWORD:?}}"


def deployed_roles() -> list[DeployedRole]:
    """Return all roles, in the order in which they check their secrets."""
    return [_role(name, name, needed) for name, needed in NEEDED.items()]


def _role(name: str, user: str, needed: tuple[Secret, ...]) -> DeployedRole:
    has = {*needed}
    if name == "maintenance":  # the scrubber compares the key with the public one
        has.add(Secret.RECEIPTS_KEY)
    return DeployedRole(
        name,
        USER_PREFIX + user,
        _RUNS.get(name, Run()),
        tuple(str(one) for one in SIGNING_KEYS if one in has),
        seeds=Secret.SEEDS in has,
        mail_key=Secret.MAIL_KEY in has,
    )


def files() -> Iterator[tuple[Path, str]]:
    """Yield each file with its text."""
    loader = FileSystemLoader(Path(__file__).parent)
    templates = Environment(
        loader=loader,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - no file is HTML
    )
    roles = deployed_roles()
    prepare = _role("prepare", "operator", tuple(Secret))
    names: dict[str, Any] = {
        "roles": roles,
        "prepare": prepare,
        "program": PROGRAM,
        "settings": SETTINGS,
        "public_keys": PUBLIC_KEYS,
        "key_files": sorted((*PUBLIC_KEYS, *prepare.keys)),
    }

    def made(template: str, path: str, **more: object) -> tuple[Path, str]:
        return DOCS / path, templates.get_template(f"{template}.jinja").render({**names, **more})

    yield made("one-machine.yaml", "one-machine/compose.yaml")
    yield made("one-machine.service", "one-machine/matchpost.service")
    yield made("compose.yaml", "several-machines/compose.yaml")
    yield made("kubernetes.yaml", "several-machines/kubernetes.yaml")
    units = "several-machines/systemd"
    yield made("role.service", f"{units}/matchpost@.service", worker=False)
    yield made("role.service", f"{units}/matchpost-worker@.service", worker=True)
    yield made("prepare.service", f"{units}/matchpost-prepare.service")
    yield made("matchpost.sysusers", f"{units}/matchpost.sysusers")
    for role in roles:
        if role.keys or role.mail_key:
            yield made("keys.conf", f"{units}/matchpost@{role.name}.service.d/keys.conf", role=role)


def main() -> None:
    """Write all files into the folder of the documentation."""
    for path, text in files():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main()
