"""Makes tasks of a repository's history: past fixes, with the tree before and the tests after."""
