"""Documents and golden questions: loaded as they stand, verified against each other."""
