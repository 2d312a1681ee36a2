"""What a random agent calls, by seed: arguments that are right, wrong, or of any kind."""

import json

WRONG = "def double(x):\n    return x + 1\n\n\ndef one():\n    return 1\n"
RIGHT = WRONG.replace("x + 1", "x * 2")
TEST = "from m import double, one\n\n\ndef test_double():\n    assert double(5) == 10\n\n\ndef test_one():\n    assert one() == 1\n"
DOUBLE, HANGS = "test_m.py::test_double", "test_hang.py::test_hangs"
CODE = "```python\ndef double(x):\n    return x {}\n```"
FILES = {
    "m.py": WRONG,
    "test_m.py": TEST,
    "test_hang.py": "def test_hangs():\n    while True:\n        pass\n",
    "pytest.ini": "[pytest]\naddopts = --disable-plugin-autoload\n",
    "right.jsonl": json.dumps(CODE.format("* 2")) + "\n",
    "wrong.jsonl": "".join(json.dumps(CODE.format(f"+ {number}")) + "\n" for number in range(2, 9)),
}
# Tool, arguments, and how often; `read` is a resource instead.
GOOD = (
    ("history", {}, 10),
    ("history", {"limit": 3}, 5),
    ("doctor", {}, 2),
    ("run_tests", {"selectors": ["test_m.py"]}, 6),
    ("run_tests", {"selectors": [DOUBLE]}, 6),
    ("run_tests", {"selectors": [HANGS], "seconds": 0.5}, 3),
    ("explain", {"target": DOUBLE}, 3),
    ("verify", {"targets": [DOUBLE]}, 4),
    ("verify", {"targets": ["test_m.py"], "known_failing": [DOUBLE]}, 2),
    ("refine", {"target": DOUBLE, "model": "scripted:right.jsonl", "preset": "plain"}, 4),
    ("refine", {"target": DOUBLE, "model": "scripted:wrong.jsonl", "preset": "plain"}, 3),
    ("refine", {"target": DOUBLE, "model": "scripted:right.jsonl", "preset": "plain", "apply": True}, 1),
)
BAD = (
    ("nothing", {}),
    ("read", {"uri": "greenloop://run/none"}),
    ("read", {"uri": "greenloop://run/1000000/page"}),
    ("read", {"uri": "file:///etc/passwd"}),
    ("history", {"run": 10**30}),
    ("history", {"run": 1000000}),
    ("history", {"limit": 0}),
    ("history", {"limit": "many"}),
    ("history", {"number": 1}),
    ("doctor", {"root": "/"}),
    ("doctor", {"root": "nowhere"}),
    ("run_tests", {"root": ".."}),
    ("run_tests", {"root": "/etc"}),
    ("run_tests", {"selector": [DOUBLE]}),
    ("run_tests", {"selectors": 7}),
    ("run_tests", {"selectors": ["a\0b"]}),
    ("run_tests", {"selectors": [DOUBLE], "seconds": -1}),
    ("run_tests", {"selectors": [DOUBLE], "seconds": 1e300}),
    ("run_tests", {"selectors": [DOUBLE], "seconds": "nan"}),
    ("explain", {}),
    ("explain", {"target": ""}),
    ("explain", {"target": "nowhere.py::test_nothing"}),
    ("explain", {"target": "/etc/passwd::root"}),
    ("explain", {"target": [DOUBLE]}),
    ("verify", {"base": "no-such-commit"}),
    ("verify", {"base": "--help"}),
    ("verify", {"targets": "test_m.py", "base": None}),
    ("verify", {"run": 1000000}),
    ("verify", {"known_failing": ["@/etc/passwd"]}),
    ("refine", {}),
    ("refine", {"target": "m.py::nothing", "model": "scripted:right.jsonl"}),
    ("refine", {"target": DOUBLE, "model": "scripted:/etc/passwd"}),
    ("refine", {"target": DOUBLE, "model": "scripted:test_m.py", "preset": "plain"}),
    ("refine", {"target": DOUBLE, "model": "client"}),
    ("refine", {"target": DOUBLE, "preset": "no-such-preset", "model": "scripted:right.jsonl"}),
    ("refine", {"target": DOUBLE, "goal": "loud", "model": "scripted:right.jsonl"}),
    ("refine", {"target": DOUBLE, "attempts": -1, "model": "scripted:right.jsonl"}),
)
ANY = (None, True, -1, 0, 7, 10**30, 1e300, 0.5, "", " ", "x", "💥\u2028", "-x", "a\0b", "../..", "x" * 100_000, [], [[]], {}, {"a": 1},
       [DOUBLE, None], [""], ["x" * 5000] * 50)  # fmt: skip
ARGUMENTS = {
    "history": ("run", "limit", "root"),
    "doctor": ("root",),
    "run_tests": ("selectors", "seconds", "root"),
    "explain": ("target", "seconds", "root"),
    "verify": (
        "targets",
        "base",
        "known_failing",
        "allow_test_changes",
        "because",
        "require",
        "run",
        "seconds",
        "root",
    ),
    "refine": ("target", "comment", "goal", "preset", "attempts", "seconds", "tokens", "apply", "root"),
}


def choose(dice):
    """Returns the kind of a call (`good`, `bad`, `any`), its tool and its arguments."""
    kind = dice.choices(("good", "bad", "any"), (45, 40, 15))[0]
    if kind == "good":
        tool, arguments, _ = dice.choices(GOOD, [each[2] for each in GOOD])[0]
    elif kind == "bad":
        tool, arguments = dice.choice(BAD)
    else:
        tool = dice.choice(sorted(ARGUMENTS))
        arguments = {"target": DOUBLE} if tool in {"refine", "explain"} else {}
        arguments |= {"selectors": [DOUBLE]} if tool == "run_tests" else {}
        arguments |= {"targets": [DOUBLE]} if tool == "verify" else {}
        arguments |= {"model": "scripted:wrong.jsonl"} if tool == "refine" else {}
        arguments |= {name: dice.choice(ANY) for name in dice.choices(ARGUMENTS[tool], k=2)}
    return kind, tool, arguments
