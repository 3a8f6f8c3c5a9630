"""The settings of the server's address on the web, which all its processes share."""

from typing import Annotated, Literal

import msgspec

from infra.log_settings import LogSettings
from infra.setting_values import about


class SiteSettings(LogSettings, frozen=True, kw_only=True):
    """The settings of the server's address; a part of `infra.settings.Settings`."""

    trusted_proxy: Annotated[
        Literal["on", "off"],
        about(
            "on or off",
            "Whether a proxy of yours stands before the HTTP API, through which all requests come: "
            "then a request's address is the last in its X-Forwarded-For, and its X-Forwarded-Proto is "
            "believed: with https the cookies of the pages are `__Host-`. With `off` neither is "
            "read, and all that come through a proxy share one address.",
            "`off`",
        ),
    ] = "off"
    site: Annotated[
        Annotated[str, msgspec.Meta(pattern=r"^https?://[^/\s?#]+$")] | None,
        about(
            "a URL such as https://play.example.org, without a path",
            "The address of the pages as browsers know it. Links in mails have it, so a forgotten "
            "password can be replaced by mail only where it is set; previews of links have it, too.",
            "none",
        ),
    ] = None
