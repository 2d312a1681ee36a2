"""Arguments that several tools take, with what the client reads about them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

Root = Annotated[str, Field(description="The folder of the project; by default the server's first root.")]
Seconds = Annotated[float, Field(description="Time limit in seconds; 0 is the setting's.", ge=0)]
Selectors = Annotated[list[str] | None, Field(description="pytest node ids, files or folders; by default all tests.")]
