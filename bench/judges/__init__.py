"""Judges: what of an answer is borne out by its context, and by the reference."""
