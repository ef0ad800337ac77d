"""Add a photo or clip to a served gallery, and ask who else shows the first person in it.

By a client that is generated: ``openapi-python-client generate --path docs/openapi.json`` makes the package
`lookalike_client`. The address of the server and a key with the scopes read and add are in LOOKALIKE_URL and
LOOKALIKE_KEY.
"""

import os
import sys
import time
from pathlib import Path

from lookalike_client import AuthenticatedClient
from lookalike_client.api.default import add_files, job, search
from lookalike_client.models import BodyAddFiles, JobViewState, SearchAsk, Told
from lookalike_client.types import File


def checked(said):
    """What was answered, unless it was refused: then the sentence that says why."""
    if said is None or isinstance(said, Told):
        sys.exit("the server did not answer" if said is None else said.error)
    return said


client = AuthenticatedClient(os.environ["LOOKALIKE_URL"], os.environ["LOOKALIKE_KEY"])
path = Path(sys.argv[1])
with path.open("rb") as content:
    body = BodyAddFiles(files=[File(content, path.name)])
    begun = checked(add_files.sync(client=client, body=body))
while begun.state in (JobViewState.WAITING, JobViewState.RUNNING):
    time.sleep(0.2)
    begun = checked(job.sync(begun.number, client=client))
if begun.state is not JobViewState.DONE:
    sys.exit(begun.error)
print(begun.text)
first, *_ = begun.result.split(",")
found = checked(search.sync(client=client, body=SearchAsk(set_=first, top=3)))
print(found.reading)
for answer in found.answers:
    print(answer.rank, answer.set_.id, answer.sure)
