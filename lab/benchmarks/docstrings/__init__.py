"""Which tests made from a docstring can be believed: tasks, recorded answers, what each says of each, scoring.

python -m benchmarks.docstrings.tasks OUT MBPP SDIST…     which tasks there are
python -m benchmarks.docstrings.answers OUT               what the model answers, once
python -m benchmarks.docstrings.matrix OUT                what every test says of every candidate
python -m benchmarks.docstrings.table OUT                 what each rule makes of it
"""
