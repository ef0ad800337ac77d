"""From footage to faces: what is found in files becomes sets."""
