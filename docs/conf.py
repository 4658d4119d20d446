"""How Sphinx builds the documentation: `make docs`. Formulas become MathML, so that no page loads a
script from a network.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.ext.napoleon import Config, NumpyDocstring

import didim

project, author = "didim", "the didim authors"
project_copyright = "the didim authors, MIT licence"
version = release = didim.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
myst_enable_extensions = ["colon_fence", "dollarmath", "amsmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"didim {version}"
html_static_path = ["_static"]
html_css_files = ["didim.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_preserve_defaults = True
autoclass_content = "class"
suppress_warnings = ["myst.header"]


def _math(writer: Any, node: Any) -> None:
    """A formula as MathML, which browsers draw by themselves."""
    formula, number = re.fullmatch(
        r"(.*?)(?:\\qquad\s*\((\d+)\))?", node.astext().strip(), re.DOTALL
    ).groups()
    block = node.tagname == "math_block"
    text = convert(formula, display="block" if block else "inline")
    label = f'<span class="number">({number})</span>' if number else ""
    writer.body.append(f'<div class="formula">{text}{label}</div>' if block else text)
    raise nodes.SkipNode


def _plain(_app: Any, what: str, _name: str, _thing: Any, _options: Any, lines: list[str]) -> None:
    """Docstrings are plain text with formulas and `names`; nothing in them is markup but the
    headings of parameters.
    """
    for k, line in enumerate(lines):
        parts = re.split(r"(`[^`]+`)", line)
        lines[k] = "".join(
            f"``{part[1:-1]}``" if part.startswith("`") and len(part) > 2 else _escaped(part)
            for part in parts
        )
    if what in ("function", "method", "class"):
        lines[:] = str(NumpyDocstring("\n".join(lines), Config())).splitlines()


def _escaped(text: str) -> str:
    return re.sub(r"[*|\\]|(?<=\w)_(?=\W|$)", r"\\\g<0>", text)


def setup(app: Any) -> None:
    """Connect both."""
    app.add_html_math_renderer("mathml", (_math, None), (_math, None))
    app.connect("autodoc-process-docstring", _plain, priority=100)
