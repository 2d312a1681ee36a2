"""How cases are run and read: `parse(execution, ...) -> results`, pure. One file a test runner."""
