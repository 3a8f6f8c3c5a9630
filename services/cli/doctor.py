"""`matchpost doctor`: report what is wrong with the server, and what to do.

Exit codes: 0 all is well, 1 there is a `warn` or `bad`, 2 the server does not answer.
"""

import json
from collections.abc import Sequence
from typing import Final

from infra.settings.settings import Settings
from services.doctor import Finding, Level, gather, judge
from services.doctor.facts import Facts

EXIT_WELL: Final = 0
EXIT_UNWELL: Final = 1
EXIT_UNREACHABLE: Final = 2


def run(settings: Settings, as_json: bool) -> int:  # noqa: FBT001 - called by keyword
    """Run all checks, print the findings, and return the exit code."""
    facts = gather(settings)
    findings = judge(facts)
    print(_as_json(findings) if as_json else _as_text(findings))
    return exit_code(facts, findings)


def exit_code(facts: Facts, findings: Sequence[Finding]) -> int:
    """Return the exit code for scripts."""
    if facts.server is None:
        return EXIT_UNREACHABLE
    return EXIT_UNWELL if worst(findings) >= Level.WARN else EXIT_WELL


def worst(findings: Sequence[Finding]) -> Level:
    """Return the worst level of the findings."""
    return max((finding.level for finding in findings), default=Level.OK)


def _as_text(findings: Sequence[Finding]) -> str:
    lines = []
    for finding in findings:
        lines.append(f"{finding.level.word:<5} {finding.about:<10} {finding.what}")
        if finding.remedy:
            lines.append(f"{'':<16} -> {finding.remedy}")
    return "\n".join([*lines, "", _summary(findings)])


def _summary(findings: Sequence[Finding]) -> str:
    levels = [finding.level for finding in findings]
    if worst(findings) < Level.WARN:
        return "all is well"
    counts = ((levels.count(level), level.word) for level in (Level.BAD, Level.WARN))
    return ", ".join(f"{count} {word}" for count, word in counts if count)


def _as_json(findings: Sequence[Finding]) -> str:
    rows = [
        {"level": row.level.word, "about": row.about, "what": row.what, "remedy": row.remedy}
        for row in findings
    ]
    return json.dumps({"level": worst(findings).word, "findings": rows}, ensure_ascii=False)
