#!/usr/bin/env bash
# Tests of the OpenSearch backend on real clusters: three nodes of 2.19.1, one of it with TLS and users, three of 3.5.0.
# They need a JDK 21 or later and Maven, which fetches OpenSearch once, and are skipped with a reason without them.
# Arguments go to `cargo test`; without any, the whole workspace is built, as `.ci/run` builds it.
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
  "$here/cluster" down "$folder/secured"
  rm -rf "$folder"
}
trap end EXIT

# All start while the tests are built.
# A test of back-pressure needs nodes that take little at once, and no large request at all.
NODE_SETTINGS="indexing_pressure.memory.limit=4mb http.max_content_length=6mb" "$here/cluster" up "$folder/v2" 2 3 >"$folder/v2.urls" 2>"$folder/v2.error" &
two=$!
SECURITY=1 "$here/cluster" up "$folder/secured" 2 >"$folder/secured.urls" 2>"$folder/secured.error" &
secured=$!
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
if wait "$secured"; then
  export LYRA_OPENSEARCH_SECURED LYRA_OPENSEARCH_SECURED_CA=$folder/secured/ca.pem
  LYRA_OPENSEARCH_SECURED=$(cat "$folder/secured.urls")
elif grep -q "Maven could not fetch" "$folder/secured.error"; then
  echo "skipped: the security plugin of OpenSearch could not be fetched; TLS and users were not tested on a real cluster"
else
  cat "$folder/secured.error" >&2
  exit 1
fi
LYRA_OPENSEARCH_2=$(tr '\n' ' ' <"$folder/v2.urls") LYRA_OPENSEARCH_3=$(tr '\n' ' ' <"$folder/v3.urls") \
  LYRA_OPENSEARCH_2_FOLDER=$folder/v2 LYRA_OPENSEARCH_3_FOLDER=$folder/v3 LYRA_OPENSEARCH_SCRIPT=$here/cluster \
  cargo test "${arguments[@]}" --test it -- on_a_real_cluster --test-threads=1 --nocapture
