"""Puts the package and a library into a wheel: wheel.py LIBRARY MACHINE FOLDER.

Equal inputs give equal bytes. The platform's tag says the newest version of the C library that the
library asks for.
"""

import base64
import hashlib
import pathlib
import re
import sys
import zipfile

here = pathlib.Path(__file__).resolve().parent
library, machine, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
text = (here / "halfspace" / "__init__.py").read_text()
version = re.search(r'__version__ = "(.*)"', text).group(1)
versions = re.findall(rb"GLIBC_2\.(\d+)(?:\.\d+)?\0", library.read_bytes())
glibc = max([17, *map(int, versions)])
tag = f"py3-none-manylinux_2_{glibc}_{machine}"

files = {f"halfspace/{p.name}": p.read_bytes() for p in (here / "halfspace").glob("*.py")}
files["halfspace/libhalfspace.so"] = library.read_bytes()
info = f"halfspace-{version}.dist-info"
files[f"{info}/METADATA"] = (
    f"Metadata-Version: 2.1\nName: halfspace\nVersion: {version}\n"
    "Summary: Linear and kernel classifiers with a large margin, learned online\n"
    "Requires-Python: >=3.9\nRequires-Dist: numpy\n"
    "Description-Content-Type: text/markdown\n\n" + (here / "README.md").read_text()
).encode()
files[f"{info}/WHEEL"] = (
    f"Wheel-Version: 1.0\nGenerator: halfspace\nRoot-Is-Purelib: false\nTag: {tag}\n"
).encode()
files[f"{info}/licenses/LICENSE"] = (here.parent / "LICENSE").read_bytes()
record = ""
for name in sorted(files):
    digest = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=").decode()
    record += f"{name},sha256={digest},{len(files[name])}\n"
files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()

wheel = folder / f"halfspace-{version}-{tag}.whl"
with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as z:
    for name in sorted(files):
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        entry.external_attr = 0o644 << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        z.writestr(entry, files[name])
print(wheel)
