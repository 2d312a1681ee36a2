def slug(text):
    """Lowercase words joined by single hyphens."""
    raise NotImplementedError


def address(title):
    return "/" + slug(title) + ".html"


def tags(words):
    return sorted({slug(word) for word in words})


def anchor(heading):
    return "#" + slug(heading)


def dated(day, title):
    return f"{day}-{slug(title)}"


def label(text):
    return text.strip().capitalize()
