"""The documentation site: pages in Markdown, notebooks as they are stored, docstrings."""

import pyrovice

project = "pyrovice"
author = "The pyrovice developers"
copyright = "2026, The pyrovice developers. Licence: Apache-2.0"
version = release = pyrovice.__version__
extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
]
exclude_patterns = ["_build", "draw_concepts.py"]
templates_path = ["templates"]
# The tests run the notebooks; here they are shown.
nb_execution_mode = "off"
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_class_members_toctree = False
numpydoc_show_class_members = False
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["cards.css"]
html_title = "pyrovice"
# Types in docstrings are words for readers, not names of classes.
nitpicky = False
