"""Trust: galleries are killed, damaged, copied and attacked; what is left must be what was promised."""
