/* tests/e2e/widgets_monkey.c: every slot of both tables in any order with bad arguments, under
 * random input. Dear ImGui's asserts abort the process, so a wrong call order that gets through to
 * it ends this program. argv[1]: the first seed, argv[2]: how many seeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "widgets_calls.h"

enum { FRAMES = 60, CALLS = 120 };

static uint64_t state;

uint32_t calls_random(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % below;
}

bool calls_over(void)
{
    return false;
}

static uint64_t first_seed = 1, seed_count = 40;

static void any_order_of_calls_leaves_the_host_alive(void **unused)
{
    int calls = CALLS;
    (void)unused;
    for (uint64_t seed = first_seed; seed < first_seed + seed_count; seed++) {
        UiBench bench;
        state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
        if (seed_count == 1)
            fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
        assert_true(bench_start(&bench, seed % 2 ? 1.0f : 1.5f));
        calls_start(&bench);
        for (int frame = 0; frame < FRAMES; frame++) {
            for (uint32_t i = calls_random(4); i > 0; i--)
                calls_input(&bench);
            bench_frame(&bench, calls_draw, &calls);
        }
        bench_stop(&bench);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_order_of_calls_leaves_the_host_alive)};
    if (argc > 1)
        first_seed = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        seed_count = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests_name("widgets_monkey", tests, NULL, NULL);
}
