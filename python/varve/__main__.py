# SPDX-License-Identifier: Apache-2.0
"""python -m varve VERB …: the program `varve` of this module, also where it is not on PATH."""
import os
import sys

from . import library

try:
    program = library.program()
except library.Error as error:
    sys.exit(f"varve: {error}")
os.execv(program, [program, *sys.argv[1:]])
