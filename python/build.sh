#!/usr/bin/env bash
# Makes the wheels of the Python package, in python/dist, for each CPU whose C compiler is here
# (gcc; aarch64-linux-gnu-gcc). It needs Go, python3 and nothing from a network.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p dist
made=0
for target in amd64:x86_64:gcc arm64:aarch64:aarch64-linux-gnu-gcc; do
	IFS=: read -r arch machine cc <<<"$target"
	if [ "$(uname -m)" = "$machine" ]; then cc=${CC:-gcc}; fi
	command -v "$cc" >/dev/null || { echo "no $cc: no wheel for $machine" >&2; continue; }
	work=$(mktemp -d)
	CGO_ENABLED=1 GOOS=linux GOARCH=$arch CC=$cc go build -C ../cmd/libhalfspace \
		-buildmode=c-shared -buildvcs=false -trimpath -ldflags "-s -w -buildid=" \
		-o "$work/libhalfspace.so" .
	python3 wheel.py "$work/libhalfspace.so" "$machine" dist
	rm -r "$work"
	made=$((made + 1))
done
[ "$made" -gt 0 ]
