def celsius(fahrenheit):
    """Degrees Celsius of degrees Fahrenheit, rounded to one digit."""
    return round(fahrenheit - 32 * 5 / 9, 1)


def fahrenheit(celsius):
    """Degrees Fahrenheit of degrees Celsius, rounded to one digit."""
    return round(celsius * 9 / 5 + 32, 1)
