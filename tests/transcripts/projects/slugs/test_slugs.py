from slugs import address, anchor, dated, label, slug, tags


def test_one_word():
    assert slug("Hello") == "hello"


def test_two_words():
    assert slug("Hello World") == "hello-world"


def test_many_spaces():
    assert slug("  Hello   World ") == "hello-world"


def test_address():
    assert address("About us") == "/about-us.html"


def test_address_with_spaces():
    assert address(" About  us") == "/about-us.html"


def test_tags():
    assert tags(["Big Data", "big  data"]) == ["big-data"]


def test_no_words():
    assert tags([]) == []


def test_tags_of_two():
    assert tags(["b", "a"]) == ["a", "b"]


def test_anchor():
    assert anchor("Part 1") == "#part-1"


def test_anchor_with_spaces():
    assert anchor("Part  1 ") == "#part-1"


def test_dated():
    assert dated("2026-01-02", "New  Year") == "2026-01-02-new-year"


def test_dated_one_word():
    assert dated("2026-01-02", "Year") == "2026-01-02-year"


def test_empty():
    assert slug("") == ""


def test_label():
    assert label(" new ") == "New"
