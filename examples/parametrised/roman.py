NUMERALS = [(1000, "M"), (500, "D"), (100, "C"), (50, "L"), (10, "X"), (5, "V"), (1, "I")]


def roman(number: int) -> str:
    """The Roman numeral of a number from 1 to 3999."""
    text = ""
    for value, letter in NUMERALS:
        while number >= value:
            text += letter
            number -= value
    # IIII -> IV, XXXX -> XL, CCCC -> CD
    for four, short in [("IIII", "IV"), ("XXXX", "XL"), ("CCCC", "CD")]:
        text = text.replace(four, short)
    return text
