"""Search strategies, one file each: `plan(problem, attempts) -> Sequence[Draft]`.

`plan` is pure; an empty result means that the search is stalled.
"""
