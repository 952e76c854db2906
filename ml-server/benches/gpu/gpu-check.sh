#!/usr/bin/env bash
# Everything there is to know about lyra-ml-server on a GPU, in one command and under ten minutes: agreement with reference
# outputs in f32, f16 and bf16, speed beside PyTorch's, memory, start-up time. README.md beside this says what it needs.
#
#   gpu-check.sh BINARY GOLDEN OUT [--device cuda|cpu] [--minutes N] [--skip-speed]
set -u
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 3 ]; then
    sed -n '5p' "$0" | cut -c5- >&2
    exit 2
fi
# PyTorch's wheels bring the libraries where there is no CUDA toolkit on the loader's path.
libraries=$(python3 - <<'PY' 2>/dev/null
import glob, os, site, sys
roots = site.getsitepackages() + [p for p in sys.path if p.endswith("site-packages")]
found = []
for root in dict.fromkeys(roots):
    for pattern in ("nvidia/cu*/lib", "nvidia/cuda_nvrtc/lib", "nvidia/cublas/lib"):
        found += glob.glob(os.path.join(root, pattern))
found += glob.glob("/usr/local/cuda*/lib64")
print(":".join(dict.fromkeys(found)))
PY
)
export LYRA_CUDA_LIBS="${LYRA_CUDA_LIBS:-$libraries}"
chmod +x "$1" 2>/dev/null
exec env PYTHONUNBUFFERED=1 python3 "$here/gpu_check.py" "$@"
