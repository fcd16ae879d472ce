# shellcheck shell=bash
# Stages of scripts/test and scripts/check: each runs with its output in a log file, is timed, and
# adds to the counts that the last line shows. Sourced after common.sh, which sets root and jobs_count.
# shellcheck disable=SC2154

stages_passed=0
stages_failed=0
stages_skipped=0
stages_notes=()

# The system's interpreter: it sees the distribution's modules whatever else is first on the PATH.
python=/usr/bin/python3
[ -x "$python" ] || python=python3

# count PASSED FAILED SKIPPED
count() {
    stages_passed=$((stages_passed + $1))
    stages_failed=$((stages_failed + $2))
    stages_skipped=$((stages_skipped + $3))
}

# stage NAME LOG COMMAND...: one step that passes, fails, or (status 77) is skipped with its last
# line as the reason. Returns the status.
stage() {
    local name=$1 log=$2 start=$SECONDS status=0 line
    shift 2
    mkdir -p "$(dirname "$log")"
    "$@" >"$log" 2>&1 </dev/null || status=$?
    case $status in
    0)
        count 1 0 0
        line=passed
        ;;
    77)
        count 0 0 1
        line="skipped"
        stages_notes+=("skipped: $name: $(tail -n 1 "$log")")
        ;;
    *)
        count 0 1 0
        line="FAILED (status $status, $log)"
        stages_notes+=("failed: $name: see $log")
        ;;
    esac
    printf '%-34s %7s  %s\n' "$name" "$(duration $((SECONDS - start)))" "$line"
    if [ "$status" -ne 0 ] && [ "$status" -ne 77 ]; then
        tail -n 40 "$log" | sed 's/^/    /'
    fi
    return "$status"
}

# build PRESET [TARGET...]: configure and build.
build() {
    local preset=$1 arguments=()
    shift
    if [ $# -gt 0 ]; then
        arguments=(--target "$@")
    fi
    configure "$preset" && cmake --build --preset "$preset" -j "$jobs_count" "${arguments[@]}"
}

# tests NAME FOLDER [CTEST-ARGUMENTS...]: runs ctest in a build folder and counts its tests. A run
# that executes none is a failure, and so is a test that fails once.
tests() {
    local name=$1 folder=$2 start=$SECONDS status=0 counts notes
    shift 2
    rm -f "$folder/results.xml"
    "${test_wrapper[@]}" ctest --test-dir "$folder" --output-on-failure -j "$jobs_count" \
        --output-junit "$root/$folder/results.xml" "$@" >"$folder/ctest.log" 2>&1 </dev/null ||
        status=$?
    mapfile -t notes < <("$python" scripts/lib/ctest_summary.py "$folder/results.xml" "$name")
    read -r -a counts <<<"${notes[0]}"
    if [ "$status" -ne 0 ] && [ "${counts[1]}" -eq 0 ]; then
        counts[1]=1
        notes+=("failed: $name: ctest ended with status $status, see $folder/ctest.log")
    fi
    count "${counts[@]}"
    local note
    for note in "${notes[@]:1}"; do
        [ -z "$note" ] || stages_notes+=("$note")
    done
    printf '%-34s %7s  %d passed, %d failed, %d skipped\n' "$name" \
        "$(duration $((SECONDS - start)))" "${counts[@]}"
    if [ "${counts[1]}" -gt 0 ]; then
        grep -vE '^ *([0-9]+/[0-9]+ Test .* Passed|Start +[0-9])' "$folder/ctest.log" | tail -n 60 | sed 's/^/    /'
    fi
    [ "${counts[1]}" -eq 0 ]
}
test_wrapper=()

# finish: what was skipped and what failed, then the counts alone on the last line. Exits.
finish() {
    local note
    say ""
    for note in "${stages_notes[@]}"; do
        say "$note"
    done
    say "total time $(duration "$SECONDS")"
    say "$stages_passed passed, $stages_failed failed, $stages_skipped skipped"
    [ "$stages_failed" -eq 0 ] && [ "$stages_passed" -gt 0 ]
    exit
}
