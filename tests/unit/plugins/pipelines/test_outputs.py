"""The registered forms of results: which options there are, and what they open."""

from __future__ import annotations

import argparse

import pytest

from greenloop.core import entry_points
from greenloop.plugins.pipelines import outputs
from greenloop.plugins.pipelines.patch import PatchFile
from greenloop.plugins.pipelines.reports.report_files import ReportFile, ReportKind, Reports


def test_greenloop_registers_them():
    assert outputs in entry_points.load_all(entry_points.OUTPUTS)


@pytest.mark.parametrize(
    ("command", "words", "kinds"),
    [
        ("fix", [], []),
        ("fix", ["--patch", "a.patch"], [PatchFile]),
        ("fix", ["--report", "github", "--patch", "a.patch"], [Reports, PatchFile]),
        ("verify", ["--junit", "a.xml"], [Reports]),
    ],
)
def test_options_open_forms(tmp_path, command, words, kinds):
    parser = argparse.ArgumentParser()
    outputs.add_arguments(parser, command)
    assert [type(each) for each in outputs.open_outputs(parser.parse_args(words), tmp_path)] == kinds


def test_junit_is_a_report_like_the_others(tmp_path):
    parser = argparse.ArgumentParser()
    outputs.add_arguments(parser, "verify")
    (opened,) = outputs.open_outputs(parser.parse_args(["--junit", "a.xml", "--report", "github"]), tmp_path)
    junit, github = ReportFile(kind=ReportKind.JUNIT, path=tmp_path / "a.xml"), ReportFile(kind=ReportKind.GITHUB)
    assert opened.reports == (junit, github)
