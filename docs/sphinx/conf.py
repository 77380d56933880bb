"""Sphinx: the pages of docs/ and the documentation above each CMake command, as HTML and man pages.

    sphinx-build -c docs/sphinx -b html docs OUT        (or -b man)

Needs Debian's python3-sphinx and python3-myst-parser. `cmake --build BUILD --target docs` runs both.
"""
import os
import re
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)

project = "ArchGuard"
author = "the ArchGuard authors"
with open(os.path.join(here, "../../CMakeLists.txt"), encoding="utf-8") as file:
    version = release = re.search(r"VERSION (\d+\.\d+\.\d+)", file.read()).group(1)

extensions = ["myst_parser", "archguard_pages"]
myst_heading_anchors = 4
highlight_language = "none"
nitpicky = True  # a reference to nothing is a warning, and -W makes it an error

html_theme = "alabaster"
html_theme_options = {"description": "CUDA builds that cover every GPU", "page_width": "1100px", "sidebar_width": "240px"}
html_show_copyright = False
html_show_sourcelink = False

man_show_urls = False
man_pages = [
    ("reference/cmake", "archguard-cmake", "CMake commands that choose CUDA architectures and verify what was built", author, 7),
    ("reference/archguard", "archguard", "list and verify the device code of binaries", author, 1),
    ("reference/arch_probe", "arch_probe", "show the GPUs of a machine and choose CUDA architectures", author, 1),
]
