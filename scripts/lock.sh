#!/bin/sh
# Write requirements/*.lock anew from requirements/*.in (after a change of a pin). Needs `uv` on the PATH.
# dev.lock is resolved first; the smaller sets are cut from it, so that all agree on every version.
set -eu
cd "$(dirname "$0")/../requirements"

compile() {
    level=$1
    shift
    uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
        --no-emit-index-url --no-emit-find-links --output-file "$level.lock" "$@" "$level.in"
}

compile dev
compile window --constraint dev.lock
compile cluster --constraint dev.lock
compile core --constraint dev.lock
compile langchain --constraint dev.lock
compile build
