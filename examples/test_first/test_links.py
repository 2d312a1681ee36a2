from links import slugify


def test_words():
    assert slugify("Hello World") == "hello-world"


def test_spaces_are_one():
    assert slugify("  many   words ") == "many-words"
