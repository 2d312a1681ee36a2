from links import slugify


def test_two_words():
    assert slugify("Hello World") == "hello-world"


def test_three_words():
    assert slugify("One Two Three") == "one-two-three"
