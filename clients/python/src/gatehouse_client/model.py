# SPDX-License-Identifier: MIT
"""What all records have in common. Members that this version does not know are left out, so that a newer service can be
read."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Model(BaseModel):
    """A record of the interface: `first_name` here is `firstName` in JSON."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, validate_by_alias=True,
                              protected_namespaces=())

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it. Members that were not given are not there; None that was given is null."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)
