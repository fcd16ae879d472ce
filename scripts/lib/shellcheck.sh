#!/usr/bin/env bash
# Checks the shell scripts of the tree with shellcheck.
set -euo pipefail
# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if ! git rev-parse --git-dir >/dev/null 2>&1; then
    say "skipped: this is no git checkout"
    exit 77
fi
mapfile -t files < <(git grep -lE '^(#!.*bash|# shellcheck shell=bash)' -- scripts .ci tests)
[ ${#files[@]} -gt 0 ] || die "no scripts found"
shellcheck -x "${files[@]}"
say "${#files[@]} scripts"
