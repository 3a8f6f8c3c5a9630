"""Compiled templates that a server keeps beside its compiled modules."""

import sys
from pathlib import Path

import jinja2
import pytest

from infra.languages.wording import all_wordings, wording
from services.http.web import render
from services.http.web.compiled_templates import CompiledTemplates


@pytest.fixture
def compiler(tmp_path):
    file = tmp_path / "compiler.py"
    file.write_text("# the code of a compiler")
    (tmp_path / "__pycache__").mkdir()
    return file


@pytest.fixture
def kept(compiler):
    """Where compiled templates are kept."""
    return compiler.parent / "__pycache__"


def compiled(compiler: Path, text: str) -> tuple[str, int]:
    """Show a template in a new process, as it were; return how often something was compiled for it, too."""
    count = 0

    class Counting(jinja2.Environment):
        def _compile(self, source, filename):
            nonlocal count
            count += 1
            return super()._compile(source, filename)

    loader = jinja2.DictLoader({"a.html": text})
    shown = Counting(loader=loader, bytecode_cache=CompiledTemplates(str(compiler)))
    return shown.get_template("a.html").render(name="b"), count


def test_a_template_is_compiled_once_and_again_when_it_or_its_compiler_changes(compiler, kept):
    assert compiled(compiler, "a {{ name }}") == ("a b", 1)
    assert compiled(compiler, "a {{ name }}") == ("a b", 0)
    assert compiled(compiler, "c {{ name }}") == ("c b", 1)
    compiler.write_text("# another")
    assert compiled(compiler, "c {{ name }}") == ("c b", 1)
    assert compiled(compiler, "c {{ name }}") == ("c b", 0)
    (file,) = kept.iterdir()
    for damaged in (b"", file.read_bytes()[:-9], b"neither"):
        file.write_bytes(damaged)
        assert compiled(compiler, "c {{ name }}") == ("c b", 1)


def test_where_python_keeps_no_compiled_module_no_template_is_kept(compiler, kept, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(sys, "dont_write_bytecode", True)
        assert compiled(compiler, "a {{ name }}") == ("a b", 1)
        assert not [*kept.iterdir()]
    kept.rmdir()
    assert [compiled(compiler, "a {{ name }}") for _ in range(2)] == [("a b", 1)] * 2


def test_only_the_language_of_the_templates_is_kept():
    kept = {words.code for words in all_wordings() if render.environment(words).bytecode_cache}
    assert kept == {"en"}


def test_nothing_but_template_and_compiler_is_in_what_is_compiled(monkeypatch):
    compiling = render.environment(wording("en")).overlay(bytecode_cache=None)
    called = set[str]()

    def noted(name):
        def call(*_):
            called.add(name)
            raise jinja2.TemplateRuntimeError

        return call

    ours = compiling.filters.keys() - jinja2.Environment().filters.keys()
    for name in ours:
        monkeypatch.setitem(compiling.filters, name, noted(name))
    assert compiling.from_string("{{ 'a'|sentence }}").render
    assert called == {"sentence"}
    called.clear()
    found = [compiling.get_template(name) for name in compiling.list_templates(extensions=["html"])]
    assert len(found) > 100
    assert not called
