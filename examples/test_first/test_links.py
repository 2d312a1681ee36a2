from links import slugify


def test_words():
    assert slugify("Hello World") == "hello-world"


def test_punctuation_is_dropped():
    assert slugify("Rock & Roll!") == "rock-roll"
