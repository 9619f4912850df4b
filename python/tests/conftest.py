"""The package that is installed, or else the one beside the tests with a library made now."""

import importlib.util
import os
import pathlib
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
if importlib.util.find_spec("halfspace") is None:
    sys.path.insert(0, str(here.parent))
    if "HALFSPACE_LIBRARY" not in os.environ:
        built = here.parent / "dist" / "libhalfspace.so"
        built.parent.mkdir(exist_ok=True)
        subprocess.run(
            ["go", "build", "-buildmode=c-shared", "-o", str(built), "."],
            cwd=here.parent.parent / "cmd" / "libhalfspace",
            check=True,
        )
        os.environ["HALFSPACE_LIBRARY"] = str(built)
    os.environ["PYTHONPATH"] = str(here.parent)  # of processes that tests start
