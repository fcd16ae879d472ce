# shellcheck shell=bash
# Dear ImGui's sources for scripts/setup: fetched once into the user's cache, by their digest, where
# the distribution has another version than the one Caliper is written for. Sourced after common.sh and
# fetch.sh.

imgui_version=1.86
imgui_folder=${XDG_CACHE_HOME:-$HOME/.cache}/caliper/deps/imgui-$imgui_version

# Debian's source package: what the authors released, less the folders that it does not need.
imgui_archive=imgui_1.86+ds.orig.tar.xz
imgui_archive_sha256=0dace0e8e57d298eb6e93af12dc19420cb96330832f6495c733b90aeeef11f64
imgui_mirrors=(
    http://archive.ubuntu.com/ubuntu/pool/universe/i/imgui
    http://deb.debian.org/debian/pool/main/i/imgui
    https://snapshot.debian.org/archive/debian/20220101T000000Z/pool/main/i/imgui
)

# fetch_imgui: false, with one line, when it is needed and cannot be had.
fetch_imgui() {
    local work mirror status=1
    if pkg-config --exists "imgui = $imgui_version" 2>/dev/null || [ -e "$imgui_folder/imgui.cpp" ]; then
        return 0
    fi
    work=$(mktemp -d) || return 1
    for mirror in "${imgui_mirrors[@]}"; do
        if fetch_file "$mirror/$imgui_archive" "$work/$imgui_archive" &&
            has_digest "$work/$imgui_archive" "$imgui_archive_sha256" &&
            tar -xJf "$work/$imgui_archive" -C "$work" && mkdir -p "${imgui_folder%/*}" &&
            cp -r "$work/imgui-$imgui_version" "$imgui_folder.$$" &&
            { mv -T "$imgui_folder.$$" "$imgui_folder" 2>/dev/null || [ -e "$imgui_folder/imgui.cpp" ]; }; then
            say "setup: Dear ImGui $imgui_version is in $imgui_folder"
            status=0
            break
        fi
    done
    rm -rf "$work" "$imgui_folder.$$"
    if [ "$status" -ne 0 ]; then
        complain "Dear ImGui $imgui_version cannot be fetched (this system has" \
            "$(pkg-config --modversion imgui 2>/dev/null || echo none)); put its sources in" \
            "$imgui_folder, or configure with -DCALIPER_SHELL=OFF"
    fi
    return "$status"
}
