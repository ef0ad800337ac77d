"""The paper, and kin or look-alike: arithmetic on arrays, without files or labels."""
