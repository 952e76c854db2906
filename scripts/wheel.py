#!/usr/bin/env python3
"""Packs a release into a Python wheel, which installs `lyra` and its models into an environment.

    scripts/wheel.py dist/lyra-VERSION-TARGET OUT_FOLDER      prints the wheel's path
"""

import base64
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import zipfile

NAME = "lyra_evidence"
ROOT = pathlib.Path(__file__).resolve().parent.parent


def platforms(target, binary):
    """Platform tags: a static binary runs on every distribution, another one from its glibc on."""
    machine = target.split("-")[0]
    if target.endswith("-musl"):
        return [f"manylinux_2_17_{machine}", f"musllinux_1_1_{machine}"]
    symbols = subprocess.run(["objdump", "-T", binary], capture_output=True, text=True, check=True).stdout
    minor = max(int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", symbols))
    return [f"manylinux_2_{minor}_{machine}"]


def main(release, out):
    release, out = pathlib.Path(release), pathlib.Path(out)
    _, version, target = release.name.split("-", 2)
    binary = release / "bin" / "lyra"
    tags = platforms(target, binary)
    server = json.loads((ROOT / "packaging/server.json").read_text())
    url = server["repository"]["url"]
    metadata = f"""Metadata-Version: 2.4
Name: lyra-evidence
Version: {version}
Summary: {server["description"]}
License-Expression: MIT OR Apache-2.0
License-File: LICENSE-MIT
License-File: LICENSE-APACHE
Keywords: research,evidence,citations,fact-checking,mcp
Classifier: Environment :: Console
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Rust
Project-URL: Repository, {url}
Project-URL: Documentation, {url}#readme
Requires-Python: >=3.8
Description-Content-Type: text/markdown

{(ROOT / "packaging/README.md").read_text()}"""
    tag_lines = "".join(f"Tag: py3-none-{tag}\n" for tag in tags)
    info, data = f"{NAME}-{version}.dist-info", f"{NAME}-{version}.data"
    models = [path for path in sorted((release / "models").iterdir()) if path.name.startswith("lite-")]
    files = [
        (f"{data}/scripts/lyra", binary.read_bytes(), 0o755),
        (f"{data}/scripts/lyra-evidence", (ROOT / "packaging/python/lyra-evidence").read_bytes(), 0o755),
        *((f"{data}/data/share/lyra/models/{model.name}", model.read_bytes(), 0o644) for model in models),
        *((f"{info}/licenses/{name}", (release / name).read_bytes(), 0o644) for name in ["LICENSE-MIT", "LICENSE-APACHE"]),
        (f"{info}/METADATA", metadata.encode(), 0o644),
        (f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: lyra\nRoot-Is-Purelib: false\n{tag_lines}".encode(), 0o644),
    ]
    record = ""
    for name, content, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), 0o644))

    wheel = out / f"{NAME}-{version}-py3-none-{'.'.join(tags)}.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content, mode in files:
            entry = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))  # reproducible: the same contents give the same file
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    print(wheel)


if len(sys.argv) != 3:
    sys.exit(__doc__)
main(*sys.argv[1:])
