"""`models` finds components, `bom` counts them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from tests.integration.cli.conftest import Cli


def test_components_are_found_in_a_library_folder_and_a_bill_is_written(cli: Cli, tmp_path: Path) -> None:
    lib = tmp_path / "parts"
    lib.mkdir()
    (lib / "q.lib").write_text(".model QA NPN(Vceo=65 Icrating=100m)\n.model QB NPN(BF=abc)\n")
    found = cli("models", "npn", "vceo>50", "--library", str(lib), "--json")
    [one] = json.loads(found.stdout)["models"]
    assert (one["name"], one["values"]["v"], one["fault"]) == ("QA", 65, None)
    faulty = cli("models", "QB", "--library", str(lib))
    assert (faulty.exit_code, ".model QB" in faulty.stdout) == (0, True)
    assert "bf=abc in the .model card of QB is not a number." in faulty.stderr
    assert cli("models", "op-amp above 9 GHz").exit_code == 1
    alone = cli("models", "2N3904")
    assert alone.stdout.startswith("* 2N3904: NPN small-signal transistor")

    circuit = tmp_path / "a.cir"
    circuit.write_text("t\nV1 a 0 1\nR1 a b 10k\nR2 b 0 10k\nC1 b 0 100n\n.op\n.end\n")
    table = tmp_path / "a.csv"
    written = cli("bom", str(circuit), "-o", str(table))
    assert "3 parts in 2 lines." in written.stdout
    rows = list(csv.DictReader(table.read_text("utf-8-sig").splitlines()))
    assert [(row["Count"], row["Value"], row["References"]) for row in rows] == [
        ("2", "10 kOhm", "R1 R2"), ("1", "100 nF", "C1")
    ]  # fmt: skip
    assert cli("bom", str(circuit), "-o", str(table)).exit_code == 2
    assert cli("bom", str(circuit), "-o", str(table), "--force").exit_code == 0
    assert cli("bom", str(circuit), "-o", str(tmp_path / "a.pdf")).exit_code == 2
    assert cli("bom", str(tmp_path / "none.cir")).exit_code == 2
