"""The settings of the server's address on the web, and of whom it believes about others.

The settings of the log, which all processes of a server share.
"""

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from infra.settings.push_services import KNOWN
from infra.settings.setting_values import about


class LogSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of the log; a part of `infra.settings.settings.Settings`."""

    log_format: Annotated[
        Literal["text", "json"],
        about(
            "text or json",
            "The form of the log lines: `text` for people, or `json` with one object a line, in which a "
            "line names the process, the request, the match and the command that it is about.",
            "`text`",
        ),
    ] = "text"
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        about(
            "debug, info, warning or error",
            "The least level of the lines that are logged. With `debug` each request and each command has "
            "lines of its own.",
            "`info`",
        ),
    ] = "info"
    security_log: Annotated[
        Path | None,
        about(
            "the path of a file",
            "Where the security log is written, as JSON lines: logins, failures, limits that were hit, and "
            "changes of accounts. Several processes of a machine can share the file, and it may be moved "
            "away at any time. Without it these lines are in the log.",
            "none",
        ),
    ] = None


class SiteSettings(LogSettings, frozen=True, kw_only=True):
    """The settings of the server's address; a part of `infra.settings.settings.Settings`."""

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
    mail_authserv: Annotated[
        str | None,
        about(
            "a name such as mx.example.org",
            "The name in those `Authentication-Results` headers of incoming mail that are believed, because a "
            "mail server of yours writes them, and removes others with its name. Where it is set, senders whose "
            "address no account has proven are answered only if SPF, DKIM or DMARC passed.",
            "none; such senders get a few short answers",
        ),
    ] = None
    postmaster: Annotated[
        Annotated[str, msgspec.Meta(pattern=r"^[^@\s]+@[^@\s]+$")] | None,
        about(
            "a mail address of yours, at another domain",
            "Where mail to `postmaster@` and `abuse@` is sent on to. Without it, its senders are answered that "
            "nobody reads there.",
            "none",
        ),
    ] = None
    site: Annotated[
        Annotated[str, msgspec.Meta(pattern=r"^https?://[^/\s?#]+$")] | None,
        about(
            "a URL such as https://play.example.org, without a path",
            "The address of the pages as browsers know it. Links in mails have it, so a forgotten "
            "password can be replaced by mail only where it is set; previews of links have it, too.",
            "none",
        ),
    ] = None
    signups: Annotated[
        Literal["on", "off"],
        about(
            "on or off",
            "Whether people may make accounts. With `off` pages, API, mail and terminals elsewhere refuse it, and "
            "only `matchpost do` at the data makes accounts.",
            "`on`",
        ),
    ] = "on"
    push: Annotated[
        Literal["on", "off"],
        about(
            "on or off",
            "Whether players may have notifications in their browsers; it needs `site`. The mailer sends them, also "
            "without a relay: see [web push](mail.md#notifications-in-browsers).",
            "`off`",
        ),
    ] = "off"
    push_services: Annotated[
        str,
        about(
            "hosts, or origins such as https://push.example.org",
            "The push services that notifications are given to, separated by blanks: hosts with their subdomains, or "
            "exact origins. Requests to any other address are never made.",
            "those of Chrome, Firefox, Safari and Edge",
        ),
    ] = KNOWN

    hooks: Annotated[
        Literal["on", "off"],
        about(
            "on or off",
            "Whether players may have notices sent to webhooks and to the chats of their groups; it needs `site`. The "
            "mailer sends them, also without a relay: see [webhooks](webhooks.md).",
            "`off`",
        ),
    ] = "off"
    hook_hosts: Annotated[
        str,
        about(
            "hosts such as ci.example.lan or 192.168.1.5:8080",
            "Hosts of your own network to which webhooks may be sent, separated by blanks, each with or without its port. "
            "Their addresses may be private, and they need no https. All others must have public addresses.",
            "none",
        ),
    ] = ""

    transfer_to: Annotated[
        Annotated[str, msgspec.Meta(pattern=r"^\S+( \S+)*$")] | None,
        about(
            "names such as play.example.org, separated by blanks",
            "The servers at which players of this one may go on with a match, because their operators import it: the "
            "page of a match offers the move, and names them. Without it only the other ways in propose one.",
            "none",
        ),
    ] = None

    oidc_issuer: Annotated[
        Annotated[
            str,
            msgspec.Meta(pattern=r"^(https://|http://(localhost|127\.0\.0\.1)(:|/|$))[^\s?#]*$"),
        ]
        | None,
        about(
            "a URL such as https://login.example.org",
            "The group's own sign-in service, an OpenID Connect provider, exactly as it names itself. With it the "
            "log-in page offers it; it also needs MATCHPOST_OIDC_CLIENT and MATCHPOST_SITE. Register "
            "the address of the pages with `/login/provider` there as the address to come back to.",
            "none",
        ),
    ] = None
    oidc_client: Annotated[
        Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None,
        about("a name", "The name (client id) of this server at that service.", "none"),
    ] = None
    oidc_secret_file: Annotated[
        Path | None,
        about(
            "the path of a file",
            "The file with this server's secret at that service, which only the user that runs matchpost can read.",
            "none: a client without a secret",
        ),
    ] = None
    oidc_label: Annotated[
        Annotated[str, msgspec.Meta(min_length=1, max_length=40)],
        about(
            "a few words",
            "What that service is called on the button of the log-in page.",
            "`single sign-on`",
        ),
    ] = "single sign-on"

    @property
    def sends_push(self) -> bool:
        """Whether players may have notifications in their browsers."""
        return self.push == "on"

    @property
    def sends_hooks(self) -> bool:
        """Whether players may have notices sent to webhooks and chats."""
        return self.hooks == "on"
