"""What a circuit may include: found where ngspice looks, confined, never blocking, never raising."""

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.circuit.dependencies import SourceFile, SourceRefusal
from infrastructure.persistence.confined import read_regular_file
from infrastructure.persistence.source_files import ConfinedSourceReader, SourceReaderFactory


def put(path, text="* model\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def project(tmp_path):
    (tmp_path / "amp/.circuit_ai").mkdir(parents=True)
    put(tmp_path / "amp/main.cir", "title\n")
    put(tmp_path / "secret.txt", "secret\n")
    return tmp_path / "amp"


def reader_of(circuit, *libraries, **options):
    return ConfinedSourceReader(circuit, libraries, **options)


def reason(found):
    assert isinstance(found, SourceRefusal)
    return found.reason


def path_of(found):
    assert isinstance(found, SourceFile)
    return found.path


def test_beside_the_including_file_then_beside_the_circuit_then_in_the_libraries(project, tmp_path):
    circuit, nested = project / "main.cir", put(project / "sub/nested.inc")
    reader = reader_of(circuit, tmp_path / "lib1", tmp_path / "lib2")
    in_second = put(tmp_path / "lib2/m.lib")
    assert path_of(reader.read("m.lib", including_file=nested)) == in_second
    in_first = put(tmp_path / "lib1/m.lib")
    assert path_of(reader.read("m.lib", including_file=nested)) == in_first
    beside_circuit = put(project / "m.lib")
    assert path_of(reader.read("m.lib", including_file=nested)) == beside_circuit
    beside = put(project / "sub/m.lib")
    assert path_of(reader.read("m.lib", including_file=nested)) == beside
    assert path_of(reader.read("m.lib", including_file=circuit)) == beside_circuit


def test_last_from_the_folders_above_up_to_the_projects_as_ngspice_started_there_would(project, tmp_path):
    circuit = put(project / "lab/one/deck.cir", "title\n")
    reader = reader_of(circuit, tmp_path / "lib")
    put(tmp_path / "m.lib")  # above the project: a stranger's
    assert reason(reader.read("m.lib", including_file=circuit)) == "missing"
    at_the_top = put(project / "m.lib")
    assert path_of(reader.read("m.lib", including_file=circuit)) == at_the_top
    nearer = put(project / "lab/m.lib")
    assert path_of(reader.read("m.lib", including_file=circuit)) == nearer
    in_a_library = put(tmp_path / "lib/m.lib")
    assert path_of(reader.read("m.lib", including_file=circuit)) == in_a_library
    sibling = put(project / "amp/design.cir")
    assert path_of(reader.read("../amp/design.cir", including_file=circuit)) == sibling
    outside = put(tmp_path / "lone/sub/deck.cir", "title\n")  # no project: nothing above is looked at
    put(tmp_path / "lone/n.lib")
    assert reason(reader_of(outside).read("n.lib", including_file=outside)) == "missing"


def test_it_hands_out_the_bytes(project):
    (project / "m.lib").write_bytes(b"\xb5\r\n\x00")
    found = reader_of(project / "main.cir").read("m.lib", including_file=project / "main.cir")
    assert found == SourceFile(path=project / "m.lib", data=b"\xb5\r\n\x00")


@pytest.mark.parametrize(
    "written", ['"my models.lib"', "'my models.lib'", " my models.lib ", "./my models.lib"]
)
def test_quotes_and_blanks_around_a_name(project, written):
    put(project / "my models.lib")
    assert path_of(reader_of(project / "main.cir").read(written, including_file=project / "main.cir"))


@pytest.mark.parametrize("name", ["模型.lib", "µ.lib", "a#b.lib", "100%.lib", "-x.lib", "$PDK.lib", "..lib"])
def test_unusual_names(project, name):
    put(project / name)
    assert (
        path_of(reader_of(project / "main.cir").read(name, including_file=project / "main.cir")).name == name
    )


def test_letter_case_counts_where_two_differ_by_it(project):
    """A lone one is found as on Windows; what lies outside stays outside in any letter case."""
    circuit = project / "main.cir"
    other = put(project / "Models/A.LIB")
    reader = reader_of(circuit)
    assert path_of(reader.read("models\\a.lib", including_file=circuit)) == other
    exact = put(project / "models/a.lib")
    assert path_of(reader.read("models/a.lib", including_file=circuit)) == exact
    assert path_of(reader.read("Models/A.LIB", including_file=circuit)) == other
    assert reason(reader.read("MODELS/a.lib", including_file=circuit)) == "missing"  # which one?
    assert reason(reader.read("../Secret.TXT", including_file=circuit)) == "outside"
    put(project / ".circuit_ai/keys.lib")
    assert not isinstance(reader.read(".Circuit_AI/Keys.lib", including_file=circuit), SourceFile)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("nowhere.lib", "missing"),
        ("sub/nowhere.lib", "missing"),
        ("main.cir/x", "missing"),
        ("", "missing"),
        ("''", "missing"),
        ("a\0b", "missing"),
        ("\ud800", "missing"),
        ("../secret.txt", "outside"),
        ("../nowhere.txt", "outside"),
        ("/etc/passwd", "outside"),
        ("/nowhere/x", "outside"),
        (".circuit_ai/x", "outside"),
        (".circuit_ai", "outside"),
        ("sub/../.circuit_ai/x", "outside"),
        ("~/x.lib", "outside"),
        ("~root/x.lib", "outside"),
        ("~", "outside"),
        ("/proc/self/environ", "outside"),
        ("/dev/zero", "outside"),
        (".", "folder"),
        ("sub", "folder"),
        ("http://example.org/x.lib", "url"),
        ("HTTPS://example.org/x.lib", "url"),
        ("file:///etc/passwd", "url"),
        ("//server/share/x.lib", "url"),
        (r"\\server\share\x.lib", "url"),
        ("x" * 300, "missing"),
        ("x/" * 5000, "missing"),
    ],
)
def test_what_is_refused_and_why(project, written, expected):
    (project / "sub").mkdir()
    put(project / ".circuit_ai/x")
    found = reader_of(project / "main.cir", home=Path("/home/ann")).read(
        written, including_file=project / "main.cir"
    )
    assert reason(found) == expected
    assert "secret" not in repr(found) or "secret" in written
    str(found.path).encode()


@pytest.mark.parametrize(
    ("written", "near"),
    [
        ("bipolar.lib", "parts/bipolars.lib"),  # nearly so
        ("bipolars.lib", "parts/bipolars.lib"),  # elsewhere
        ("parts/Bipolar.lib", "parts/bipolars.lib"),
        ("mosfets.lib", ""),
        ("secret.lib", ""),  # outside
        ("main.cirs", ""),  # the circuit itself
    ],
)
def test_a_missing_file_is_told_with_one_that_may_be_meant(project, written, near):
    put(project / "parts/bipolars.lib")
    put(project.parent / "secrets.lib")
    found = reader_of(project / "main.cir").read(written, including_file=project / "main.cir")
    assert (reason(found), found.near) == ("missing", near)


def test_links_are_judged_by_where_they_lead(project, tmp_path):
    put(project / "real.lib")
    (project / "good.lib").symlink_to("real.lib")
    (project / "bad.lib").symlink_to("../secret.txt")
    (project / "folder").symlink_to(tmp_path)
    (project / "own.lib").symlink_to(".circuit_ai/x")
    put(project / ".circuit_ai/x")
    (project / "loop.lib").symlink_to("loop.lib")
    (project / "dangling.lib").symlink_to("nothing.lib")
    reader, circuit = reader_of(project / "main.cir"), project / "main.cir"
    assert path_of(reader.read("good.lib", including_file=circuit)) == project / "real.lib"
    assert reason(reader.read("bad.lib", including_file=circuit)) == "outside"
    assert reason(reader.read("folder/secret.txt", including_file=circuit)) == "outside"
    assert reason(reader.read("own.lib", including_file=circuit)) == "outside"
    assert reason(reader.read("loop.lib", including_file=circuit)) == "unreadable"
    assert reason(reader.read("dangling.lib", including_file=circuit)) == "missing"


def test_a_project_may_itself_be_seen_through_a_link(project, tmp_path):
    put(project / "m.lib")
    (tmp_path / "link").symlink_to("amp")
    reader = reader_of(tmp_path / "link/main.cir")
    assert path_of(reader.read("m.lib", including_file=tmp_path / "link/main.cir")) == project / "m.lib"


def test_special_files_are_refused_without_blocking(project, tmp_path):
    os.mkfifo(project / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.open(project, os.O_RDONLY)
        try:
            server.bind(f"/proc/self/fd/{here}/socket")
        finally:
            os.close(here)
    (project / "null").symlink_to("/dev/null")
    reader, circuit = reader_of(project / "main.cir", Path("/dev")), project / "main.cir"
    for name in ("fifo", "socket", "null", "zero", "tty"):
        assert reason(reader.read(name, including_file=circuit)) == "not-regular"


def test_size_limit(project):
    reader = reader_of(project / "main.cir", max_bytes=100)
    (project / "just.lib").write_bytes(b"x" * 100)
    (project / "over.lib").write_bytes(b"x" * 101)
    with (project / "sparse.lib").open("wb") as file:
        file.truncate(1 << 40)
    assert path_of(reader.read("just.lib", including_file=project / "main.cir"))
    assert reason(reader.read("over.lib", including_file=project / "main.cir")) == "too-large"
    assert reason(reader.read("sparse.lib", including_file=project / "main.cir")) == "too-large"


def test_a_library_may_be_a_folder_or_a_single_file(project, tmp_path):
    library = put(tmp_path / "pdk/models.lib")
    other = put(tmp_path / "pdk/other.lib")
    circuit = project / "main.cir"
    whole, single = reader_of(circuit, tmp_path / "pdk"), reader_of(circuit, library)
    assert path_of(whole.read(str(other), including_file=circuit)) == other
    assert path_of(whole.read("../pdk/other.lib", including_file=circuit)) == other
    assert path_of(single.read(str(library), including_file=circuit)) == library
    assert reason(single.read(str(other), including_file=circuit)) == "outside"
    assert path_of(whole.read("other.lib", including_file=library)) == other


def test_the_tilde_is_ones_own_home_and_only_when_it_is_listed(project, tmp_path):
    mine = put(tmp_path / "home/spice/m.lib")
    circuit = project / "main.cir"
    env = {"HOME": str(tmp_path / "home")}
    confined = SourceReaderFactory(env=env).for_circuit(circuit, [])
    assert reason(confined.read("~/spice/m.lib", including_file=circuit)) == "outside"
    listed = SourceReaderFactory(env=env).for_circuit(circuit, [tmp_path / "home/spice"])
    assert path_of(listed.read("~/spice/m.lib", including_file=circuit)) == mine


def test_a_lone_circuit_may_use_its_folder_but_nothing_hidden_and_nothing_above(tmp_path):
    circuit = put(tmp_path / "home/x.cir")
    put(tmp_path / "home/.netrc")
    put(tmp_path / "home/.ssh/id_rsa")
    put(tmp_path / "above.lib")
    beside = put(tmp_path / "home/lib/m.lib")
    reader = reader_of(circuit)
    assert path_of(reader.read("lib/m.lib", including_file=circuit)) == beside
    for name in (".netrc", ".ssh/id_rsa", "lib/../.ssh/id_rsa", "../above.lib"):
        assert reason(reader.read(name, including_file=circuit)) == "outside"


def test_a_folder_above_that_is_hidden_is_no_matter(tmp_path):
    circuit = put(tmp_path / ".cache/job/x.cir")
    beside = put(tmp_path / ".cache/job/m.lib")
    assert path_of(reader_of(circuit).read("m.lib", including_file=circuit)) == beside


def test_the_circuit_itself_may_be_read_also_through_a_link(tmp_path):
    real = put(tmp_path / "real/x.cir")
    (tmp_path / "desk").mkdir()
    (tmp_path / "desk/x.cir").symlink_to(real)
    beside = put(tmp_path / "desk/m.lib")
    reader, circuit = reader_of(tmp_path / "desk/x.cir"), tmp_path / "desk/x.cir"
    assert path_of(reader.read("x.cir", including_file=circuit)) == real
    assert path_of(reader.read("m.lib", including_file=circuit)) == beside
    assert reason(reader.read(str(real.parent / "other.lib"), including_file=circuit)) == "outside"


def test_relative_paths_of_the_circuit(project, monkeypatch):
    put(project / "m.lib")
    monkeypatch.chdir(project)
    reader = reader_of(Path("main.cir"))
    assert path_of(reader.read("m.lib", including_file=Path("main.cir"))) == project / "m.lib"


def test_the_project_counts_from_above_the_circuit(project):
    circuit = put(project / "stages/deep/x.cir")
    shared = put(project / "models/m.lib")
    found = reader_of(circuit).read("../../models/m.lib", including_file=circuit)
    assert path_of(found) == shared


def test_a_folder_exchanged_while_it_is_opened_is_noticed(project, tmp_path, monkeypatch):
    """Between the look at the path and the opening somebody puts a link in place of a folder."""
    put(project / "sub/m.lib", "harmless\n")
    put(tmp_path / "elsewhere/m.lib", "secret\n")
    real_open = os.open

    def exchange(path, flags, *args, **kwargs):
        if str(path).endswith("m.lib"):
            (project / "sub").rename(project / "away")
            (project / "sub").symlink_to(tmp_path / "elsewhere")
        return real_open(path, flags, *args, **kwargs)

    monkeypatch.setattr(os, "open", exchange)
    found = reader_of(project / "main.cir").read("sub/m.lib", including_file=project / "main.cir")
    assert reason(found) == "outside"


def test_a_file_exchanged_for_a_link_is_noticed(project, tmp_path, monkeypatch):
    put(project / "m.lib", "harmless\n")
    real_open = os.open

    def exchange(path, flags, *args, **kwargs):
        if str(path).endswith("m.lib"):
            (project / "m.lib").unlink()
            (project / "m.lib").symlink_to(tmp_path / "secret.txt")
        return real_open(path, flags, *args, **kwargs)

    monkeypatch.setattr(os, "open", exchange)
    found = reader_of(project / "main.cir").read("m.lib", including_file=project / "main.cir")
    assert reason(found) == "unreadable"


@given(reference=st.text(max_size=40))
def test_no_reference_makes_it_raise_or_escape(tmp_path_factory, reference):
    folder = tmp_path_factory.getbasetemp() / "any"
    (folder / "amp/.circuit_ai").mkdir(parents=True, exist_ok=True)
    circuit = put(folder / "amp/main.cir")
    found = reader_of(circuit).read(reference, including_file=circuit)
    if isinstance(found, SourceFile):
        assert found.path == circuit
    else:
        str(found.path).encode()


def test_reading_leaves_no_file_open(project):
    before = len(list(Path("/proc/self/fd").iterdir()))
    reader = reader_of(project / "main.cir", max_bytes=3)
    os.mkfifo(project / "fifo")
    for name in ("main.cir", "fifo", ".", "nowhere"):
        reader.read(name, including_file=project / "main.cir")
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_name_no_file_can_have_counts_as_not_found():
    with pytest.raises(FileNotFoundError):
        read_regular_file(Path("/tmp/a\0b"))
