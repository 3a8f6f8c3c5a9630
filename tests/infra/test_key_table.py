"""Every key has an owner and an end, or a reason why it has none."""

from importlib.util import find_spec

import pytest

from infra.redis import access
from infra.redis.key_table import KEYS, Never
from tests.helpers.key_patterns import all_rows, row_of


def test_a_key_has_one_row_in_which_nothing_is_left_out() -> None:
    assert len(set(all_rows())) == len(KEYS)
    for key in KEYS:
        assert all((key.what, key.owner, key.end, key.growth)), key.name


def test_a_key_is_used_by_roles_that_there_are_or_is_on_the_queue_alone() -> None:
    for key in KEYS:
        roles = f"{key.roles.writers} {key.roles.readers}".split()
        assert access.ROLES.keys() >= set(roles), key.name
        assert roles or key.on_queue, key.name


@pytest.mark.parametrize("owner", sorted({key.owner for key in KEYS}))
def test_the_owner_of_a_key_exists(owner: str) -> None:
    assert find_spec(owner) is not None


def test_only_the_record_counters_and_what_describes_the_data_never_end() -> None:
    assert {key.name for key in KEYS if isinstance(key.end, Never)} == {
        "{s07.a1y}:log",
        "{s07.a1y}:published",
        "{s07.a1y}:shown",
        "{s07.a1y}:archived",
        "{s07.a1y}:m:<board>:texts",
        "{s07.a1y}:draws",
        "{s07.a1y}:floor",
        "{s07.a1y}:boards",
        "{boards}",
        "{boards}:words",
        "{challenges}:links",
        "{boards}:shape",
        "{boards}:secrets",
        "{scrub}",
        "b",
        "b:5",
        "{clock}",
        "{p:<name>}:live",
        "{p:<name>}:last",
        "{p:<name>}:losses",
        "{p:erased}",
        "{mail}:read",
        "{mail}:push:read",
        "{mail}:key",
    }


@pytest.mark.parametrize(
    ("key", "row"),
    [
        ("{s00.6id}:m:17", "{s07.a1y}:m:<board>"),
        ("{s00.6id}:m:17:out", "{s07.a1y}:m:<board>:out"),
        ("{p:lists:b2}:3:at", "{p:<name>:b<bucket>}:<generation>:at"),
        ("{p:lists:b2}:3:rows", "{p:<name>:b<bucket>}:<generation>:..."),
        ("{p:lists}:live", "{p:<name>}:live"),
        ("{lease:2/8}:held", "{lease:0/3}:held"),
        ("{s00}:log", None),
        ("{s00.6id}:another", None),
    ],
)
def test_the_row_of_a_key_is_found(key: str, row: str | None) -> None:
    assert row_of(key, all_rows()) == row
