"""What the page says of files that a test chooses on it."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from infra.audit.match_document import write_document
from tests.evidence.test_imported import imported
from tests.helpers.checked_files import File, encode, evidence
from tests.helpers.evidence import golden_document

FIRST_FAILURES = """async (cases) => {
  const found = [];
  for (const { files, keys } of cases) {
    const read = files.map(([name, text]) => ({ name, bytes: matchpost.fromBase64(text, name) }));
    const report = await matchpost.checkFiles(read, keys.map(matchpost.readKey));
    found.push([report.failure?.name ?? "", report.failure?.sentence ?? "",
                report.open.map((step) => step.name)]);
  }
  return found;
}"""


def first_failures(page: Page, cases: list[list[File]], keys: str = "") -> list[list[Any]]:
    """Of each case, the name and the sentence of the first step that fails, and the names of the open ones."""
    packed = [
        {"files": [[name, encode(data)] for name, data in files], "keys": keys.split()}
        for files in cases
    ]
    return page.evaluate(FIRST_FAILURES, packed)


def drop(page: Page, *files: File, keys: str = "") -> None:
    """Choose files on a page that begins again, with these keys in its field."""
    if page.locator("#again").is_visible():
        page.locator("#again").click()
    page.locator("body[data-state=ready]").wait_for()
    page.evaluate("(keys) => (document.getElementById('keys').value = keys)", keys)
    chosen = [{"name": name, "mimeType": "text/plain", "buffer": data} for name, data in files]
    page.locator("#files").set_input_files(chosen)
    page.locator("body[data-state=done]").wait_for()


def document(kind: str = "timed", unpublished: int = 3) -> File:
    return "match.json", write_document(evidence(kind, unpublished).whole())


DISPUTE = Path(__file__).parents[2] / "golden" / "dispute"


def disputed(*names: str) -> list[File]:
    return [(name, (DISPUTE / name).read_bytes()) for name in names]


def imported_file(**changes: Any) -> File:
    source = golden_document("timed")
    return "imported.json", write_document(imported(source, shown=source, **changes))
