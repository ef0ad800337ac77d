"""Generate a client of the interface in a Python of its own, and try it: ``python -m benchmarks.client``."""

from __future__ import annotations

import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from lookalike import Gallery
from lookalike.ingest.add import add
from tests import media

ROOT = Path(__file__).parent.parent


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = folder / "python" / "bin"
        subprocess.run([sys.executable, "-m", "venv", python.parent], check=True)
        subprocess.run([python / "pip", "install", "--quiet", "openapi-python-client", "ruff"], check=True)
        words = ["generate", "--path", f"{ROOT}/docs/openapi.json", "--output-path", f"{folder}/client"]
        path = os.pathsep.join((str(python), os.environ["PATH"]))
        subprocess.run(
            [python / "openapi-python-client", *words], check=True, env={**os.environ, "PATH": path}
        )
        subprocess.run([python / "pip", "install", "--quiet", folder / "client"], check=True)
        add(folder / "g.gallery", [media.group_photo(folder, 3)])
        key = secrets.token_urlsafe(24)
        (folder / "keys").touch(mode=0o600)
        (folder / "keys").write_text(f"example read,add {key}\n")
        serve = [
            "serve",
            f"{folder}/g.gallery",
            "--port",
            "0",
            "--no-browser",
            "--key-file",
            f"{folder}/keys",
        ]
        command = [sys.executable, "-m", "lookalike", *serve]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            base = next(found[0] for line in server.stdout if (found := re.search(r"http://[^/]+", line)))
            asks = {**os.environ, "LOOKALIKE_URL": base, "LOOKALIKE_KEY": key}
            asks.pop("PYTHONPATH", None)
            example = ROOT / "examples" / "client" / "add_and_find.py"
            for sent in (media.photo(folder), media.video(folder)):
                subprocess.run([python / "python", example, sent], check=True, env=asks, cwd=folder)
            server.send_signal(signal.SIGINT)
        with Gallery(folder / "g.gallery") as gallery:
            print(f"the generated client added {len(gallery) - 3} sets")
    return 0


if __name__ == "__main__":
    sys.exit(main())
