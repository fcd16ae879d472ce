"""How Sphinx builds these pages: Markdown, and any warning is an error (scripts/docs)."""

project = "Caliper"
author = "the Caliper authors"
copyright = "the Caliper authors, MIT licence"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "Caliper"
html_static_path = []
pygments_style = "friendly"
nitpicky = True
highlight_language = "c"
