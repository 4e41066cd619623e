"""Set-ups with a name, in files that may have come with somebody's project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from application.project.saved_setups import MOST_SETUPS, SavedSetup, SavedSetups, setup_of
from domain.studies.setup import SetupRow, StudySetup
from infrastructure.persistence.project import ProjectFolders
from shared.errors import UserInputError


async def test_a_name_is_one_set_up_of_a_kind_and_a_strangers_file_gives_what_makes_sense(
    tmp_path: Path,
) -> None:
    root = tmp_path / "p"
    root.mkdir()
    circuit = root / "滤波器" / "a b.cir"
    setups = SavedSetups(projects=ProjectFolders())
    assert await setups.of(root, circuit) == ()  # there is no project yet
    setup = StudySetup(rows=(SetupRow(pattern="R*", tolerance="1 %"),), limits={"fc": ">= 1k"}, runs="20")
    await setups.save(root, circuit, SavedSetup(name=" mine ", kind="montecarlo", setup=StudySetup()))
    await setups.save(root, circuit, SavedSetup(name="Mine", kind="montecarlo", setup=setup))
    await setups.save(root, circuit, SavedSetup(name="mine", kind="sweep", setup=setup))
    found = await setups.of(root, circuit)
    assert [(each.name, each.kind) for each in found] == [("Mine", "montecarlo"), ("mine", "sweep")]
    assert found[0].setup == setup
    assert await setups.of(root, root / "b.cir") == ()
    for name in ("", "  ", "x" * 81):
        with pytest.raises(UserInputError):
            await setups.save(root, circuit, SavedSetup(name=name, kind="sweep", setup=setup))
    with pytest.raises(UserInputError):
        await setups.save(root, tmp_path / "c.cir", SavedSetup(name="n", kind="sweep", setup=setup))

    (file,) = (root / ".circuit_ai" / "study_setups").iterdir()
    content = json.loads(file.read_text())
    content["setups"] = [
        {"name": "ok", "kind": "sweep", "setup": {"runs": 7, "rows": [{"pattern": "C1", "scale": "odd"}, 3]}},
        {"name": "bad", "kind": "no such kind", "setup": {}},
        {"kind": "sweep"}, 5, None, {"name": "y" * 500, "kind": "sweep", "setup": {}},
        *({"name": f"n{i}", "kind": "sweep", "setup": {}} for i in range(300)),
    ]  # fmt: skip
    file.write_text(json.dumps(content))
    found = await setups.of(root, circuit)
    assert 1 < len(found) <= MOST_SETUPS
    assert {each.kind for each in found} == {"sweep"}
    assert "ok" in [each.name for each in found]
    for damaged in ("[" * 100_000, "", "[]", "\x00"):
        file.write_text(damaged)
        assert await setups.of(root, circuit) == ()
    await setups.remove(root, circuit, SavedSetup(name="ok", kind="sweep", setup=setup))
    assert not file.exists()


def test_a_study_asked_for_elsewhere_has_no_set_up() -> None:
    assert setup_of("montecarlo", {}) is None
    assert setup_of("montecarlo", {"setup": [1]}) is None
    assert setup_of("transient", {"setup": {}}) is None
    assert setup_of("sweep", {"setup": {"runs": "7", "method": "odd"}}) == StudySetup(runs="7")
