"""Sphinx: the pages of docs/ and the documentation above each CMake command, as HTML and man pages.

    sphinx-build -c docs/sphinx -b html docs OUT        (or -b man)

Needs Debian's python3-sphinx and python3-myst-parser; with furo and python3-sphinx-copybutton the pages get their theme, their
search and a button that copies commands. `cmake --build BUILD --target docs` runs both.
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

extensions = ["myst_parser", "archguard_pages", "archguard_pictures", "archguard_search"]
myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]
highlight_language = "none"
smartquotes = False  # two hyphens are the beginning of an option
nitpicky = True  # a reference to nothing is a warning, and -W makes it an error

html_title = "ArchGuard"
html_favicon = "../images/favicon.svg"
html_static_path = ["static"]
html_css_files = ["archguard.css"]
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False
pygments_style = "archguard_style.Light"

try:
    import furo  # noqa: F401
    html_theme = "furo"
    templates_path = ["templates"]  # the page of results
    pygments_dark_style = "archguard_style.Dark"
    html_js_files = ["theme.js"]
    html_theme_options = {
        "light_css_variables": {"color-brand-primary": "#0b5c2e", "color-brand-content": "#0b57a4",
                                "color-foreground-muted": "#575a66", "color-background-border": "#d9d9e0"},
        # All that Furo has for the dark: Debian's style sheet lacks them for who prefers it and has not clicked.
        "dark_css_variables": {
            "color-brand-primary": "#6fdc9c", "color-brand-content": "#7db8f5", "color-problematic": "#ff9aa2",
            "color-foreground-primary": "#e2e4e8", "color-foreground-secondary": "#b0b5bc", "color-foreground-muted": "#a0a5ad",
            "color-foreground-border": "#666666", "color-background-primary": "#131416", "color-background-secondary": "#1a1c1e",
            "color-background-hover": "#1e2124", "color-background-hover--transparent": "#1e212400",
            "color-background-border": "#303335", "color-background-item": "#444444", "color-highlight-on-target": "#333300",
            "color-highlighted-background": "#083563", "color-admonition-background": "#18181a", "color-card-background": "#18181a",
            "color-card-marginals-background": "#1e2124", "color-api-keyword": "#b0b5bc"},
    }
except ImportError:
    html_theme = "alabaster"
    html_theme_options = {"description": "CUDA builds that cover every GPU", "page_width": "1100px", "sidebar_width": "240px"}
    print("ArchGuard's pages: without Furo they get a plain theme, and Sphinx's own search; Debian: apt install furo",
          file=sys.stderr)
try:
    import sphinx_copybutton  # noqa: F401
    extensions.append("sphinx_copybutton")
    copybutton_prompt_text = "$ "  # of a console only the commands are copied
    copybutton_line_continuation_character = "\\"
except ImportError:
    print("ArchGuard's pages: without a button that copies commands; Debian: apt install python3-sphinx-copybutton",
          file=sys.stderr)

man_show_urls = False
man_pages = [
    ("reference/cmake", "archguard-cmake", "CMake commands that choose CUDA architectures and verify what was built", author, 7),
]
