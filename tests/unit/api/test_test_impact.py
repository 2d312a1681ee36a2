"""Outlines of modules: unsaved texts count, and bodies of functions do not."""

from greenloop.api.test_impact import outline_hashes

BEFORE, BODY = (f"LIMIT = 1\n\n\ndef f(x):\n    return {value}\n" for value in (1, 2))


def test_an_outline_changes_with_what_runs_at_import_and_not_with_bodies(tmp_path):
    (tmp_path / "m.py").write_text(BEFORE)

    def outline(text=None):
        return outline_hashes(tmp_path, ["m.py"], {} if text is None else {"m.py": text.encode()})

    assert outline(BODY) == outline()
    assert outline(BEFORE.replace("LIMIT = 1", "LIMIT = 2")) != outline()
    assert list(outline_hashes(tmp_path, ["gone.py"], {})) == ["gone.py"]
