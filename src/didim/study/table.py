"""What all tables of a study file are: pydantic models whose keys are described by the texts below
them.

Pydantic can read these texts itself when a class is made (`use_attribute_docstrings`); that parses
all schemas at every start, and only the JSON Schema and the message about a missing key need them.
"""

from __future__ import annotations

import ast
import inspect
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler
from pydantic_core import CoreSchema


class Table(BaseModel):
    """A table of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> dict[str, Any]:
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        for key, text in meanings(cls).items():
            name = cls.model_fields[key].alias or key
            if name in properties:
                properties[name]["description"] = text
        return schema

    def given(self, *without: str) -> dict[str, object]:
        """The keys that the file gives, and their values."""
        return {
            name: getattr(self, name)
            for name in type(self).model_fields
            if name in self.model_fields_set - {*without}
        }


@cache
def meanings(table: type[BaseModel]) -> dict[str, str]:
    """From the keys of a table to the texts below them; keys without one are left out."""
    found: dict[str, str] = {}
    for each in reversed(table.__mro__):
        if issubclass(each, Table):
            found |= _texts_below(each)
    return {key: text for key, text in found.items() if key in table.model_fields}


def _texts_below(table: type[Table]) -> dict[str, str]:
    """The texts in the source of this class itself."""
    definition = ast.parse(inspect.getsource(table)).body[0]
    assert isinstance(definition, ast.ClassDef)
    found, key = {}, ""
    for line in definition.body:
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            key = line.target.id
            continue
        if key and isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant):
            found[key] = inspect.cleandoc(str(line.value.value))
        key = ""
    return found
