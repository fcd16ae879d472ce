#!/usr/bin/env bash
# caliper_fixture.h alone, in C99 and C++11, without a warning. Usage: test_fixture_header.sh SOURCE
set -euo pipefail
flags=(-Wall -Wextra -Wpedantic -Werror -fsyntax-only "-I$1/include" "-I$1/src/fixture")
for standard in c99 c11 c17; do
    printf '#include <caliper_fixture.h>\n' | cc -std=$standard "${flags[@]}" -x c -
done
for standard in c++11 c++17 c++20; do
    printf '#include <caliper_fixture.h>\n' | c++ -std=$standard "${flags[@]}" -x c++ -
done
# The example of docs/reference/fixture.md compiles as it is printed.
# shellcheck disable=SC2016 # backticks of Markdown
sed -n '/^```c$/,/^```$/p' "$1/docs/reference/fixture.md" | sed '/^```/d' |
    cc -std=c99 "${flags[@]}" -x c -
