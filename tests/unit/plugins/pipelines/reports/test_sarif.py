"""SARIF: what code scanning reads."""

from __future__ import annotations

import json

import jsonschema

from greenloop.plugins.pipelines.reports import sarif
from greenloop.plugins.pipelines.reports.annotations import RULES, Annotation, Level
from sarif_schema import SARIF_SCHEMA

BEFORE = "a = 1\r\nb = '\U0001f600'\r\nc = 3\r\n"
AFTER = "a = 1\r\nb = 2\r\nc = 3\r\nd = 4\r\n"


def run_of(*annotations: Annotation, **more) -> dict:
    value = json.loads(sarif.document(annotations, command="verify", properties={"state": "failing"}, **more))
    jsonschema.validate(value, SARIF_SCHEMA)
    return value["runs"][0]


def failing(**changes) -> Annotation:
    values = {"rule": "test-failed", "level": Level.ERROR, "message": "1 != 2", "path": "tests/test a.py", "line": 3}
    return Annotation(**{**values, **changes})


def test_every_rule_is_described_and_indexed():
    run = run_of(*[failing(rule=rule) for rule in RULES])
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == [*RULES]
    assert [rules[result["ruleIndex"]] for result in run["results"]] == [result["ruleId"] for result in run["results"]]


def test_a_path_is_a_uri_from_the_top_of_the_repository():
    (result,) = run_of(failing(path="tests/té st#1%.py"), prefix="sub folder/")["results"]
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "sub%20folder/tests/t%C3%A9%20st%231%25.py"
    assert location["region"] == {"startLine": 3, "endLine": 3}


def test_without_a_line_it_is_the_first_and_without_a_path_there_is_no_location():
    whole_file, nowhere = run_of(failing(line=0), failing(path="", line=0))["results"]
    assert whole_file["locations"][0]["physicalLocation"]["region"] == {"startLine": 1, "endLine": 1}
    assert "locations" not in nowhere


def test_the_most_serious_come_first():
    levels = [
        each["level"] for each in run_of(failing(level=Level.NOTE), failing(level=Level.WARNING), failing())["results"]
    ]
    assert levels == ["error", "warning", "note"]


def test_a_fingerprint_survives_a_moved_line_and_tells_equal_remarks_apart():
    def prints(*annotations):
        return [each["partialFingerprints"]["greenloop/v1"] for each in run_of(*annotations)["results"]]

    assert prints(failing()) == prints(failing(line=90))
    assert prints(failing()) != prints(failing(message="1 != 3"))
    assert len(set(prints(failing(), failing(line=4)))) == 2


def test_a_fix_gives_the_new_text():
    note = failing(rule="fixed", changes={"m.py": (BEFORE, AFTER), "same.py": ("x", "x"), "new.py": (None, "n = 1\n")})
    (result,) = run_of(note)["results"]
    changes = {each["artifactLocation"]["uri"]: each["replacements"] for each in result["fixes"][0]["artifactChanges"]}
    assert set(changes) == {"m.py", "new.py"}
    for path, before, after in (("m.py", BEFORE, AFTER), ("new.py", "", "n = 1\n")):
        text = before
        for each in reversed(changes[path]):
            start = each["deletedRegion"]["charOffset"]
            text = text[:start] + each["insertedContent"]["text"] + text[start + each["deletedRegion"]["charLength"] :]
        assert text == after


def test_a_message_has_no_control_characters_and_is_never_empty():
    first, second = run_of(failing(message="\x1b[2J\udc80"), failing(message=""))["results"]
    assert first["message"]["text"] == "\\x1b[2J\\xdc80"
    assert second["message"]["text"] == "test-failed"
