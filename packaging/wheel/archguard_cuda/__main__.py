"""python -m archguard_cuda ...: archguard, whichever program of that name PATH has."""
import os
import sys

from . import program

if __name__ == "__main__":
    path = program()
    try:
        os.execv(path, [path] + sys.argv[1:])
    except OSError as error:
        sys.exit("archguard_cuda: %s cannot be run: %s; reinstall it: python -m pip install --force-reinstall archguard-cuda"
                 % (path, error.strerror))
