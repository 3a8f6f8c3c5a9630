"""The files for several machines: each names roles, settings, users and keys that exist."""

import configparser
import re
import shutil
import subprocess
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
WHOLE = FOLDER.parent / "one-machine"
VARIABLES = {row.env for row in setting_table()}
UNITS = sorted([*(FOLDER / "systemd").glob("*.service"), *WHOLE.glob("*.service")])


def documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.load_all((FOLDER / name).read_text(), yaml.CSafeLoader))


MANIFESTS, COMPOSE = documents("kubernetes.yaml"), documents("compose.yaml")[0]
SERVICES: dict[str, Any] = COMPOSE["services"]
PODS: dict[str, Any] = {
    one["metadata"]["name"].removeprefix("matchpost-"): one["spec"]["template"]["spec"]
    for one in MANIFESTS
    if one["kind"] in ("Deployment", "Job")
}
"""Each role of the manifests with the description of its pods."""
SERVERS = (("MATCHPOST_REDIS_URL", "data"), ("MATCHPOST_QUEUE_URL", "queue"))


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
def test_pods_and_containers_run_their_role_as_its_user_with_settings_that_exist(role):
    (container,) = PODS[role]["containers"]
    named, service = {one["name"]: one for one in container["env"]}, SERVICES[role]
    assert (container["args"], service["command"]) == ([role], [role])
    assert set(named) <= VARIABLES
    # so Compose stops the roles before the servers that they need to end
    assert {"data", "queue"} <= set(service["depends_on"])
    user = "operator" if role == "prepare" else role
    for variable, host in SERVERS:
        assert named[variable]["valueFrom"]["secretKeyRef"]["key"] == f"{role}-{host}"
        url = f"redis://{USER_PREFIX}{user}:${{{user.upper()}_PASSWORD:?}}@{host}:6379"
        assert service["environment"][variable] == url
    # the scheduler asks for a mailer only where mail is sent
    if role in ("scheduler", "mailer"):
        assert "MATCHPOST_RELAY" in service["environment"].keys() & named.keys()


def test_the_settings_of_all_pods_and_containers_exist():
    (shared,) = (one for one in MANIFESTS if one["kind"] == "ConfigMap")
    assert set(shared["data"]) <= VARIABLES
    for name, service in SERVICES.items():
        assert set(service.get("environment", {})) <= VARIABLES, name


@pytest.mark.parametrize("role", sorted(NEEDED))
def test_a_role_has_its_own_secrets_and_no_others(role):
    needed, public = set(map(str, NEEDED[role])), {"log-key.pub", "receipts-key.pub"}
    # the scrubber compares the keys with the public ones
    keys = needed & {"log-key", "receipts-key", "accounts-key"}
    keys |= {"receipts-key"} if role == "maintenance" else set()
    has_seeds, has_mail = Secret.SEEDS in NEEDED[role], Secret.MAIL_KEY in NEEDED[role]
    volumes = {one["name"]: one for one in PODS[role]["volumes"]}
    assert {item["key"] for item in volumes["keys"]["secret"]["items"]} == keys | public
    assert ("seeds" in volumes, "mail" in volumes) == (has_seeds, has_mail)
    keys |= needed & {"mail-key"}
    assert set(SERVICES[role]["secrets"]) == keys | public
    seeds = {"./shared/seeds:/shared/seeds"} if has_seeds else set()
    mounts = set(SERVICES[role]["volumes"])
    assert seeds <= mounts
    assert mounts - seeds <= {"./shared/log:/shared/log", "./shared/log:/shared/log:ro"}
    drop_in = FOLDER / "systemd" / f"matchpost@{role}.service.d" / "keys.conf"
    loaded = re.findall(r"LoadCredential=([^:]+):", drop_in.read_text()) if keys else []
    assert set(loaded) == keys
    for name, row in COMPOSE["secrets"].items():
        assert row["file"].rpartition("/")[2] == name


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
    assert COMPOSE["networks"]["inside"]["internal"]
    assert SERVICES["web"]["environment"]["MATCHPOST_TRUSTED_PROXY"] == "on"


def test_only_a_proxy_reaches_the_pods_that_believe_one():
    closed, *opened = [one["spec"] for one in MANIFESTS if one["kind"] == "NetworkPolicy"]
    everything = {"matchLabels": {"app": "matchpost"}}
    assert closed == {"podSelector": everything, "policyTypes": ["Ingress"]}
    ports: dict[str, set[str]] = {}
    for one in opened:
        role = one["podSelector"]["matchLabels"]["role"]
        (rule,) = one["ingress"]
        assert rule["from"][0]["namespaceSelector"]["matchLabels"], role
        ports.setdefault(role, set()).update(port["port"] for port in rule["ports"])
    assert ports == {
        role: {port["name"] for port in pod["containers"][0]["ports"]}
        for role, pod in PODS.items()
        if "ports" in pod["containers"][0]
    }


@pytest.mark.parametrize("role", sorted(NEEDED))
def test_every_role_is_watched_for_hangs(role):
    (container,) = PODS[role]["containers"]
    alive = [PROGRAM, "alive", role]
    ready = [*alive, "--ready"]
    assert container["startupProbe"]["exec"]["command"] == ready
    if role != "web":  # which answers at addresses of its own
        assert container["livenessProbe"]["exec"]["command"] == alive
    if role not in ("web", "mail"):
        assert container["readinessProbe"]["exec"]["command"] == ready
    assert {"startupProbe", "livenessProbe", "readinessProbe"} <= set(container)
    assert SERVICES[role]["healthcheck"]["test"] == ["CMD", *ready]


@pytest.mark.parametrize("file", UNITS, ids=lambda file: file.name)
def test_a_unit_runs_a_subcommand_as_a_user_of_its_own_with_few_rights(file, tmp_path):
    text = file.read_text()
    accounts = (FOLDER / "systemd" / "matchpost.sysusers").read_text()
    named = set(re.findall(r"^u (\S+) ", accounts, re.MULTILINE))
    assert named == {f"matchpost-{role}" for role in NEEDED}
    users = re.findall(r"^User=(.*)$", text, re.MULTILINE)
    if file.parent == WHOLE:
        assert users == ["matchpost"]
        assert "u matchpost - " in (WHOLE / "matchpost.sysusers").read_text()
    elif file.name == "matchpost-prepare.service":
        assert not users
    else:
        assert users[0] in {"matchpost-%i", *named}
    rights = {
        "UMask=0077", "SystemCallFilter=@system-service", "MemoryDenyWriteExecute=yes",
        "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX",
    }  # fmt: skip
    assert rights <= set(text.splitlines())
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(text)
    command = unit["Service"]["ExecStart"].split()
    assert command[0].endswith("/matchpost")
    assert command[1] in {"%i", *(one.name for one in SUBCOMMANDS)}
    assert not re.search(r"MATCHPOST_(?!DATA|KEYS)", text), "settings are in files"
    if unit["Service"]["Type"] != "oneshot":
        assert (unit["Service"]["Type"], unit["Service"]["WatchdogSec"]) == ("notify", "60")
    if which("systemd-analyze"):
        shutil.copytree(file.parent, tmp_path, dirs_exist_ok=True)
        copy = tmp_path / file.name
        copy.write_text(text.replace("/usr/local/bin/matchpost", "/bin/true"))
        command = ["systemd-analyze", "verify", str(copy)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_what_comes_into_an_image_is_named_and_its_packages_have_hashes():
    root = FOLDER.parents[1]
    rows = (root / ".dockerignore").read_text().splitlines()
    assert rows[1] == "*"
    assert all((root / row[1:]).exists() for row in rows if row.startswith("!"))
    build = (FOLDER / "Dockerfile").read_text()
    assert "--require-hashes --no-deps --requirement /src/requirements.lock" in build
