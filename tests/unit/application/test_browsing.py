"""A project as a window shows it."""

from __future__ import annotations

import asyncio
import json
import math
from pathlib import Path

import pytest

import bootstrap
from application.design.circuit_goals import save_goals
from application.ports.project import ProjectFiles
from application.project.browsing import BrowseProject, Listing, ResultSummary, is_ours_or_temporary
from infrastructure.persistence.project import ProjectFolder, ProjectFolders
from infrastructure.persistence.stored_results import sign_unsigned
from shared.errors import EnvironmentProblem, UserInputError
from shared.message import msg

CIRCUIT = "* RC\nV1 in 0 AC 1\nR1 in out 1k\nC1 out 0 100n\n.ac dec 20 10 1meg\n.end\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "rc.cir").write_text(CIRCUIT)
    return folder


@pytest.fixture
async def browse():
    app = bootstrap.build()
    yield app.project.browse
    await app.close()


def store_result(root: Path, name: str, **changes: object) -> Path:
    folder = root / ".circuit_ai" / "sim_results" / name
    folder.mkdir(parents=True)
    content: dict[str, object] = {
        "id": name,
        "created": "2026-01-02T03:04:05.000+00:00",
        "ok": True,
        "status": "ok",
        "netlist": {"path": str(root / "rc.cir"), "sha256": "00" * 32},
        "raw_paths": [],
    }
    path = folder / "result.json"
    path.write_text(json.dumps({**content, **changes}))
    return path


async def test_a_folder_becomes_a_project_and_its_only_circuit_is_found(
    browse: BrowseProject, root: Path
) -> None:
    opened = await browse.open(root)
    assert opened.root == root
    assert opened.circuits == (root / "rc.cir",)
    assert opened.warning is None
    assert (root / ".circuit_ai").is_dir()


async def test_a_file_opens_the_project_around_it(browse: BrowseProject, root: Path) -> None:
    (root / "sub").mkdir()
    file = root / "sub" / "part.cir"
    file.write_text(CIRCUIT)
    await browse.open(root)
    opened = await browse.open(file)
    assert (opened.root, opened.file) == (root, file)


async def test_included_files_and_fragments_are_no_main_circuits(browse: BrowseProject, root: Path) -> None:
    (root / "rc.cir").write_text(CIRCUIT.replace(".end", ".include load.cir\n.end"))
    (root / "load.cir").write_text("* load\nRL out 0 1k\n")
    (root / "models.lib").write_text(".model d1 d\n")
    assert (await browse.open(root)).circuits == (root / "rc.cir",)


async def test_of_very_many_circuits_the_near_and_the_known_ones_are_seen(
    browse: BrowseProject, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("application.tool_execution.tools.circuit_choice._MOST_CIRCUITS", 3)
    (root / "a").mkdir()
    for name in (*(f"a/{n}.cir" for n in range(5)), "near.cir"):
        (root / name).write_text(CIRCUIT)
    near = (root / "near.cir", root / "rc.cir")
    assert (await browse.open(root)).circuits == (root / "a" / "0.cir", *near)
    known = root / "a" / "4.cir"
    assert known in (await browse.open(root, main="a/4.cir")).circuits
    assert known in await browse.circuits(root, [known])


@pytest.mark.parametrize("place", ["nowhere", "/"])
async def test_places_that_cannot_be_projects_are_refused(
    browse: BrowseProject, tmp_path: Path, place: str
) -> None:
    with pytest.raises(UserInputError) as caught:
        await browse.open(tmp_path / place)
    assert caught.value.advice is not None


async def test_a_home_is_too_wide(
    browse: BrowseProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(UserInputError):
        await browse.open(tmp_path)
    assert not (tmp_path / ".circuit_ai").exists()


async def test_a_folder_lists_folders_first_in_the_order_of_people(browse: BrowseProject, root: Path) -> None:
    for name in ("run10.txt", "run2.txt", ".hidden", "~notes.txt~", ".01ARZ3NDEKTSV4RRFFQ69G5FAV.tmp"):
        (root / name).write_text("")
    (root / "zlib").mkdir()
    (root / "loop").symlink_to(root)
    entries = (await browse.folder(root)).entries
    assert [(entry.name, entry.kind) for entry in entries] == [
        ("zlib", "folder"),
        ("rc.cir", "file"),
        ("run2.txt", "file"),
        ("run10.txt", "file"),
    ]
    some = await browse.folder(root, 2)
    assert ([entry.name for entry in some.entries], some.hidden) == (["zlib", "rc.cir"], 2)
    assert await browse.folder(root / "gone") == Listing(entries=(), hidden=0)


async def test_sections_of_a_file(browse: BrowseProject, root: Path) -> None:
    sections = await browse.sections(root / "rc.cir")
    assert [section.kind for section in sections] == ["elements", "sources", "nodes", "analyses"]
    with pytest.raises(UserInputError):
        await browse.sections(root / "gone.cir")


async def test_results_are_numbered_and_the_newest_is_first(browse: BrowseProject, root: Path) -> None:
    await browse.open(root)
    store_result(root, "20260101T000000000Z-A")
    store_result(root, "20260102T000000000Z-A", ok=False, status="failed")
    (root / ".circuit_ai" / "sim_results" / "20260103T000000000Z-A").mkdir()  # a run under way
    results = await browse.results(root)
    assert [(item.number, item.ok, item.status) for item in results] == [
        (2, False, "failed"),
        (1, True, "ok"),
    ]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"netlist": 3}', "{" * 5000])
async def test_a_damaged_result_is_left_out(browse: BrowseProject, root: Path, content: str) -> None:
    await browse.open(root)
    store_result(root, "20260101T000000000Z-A")
    store_result(root, "20260102T000000000Z-A").write_text(content)
    assert [item.number for item in await browse.results(root)] == [1]


async def test_goals_are_measured_on_a_real_result(root: Path) -> None:
    pytest.importorskip("numpy")
    app = bootstrap.build()
    try:
        await app.project.browse.open(root)
        raw = b"".join(
            [
                b"Title: t\nDate: d\nPlotname: Operating Point\nFlags: real\n",
                b"No. Variables: 1\nNo. Points: 1\n",
                b"Variables:\n\t0\tv(out)\tvoltage\nValues:\n 0\t2.5\n\n",
            ]
        )
        path = store_result(root, "20260101T000000000Z-A", raw_paths=["out.raw"])
        (path.parent / "out.raw").write_bytes(raw)
        goals = {
            "goals": [
                {"metric": "a", "expression": "v(out)", "unit": "V", "minimum": 2.0, "maximum": None},
                {"metric": "b", "expression": "v(out)", "unit": "V", "minimum": 3.0, "maximum": None},
                {"metric": "c", "expression": "v(none)", "unit": "V", "minimum": 3.0},
                {"metric": "broken"},
                7,
            ]
        }
        (root / ".circuit_ai" / "design_goals.json").write_text(json.dumps(goals))
        await asyncio.to_thread(run_here, root)
        results = await app.project.browse.results(root)
        assert await app.project.browse.judged(root, results) == {path: (1, 3)}
    finally:
        await app.close()


def run_here(root: Path) -> None:
    """Make the stored results those of this user."""
    project = ProjectFolder(root)
    sign_unsigned(project.results_folder, project.authenticity, older_than=math.inf)


def ask_for(root: Path, goals: dict[str, list[dict[str, object]]]) -> None:
    project = ProjectFolders().open(root)
    for name, plain in goals.items():
        save_goals(project, name, {"goals": plain})


async def test_each_result_is_judged_by_its_own_circuits_goals(root: Path) -> None:
    pytest.importorskip("numpy")
    app = bootstrap.build()
    raw = b"\n".join(
        [
            b"Title: t\nDate: d\nPlotname: Operating Point\nFlags: real",
            b"No. Variables: 1\nNo. Points: 1",
            b"Variables:\n\t0\tv(out)\tvoltage\nValues:\n 0\t2.5\n\n",
        ]
    )
    bound = {"metric": "vout", "expression": "v(out)", "unit": "V"}
    asked: dict[str, list[dict[str, object]]] = {
        "rc.cir": [{**bound, "minimum": 2.0}],
        "sub/buck.cir": [{**bound, "minimum": 5.0}, {**bound}],
    }
    try:
        await app.project.browse.open(root)
        paths = {}
        for number, name in enumerate((*asked, "amp.cir")):
            netlist = {"path": str(root / name), "sha256": "00" * 32}
            paths[name] = store_result(root, f"2026010{number}", raw_paths=["out.raw"], netlist=netlist)
            (paths[name].parent / "out.raw").write_bytes(raw)
        await asyncio.to_thread(ask_for, root, asked)
        assert (
            await app.project.browse.judged(root, await app.project.browse.results(root)) == {}
        )  # a stranger's, so far
        await asyncio.to_thread(run_here, root)
        judged = await app.project.browse.judged(root, await app.project.browse.results(root))
        assert judged == {paths["rc.cir"]: (1, 1), paths["sub/buck.cir"]: (1, 2)}
        # Goals that come later change no verdict of before.
        await asyncio.to_thread(ask_for, root, {"rc.cir": [{**bound, "minimum": 9.0}]})
        judged = await app.project.browse.judged(root, await app.project.browse.results(root))
        assert judged[paths["rc.cir"]] == (1, 1)
    finally:
        await app.close()


async def test_no_goals_no_verdict(browse: BrowseProject, root: Path) -> None:
    await browse.open(root)
    path = store_result(root, "20260101T000000000Z-A")
    summary = ResultSummary(
        path=path,
        number=1,
        created="",
        ok=True,
        status="ok",
        verdict="complete",
        circuit=root / "rc.cir",
        netlist_sha256="",
    )
    assert await browse.judged(root, [summary]) == {}
    (root / ".circuit_ai" / "design_goals.json").write_text("nonsense")
    assert await browse.judged(root, [summary]) == {}


async def test_digests_tell_changes(browse: BrowseProject, root: Path) -> None:
    await browse.open(root)
    before = await browse.digests(root)
    assert set(before) == {"rc.cir"}
    (root / "rc.cir").write_text(CIRCUIT + "* more\n")
    (root / "picture.png").write_bytes(b"x")
    after = await browse.digests(root)
    assert set(after) == {"rc.cir"}
    assert after != before
    assert await browse.digest(root / "rc.cir") == after["rc.cir"]
    assert await browse.digest(root / "gone.cir") is None


async def test_a_new_circuit_has_a_title_and_an_end(browse: BrowseProject, root: Path) -> None:
    await browse.open(root)
    path = await browse.new_circuit(root, " amp ")
    assert path == root / "amp.cir"
    assert path.read_text() == "* amp\n\n.end\n"
    for name in ("amp.cir", "", "..", "a/b.cir", ".hidden", "a\0b", 'q"x'):
        with pytest.raises(UserInputError):
            await browse.new_circuit(root, name)


async def test_examples_are_copied_under_free_names(browse: BrowseProject, tmp_path: Path) -> None:
    examples = await browse.examples()
    assert examples
    for example in examples:
        assert example.title
        assert example.analyses
    name = examples[0].name
    first, second = [await browse.copy_example(name, tmp_path / "new") for _ in range(2)]
    assert (first.name, second.name) == (name, f"{name}-2")
    assert (second / examples[0].circuit.name).read_bytes() == examples[0].circuit.read_bytes()
    for wrong in ("../examples", "nothing", ""):
        with pytest.raises(UserInputError):
            await browse.copy_example(wrong, tmp_path)


async def test_the_examples_have_no_errors() -> None:
    app = bootstrap.build()
    try:
        for example in await app.project.browse.examples():
            report = await app.simulation.check(example.circuit)
            assert [str(item.message) for item in report.diagnostics if item.severity != "info"] == []
    finally:
        await app.close()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (".circuit_ai/operations.sqlite", True),
        ("sub/.01ARZ3NDEKTSV4RRFFQ69G5FAV.tmp", True),
        ("rc.cir~", True),
        (".rc.cir.swp", True),
        (".#rc.cir", True),
        ("#rc.cir#", True),
        ("rc.cir", False),
        ("sub/tmp.cir", False),
    ],
)
def test_what_the_watch_ignores(tmp_path: Path, name: str, expected: bool) -> None:
    assert is_ours_or_temporary(tmp_path / name, tmp_path) is expected


class ReadOnlyProjects:
    """A disk that cannot be written to."""

    def open(self, folder: Path, *, create: bool = False) -> ProjectFiles:
        raise EnvironmentProblem(msg("The disk is read-only."))


async def test_a_read_only_folder_opens_with_a_warning(
    browse: BrowseProject, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browse, "_projects", ReadOnlyProjects())
    opened = await browse.open(root)
    assert opened.warning is not None
    assert "read-only" in str(opened.warning)
    assert opened.circuits == (root / "rc.cir",)
