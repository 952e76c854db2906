#!/usr/bin/env bash
# Packs a release into a Debian package: both binaries, the models, manual pages, completions, and documentation.
#
#   scripts/deb.sh dist/lyra-VERSION-TARGET OUT_FOLDER        prints the package's path; needs dpkg-deb
set -euo pipefail
release=${1:?usage: scripts/deb.sh dist/lyra-VERSION-TARGET OUT_FOLDER} out=${2:?}
name=$(basename "$release") && name=${name#lyra-}
version=${name%%-*} target=${name#*-}
case $target in
  x86_64-*) machine=amd64 ;;
  aarch64-*) machine=arm64 ;;
  *) echo "no name of Debian's for the machine of $target is known" >&2 && exit 1 ;;
esac
depends=
if [[ $target != *-musl ]]; then
  # The newest glibc that a symbol of the binaries needs.
  glibc=$(objdump -T "$release"/bin/* | grep -o 'GLIBC_2[0-9.]*' | sort -uV | tail -1 | cut -d_ -f2)
  depends="Depends: libc6 (>= $glibc)"
fi

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
put() { install -D -m "$1" "$2" "$root/$3"; }
for binary in lyra lyra-ml-server; do put 755 "$release/bin/$binary" "usr/bin/$binary"; done
for model in "$release"/models/*; do put 644 "$model" "usr/share/lyra/models/$(basename "$model")"; done
for page in "$release"/man/*.1; do
  put 644 "$page" "usr/share/man/man1/$(basename "$page")"
  gzip -9n "$root/usr/share/man/man1/$(basename "$page")"
done
put 644 "$release/completions/lyra.bash" usr/share/bash-completion/completions/lyra
put 644 "$release/completions/lyra.zsh" usr/share/zsh/vendor-completions/_lyra
put 644 "$release/completions/lyra.fish" usr/share/fish/vendor_completions.d/lyra.fish
doc=usr/share/doc/lyra-evidence
put 644 "$release/README.md" $doc/README.md
put 644 "$release/CHANGELOG.md" $doc/changelog
gzip -9n "$root/$doc/changelog"
put 644 "$release/lyra.toml" $doc/examples/lyra.toml
cp -r "$release/docs" "$root/$doc/"
{
  printf 'Lyra is licensed under either of the MIT license and the Apache License 2.0, at your option.\n'
  for license in LICENSE-MIT LICENSE-APACHE; do printf '\n== %s\n\n' "$license" && cat "$release/$license"; done
} >"$root/$doc/copyright"
find "$root" -type d -exec chmod 755 {} +
chmod -R u=rwX,go=rX "$root/$doc"

size=$(du -k --apparent-size -s "$root" | cut -f1)
mkdir "$root/DEBIAN"
{
  cat <<CONTROL
Package: lyra-evidence
Version: $version
Architecture: $machine
Maintainer: Lyra contributors <lyra-evidence@users.noreply.github.com>
Installed-Size: $size
CONTROL
  [ -z "$depends" ] || echo "$depends"
  cat <<CONTROL
Suggests: chromium
Section: science
Priority: optional
Homepage: https://github.com/lyra-evidence/lyra
Description: Evidence with citations and confidence, for people and their agents
 Lyra searches documents, scholarly APIs, and the web, extracts claims, judges
 every claim against passages of other sources with an NLI model, and keeps all
 of it in a graph with citations and a confidence for each claim.
CONTROL
} >"$root/DEBIAN/control"
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
file=$out/lyra-evidence_${version}_$machine.deb
# Reproducible: the same contents give the same file.
SOURCE_DATE_EPOCH=1767225600 dpkg-deb --root-owner-group -Zgzip --build "$root" "$file" >/dev/null
echo "$file"
