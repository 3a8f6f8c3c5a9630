"""Values of settings: their descriptions, the TOML file, and their conversion to types."""

import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, cast

import msgspec

from infra.objects.location import check_store_url, store_url
from infra.redis.addresses import check_queue_url, check_url
from infra.settings.hook_hosts import read_hook_hosts
from infra.settings.push_services import read_push_services
from infra.settings.smtp_url import read_smtp_url

FILE_NAME: Final = "matchpost.toml"

CONFIG_VARIABLE: Final = "MATCHPOST_CONFIG"
"""Names the TOML file to read instead of `matchpost.toml` in the data directory."""

ServerUrl = Annotated[str, msgspec.Meta(pattern=r"^(unix|rediss?(\+(cluster|sentinel))?)://")]
URL_EXPECTED: Final = (
    "a URL of a server, of a cluster or of sentinels, as docs/settings.md has them"
)

CHECKS: Final[Mapping[str, Callable[[str], object]]] = {
    "redis_url": check_url,
    "queue_url": check_queue_url,
    "relay": read_smtp_url,
    "store": check_store_url,
    "backup": store_url,
    "backup_keys": store_url,
    "push_services": read_push_services,
    "hook_hosts": read_hook_hosts,
}
"""For settings that are texts: what raises `ValueError` for an unusable one."""

SECRET: Final = ("redis_url", "queue_url", "relay")
"""Settings that may have a password, which is never shown."""


class SettingsError(Exception):
    """A setting is unknown or unusable; the message says which, and where it is set."""


class SettingInfo(msgspec.Struct, frozen=True):
    """One setting as documented."""

    name: str
    """Of the field, of the key in the TOML file, and (with dashes) of the flag."""
    env: str
    default: str
    """The default, as text for a reader."""
    expected: str
    """The valid values, to follow "must be"."""
    meaning: str


def about(expected: str, meaning: str, default: str) -> msgspec.Meta:
    """Describe a field: its valid values, its meaning, its default."""
    return msgspec.Meta(description=meaning, extra={"expected": expected, "default": default})


def setting_rows(hints: Mapping[str, Any]) -> dict[str, SettingInfo]:
    """Return the descriptions in the types of fields."""
    rows = {}
    for name, hint in hints.items():
        meta = next(m for m in hint.__metadata__[::-1] if m.description is not None)
        extra = meta.extra
        env = f"MATCHPOST_{name.upper()}"
        rows[name] = SettingInfo(name, env, extra["default"], extra["expected"], meta.description)
    return rows


def absolute(path: Path) -> Path:
    """Return the absolute path, without resolving links."""
    return Path(os.path.abspath(path.expanduser()))  # noqa: PTH100 - Path.absolute keeps `..`


def converter(kind: object) -> Callable[[object, bool], object]:
    """Return a function that converts to `kind`, strictly or also from text.

    It raises `msgspec.ValidationError` for a value of another type or out of bounds. Paths become
    absolute.
    """

    def convert(value: object, strict: bool) -> object:  # noqa: FBT001 - called in one place
        return msgspec.convert(value, cast("Any", kind), strict=strict, dec_hook=_decode_path)

    return convert


def _decode_path(kind: type, value: object) -> object:
    """Convert text to a path, for msgspec."""
    if kind is Path and isinstance(value, str | Path) and str(value):
        return absolute(Path(value))
    raise ValueError("not a path")


def checker(row: SettingInfo, kind: object) -> Callable[[object, str, bool], object]:
    """Return a function that converts as `converter` does, and raises `SettingsError`.

    Its second argument is the place of the value, for the message.
    """
    convert = converter(kind)

    def check(value: object, source: str, strict: bool) -> object:  # noqa: FBT001 - as in msgspec
        try:
            checked = convert(value, strict)
            if isinstance(checked, str) and (further := CHECKS.get(row.name)):
                further(checked)
        except msgspec.ValidationError as error:
            # a URL may hold a password, so it is not repeated
            got = "" if row.name in SECRET else f", not {value!r}"
            raise SettingsError(f"{source} must be {row.expected}{got}") from error
        except ValueError as error:
            raise SettingsError(f"{source} is unusable: {error}") from error
        return checked

    return check


def parse_file(path: Path, known: Iterable[str], *, named: bool) -> dict[str, Any]:
    """Return the keys and values of the TOML file; only one that was named may set `data`."""
    values = _load_file(path, must_exist=named)
    if "data" in values and not named:
        raise SettingsError(
            f"'data' can't be set in {path}, which was found by it; use MATCHPOST_DATA"
        )
    if unknown := sorted(values.keys() - set(known)):
        listed = ", ".join(known)
        raise SettingsError(f"{path} has the unknown key {unknown[0]!r}; known keys are {listed}")
    return values


def _load_file(path: Path, *, must_exist: bool) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except (FileNotFoundError, NotADirectoryError) as error:
        if not must_exist:
            return {}
        raise SettingsError(f"{CONFIG_VARIABLE} names {path}, which does not exist") from error
    except OSError as error:
        raise SettingsError(f"{path} can't be read ({error.strerror})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} isn't valid TOML ({error})") from error
