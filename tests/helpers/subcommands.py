"""Subcommands of `matchpost` in this process, with their refusals on standard error."""

from collections.abc import Callable
from typing import Any

from services.cli import account, errors
from tests.helpers.api import Api


def exit_code(run: Callable[..., int], *values: Any, **named: Any) -> int:
    """Run a subcommand, report an error as `matchpost` does, and return the exit code."""
    try:
        return run(*values, **named)
    except Exception as error:  # noqa: BLE001 - as `matchpost` itself
        return errors.report(error)


def change_accounts(api: Api, action: str, *names: str, **given: Any) -> int:
    """Run `matchpost account ACTION NAMES`."""
    return exit_code(account.run, action=action, names=[*names], settings=api.settings, **given)
