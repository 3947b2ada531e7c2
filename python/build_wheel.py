# SPDX-License-Identifier: Apache-2.0
"""What pip calls (PEP 517): a wheel is a zip of the package and three files about it. Kept by hand
for the sake of machines without a network: nothing has to be fetched to install what has nothing to
compile."""
import base64
import hashlib
import pathlib
import re
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
TAG = "py3-none-any"


def _version():
    """The library's: of the checkout, or of the prefix that holds share/varve/python."""
    for prefix in (HERE.parent, HERE.parents[2]):
        header = prefix / "include" / "varve" / "varve.h"
        if header.exists():
            return ".".join(re.findall(r"#define VARVE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)",
                                       header.read_text()))
    raise FileNotFoundError(
        f"varve.h is neither in the checkout nor in the prefix around {HERE}: it has the version")


def _digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes varve-VERSION-py3-none-any.whl there; returns its name."""
    del config_settings, metadata_directory
    version = _version()
    about = f"varve-{version}.dist-info"
    files = {f"varve/{path.name}": path.read_bytes() for path in sorted((HERE / "varve").iterdir())
             if path.suffix == ".py" or path.name == "py.typed"}
    files[f"{about}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: varve\nVersion: {version}\nLicense: Apache-2.0\n"
        "Requires-Python: >=3.9\n").encode()
    files[f"{about}/WHEEL"] = ("Wheel-Version: 1.0\nGenerator: varve\nRoot-Is-Purelib: true\n"
                               f"Tag: {TAG}\n").encode()
    record = "".join(f"{name},{_digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{about}/RECORD"] = (record + f"{about}/RECORD,,\n").encode()
    name = f"varve-{version}-{TAG}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            wheel.writestr(path, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    """There is none: the source is the repository's."""
    raise NotImplementedError(
        "varve has no source distribution of its Python module alone: use the repository")
