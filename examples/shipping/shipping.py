INCLUDED = 2000  # grams


def cost(grams):
    """Return the price of a parcel in cents: 400 up to 2000 g, and 150 more for each 1000 g begun beyond that."""
    return 400 + 150 * (grams - INCLUDED) // 1000
