"""The study: a TOML file that describes a whole identification."""

from didim.study.study import Study, load_study

__all__ = ["Study", "load_study"]
