"""Compare what users can see with the record, or make the record anew."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.frozen.comparing import differences, read, write
from tests.frozen.page import DOCUMENT, document
from tests.frozen.taking import take

RECORD = Path(__file__).parent / "record"
ACCEPT = "python -m tests.frozen --accept"


def main() -> None:
    """Run the command."""
    asked = argparse.ArgumentParser(prog="python -m tests.frozen", description=__doc__)
    asked.add_argument("--accept", action="store_true", help="put what is seen now in place of the record")
    asked.add_argument(
        "--bits",
        type=Path,
        metavar="DIR",
        help="compare to the last bit with a record of this machine in DIR, or make one if there is none",
    )
    given = asked.parse_args()
    kept, exact = given.bits or RECORD, given.bits is not None
    record = take(exact)
    if given.accept or not kept.exists():
        write(record, kept, exact)
        if not exact:
            DOCUMENT.write_text(document(), encoding="utf-8")
        print(f"recorded in {kept}")
        return
    found = differences(read(kept), record, exact)
    print("\n".join(found) or "nothing differs")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
