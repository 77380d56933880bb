"""A test that passes, one that fails and one that is skipped: CMakeLists.txt runs one beside another."""
import unittest

import common


class Case(unittest.TestCase):
    def test_passed(self):
        self.assertTrue(True)

    def test_failed(self):
        self.fail("it does")

    def test_skipped(self):
        self.skipTest("all of it")


common.main()
