"""The settings of backups."""

from typing import Annotated

import msgspec

from infra.settings.setting_values import about
from infra.settings.site_settings import SiteSettings

_EXPECTED = "the path of a folder, or a URL such as s3://bucket/prefix"


class BackupSettings(SiteSettings, frozen=True, kw_only=True):
    """The settings of backups; a part of `infra.settings.settings.Settings`."""

    backup: Annotated[
        str | None,
        about(
            _EXPECTED,
            "Where `serve` makes a [backup](backup.md) each day, and tries it. Use another disk, and better "
            "another machine. Keys and seeds are not in it.",
            "none",
        ),
    ] = None
    backup_keys: Annotated[
        str | None,
        about(
            _EXPECTED,
            "Where keys, seeds, the mail key and `matchpost.toml` go with each backup. Never the place of "
            "the backups: a finder of both has the server.",
            "none: copy them by hand, once",
        ),
    ] = None
    backup_encrypt_to: Annotated[
        Annotated[str, msgspec.Meta(pattern=r"^age1[0-9a-z]{50,}$")] | None,
        about(
            "a public key such as age1m9k8pqq..., as `age-keygen` prints it",
            "The key to which backups are encrypted, whose secret is yours alone and not on the server.",
            "none: they are not encrypted",
        ),
    ] = None
