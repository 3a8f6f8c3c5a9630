"""The files for several machines: each names roles, settings, users and keys that exist."""

import configparser
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import which
from typing import Any

import pytest
import yaml

from infra.health.secrets import Secret
from infra.redis.access import ROLES, USER_PREFIX
from infra.settings.settings import setting_table
from services.cli.subcommands import SUBCOMMANDS
from services.secret_checks import NEEDED
from tools.deployment.deployment import files

PROGRAM = "/opt/matchpost/bin/matchpost"


FOLDER = Path(__file__).parents[2] / "docs" / "several-machines"
VARIABLES = {row.env for row in setting_table()}
WHOLE = FOLDER.parent / "one-machine"
UNITS = sorted([*(FOLDER / "systemd").glob("*.service"), *WHOLE.glob("*.service")])


def documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.load_all((FOLDER / name).read_text(), yaml.CSafeLoader))


def pods() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each role of the manifests with the description of its pods."""
    for one in documents("kubernetes.yaml"):
        if one["kind"] in ("Deployment", "Job"):
            yield (
                one["metadata"]["name"].removeprefix("matchpost-"),
                one["spec"]["template"]["spec"],
            )


PODS = dict(pods())
SERVICES: dict[str, Any] = documents("compose.yaml")[0]["services"]


def test_all_files_are_as_the_table_of_roles_makes_them():
    made = dict(files())
    by_hand = {FOLDER / "Dockerfile", FOLDER / "systemd" / "matchpost.target"}
    by_hand |= {WHOLE / "matchpost.sysusers"}
    there = {one for folder in (FOLDER, WHOLE) for one in folder.rglob("*") if one.is_file()}
    assert there == set(made) | by_hand
    old = [path.name for path, text in made.items() if path.read_text() != text]
    assert not old, "`make deployment` writes them again"


def test_every_role_has_a_container_a_deployment_and_a_user():
    assert set(NEEDED) | {"prepare"} == set(PODS) == set(SERVICES) - {"data", "queue"}
    assert set(NEEDED) | {"operator"} == set(ROLES)
    assert set(NEEDED) <= {one.name for one in SUBCOMMANDS}


@pytest.mark.parametrize("role", sorted(PODS))
def test_a_pod_runs_its_role_with_its_user_and_settings_that_exist(role):
    (container,) = PODS[role]["containers"]
    assert container["args"] == [role]
    named = {one["name"]: one for one in container["env"]}
    assert set(named) <= VARIABLES
    for variable, kind in (("MATCHPOST_REDIS_URL", "data"), ("MATCHPOST_QUEUE_URL", "queue")):
        assert named[variable]["valueFrom"]["secretKeyRef"]["key"] == f"{role}-{kind}"


@pytest.mark.parametrize("role", sorted(NEEDED))
def test_a_pod_has_the_secrets_of_its_role_and_no_others(role):
    volumes = {one["name"]: one for one in PODS[role]["volumes"]}
    files = {item["key"] for item in volumes["keys"]["secret"]["items"]}
    needed = {str(one) for one in NEEDED[role]} & {"log-key", "receipts-key", "accounts-key"}
    # the scrubber compares the keys with the public ones
    more = {"receipts-key"} if role == "maintenance" else set()
    assert files == needed | more | {"log-key.pub", "receipts-key.pub"}
    assert ("seeds" in volumes) == (Secret.SEEDS in NEEDED[role])
    assert ("mail" in volumes) == (Secret.MAIL_KEY in NEEDED[role])


def test_no_file_gives_a_container_more_than_the_keys_of_its_role():
    public = {"log-key.pub", "receipts-key.pub"}
    for role, needed in NEEDED.items():
        keys = {str(one) for one in needed} & {"log-key", "receipts-key", "accounts-key"}
        keys |= {"mail-key"} & {str(one) for one in needed}
        more = {"receipts-key"} if role == "maintenance" else set()
        service = SERVICES[role]
        assert set(service["secrets"]) == keys | more | public, role
        mounts = set(service["volumes"])
        seeds = {"./shared/seeds:/shared/seeds"} if Secret.SEEDS in needed else set()
        assert mounts - seeds <= {"./shared/log:/shared/log", "./shared/log:/shared/log:ro"}
        assert seeds <= mounts
        drop_in = FOLDER / "systemd" / f"matchpost@{role}.service.d" / "keys.conf"
        loaded = re.findall(r"LoadCredential=([^:]+):", drop_in.read_text()) if keys | more else []
        assert set(loaded) == keys | more, role
    sources = documents("compose.yaml")[0]["secrets"]
    assert {name: row["file"].rpartition("/")[2] for name, row in sources.items()} == {
        name: name for name in sources
    }


def test_containers_have_no_rights_and_only_this_machine_reaches_them():
    (one,) = documents("../one-machine/compose.yaml")
    for name, service in [*SERVICES.items(), *one["services"].items()]:
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert set(service.get("environment", {})) <= VARIABLES, name
        for port in service.get("ports", ()):
            assert port.startswith("127.0.0.1:"), name
    assert all(service["networks"][0] == "inside" for service in SERVICES.values())
    assert documents("compose.yaml")[0]["networks"]["inside"]["internal"]
    assert SERVICES["web"]["environment"]["MATCHPOST_TRUSTED_PROXY"] == "on"


def test_only_a_proxy_reaches_the_pods_that_believe_one():
    policies = [
        one["spec"] for one in documents("kubernetes.yaml") if one["kind"] == "NetworkPolicy"
    ]
    closed, *opened = policies
    assert closed == {
        "podSelector": {"matchLabels": {"app": "matchpost"}},
        "policyTypes": ["Ingress"],
    }
    ports = {}
    for one in opened:
        role = one["podSelector"]["matchLabels"]["role"]
        (rule,) = one["ingress"]
        assert rule["from"][0]["namespaceSelector"]["matchLabels"], role
        ports.setdefault(role, set()).update(port["port"] for port in rule["ports"])
    declared = {
        role: {port["name"] for port in pod["containers"][0]["ports"]}
        for role, pod in PODS.items()
        if "ports" in pod["containers"][0]
    }
    assert ports == declared


@pytest.mark.parametrize("file", UNITS, ids=lambda file: file.name)
def test_a_unit_has_a_user_of_its_own_and_few_rights(file):
    rows = file.read_text().splitlines()
    users = [row.partition("=")[2] for row in rows if row.startswith("User=")]
    accounts = (FOLDER / "systemd" / "matchpost.sysusers").read_text()
    named = set(re.findall(r"^u (\S+) ", accounts, re.MULTILINE))
    assert named == {f"matchpost-{role}" for role in NEEDED}
    if file.parent == WHOLE:
        assert users == ["matchpost"]
        assert "u matchpost - " in (WHOLE / "matchpost.sysusers").read_text()
    elif file.name == "matchpost-prepare.service":
        assert not users
    else:
        assert users[0] in {"matchpost-%i", *named}
    for row in (
        "UMask=0077", "SystemCallFilter=@system-service", "MemoryDenyWriteExecute=yes",
        "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX",
    ):  # fmt: skip
        assert row in rows


@pytest.mark.skipif(which("systemd-analyze") is None, reason="systemd is not installed")
@pytest.mark.parametrize("file", UNITS, ids=lambda file: file.name)
def test_systemd_takes_the_units(file, tmp_path):
    shutil.copytree(file.parent, tmp_path, dirs_exist_ok=True)
    unit = tmp_path / file.name
    unit.write_text(unit.read_text().replace("/usr/local/bin/matchpost", "/bin/true"))
    command = ["systemd-analyze", "verify", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_comes_into_an_image_is_named_and_its_packages_have_hashes():
    root = FOLDER.parents[1]
    rows = (root / ".dockerignore").read_text().splitlines()
    assert rows[1] == "*"
    assert all((root / row[1:]).exists() for row in rows if row.startswith("!"))
    build = (FOLDER / "Dockerfile").read_text()
    assert "--require-hashes --no-deps --requirement /src/requirements.lock" in build


@pytest.mark.parametrize("role", sorted(NEEDED))
def test_every_role_is_watched_for_hangs(role):
    (container,) = PODS[role]["containers"]
    alive = [PROGRAM, "alive", role]
    assert container["startupProbe"]["exec"]["command"] == [*alive, "--ready"]
    if role != "web":  # which answers at addresses of its own
        assert container["livenessProbe"]["exec"]["command"] == alive
    if role not in ("web", "mail"):
        assert container["readinessProbe"]["exec"]["command"] == [*alive, "--ready"]
    assert {"startupProbe", "livenessProbe", "readinessProbe"} <= set(container)
    assert SERVICES[role]["healthcheck"]["test"] == ["CMD", *alive, "--ready"]


def test_the_settings_of_all_pods_and_containers_exist():
    (shared,) = (one for one in documents("kubernetes.yaml") if one["kind"] == "ConfigMap")
    assert set(shared["data"]) <= VARIABLES
    for name, service in SERVICES.items():
        assert set(service.get("environment", {})) <= VARIABLES, name


@pytest.mark.parametrize("role", sorted({*NEEDED, "prepare"}))
def test_a_container_comes_with_the_user_of_its_role(role):
    service = SERVICES[role]
    assert service["command"] == [role]
    # so Compose stops the roles before the servers that they need to end
    assert {"data", "queue"} <= set(service["depends_on"])
    user = "operator" if role == "prepare" else role
    for variable, host in (("MATCHPOST_REDIS_URL", "data"), ("MATCHPOST_QUEUE_URL", "queue")):
        url = service["environment"][variable]
        assert url == f"redis://{USER_PREFIX}{user}:${{{user.upper()}_PASSWORD:?}}@{host}:6379"


def test_the_scheduler_and_the_mailer_both_know_the_relay():
    # the scheduler asks for a mailer only where mail is sent
    for role in ("scheduler", "mailer"):
        assert "MATCHPOST_RELAY" in SERVICES[role]["environment"]
        (container,) = PODS[role]["containers"]
        assert "MATCHPOST_RELAY" in {one["name"] for one in container["env"]}


@pytest.mark.parametrize("file", UNITS, ids=lambda file: file.name)
def test_a_unit_runs_a_subcommand(file):
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(file.read_text())
    command = unit["Service"]["ExecStart"].split()
    assert command[0].endswith("/matchpost")
    assert command[1] in {"%i", *(one.name for one in SUBCOMMANDS)}
    assert not re.search(r"MATCHPOST_(?!DATA|KEYS)", file.read_text()), "settings are in files"
    if unit["Service"]["Type"] != "oneshot":
        assert (unit["Service"]["Type"], unit["Service"]["WatchdogSec"]) == ("notify", "60")
