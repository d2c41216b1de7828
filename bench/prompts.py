"""Prompts are Jinja files of ``conf/prompts`` with blocks ``system`` and ``user``. Documents are data in them."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateError, TemplateNotFound

from bench.errors import ConfigError, near
from bench.paths import conf_dir

_TAGS = re.compile(r"<(?=\s*/?\s*(?:passage|answer|question|claim|reference|statement)\b)", re.IGNORECASE)


def data(text: str) -> str:
    """Return ``text`` so that it cannot close the tags round it: their ``<`` becomes ``‹``."""
    return _TAGS.sub("‹", text)


@lru_cache(maxsize=8)
def _environment(folder: str) -> Environment:
    folders = [folder] if folder else []
    loader = FileSystemLoader([*folders, str(conf_dir() / "prompts")])
    environment = Environment(
        loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters["data"] = data
    return environment


def render(name: str, *, folder: str = "", **values: object) -> tuple[tuple[str, str], ...]:
    """Return the (role, content) messages of a template.

    Args:
        name: file name without ``.jinja2``.
        folder: looked into before ``conf/prompts``, for templates of the user's own.
        values: what the template uses. ``domain`` names a file of ``domain/``.

    Raises:
        ConfigError: there is no such template, or it is faulty.
    """
    try:
        template = _environment(folder).get_template(f"{name}.jinja2")
        context = template.new_context({"domain": "general", **values})
        return tuple((role, "".join(template.blocks[role](context)).strip()) for role in ("system", "user"))
    except TemplateNotFound as error:
        unknown = str(error.name).removesuffix(".jinja2")
        raise ConfigError(f"prompt {unknown!r} is unknown; {near(unknown, names(folder))}") from error
    except (TemplateError, KeyError) as error:
        raise ConfigError(f"prompt {name!r} is faulty: {error}; it needs the blocks system and user") from error


def names(folder: str = "") -> list[str]:
    """Return the names of all templates, without ``.jinja2``."""
    return [name.removesuffix(".jinja2") for name in _environment(folder).list_templates(extensions=["jinja2"])]


@lru_cache(maxsize=64)
def fingerprint(name: str, folder: str = "", domain: str = "general") -> str:
    """Return a hash of a template and its domain text: the version of a prompt in a record."""
    environment = _environment(folder)
    digest = hashlib.sha256()
    for part in (name, f"domain/{domain}"):
        try:
            source, _, _ = environment.loader.get_source(environment, f"{part}.jinja2")  # type: ignore[union-attr]
        except TemplateNotFound as error:
            raise ConfigError(f"prompt {part!r} is unknown; {near(part, names(folder))}") from error
        digest.update(source.encode())
    return digest.hexdigest()[:12]


def check_folder(folder: str, where: str) -> None:
    """Raise ConfigError if ``folder`` is named and is no folder."""
    if folder and not Path(folder).is_dir():
        raise ConfigError(f"{where}: got {folder!r}, which is no folder; leave it empty for the bundled prompts")
