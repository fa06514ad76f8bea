#!/usr/bin/env bash
# Holds pages against the Nu Html Checker of the W3C: those that the tests left, or the files that are named.
#
#   scripts/check-html.sh [FILE.html …]
#
# Wants Java (Debian: default-jre-headless), and fetches the checker once, from the npm registry, by its digest.
set -euo pipefail
cd "$(dirname "$0")/.."

version=26.9.27 sha256=5970d3ffca91a627cf0965e5d91bb2e4242307c29292998de0b419d6a901b2b7
checker=target/vnu-$version.jar
die() { printf 'check-html: %s\n' "$*" >&2; exit 2; }
command -v java >/dev/null || die 'no java; on Debian: apt-get install default-jre-headless'

if [ ! -e "$checker" ]; then
  mkdir -p target
  packed=$(mktemp) && trap 'rm -f "$packed"' EXIT
  python3 -c 'import sys, urllib.request as web; web.urlretrieve(*sys.argv[1:])' \
    "https://registry.npmjs.org/vnu-jar/-/vnu-jar-$version.tgz" "$packed"
  echo "$sha256  $packed" | sha256sum --check --quiet
  tar -xzOf "$packed" package/build/dist/vnu.jar > "$checker.new"
  mv "$checker.new" "$checker"
fi

if [ $# -eq 0 ]; then
  shopt -s nullglob
  set -- target/tmp/pages/*.html
  [ $# -gt 0 ] || die 'no pages in `target/tmp/pages`; make them with: cargo test --test it pages'
fi
java -jar "$checker" "$@"
echo "$# pages, no error and no warning"
