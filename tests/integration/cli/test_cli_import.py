"""`import`: a sheet of LTspice's becomes a netlist that simulates."""

from __future__ import annotations

import math
from pathlib import Path

from tests.integration.cli.conftest import Cli
from tests.unit.circuit.test_ltspice_schematic import RC


def test_a_sheet_is_imported_and_simulated(cli: Cli, tmp_path: Path) -> None:
    sheet = tmp_path / "filter.asc"
    sheet.write_text(RC, encoding="cp1252")
    made = cli("import", sheet, "--json")
    assert made.exit_code == 0
    target = str(tmp_path / "filter.cir")
    assert made.document == {"ok": True, "path": target, "copied": [], "errors": [], "warnings": []}
    assert cli("import", sheet).exit_code == 2  # nothing is written over unasked
    run = cli("simulate", tmp_path / "filter.cir", "--json")
    assert run.exit_code == 0
    measured = cli("measure", run.document["result_path"], "gain(v(out_put),1k)", "--json").document
    r, z = 1e3, complex(10, -1 / (2 * math.pi * 1e3 * 1e-6))
    assert math.isclose(measured["values"]["gain(v(out_put),1k)"]["value"], abs(z / (r + z)), rel_tol=1e-3)


def test_what_is_missing_is_told(cli: Cli, tmp_path: Path) -> None:
    sheet = tmp_path / "x.asc"
    sheet.write_text("Version 4\nSYMBOL Mine\\thing 0 0 R0\nSYMATTR InstName U7\n")
    made = cli("import", sheet, "-o", tmp_path / "y.cir", "--json")
    assert made.exit_code == 1
    assert "Mine\\thing" in made.document["errors"][0]["message"]
    assert (tmp_path / "y.cir").is_file()
    for name, text in (("plain.asc", "R1 a 0 1k\n"), ("drawing.kicad_sch", "(kicad_sch)"), ("nix.asc", None)):
        if text is not None:
            (tmp_path / name).write_text(text)
        assert cli("import", tmp_path / name, "-o", tmp_path / "z.cir").exit_code == 2
    assert not (tmp_path / "z.cir").exists()


def test_libraries_come_along_and_a_circuit_takes_the_name_of_none(cli: Cli, tmp_path: Path) -> None:
    """Beside the sheet, and what they include; links that lead out, folders, names elsewhere do not."""
    home, there = tmp_path / "sheets", tmp_path / "there"
    (home / "lib").mkdir(parents=True)
    there.mkdir()
    names = ("lib\\a.lib", "loop.lib", "link.lib", "lib", "../b.lib", "/etc/passwd", "C:\\models\\c.lib")
    cards = "".join(f"TEXT 0 0 Left 2 !.include {name}\n" for name in names)
    (home / "filter.asc").write_text(f"{RC.rstrip()}\n{cards}", encoding="cp1252")
    (home / "lib" / "a.lib").write_text("* a\n")
    (home / "loop.lib").write_text(".include loop.lib\n")
    (home / "link.lib").symlink_to("/etc/passwd")
    made = cli("import", home / "filter.asc", "-o", there / "filter.cir", "--json").document
    assert sorted(made["copied"]) == [str(there / "lib" / "a.lib"), str(there / "loop.lib")]
    assert sorted(each.name for each in there.iterdir()) == ["filter.cir", "lib", "loop.lib"]
    refused = cli("import", home / "filter.asc", "-o", there / "new" / "loop.lib", "--json")
    assert "exists already" in refused.document["errors"][0]["message"]
    assert not (there / "new").exists()
