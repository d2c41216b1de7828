"""What a sweep looks like: tables and figures made from its records alone."""
