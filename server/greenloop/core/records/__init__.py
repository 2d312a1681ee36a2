"""The domain records: frozen dataclasses without behaviour beyond derived properties.

Line numbers are 1-based and inclusive, as in `ast`; paths are relative to the workspace root and use `/`.
Texts keep the line ends of their file.
The records must not know where texts come from, what runs them or what shows them.
"""
