"""What users can see, written down: rankings, evidence, ids, files, commands, the page, exit codes.

``python -m tests.frozen`` makes the record anew and tells what differs from the one in ``record/``;
``python -m tests.frozen --accept`` puts the new one in its place. `test_frozen.py` does the first in every
run of the tests.
"""
