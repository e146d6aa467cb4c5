#!/bin/sh
# Builds the hostile vault and prints expected against found for every case.
set -eu
cd "$(dirname "$0")/.."
exec cargo test -q -p postil-bins --test integration -- --exact \
    hostile::the_hostile_vault_is_indexed_as_a_person_expects --nocapture
