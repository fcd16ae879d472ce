# shellcheck shell=bash
# Shared by the scripts in scripts/: where the tree is, how to say things, how to time a stage.
# Sourced, never run. Sets `root` and changes into it, so that every script works from anywhere.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root" || exit 1

# Locale-independent output: the scripts read what the tools print.
export LC_ALL=C.UTF-8

# shellcheck disable=SC2034 # for the scripts that source this
jobs_count=$(nproc 2>/dev/null || echo 2)

say() { printf '%s\n' "$*"; }
complain() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() {
    complain "$*"
    exit 1
}

# ccache_arguments: prints the CMake arguments that put ccache before the compilers, if it is there.
ccache_arguments() {
    if command -v ccache >/dev/null; then
        printf '%s\n' -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache
    fi
}

# configure PRESET: configures a build folder unless it is configured already.
configure() {
    local arguments
    mapfile -t arguments < <(ccache_arguments)
    cmake --preset "$1" "${arguments[@]}"
}

# duration SECONDS: "1m05s".
duration() { printf '%dm%02ds' $(($1 / 60)) $(($1 % 60)); }

# show_usage SCRIPT: prints the comment at the top of a script, without its first line.
show_usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$1"; }

# refuse_arguments REASON USAGE: one line that says why and what is wanted instead. Exits with 2.
refuse_arguments() {
    complain "$1; usage: scripts/${0##*/} $2"
    exit 2
}
