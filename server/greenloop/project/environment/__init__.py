"""Environment of the tests: the interpreter, packages, the machine's limits, and their faults."""
