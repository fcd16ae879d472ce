/* tests/e2e/count_allocations.c: preloaded into the command: says at exit how often memory was
 * allocated. glibc's own entry points do the work. Any thread. */
#include <stddef.h>
#include <stdio.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);

void *malloc(size_t bytes);
void *calloc(size_t count, size_t bytes);
void *realloc(void *memory, size_t bytes);

static unsigned long count;

#define EXPORT __attribute__((visibility("default")))

EXPORT void *malloc(size_t bytes)
{
    __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
    return __libc_malloc(bytes);
}

EXPORT void *calloc(size_t number, size_t bytes)
{
    __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
    return __libc_calloc(number, bytes);
}

EXPORT void *realloc(void *memory, size_t bytes)
{
    __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
    return __libc_realloc(memory, bytes);
}

__attribute__((destructor)) static void say(void)
{
    fprintf(stderr, "allocations: %lu\n", count);
}
