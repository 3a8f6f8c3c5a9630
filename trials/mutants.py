"""Random mutants, and how many of them the quick tests kill.

    .venv/bin/python trials/mutants.py --seed 7 --count 50 --at-once 2
    .venv/bin/python trials/mutants.py --under services/app --json > app.json
    .venv/bin/python trials/mutants.py --again trials/mutants-core.json
    .venv/bin/python trials/mutants.py --under services/app --again trials/mutants-app.json
    .venv/bin/python trials/mutants.py --under infra/store workers/commands --again trials/mutants-store.json

A mutant has one comparison, operator, number or branch changed, or one call deleted, in the body of a function of `--under`. It is
put in place while its module is imported, so no file is changed, and the tests of what it is part of run until
one fails. Prints a line for each mutant and the count of those that were killed; `--json` prints all as JSON. Equal
seeds draw equal mutants as long as the code is the same, so two runs show what a change of the tests has lost. `--again` runs
the mutants of an earlier run, found by function and change, also after their lines or files have moved, and first of all the
test that killed each. In the lists that
are kept, `why` says why a mutant that survived may do so.
Exits with 0 if at least `--least` were killed, else with 1.
"""

import argparse
import ast
import json
import random
import resource
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType
from typing import Any, Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]
CORE: Final = ("domain/match", "domain/games", "domain/clocks")
CPU_SECONDS: Final = 300
"""A mutant that takes longer goes round in circles, and is killed."""

WAIT_SECONDS: Final = 900
"""One whose tests take longer, because one of them waits for what never comes, is killed, too."""

NO_TESTS: Final = 5
"""Pytest's exit code when there was nothing to run."""

COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
OPERATORS: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Mod: ast.Add,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr, ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}  # fmt: skip

STAGES: Final = {
    "domain/tournament": ("tests/domain/tournament",),
    "services/app": ("tests/app", "tests/words", "tests/services", "tests/backup"),
    "infra/store": ("tests/contract", "tests/infra", "tests/workers"),
    "workers/commands": ("tests/workers", "tests/contract"),
}
"""The folders of tests for other packages, run one after the other."""


class Mutant(NamedTuple):
    """One change of one file: at the place of this number among all that can be changed."""

    file: str
    number: int
    line: int
    function: str
    change: str
    killer: str = ""
    """The test that killed it in an earlier run, which is run first; empty if there is none, or it is gone."""


class Verdict(NamedTuple):
    """What became of a mutant; `by` names the test that killed it."""

    mutant: Mutant
    killed: bool
    by: str


def places(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Yield what can be changed in the bodies of functions, each once and with its function, in the order of the file."""
    seen: set[int] = set()
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in function.body:
                for node in filter(is_place, ast.walk(statement)):
                    if id(node) not in seen:
                        seen.add(id(node))
                        yield function.name, node


def is_place(node: ast.AST) -> bool:
    """Return whether something of the node can be changed."""
    match node:
        case ast.Compare(ops=[only]):
            return type(only) in COMPARISONS
        case ast.BinOp() | ast.AugAssign():
            return type(node.op) in OPERATORS
        case ast.Constant(value=value):
            return type(value) is int
        case ast.If() | ast.IfExp() | ast.While() | ast.BoolOp():
            return True
        case ast.Expr(value=ast.Call() | ast.Await()):
            return True
    return False


def change(node: Any) -> str:
    """Change the node, and return what was done."""
    before = ast.unparse(node).partition("\n")[0]
    match node:
        case ast.Compare():
            node.ops = [COMPARISONS[type(node.ops[0])]()]
        case ast.BinOp() | ast.AugAssign():
            node.op = OPERATORS[type(node.op)]()
        case ast.Constant(value=int(value)):
            node.value = value + 1
        case ast.BoolOp():
            node.op = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        case ast.Expr():
            node.value = ast.Constant(None)
        case _:
            node.test = ast.UnaryOp(ast.Not(), node.test)
    return f"{before}  =>  {ast.unparse(node).partition(chr(10))[0]}"


def mutated(file: str, number: int) -> tuple[ast.Module, int, str, str]:
    """Return the changed tree of a file; the line of the change, its function and what it is."""
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    function, found = list(places(tree))[number]
    node: Any = found
    said = change(node)
    return ast.fix_missing_locations(tree), node.lineno, function, said


def drawn(seed: int, count: int, under: Sequence[str]) -> list[Mutant]:
    """Return so many different mutants of the files of these folders, drawn by chance."""
    files = sorted(file for folder in under for file in (ROOT / folder).rglob("*.py"))
    every = [
        (str(file.relative_to(ROOT)), number)
        for file in files
        for number, _ in enumerate(places(ast.parse(file.read_text("utf-8"))))
    ]
    chosen = random.Random(seed).sample(every, count)
    return [Mutant(file, number, *mutated(file, number)[1:]) for file, number in chosen]


def found_again(earlier: Sequence[Mapping[str, Any]], under: Sequence[str]) -> list[Mutant]:
    """Return the mutants of an earlier run, by function and change; those whose code is gone are left out.

    Of several changes that are alike that one is taken which is at the same place as before.
    """
    wanted = {(one["function"], one["change"]): (one["file"], one["number"]) for one in earlier}
    killers = {(one["function"], one["change"]): one["by"] for one in earlier}
    functions = {function for function, _ in wanted}
    found: dict[tuple[str, str], Mutant] = {}

    def moved(key: tuple[str, str], name: str) -> bool:
        return bool(name == wanted[key][0] != found[key].file)

    for file in sorted(file for folder in under for file in (ROOT / folder).rglob("*.py")):
        name = str(file.relative_to(ROOT))
        for number, (function, _) in enumerate(places(ast.parse(file.read_text("utf-8")))):
            if function in functions:
                mutant = Mutant(name, number, *mutated(name, number)[1:])
                key = (mutant.function, mutant.change)
                place = (name, number)
                if key in wanted and (key not in found or place == wanted[key] or moved(key, name)):
                    found[key] = mutant
    return [found[key]._replace(killer=_test_now(killers[key])) for key in wanted if key in found]


def _test_now(by: str) -> str:
    """Return where a test stands now by which a mutant was killed; empty if it is gone."""
    name = by.rpartition("::")[2].partition("[")[0]
    modules = (ROOT / "tests").rglob("test_*.py") if name else ()
    here = (path for path in modules if f"def {name}(" in path.read_text("utf-8"))
    return f"{found.relative_to(ROOT)}::{name}" if (found := next(here, None)) else ""


def concerned_tests(file: str) -> list[list[str]]:
    """Return the tests of what a file is part of: those that are likeliest to notice a change, and then all."""
    for folder, stages in STAGES.items():
        if file.startswith(f"{folder}/"):
            return [_importing(file, stages), *([stage] for stage in stages)]
    _, part, *rest = Path(file).parts
    if part == "games":
        own = _listed(f"tests/games/{rest[0]}", "test_*.py")
        of_all = _listed("tests/games", "test_*.py")
        return [own or of_all, [*of_all, "tests/engine"], ["tests/domain"]]
    stem = Path(file).stem.partition("_")[0].removesuffix("s")
    named = _listed("tests/domain", f"test_{stem}*.py")
    return [[*named, "tests/domain/test_match_laws.py"], ["tests/domain"], ["tests/games"]]


def _importing(file: str, folders: Sequence[str]) -> list[str]:
    """Return the tests in these folders that import a module; those of the first folder if none does."""
    module = file.removesuffix(".py").replace("/", ".")
    package, _, name = module.rpartition(".")
    texts = (module, f"from {package} import {name}")
    found = [
        str(path.relative_to(ROOT))
        for folder in folders
        for path in sorted((ROOT / folder).glob("test_*.py"))
        if any(text in path.read_text("utf-8") for text in texts)
    ]
    return found or [folders[0]]


def _listed(folder: str, pattern: str) -> list[str]:
    return sorted(str(file.relative_to(ROOT)) for file in (ROOT / folder).glob(pattern))


class MutantLoader(SourceFileLoader):
    """Loads a module with its one change."""

    def __init__(self, name: str, mutant: tuple[str, int]) -> None:
        super().__init__(name, str(ROOT / mutant[0]))
        self._mutant = mutant

    def get_code(self, fullname: str) -> CodeType:
        del fullname
        return compile(mutated(*self._mutant)[0], self.path, "exec")


class MutantFinder(MetaPathFinder):
    """Finds the one module that is changed."""

    def __init__(self, file: str, number: int) -> None:
        self._name = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        self._mutant = file, number

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        """Return how the changed module is loaded; None for all others."""
        del path, target
        if fullname != self._name:
            return None
        loader = MutantLoader(fullname, self._mutant)
        return spec_from_file_location(fullname, loader.path, loader=loader)


def run_tests(file: str, number: int, killer: str) -> int:
    """Run tests in this process with a mutant in place, `killer` first, and return pytest's exit code."""
    import pytest  # noqa: PLC0415 - only a process that runs tests pays for it

    sys.path.insert(0, str(ROOT))
    sys.meta_path.insert(0, MutantFinder(file, number))
    quick = "not long and not slow" if file.startswith(tuple(STAGES)) else "not long"
    flags = ["-x", "-q", "-m", quick, "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=no"]
    stages = [*([[killer]] if killer else []), *concerned_tests(file)]
    codes = (int(pytest.main([*flags, *tests])) for tests in stages)
    return next(filter(None, codes), 0)


def judged(mutant: Mutant) -> Verdict:
    """Run the tests of a mutant in a process of their own."""
    words = [sys.executable, __file__, "--one", mutant.file, str(mutant.number), mutant.killer]
    limit = (CPU_SECONDS, CPU_SECONDS)
    try:
        done = subprocess.run(
            words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=WAIT_SECONDS,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, limit),
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Verdict(mutant, killed=True, by=f"{WAIT_SECONDS} s")
    lines = done.stdout.splitlines()
    failed = next((line for line in lines if line.startswith(("FAILED", "ERROR"))), "")
    by = failed.partition(" - ")[0] or f"exit code {done.returncode}"
    if done.returncode == NO_TESTS:
        raise SystemExit(f"{mutant.file}: no tests were found: {words}\n{done.stderr}")
    return Verdict(mutant, done.returncode != 0, by if done.returncode else "")


def main() -> int:
    """Draw mutants, run the tests on each, and print what became of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--under", nargs="+", default=CORE, metavar="FOLDER")
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--least", type=int, default=0, help="how many have to be killed")
    parser.add_argument("--again", type=Path, metavar="FILE", help="of an earlier run with --json")
    parser.add_argument("--json", action="store_true")
    parser.add_argument(
        "--one", nargs=3, metavar=("FILE", "NUMBER", "TEST"), help="used for each process"
    )
    given = parser.parse_args()
    if given.one:
        return run_tests(given.one[0], int(given.one[1]), given.one[2])
    if given.again:
        earlier = json.loads(given.again.read_text("utf-8"))["mutants"]
        mutants = found_again(earlier, given.under)
        print(f"{len(earlier) - len(mutants)} of {len(earlier)} are gone", file=sys.stderr)
    else:
        mutants = drawn(given.seed, given.count, given.under)
    verdicts = []
    with ThreadPoolExecutor(given.at_once) as pool:
        every = [pool.submit(judged, one) for one in mutants]
        for done in as_completed(every):
            verdicts.append(verdict := done.result())
            said = f"killed by {verdict.by}" if verdict.killed else "SURVIVED"
            if not given.json:
                mutant = verdict.mutant
                print(f"{mutant.file}:{mutant.line}: {mutant.change}: {said}", flush=True)
    killed = sum(verdict.killed for verdict in verdicts)
    if given.json:
        found = [{**one.mutant._asdict(), "killed": one.killed, "by": one.by} for one in verdicts]
        print(json.dumps({"seed": given.seed, "killed": killed, "mutants": found}))
    else:
        print(f"{killed} of {len(verdicts)} killed")
    return int(killed < given.least)


if __name__ == "__main__":
    sys.exit(main())
