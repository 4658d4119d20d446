"""Expressions of effects: parsed from text, differentiated, compiled and printed.

`grammar` reads a text, `nodes` has the trees, `expression` what is computed from them (names,
substitution, derivatives, values), `tape` and `tape_code` make straight-line code of them, `text`
prints them as Python, as C and for people. Nothing here knows of robots.
"""
