"""No preparation: faces are compared as they were described."""

from __future__ import annotations

from lookalike.faceset import Faces
from lookalike.preparations.contract import Preparation


class Nothing(Preparation):
    """Leaves every face as it is."""

    stored_name = "none"

    def apply(self, faces: Faces) -> Faces:
        """Return the faces themselves."""
        return faces
