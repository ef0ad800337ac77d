"""What is counted of a way through the house: files and functions, transactions, manifests, children."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

# In a process of its own, since it listens to all that happens there.
CODE = """
import json, subprocess, sys
from pathlib import Path
from benchmarks.ways import Tracer, files
from lookalike import FaceSet, Gallery

folder = Path(sys.argv[1])
tracer = Tracer(folder)
with Gallery(folder / "g", create=True) as gallery:
    gallery.add(FaceSet("a", [[1.0, 2.0]]))
    with tracer.following() as hashed:
        FaceSet("b", [[1.0, 2.0]]).content_hash()
    with tracer.following() as counted:
        gallery.decide(lambda log, apart: [])
        (folder / "manifest.json").write_text("{}")
        (folder / "manifest.json").read_text()
        child = "from lookalike import FaceSet; FaceSet('c', [[1.0, 2.0]]).content_hash()"
        subprocess.run([sys.executable, "-c", child], check=True)
FaceSet("d", [[1.0, 2.0]])
print(json.dumps([
    [files(hashed.functions), sorted(name for _, name in hashed.functions), hashed.counts()],
    [files(counted.in_children), counted.counts()],
]))
"""


def test_a_way_is_what_runs_while_it_is_followed(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    [hashed_files, names, hashed], [child_files, counted] = json.loads(done.stdout)
    assert "FaceSet.content_hash" in names
    assert not any("<" in name for name in names)
    assert hashed["functions"] == len(names)
    assert hashed["files"] == len(hashed_files) < 4
    assert hashed["transactions"] == hashed["manifest_reads"] == hashed["functions_in_children"] == 0
    assert counted["transactions"] >= 1
    assert counted["manifest_reads"] == 1
    # The child runs what was run here, and all that it takes to load it.
    assert set(hashed_files) <= set(child_files)
