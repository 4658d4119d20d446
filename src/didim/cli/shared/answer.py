"""What `--json` prints: one object, a dataclass of the command's file. Numbers that are not finite
are null. Pydantic is imported when an answer is printed or described: help must be quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic_core import CoreSchema

Number = float | None


class Answer:
    """One JSON object. A subclass is a dataclass; the texts below its fields describe them in the
    schema.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = {
        "extra": "forbid",
        "use_attribute_docstrings": True,
        "revalidate_instances": "always",
    }


class OneOf:
    """The texts that a field may have: `Annotated[str, OneOf("yes", "no")]`."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(core), "enum": list(self.texts)}


def printed(answer: Answer) -> str:
    """The object as text; its values are checked against the schema."""
    from pydantic import TypeAdapter

    adapter = TypeAdapter(type(answer))
    return adapter.dump_json(adapter.validate_python(answer), indent=2).decode()


def schema_of_answer(kind: type[Answer]) -> dict[str, Any]:
    """The JSON Schema of an answer."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind).json_schema()
