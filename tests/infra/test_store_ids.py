"""Processes that start together agree on the id of their object store."""

from pathlib import Path

import pytest

from infra.health import secrets
from infra.health.secrets import Secret, make_id, read_copy
from infra.settings.settings import Settings


def test_a_process_that_comes_second_takes_the_id_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(data=tmp_path)
    make_id(Secret.STORE, settings)
    first = read_copy(Secret.STORE, settings)
    with monkeypatch.context() as patched:
        # it looked before the other one wrote
        patched.setattr(secrets, "_id_of", lambda _: None)
        make_id(Secret.STORE, settings)
    assert not first.missing
    assert read_copy(Secret.STORE, settings) == first
