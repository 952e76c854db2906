#!/usr/bin/env python3
"""Packs a release into two npm packages: `lyra-evidence`, whose command starts the binary of the platform, and the
binary with its models, which npm installs where it runs.

    scripts/npm.py dist/lyra-VERSION-TARGET OUT_FOLDER        prints the paths of both
"""

import gzip
import io
import json
import pathlib
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAME = "lyra-evidence"
# The names of Node for the machines that releases are built for.
MACHINES = {"x86_64": "x64", "aarch64": "arm64"}
# Every platform with a package of its own; `lyra-evidence` depends on all of them, and npm installs the one that fits.
PLATFORMS = ["linux-x64"]


def pack(path, files):
    """Writes a package; the same contents give the same file."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content, mode in files:
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size, entry.mode = len(content), mode
            entry.mtime = 1767225600  # 2026-01-01
            archive.addfile(entry, io.BytesIO(content))
    with open(path, "wb") as out, gzip.GzipFile(fileobj=out, mode="wb", filename="", mtime=0) as packed:
        packed.write(plain.getvalue())
    print(path)


def main(release, out):
    release, out = pathlib.Path(release), pathlib.Path(out)
    _, version, target = release.name.split("-", 2)
    platform = f"linux-{MACHINES[target.split('-')[0]]}"
    if platform not in PLATFORMS or "linux" not in target:
        sys.exit(f"{target} has no npm package; the platforms are {', '.join(PLATFORMS)}")
    server = json.loads((ROOT / "packaging/server.json").read_text())
    url = server["repository"]["url"]
    common = {
        "version": version,
        "license": "MIT OR Apache-2.0",
        "repository": {"type": "git", "url": f"git+{url}.git"},
        "homepage": f"{url}#readme",
    }
    licenses = [(name, (release / name).read_bytes(), 0o644) for name in ["LICENSE-MIT", "LICENSE-APACHE"]]
    readme = ("README.md", (ROOT / "packaging/README.md").read_bytes(), 0o644)

    system, machine = platform.split("-")
    binary = {
        "name": f"{NAME}-{platform}",
        "description": f"The binary of {NAME} for {platform}, with its models",
        **common,
        "os": [system],
        "cpu": [machine],
        "preferUnplugged": True,
    }
    models = [path for path in sorted((release / "models").iterdir()) if path.name.startswith("lite-")]
    if not target.endswith("-musl"):
        binary["libc"] = ["glibc"]
    pack(
        out / f"{NAME}-{platform}-{version}.tgz",
        [
            ("package.json", json.dumps(binary, indent=2).encode(), 0o644),
            ("bin/lyra", (release / "bin/lyra").read_bytes(), 0o755),
            *((f"models/{model.name}", model.read_bytes(), 0o644) for model in models),
            *licenses,
        ],
    )
    command = {
        "name": NAME,
        "description": server["description"],
        "mcpName": server["name"],
        **common,
        "keywords": ["mcp", "research", "evidence", "citations", "fact-checking"],
        "bin": {NAME: "lyra.js", "lyra": "lyra.js"},
        "optionalDependencies": {f"{NAME}-{platform}": version for platform in PLATFORMS},
        "engines": {"node": ">=18"},
    }
    pack(
        out / f"{NAME}-{version}.tgz",
        [
            ("package.json", json.dumps(command, indent=2).encode(), 0o644),
            ("lyra.js", (ROOT / "packaging/npm/lyra.js").read_bytes(), 0o755),
            readme,
            *licenses,
        ],
    )


if len(sys.argv) != 3:
    sys.exit(__doc__)
main(*sys.argv[1:])
