#!/bin/sh
# Kills runs of the indexer, fills its disk, and lets indexers and readers meet;
# prints the counts. The number of runs to kill is the argument (200 without).
set -eu
cd "$(dirname "$0")/.."
POSTIL_KILLS=${1:-200} exec cargo test -q -p postil-bins --test integration -- crash:: --nocapture
