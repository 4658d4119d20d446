"""`python -m didim` is the command `didim`."""

import sys

from didim.cli import main

sys.exit(main())
