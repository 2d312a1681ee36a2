"""Arguments that several tools take, with what the client reads about them."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

MAX_LENGTH = 4096  # characters of a path or a node id; Linux has no longer path


def _check_text(text: str) -> str:
    if "\0" in text:
        raise ValueError("a null character is in no path, test or name")
    if len(text) > MAX_LENGTH:
        raise ValueError(f"no path, test or name has more than {MAX_LENGTH} characters")
    return text


Text = Annotated[str, AfterValidator(_check_text)]
Root = Annotated[Text, Field(description="The folder of the project; by default the server's first root.")]
Seconds = Annotated[float, Field(description="Time limit in seconds; 0 is the setting's.", ge=0, le=86_400)]
Selectors = Annotated[list[Text] | None, Field(description="pytest node ids, files or folders; by default all tests.")]
Cases = Annotated[
    Text,
    Field(description="Also list the cases of this file, folder or node id; `.` for all. Failures are listed anyway."),
]
