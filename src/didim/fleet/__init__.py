"""How it scales: many identifications at once, on one machine or on a Dask cluster."""

from didim.fleet.row import Row, RunTable
from didim.fleet.run import run_many

__all__ = ["Row", "RunTable", "run_many"]
