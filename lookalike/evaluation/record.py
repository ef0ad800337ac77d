"""Record: everything an evaluation found and what made it, as plain values that a skeptic can check."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, Final

import numpy as np

from lookalike.evaluation.contrasts import Gains
from lookalike.evaluation.labels import Labels
from lookalike.evaluation.results import Evaluation
from lookalike.kernels.threads import thread_count
from lookalike.parameters import PARAMETERS

# Raised whenever a key changes its meaning.
FORMAT: Final = 1
NUMERICAL: Final = ("numpy", "scipy", "scikit-learn", "pillow", "threadpoolctl")


def record(evaluation: Evaluation, found: Gains, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Put the figures of an evaluation beside what made them.

    Parameters
    ----------
    evaluation : Evaluation
    found : Gains
        Of every other method over the baseline.
    facts : mapping
        What the evaluation itself does not know: gallery, labels, parts, seeds, protocol.

    Returns
    -------
    dict
        Of values that JSON can hold. People are numbers in it; the names of sets are those of the gallery.
    """
    queries, people = evaluation.with_one_match()
    _, who = np.unique(np.asarray(evaluation.people), return_inverse=True)
    return {
        "format": FORMAT,
        **facts,
        **evaluation.to_dict(),
        "ranked": evaluation.ranked,
        "people": len(set(evaluation.people)),
        "single_match": {"queries": queries, "people": people},
        "by_seed": {name: evaluation.summaries(name) for name in evaluation.runs},
        "against_baseline": {
            name: {
                measure: {**gain.difference._asdict(), "p": gain.p, "p_corrected": gain.p_corrected}
                for measure, gain in measures.items()
            }
            for name, measures in found.items()
        },
        "parameters": {parameter.name: parameter.default for parameter in PARAMETERS},
        "versions": versions(),
        "per_query": {
            "id": evaluation.queries,
            "person": who.tolist(),
            "available": evaluation.available().tolist(),
            "values": {
                name: {measure: values.tolist() for measure, values in evaluation.values(name).items()}
                for name in evaluation.runs
            },
        },
    }


def versions() -> dict[str, str]:
    """What the figures were computed with."""
    found = {name: version(name) for name in ("lookalike", *NUMERICAL)}
    return {
        **found,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": str(os.cpu_count()),
        "threads": str(thread_count()),
    }


def labels_fingerprint(labels: Labels) -> str:
    """SHA-256 of who is on which set, in the order of the ids: equal for equal labels in any file."""
    digest = hashlib.sha256()
    for id, person in sorted(labels.items()):
        digest.update(f"{len(id.encode())}:{id}={len(person.encode())}:{person};".encode())
    return digest.hexdigest()
