/* shell/runs/parameters.h: the hyper-parameters of runs side by side, and where they differ.
 *
 * Pure; for shell/runs/ and its tests. Any thread, no shared state. The JSON was found valid when
 * it was logged; other bytes give no parameters. Nested values get one name each: optimizer.lr,
 * layers[2]. Values stay the text that was logged; two are equal when the texts are, or when both
 * are numbers of one value (1e-3 and 0.001; whole numbers are compared digit by digit). */
#ifndef CALIPER_SHELL_RUNS_PARAMETERS_H
#define CALIPER_SHELL_RUNS_PARAMETERS_H

#include <stdbool.h>
#include <stdint.h>

enum { PARAMETERS_DEPTH_MAX = 32, PARAMETERS_NAME_BYTES = 256 };

typedef struct ParametersRow {
    char *name;
    char **values; /* one a run; NULL: that run has none of this name */
    bool differs;
} ParametersRow;

typedef struct Parameters {
    ParametersRow *rows; /* those that differ first, each part by name */
    uint32_t count, differing;
    uint32_t runs;
} Parameters;

/* `json` of each run, NULL entries allowed. False: no memory, *out is empty. */
bool parameters_compare(const char *const *json, uint32_t runs, Parameters *out);
void parameters_free(Parameters *parameters);

/* Whether two values of JSON, as texts, are the same. */
bool parameters_equal(const char *a, const char *b);

#endif
