import unittest

from temperature import celsius, fahrenheit


class TemperatureTest(unittest.TestCase):
    def test_freezing(self):
        self.assertEqual(celsius(32), 0.0)

    def test_boiling(self):
        self.assertEqual(celsius(212), 100.0)

    def test_there_and_back(self):
        self.assertEqual(fahrenheit(37.0), 98.6)


if __name__ == "__main__":
    unittest.main()
