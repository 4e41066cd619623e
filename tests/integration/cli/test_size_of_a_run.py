"""What one run may write: the user's setting reaches the run, through the real program and ngspice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
LONG = "sine\nV1 a 0 sin(0 1 1k)\nR1 a b 1k\nC1 b 0 1u\n.tran 1u 5 0 1u\n.end\n"


def test_a_run_ends_at_the_size_the_settings_allow_and_keeps_what_it_wrote(tmp_path: Path) -> None:
    most = 2 * 2**20
    (tmp_path / "settings.json").write_text(json.dumps({"results": {"run_bytes": most}}))
    circuit = tmp_path / "sine.cir"
    circuit.write_text(LONG)
    done = subprocess.run(
        [sys.executable, "main.py", "simulate", str(circuit), "--json"],
        cwd=ROOT, env={**os.environ, "CIRCUIT_DESIGN_AI_HOME": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "file-size-limit" in done.stdout
    assert "run_bytes" in done.stdout
    files = [path for path in (tmp_path / "sim_results").rglob("*") if path.is_file()]
    raw = [path.stat().st_size for path in files if path.suffix == ".raw"]
    assert raw
    assert 2**20 < sum(raw) <= most
