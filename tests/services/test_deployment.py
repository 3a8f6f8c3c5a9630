"""The files for several machines: each names roles, settings, users and keys that exist."""

import configparser
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.redis.access import ROLES, USER_PREFIX
from infra.secret_record import Secret
from infra.settings import setting_table
from services.cli.subcommands import SUBCOMMANDS
from services.secret_checks import NEEDED

FOLDER = Path(__file__).parents[2] / "docs" / "several-machines"
VARIABLES = {row.env for row in setting_table()}
UNITS = sorted((FOLDER / "systemd").glob("*.service"))


def documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((FOLDER / name).read_text()))


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


def test_every_role_has_a_container_a_deployment_and_a_user() -> None:
    assert set(NEEDED) | {"prepare"} == set(PODS) == set(SERVICES) - {"data", "queue"}
    assert set(NEEDED) | {"operator"} == set(ROLES)
    assert set(NEEDED) <= {one.name for one in SUBCOMMANDS}


@pytest.mark.parametrize("role", sorted(PODS))
def test_a_pod_runs_its_role_with_its_user_and_settings_that_exist(role: str) -> None:
    (container,) = PODS[role]["containers"]
    assert container["args"] == [role]
    named = {one["name"]: one for one in container["env"]}
    assert set(named) <= VARIABLES
    for variable, kind in (("MATCHPOST_REDIS_URL", "data"), ("MATCHPOST_QUEUE_URL", "queue")):
        assert named[variable]["valueFrom"]["secretKeyRef"]["key"] == f"{role}-{kind}"


@pytest.mark.parametrize("role", sorted(NEEDED))
def test_a_pod_has_the_secrets_of_its_role_and_no_others(role: str) -> None:
    volumes = {one["name"]: one for one in PODS[role]["volumes"]}
    files = {item["key"] for item in volumes["keys"]["secret"]["items"]}
    needed = {str(one) for one in NEEDED[role]} & {"log-key", "receipts-key", "accounts-key"}
    # the scrubber compares the keys with the public ones
    more = {"receipts-key"} if role == "maintenance" else set()
    assert files == needed | more | {"log-key.pub", "receipts-key.pub"}
    assert ("seeds" in volumes) == (Secret.SEEDS in NEEDED[role])
    assert ("mail" in volumes) == (Secret.MAIL_KEY in NEEDED[role])


def test_the_settings_of_all_pods_and_containers_exist() -> None:
    (shared,) = (one for one in documents("kubernetes.yaml") if one["kind"] == "ConfigMap")
    assert set(shared["data"]) <= VARIABLES
    for name, service in SERVICES.items():
        assert set(service.get("environment", {})) <= VARIABLES, name


@pytest.mark.parametrize("role", sorted({*NEEDED, "prepare"}))
def test_a_container_comes_with_the_user_of_its_role(role: str) -> None:
    service = SERVICES[role]
    assert service["command"] == [role]
    user = "operator" if role == "prepare" else role
    for variable, host in (("MATCHPOST_REDIS_URL", "data"), ("MATCHPOST_QUEUE_URL", "queue")):
        url = service["environment"][variable]
        assert url == f"redis://{USER_PREFIX}{user}:${{{user.upper()}_PASSWORD:?}}@{host}:6379"


def test_the_scheduler_and_the_mailer_both_know_the_relay() -> None:
    # the scheduler asks for a mailer only where mail is sent
    for role in ("scheduler", "mailer"):
        assert "MATCHPOST_RELAY" in SERVICES[role]["environment"]
        (container,) = PODS[role]["containers"]
        assert "MATCHPOST_RELAY" in {one["name"] for one in container["env"]}


@pytest.mark.parametrize("file", UNITS, ids=lambda file: file.name)
def test_a_unit_runs_a_subcommand(file: Path) -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(file.read_text())
    command = unit["Service"]["ExecStart"].split()
    assert command[0].endswith("/matchpost")
    assert command[1] in {"%i", *(one.name for one in SUBCOMMANDS)}
    assert not re.search(r"MATCHPOST_(?!DATA)", file.read_text()), "settings are in files"
