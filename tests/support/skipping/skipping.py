"""Asks ctest what it calls tests that skip, fail or do both: skipping.py CTEST CMAKE TESTS WORK DOCTEST FAKE-DRIVER

Each test of CMakeLists.txt here is named for what ctest must call it: `.passed`, `.failed` or `.skipped`.
"""
import pathlib
import re
import shutil
import subprocess
import sys

ctest, cmake, tests, work, doctest, fake_driver = sys.argv[1:]
shutil.rmtree(work, ignore_errors=True)
subprocess.run([cmake, "-S", pathlib.Path(__file__).parent, "-B", work, "-DTESTS=" + tests, "-DDOCTEST=" + doctest, "-DFAKE_DRIVER=" + fake_driver,
                "-DPYTHON=" + sys.executable], check=True, stdout=subprocess.DEVNULL)
done = subprocess.run([ctest, "--test-dir", work], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
names = re.findall(r"Test +#\d+: (\S+) \.*(.*?) +[0-9.]+ sec", done.stdout)
wrong = [(name, called) for name, called in names
         if {"passed": "Passed", "failed": "Failed", "skipped": "Skipped"}[name.rsplit(".", 1)[1]] not in called]
for name, called in wrong:
    print("%s: ctest says '%s'" % (name, called.strip(" *.")))
if wrong or len(names) != 12:
    print(done.stdout)
    sys.exit("%d of %d tests have the wrong status" % (len(wrong), len(names)))
print("%d tests, each called what it is" % len(names))
