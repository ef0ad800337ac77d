"""Install the lowest versions that are allowed, and try them: ``python -m benchmarks.lowest [PYTHON]``."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
# Ray has no part in finding faces, and pins much else.
EXTRAS = "video,ann,report,parquet,onnx,deep"


def main() -> int:
    python = sys.argv[1] if len(sys.argv) > 1 else sys.executable
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "lowest"
        uv = [str(Path(folder) / "tools" / "bin" / "uv"), "pip"]
        subprocess.run([python, "-m", "venv", Path(folder) / "tools"], check=True)
        subprocess.run([Path(folder) / "tools" / "bin" / "pip", "install", "--quiet", "uv"], check=True)
        subprocess.run([python, "-m", "venv", place], check=True)
        inside = ["--python", str(place / "bin" / "python")]
        wanted = f"{ROOT}[{EXTRAS}]"
        subprocess.run([*uv, "install", *inside, "--resolution", "lowest-direct", wanted], check=True)
        subprocess.run([*uv, "check", *inside], check=True)
        for words in (["doctor"], ["demo", "--out", str(Path(folder) / "demo"), "--quiet"]):
            subprocess.run([place / "bin" / "lookalike", *words], check=True, cwd=folder)
    print("the lowest versions work together")
    return 0


if __name__ == "__main__":
    sys.exit(main())
