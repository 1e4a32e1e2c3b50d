"""Writes a wheel that holds the program, which pip and uv put on PATH as it is, and the clients' packages:
wheel.py BINARY PACKAGES VERSION PLATFORMS LICENSE FOLDER, with PLATFORMS as in a wheel's name (a.b.c).

The same input gives the same bytes: every file is dated by SOURCE_DATE_EPOCH.
SCRIP_RELEASE_LEVEL is the level of compression.
"""

import base64
import hashlib
import os
import sys
import time
import zipfile

binary, packages, version, platforms, license_file, folder = sys.argv[1:]
name = f"scrip_wallet_cli-{version}"
info = f"{name}.dist-info"
date = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
level = int(os.environ["SCRIP_RELEASE_LEVEL"])

METADATA = f"""\
Metadata-Version: 2.1
Name: scrip-wallet-cli
Version: {version}
Summary: A credit wallet and checkout service in one self-hosted binary
License: Apache-2.0
License-File: LICENSE
"""
WHEEL = "Wheel-Version: 1.0\nGenerator: scripts/release\nRoot-Is-Purelib: false\n"
WHEEL += "".join(f"Tag: py3-none-{platform}\n" for platform in platforms.split("."))


def read(path):
    with open(path, "rb") as file:
        return file.read()


files = {
    f"{name}.data/scripts/scrip": read(binary),
    **{
        f"{name}.data/data/share/scrip/packages/{file}": read(f"{packages}/{file}")
        for file in sorted(os.listdir(packages))
    },
    f"{info}/METADATA": METADATA.encode(),
    f"{info}/WHEEL": WHEEL.encode(),
    f"{info}/LICENSE": read(license_file),
}
record = ""
for path, content in files.items():
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
    record += f"{path},sha256={digest.rstrip(b'=').decode()},{len(content)}\n"
record += f"{info}/RECORD,,\n"
files[f"{info}/RECORD"] = record.encode()

with zipfile.ZipFile(f"{folder}/{name}-py3-none-{platforms}.whl", "w") as wheel:
    for path, content in files.items():
        entry = zipfile.ZipInfo(path, date)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.create_system = 3  # Unix, whose modes the next line has
        entry.external_attr = (0o100755 if "/scripts/" in path else 0o100644) << 16
        wheel.writestr(entry, content, compresslevel=level)
