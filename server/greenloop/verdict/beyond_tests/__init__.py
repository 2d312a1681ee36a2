"""What the tests leave open of a pass: other inputs, special-casing, mutants."""
