"""What the tests run in: the interpreter, packages, the machine's limits, and what is wrong with them."""
