"""`import`: a sheet of LTspice's becomes a netlist that simulates."""

from __future__ import annotations

import math
from pathlib import Path

from tests.integration.cli.conftest import Cli
from tests.unit.circuit.test_kicad_schematic import RC as KICAD_RC
from tests.unit.circuit.test_kicad_schematic import placed
from tests.unit.circuit.test_ltspice_schematic import RC


def test_a_sheet_is_imported_and_simulated(cli: Cli, tmp_path: Path) -> None:
    sheet = tmp_path / "filter.asc"
    sheet.write_text(RC, encoding="cp1252")
    made = cli("import", sheet, "--json")
    assert made.exit_code == 0
    target = str(tmp_path / "filter.cir")
    empty = {"copied": [], "plots": {}, "errors": [], "warnings": []}
    assert made.document == {"ok": True, "path": target, **empty}
    assert cli("import", sheet).exit_code == 2  # nothing is written over unasked
    ports = tmp_path / "ports.asc"
    library = "TEXT 0 0 Left 2 !.lib D:\\\\his\\\\parts\\\\k.lib\n"  # it lies below the sheet
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "k.lib").write_text(".model k d\n")
    ports.write_text(RC.replace("96 out put", "96 y\nIOPIN 320 96 Out") + library, encoding="cp1252")
    assert cli("import", ports, "--json").document["plots"] == {"ac": ["v(y)"]}  # no node is called an output
    assert "\n.lib parts/k.lib\n" in (tmp_path / "ports.cir").read_text(encoding="utf-8")
    run = cli("simulate", tmp_path / "filter.cir", "--json")
    assert run.exit_code == 0
    measured = cli("measure", run.document["result_path"], "gain(v(out_put),1k)", "--json").document
    r, z = 1e3, complex(10, -1 / (2 * math.pi * 1e3 * 1e-6))
    assert math.isclose(measured["values"]["gain(v(out_put),1k)"]["value"], abs(z / (r + z)), rel_tol=1e-3)


def test_a_sheet_of_kicad_is_imported_with_its_library_and_simulated(cli: Cli, tmp_path: Path) -> None:
    home, there = tmp_path / "board", tmp_path / "there"
    home.mkdir()
    there.mkdir()
    fields = {"Sim_Library": "half.lib", "Sim_Name": "half", "Sim_Pins": "1=in 2=out"}
    text = KICAD_RC.replace('"4n7"', '"1n"').replace('"1M 1%"', '"1k"').replace("ampl=1 f=1M", "ampl=1 f=1k")
    part = placed("Device:R", "U1", "half", "30 3.81 0", **fields)
    label = '(label "out put" (at 30 0 0)) (label "half" (at 30 7.62 0))'
    (home / "x.kicad_sch").write_text(f"{text[:-1]} {part} {label})")
    (home / "half.lib").write_text(".subckt half in out\nE1 out 0 in 0 0.5\n.ends\n")
    made = cli("import", home / "x.kicad_sch", "-o", there / "x.cir", "--json")
    assert (made.exit_code, made.document["copied"]) == (0, [str(there / "half.lib")])
    run = cli("simulate", there / "x.cir", "--json")
    assert run.exit_code == 0
    gain = "gain(v(/half),100k)"
    measured = cli("measure", run.document["result_path"], gain, "--json").document["values"][gain]["value"]
    expected = 0.5 / abs(complex(1, 2 * math.pi * 1e5 * 1e3 * 1e-9))
    assert math.isclose(measured, expected, rel_tol=1e-3)


def test_what_is_missing_is_told(cli: Cli, tmp_path: Path) -> None:
    sheet = tmp_path / "x.asc"
    sheet.write_text("Version 4\nSYMBOL Mine\\thing 0 0 R0\nSYMATTR InstName U7\n")
    made = cli("import", sheet, "-o", tmp_path / "y.cir", "--json")
    assert made.exit_code == 1
    assert "Mine\\thing" in made.document["errors"][0]["message"]
    assert (tmp_path / "y.cir").is_file()
    for name, text in (("plain.asc", "R1 a 0 1k\n"), ("drawing.kicad_sch", "(kicad_pcb)"), ("nix.asc", None)):
        if text is not None:
            (tmp_path / name).write_text(text)
        assert cli("import", tmp_path / name, "-o", tmp_path / "z.cir").exit_code == 2
    assert not (tmp_path / "z.cir").exists()


def test_symbols_lie_in_library_folders_and_one_of_several_is_not_guessed(cli: Cli, tmp_path: Path) -> None:
    """By the folders it is named with; a plain name when all of it are alike. UTF-16 as LTspice 24 writes."""
    home, library = tmp_path / "sheets", tmp_path / "sym"
    outline = "Version 4\nPIN {0} 0 LEFT 8\nPINATTR SpiceOrder 1\nPIN {1} 0 LEFT 8\nPINATTR SpiceOrder 2\n"
    for folder, places in (("Logic", (0, 96)), ("Math", (96, 0))):
        (library / folder).mkdir(parents=True)
        text = outline.format(*places) + "SYMATTR Prefix X\nSYMATTR Value AND\n"
        (library / folder / "and.asy").write_text(text)
        (library / folder / "res.asy").write_text(text)  # LTspice's own goes first
    (home / "TLV").mkdir(parents=True)
    for folder, places in ((home, (0, 96)), (home / "TLV", (96, 0))):
        (folder / "amp.asy").write_text(outline.format(*places) + "SYMATTR Prefix X\nSYMATTR Value AMP\n")
    for name, symbol, line in (
        ("named", "Logic\\\\and", "XU1 a b AND"), ("other", "Math\\\\and", "XU1 b a AND"),
        ("plain", "and", None), ("below", "TLV\\\\amp", "XU1 b a AMP"),
        ("beside", "OPA\\\\amp", "XU1 a b AMP"),
    ):  # fmt: skip
        sheet = f"Version 4.1\nFLAG 0 0 a\nFLAG 96 0 b\nSYMBOL {symbol} 0 0 R0\nSYMATTR InstName U1\n"
        sheet += "SYMBOL res 0 0 R0\nSYMATTR InstName R1\nSYMATTR Value 1k\n"
        (home / f"{name}.asc").write_bytes(sheet.encode("utf-16-le"))
        made = cli("import", home / f"{name}.asc", "--library", library, "--json")
        written = (home / f"{name}.cir").read_text().splitlines()
        assert made.exit_code == (1 if line is None else 0)
        assert line is None or line in written
        assert any(each.startswith("R1 N") for each in written)
        told = [each["message"] for each in made.document["warnings"]]
        assert any("folder of the symbol OPA\\amp is not here" in each for each in told) == (name == "beside")


def test_a_symbol_beside_the_sheet_that_does_not_fit_is_not_told_as_taken(cli: Cli, tmp_path: Path) -> None:
    """The symbol LTspice made of a subcircuit is as its wires tell where the file is another one."""
    for name, pin in (("fits", -64), ("other", 0)):
        text = f"Version 4\nSymbolType BLOCK\nPIN {pin} -16 NONE 8\nPINATTR PinName a\nPINATTR SpiceOrder 1\n"
        (tmp_path / "pa1.asy").write_text(text + "SYMATTR Prefix X\nSYMATTR Value PA1\n")
        flags = "FLAG -64 -16 a\nFLAG -64 16 b\nFLAG 64 -16 c\nFLAG 64 16 d\n"
        part = "SYMBOL AutoGenerated\\PA1 0 0 R0\nSYMATTR InstName U1\n"
        (tmp_path / f"{name}.asc").write_text(f"Version 4\n{flags}{part}")
        told = [
            each["message"] for each in cli("import", tmp_path / f"{name}.asc", "--json").document["warnings"]
        ]
        taken = [each for each in told if "beside the sheet was taken" in each]
        assumed = [each for each in told if each.startswith("The symbol AutoGenerated\\PA1 is not here")]
        assert (len(taken), len(assumed)) == ((1, 0) if name == "fits" else (0, 1)), told


def test_libraries_come_along_and_a_circuit_takes_the_name_of_none(cli: Cli, tmp_path: Path) -> None:
    """Beside the sheet, and what they include; links that lead out, folders, names elsewhere do not, nor what
    another program would run."""
    home, there = tmp_path / "sheets", tmp_path / "there"
    (home / "lib").mkdir(parents=True)
    there.mkdir()
    names = ("lib\\a.lib", "Model.LIB", "loop.lib", "link.lib", "lib", "../b.lib", "/etc/passwd",
             "C:\\models\\c.lib", "n.301", "more words.sub",
             *(runs := (".spiceinit", "Makefile", "conftest.py")))  # fmt: skip
    cards = "".join(f"TEXT 0 0 Left 2 !.include {name}\n" for name in names)
    cards += 'TEXT 0 0 Left 2 !V9 q 0 wavefile="lib\\v.wav" chan=1\n'
    cards += "TEXT 0 0 Left 2 !V8 q 0 PWL file=beat.csv\n"
    cards += "TEXT 0 0 Left 2 !.lib two words.sub\nTEXT 0 0 Left 2 !.lib C:\\My models\\d.lib\n"
    (home / "filter.asc").write_text(f"{RC.rstrip()}\n{cards}", encoding="cp1252")
    (home / "two words.sub").write_text(".lib tt\n.lib 'corners.lib' ss\n.endl\n")
    (home / "corners.lib").write_text(".lib ss\n.endl\n")
    (home / "lib" / "a.lib").write_text("* a\n")
    (home / "lib" / "v.wav").write_bytes(b"RIFF")
    (home / "beat.csv").write_text("0,0\n1,5\n")
    for name in ("model.lib", "d.lib"):
        (home / name).write_text("* m\n")
    (home / "loop.lib").write_text(".include loop.lib\n")
    (home / "link.lib").symlink_to("/etc/passwd")
    for name in ("n.301", "more words.sub", *runs):
        (home / name).write_text(".model n d\n")
    made = cli("import", home / "filter.asc", "-o", there / "filter.cir", "--json").document
    assert sorted(made["copied"]) == [
        str(there / "Model.LIB"),  # as it is named; its own name differs in letter case
        str(there / "beat.csv"),
        str(there / "corners.lib"),
        str(there / "d.lib"),  # named in a folder of another computer, and beside the sheet
        str(there / "lib" / "a.lib"),
        str(there / "lib" / "v.wav"),
        str(there / "loop.lib"),
        str(there / "more words.sub"),
        str(there / "n.301"),
        str(there / "two words.sub"),
    ]
    assert sorted(each.name for each in there.iterdir()) == [
        "Model.LIB", "beat.csv", "corners.lib", "d.lib", "filter.cir", "lib", "loop.lib", "more words.sub",
        "n.301", "two words.sub",
    ]  # fmt: skip
    assert ".lib d.lib" in (there / "filter.cir").read_text().splitlines()
    refused = cli("import", home / "filter.asc", "-o", there / "new" / "loop.lib", "--json")
    assert "exists already" in refused.document["errors"][0]["message"]
    assert not (there / "new").exists()


def test_parts_of_ltspices_own_library_are_told_before_they_are_generic(cli: Cli, tmp_path: Path) -> None:
    """What a file beside the sheet has is no such part."""
    sheet = tmp_path / "amp.asc"
    sheet.write_text(
        "Version 4\nFLAG -32 80 a\nFLAG -32 48 0\nFLAG 0 32 p\nFLAG 0 96 m\nFLAG 32 64 q\n"
        "SYMBOL OpAmps\\\\LT1001 0 0 R0\nSYMATTR InstName U1\n"
        "SYMBOL diode 200 0 R0\nSYMATTR InstName D1\nSYMATTR Value 1N4148\n"
        "SYMBOL diode 300 0 R0\nSYMATTR InstName D2\nSYMATTR Value 1N5819\n"
        "TEXT 0 200 Left 2 !.include own.lib\n"
    )
    (tmp_path / "own.lib").write_text(".model 1n5819 D(IS=1u)\n")
    made = cli("import", sheet, "-o", tmp_path / "amp.cir", "--json")
    assert made.exit_code == 0, made
    [told] = [each["message"] for each in made.document["warnings"]]
    assert told.startswith("LT1001, 1N4148: of LTspice's own library.")
