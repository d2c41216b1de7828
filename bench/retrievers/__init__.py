"""Ways of ranking beside the dense one: by words, by both, and stages that work on another's ranking."""
