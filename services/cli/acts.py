"""`matchpost acts`: what operators, moderators and arbiters have done, the newest first."""

import json

from infra.languages.wording import IN_ENGLISH
from infra.people.acts import RecordedAct
from infra.settings.settings import Settings
from services.app.acts import PAGE, TERMINAL, acts_of
from services.app.context import App
from services.app.error_codes import EXIT_OK
from services.words.acts import act_lines


def run(count: int, as_json: bool, settings: Settings) -> int:  # noqa: FBT001 - called by keyword
    """Print the latest acts, a line each, and return the exit code."""
    with App(settings) as parts:
        parts.ready()
        found = _latest(parts, count)
        for act, line in zip(found, act_lines(parts, found, IN_ENGLISH), strict=True):
            if as_json:
                print(json.dumps({"at": act.at, "act": act.act, "said": line.said, "why": act.why}))
            else:
                why = f": {line.why}" if line.why else ""
                print(f"{IN_ENGLISH.stamp(line.at)}  {line.said}{why}")
    return EXIT_OK


def _latest(app: App, count: int) -> list[RecordedAct]:
    found: list[RecordedAct] = []
    while page := acts_of(app, TERMINAL, found[-1].id if found else ""):
        found += page
        if len(page) < PAGE or len(found) >= count:
            break
    return found[:count]
