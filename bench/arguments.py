"""The parser of every verb: a wrong command line is one line like every other error; settings may stand anywhere."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from bench.errors import ConfigError, near

KINDS = {"int": "a whole number", "float": "a number"}


class Parser(argparse.ArgumentParser):
    """An ``ArgumentParser`` that raises ConfigError where that one prints its usage and exits.

    What may be given many times without an option (``KEY=VALUE``, say) may stand before, between and behind options.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._options: list[str] = []
        self._many: argparse.Action | None = None
        super().__init__(*args, **kwargs)

    def add_argument(self, *args: Any, **kwargs: Any) -> argparse.Action:
        """Declare an argument, as the parent does."""
        if kwargs.get("nargs") == "*":
            kwargs.setdefault("default", [])  # else it is named among what is missing
        action = super().add_argument(*args, **kwargs)
        self._options.extend(action.option_strings)
        if not action.option_strings and action.nargs in ("*", "+"):
            self._many = action
        return action

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse all of ``args``: nothing is left over.

        Raises:
            ConfigError: something is unknown, missing, one too many, or has a wrong value.
        """
        given: Sequence[str] = args or []
        self._check_options(given)
        found, rest = super().parse_known_args(given, namespace)
        rest = [text for text in rest if text != "--"]
        if rest and self._many is None:
            raise ConfigError(f"{rest[0]!r}: is one argument too many; {self._help()}")
        if rest and self._many is not None:
            convert: Any = self._many.type or str
            setattr(found, self._many.dest, [*getattr(found, self._many.dest), *map(convert, rest)])
        return found, []

    def error(self, message: str) -> NoReturn:
        """Raise what argparse has to say, in our form."""
        missing = re.match(r"the following arguments are required: (.*)", message)
        wrong = re.match(r"argument (.*?): invalid (\w+) value: (.*)", message)
        if missing:
            raise ConfigError(f"{missing[1]}: missing; {self._help()}")
        if wrong:
            name, kind, got = wrong.groups()
            raise ConfigError(f"{name}: got {got}; allowed: {KINDS.get(kind, kind)}; {self._help()}")
        raise ConfigError(f"{message.removeprefix('argument ')}; {self._help()}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            name = "/".join(action.option_strings) or str(action.metavar or action.dest)
            raise ConfigError(f"{name}: got {value!r}; {near(str(value), map(str, action.choices))}; {self._help()}")

    def _check_options(self, given: Sequence[str]) -> None:
        """Name an unknown option first: what is missing may follow from it."""
        for text in given:
            name = text.partition("=")[0]
            if text == "--" or (self._subparsers is not None and not text.startswith("-")):
                return  # what follows is no option, or belongs to the parser of an action
            if not re.match(r"--|-[A-Za-z]", text):
                continue
            known = name in self._options or text[:2] in self._options
            if not known and not any(option.startswith(name) for option in self._options if name.startswith("--")):
                raise ConfigError(f"{name}: no such option; {near(name, self._options)}; {self._help()}")

    def _help(self) -> str:
        return f"{self.prog} --help shows what it takes"
