#!/usr/bin/env bash
# Tests of the OpenSearch backend on real clusters: one node of 2.19.1, three nodes of 3.5.0. They need a JDK 21 or later
# and Maven, which fetches OpenSearch once, and are skipped with a reason without them. Arguments go to `cargo test`;
# without any, the whole workspace is built, as `.ci/run` builds it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."

if ! missing=$("$here/cluster" check 3 2>&1); then
  echo "skipped: $missing; the OpenSearch backend was not tested on a real cluster"
  exit 0
fi
folder=$(mktemp -d)
end() {
  "$here/cluster" down "$folder/v2"
  "$here/cluster" down "$folder/v3"
  rm -rf "$folder"
}
trap end EXIT

# Both start while the tests are built.
# A test of back-pressure needs a node that takes little at once.
NODE_SETTINGS="indexing_pressure.memory.limit=4mb" "$here/cluster" up "$folder/v2" 2 >"$folder/v2.urls" 2>"$folder/v2.error" &
two=$!
"$here/cluster" up "$folder/v3" 3 3 >"$folder/v3.urls" 2>"$folder/v3.error" &
three=$!
arguments=("$@")
[ "$#" -gt 0 ] || arguments=(--workspace --locked)
cargo test "${arguments[@]}" --test it --no-run
if ! wait "$two" || ! wait "$three"; then
  cat "$folder/v2.error" "$folder/v3.error" >&2
  if grep -q "Maven could not fetch" "$folder"/v?.error; then
    echo "skipped: OpenSearch could not be fetched; its backend was not tested on a real cluster"
    exit 0
  fi
  exit 1
fi
LYRA_OPENSEARCH_2=$(tr '\n' ' ' <"$folder/v2.urls") LYRA_OPENSEARCH_3=$(tr '\n' ' ' <"$folder/v3.urls") \
  LYRA_OPENSEARCH_CLUSTER=$folder/v3 LYRA_OPENSEARCH_SCRIPT=$here/cluster \
  cargo test "${arguments[@]}" --test it -- on_a_real_cluster --test-threads=1 --nocapture
