"""Reports of `verify` and `fix` for other programs: JUnit XML, SARIF and GitHub annotations."""
