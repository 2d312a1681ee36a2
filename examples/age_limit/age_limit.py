ADULT = 18


def is_adult(age):
    """Is somebody of this age an adult, from the 18th birthday on?"""
    return age > ADULT
