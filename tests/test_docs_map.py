"""The pages are a true map: what they name exists, what they link to is there, and lists are whole."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "trials").glob("*.md")])
FIGURES = [DOCS / "figures" / name for name in ("processes.svg", "move.svg")]
CHANGELOG = ROOT / "CHANGELOG.md"
"""Names what was there at the time."""

GLOSSARY = DOCS / "glossary.md"
TERMS = ["term", "meaning", "module"]
SVG = "{http://www.w3.org/2000/svg}"

PLACEHOLDER = re.compile(r"\b(?:KEY|NAME|POINT)\b|[*]")
"""Stands for a part of a path in instructions, such as `domain/games/KEY/`."""

PRIVATE = re.compile(
    r"\b(?:doors?|desks?|laid ready|anew|for ever|side workers?|(?:is|are|was|were|be) told)\b",
    re.IGNORECASE,
)
"""Words that the glossary replaces."""


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def paths_in(text: str) -> list[str]:
    """Return the paths of the project that a text names, but for those with a placeholder."""
    found = re.findall(
        r"(?<![\w/.-])(?:domain|infra|workers|services|bench|tools|trials|plugins|tests)/[\w/.*-]*",
        text,
    )
    return [path.rstrip(".") for path in found if not PLACEHOLDER.search(path)]


def missing(paths: list[str]) -> list[str]:
    return [path for path in paths if not (ROOT / path).exists()]


def rows(page: Path, head: list[str]) -> list[list[str]]:
    """Return the rows of the table of a page that has this head."""
    _, table = page.read_text().split(f"| {' | '.join(head)} |\n", 1)
    lines = table.split("\n\n")[0].splitlines()[1:]
    return [line.strip("| ").split(" | ") for line in lines]


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(page: Path) -> list[str]:
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]


def test_pages_name_paths_that_exist() -> None:
    pages = [page for page in PAGES if page != CHANGELOG]
    assert [
        (name_of(page), path) for page in pages for path in missing(paths_in(page.read_text()))
    ] == []


def test_a_link_that_is_labelled_as_a_file_leads_to_a_file_of_that_name() -> None:
    labelled = [
        (name_of(page), *found)
        for page in PAGES
        for found in re.findall(
            r"\[`?(?:[\w.-]+/)*([\w-]+[.]\w+)`?\]\(([^)\s#]+)", page.read_text()
        )
    ]
    assert len(labelled) > 30
    assert [one for one in labelled if one[1] != Path(one[2]).name] == []


def leads_nowhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    return not target.exists() or bool(anchor and anchor not in anchors(target))


def test_links_lead_to_pages_and_headings_that_exist() -> None:
    found = [(name_of(page), link) for page in PAGES for link in links(page)]
    assert len(found) > 300
    assert [(name, link) for name, link in found if leads_nowhere(ROOT / name, link)] == []


def test_the_security_standard_is_answered_by_tests_that_exist() -> None:
    named = set(re.findall(r"`(test_\w+)::(test_\w+)`", (DOCS / "security.md").read_text()))
    assert len(named) > 30
    defined = {
        (file.stem, name)
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", file.read_text(), re.MULTILINE)
    }
    assert named - defined == set()


@pytest.mark.parametrize("figure", FIGURES, ids=name_of)
def test_a_figure_names_modules_that_exist(figure: Path) -> None:
    modules = [
        "".join(element.itertext())
        for element in ET.parse(figure).iter()
        if element.get("class", "").startswith("module")
    ]
    paths = [path for text in modules for path in paths_in(text)]
    assert len(paths) >= len(modules) - 1 > 10  # one is a command
    assert missing(paths) == []


@pytest.mark.parametrize("figure", FIGURES, ids=name_of)
def test_a_figure_says_in_words_what_it_shows(figure: Path) -> None:
    root = ET.parse(figure).getroot()
    assert [child.tag for child in root[:2]] == [f"{SVG}title", f"{SVG}desc"]
    assert all(len(child.text or "") > 20 for child in root[:2])
    assert name_of(figure).removeprefix("docs/") in (DOCS / "architecture.md").read_text()


def test_terms_are_in_order_and_each_has_one_meaning_and_one_module() -> None:
    table = rows(GLOSSARY, TERMS)
    terms = [row[0] for row in table]
    assert len(terms) > 50
    assert terms == sorted(set(terms), key=str.lower)
    for term, meaning, module in table:
        assert 1 <= len(re.findall(r"[.](?: |$)", meaning)) <= 3, term
        assert paths_in(module) == [module.strip("`")], term


def test_a_word_that_is_not_used_is_no_term() -> None:
    terms = {row[0] for row in rows(GLOSSARY, TERMS)}
    words = [word for row in rows(GLOSSARY, ["not", "but"]) for word in row[0].split(", ")]
    assert len(words) > 10
    assert [word for word in words if word in terms] == []


def test_pages_use_the_words_of_the_glossary() -> None:
    # recorded results keep the words of their day
    texts = {
        name_of(page): re.sub(
            r"<!-- results: begin.*?end -->", "", page.read_text(), flags=re.DOTALL
        )
        for page in PAGES
        if page not in {CHANGELOG, GLOSSARY}
    }
    used = [
        (name, m[0])
        for name, text in texts.items()
        for m in PRIVATE.finditer(" ".join(text.split()))
    ]
    assert used == []


def test_the_index_by_reader_lists_every_page() -> None:
    index = set(links(DOCS / "README.md"))
    pages = {page.name for page in DOCS.glob("*.md")} - {"README.md"}
    assert pages - index == set()


def test_the_index_of_design_notes_lists_every_note_with_its_status() -> None:
    notes = {note.name: note.read_text() for note in (DOCS / "design").glob("0*.md")}
    listed = dict(
        re.findall(r"\]\((0\S+[.]md)\) \|.*\| (.+) \|", (DOCS / "design/README.md").read_text())
    )
    assert listed.keys() == notes.keys()
    for name, text in notes.items():
        assert ("in force" in listed[name]) == ("Status: in force" in text), name


@pytest.mark.parametrize("text", ["infra/none.py", "`services/app/none/`", "(tests/none)."])
def test_a_path_that_does_not_exist_is_found(text: str) -> None:
    assert len(missing(paths_in(text))) == 1
