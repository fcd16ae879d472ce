/* cli/doctor.c: `caliper doctor [--json]`: which renderers start, which devices and libraries there
 * are, and the reason where one does not. */
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/doctor_exercise.h"
#include "cli/printable.h"
#include "core/paths.h"
#include "cuda/cuda_device.h"
#include "kernels/kernels.h"
#include "render/renderer.h"
#include "services/device_cuda.h"
#include "services/device_service.h"
#include "services/ui.h"
#include "shell/services_known.h"
#include "store/database/duckdb_api.h"

typedef struct Finding {
    const char *section;
    char name[64];
    bool good;
    char words[400];
    cJSON *info, *exercise, *counters; /* of a renderer, with --json; NULL: none */
} Finding;

enum { FINDINGS_MAX = 64 };

typedef struct Report {
    Finding findings[FINDINGS_MAX];
    int count;
} Report;

static Finding *add(Report *report, const char *section, const char *name, bool good)
{
    static Finding spare;
    Finding *finding = report->count < FINDINGS_MAX ? &report->findings[report->count++] : &spare;
    finding->section = section;
    finding->good = good;
    snprintf(finding->name, sizeof finding->name, "%s", name);
    return finding;
}

/* As the shell starts them: with the device that they would share textures with. */
static RendererParams renderer_params(const CliOptions *options)
{
    RendererParams params = *RENDERER_PARAMS(.label = "doctor", .width_px = 64, .height_px = 64);
    params.interop_index = -1;
    device_cuda_install();
    if (device_service_detect(options->shell.device))
        device_cuda_interop(&params);
    return params;
}

static void try_out(Finding *finding, Renderer *renderer)
{
    RendererCounters counters;
    finding->info = doctor_info(renderer);
    finding->exercise = doctor_exercise(renderer);
    renderer_counters(renderer, &counters);
    finding->counters = doctor_counters(&counters);
}

static void look_at_renderers(Report *report, const CliOptions *options)
{
    RendererParams params = renderer_params(options);
    for (const RendererBackend *backend = renderer_backends; backend->name != NULL; backend++) {
        char error[300] = "";
        Renderer *renderer = backend->create(&params, error, sizeof error);
        Finding *finding = add(report, "renderers", backend->name, renderer != NULL);
        if (renderer != NULL) {
            const RendererInfo *info = renderer_info(renderer);
            snprintf(finding->words, sizeof finding->words, "%s, %s%s, textures to %d",
                     info->device_name, info->api_version, info->software ? ", software" : "",
                     info->max_texture_px);
            if (options->json)
                try_out(finding, renderer);
        } else {
            snprintf(finding->words, sizeof finding->words, "%s", error);
        }
        renderer_destroy(&renderer);
    }
}

static void look_at_devices(Report *report)
{
    const char *reason = NULL;
    int32_t count = cuda_device_count(&reason);
    for (int32_t i = 0; i < count; i++) {
        CudaDeviceInfo info;
        char name[32];
        snprintf(name, sizeof name, "cuda:%d", i);
        Finding *finding = add(report, "devices", name, cuda_device_describe(i, &info));
        if (finding->good)
            snprintf(finding->words, sizeof finding->words, "%s, %llu MiB, CUDA %d.%d", info.name,
                     (unsigned long long)(info.total_bytes >> 20), info.driver_version / 1000,
                     info.driver_version % 1000 / 10);
    }
    if (count <= 0)
        snprintf(add(report, "devices", "cuda", false)->words, sizeof(((Finding *)0)->words), "%s",
                 reason != NULL ? reason : "no device");
    Finding *cpu = add(report, "devices", "cpu", true);
    size_t used = 0;
    for (const KernelVariant *kernel = kernel_variants(); kernel->name != NULL; kernel++) {
        if (kernel->available && used < sizeof cpu->words)
            used += (size_t)snprintf(cpu->words + used, sizeof cpu->words - used, "%s%s",
                                     used > 0 ? ", " : "kernels ", kernel->name);
    }
    snprintf(cpu->words + used, sizeof cpu->words - used, "; uses %s", kernel_best()->name);
}

static void look_at_libraries(Report *report)
{
    const char *reason = NULL;
    const DuckdbApi *duckdb = duckdb_api_present(&reason) ? duckdb_api(&reason) : NULL;
    Finding *finding = add(report, "libraries", "DuckDB", duckdb != NULL);
    if (duckdb != NULL)
        snprintf(finding->words, sizeof finding->words, "%s, %.300s", duckdb->version,
                 duckdb->path);
    else
        snprintf(finding->words, sizeof finding->words, "%.390s", reason);
}

static void look_at_fonts(Report *report)
{
    UiFontFile font;
    for (uint32_t i = 0; ui_font_file(i, &font); i++) {
        Finding *finding = add(report, "fonts", font.name, font.found);
        if (font.found)
            snprintf(finding->words, sizeof finding->words, "%.390s", font.path);
        else
            snprintf(finding->words, sizeof finding->words,
                     "%s is not found; an embedded font serves", font.file);
    }
}

static void look_at_folders(Report *report, const CliOptions *options)
{
    char *root = paths_data_root(options->shell.data_dir);
    snprintf(add(report, "folders", "data", root != NULL)->words, sizeof(((Finding *)0)->words),
             "%s", root != NULL ? root : "no place for data");
    free(root);
    char *builtin = paths_builtin_applets();
    snprintf(add(report, "folders", "built-in applets", builtin != NULL)->words,
             sizeof(((Finding *)0)->words), "%s", builtin != NULL ? builtin : "not found");
    free(builtin);
    const char *display = getenv("DISPLAY");
    bool has_display = display != NULL && display[0] != '\0';
    snprintf(add(report, "display", "X11", has_display)->words, sizeof(((Finding *)0)->words), "%s",
             has_display ? display : "DISPLAY is not set; --headless works without one");
}

static void print_lines(const Report *report)
{
    const char *section = "";
    for (int i = 0; i < report->count; i++) {
        const Finding *finding = &report->findings[i];
        if (strcmp(section, finding->section) != 0)
            printf("%s%s\n", i > 0 ? "\n" : "", finding->section);
        section = finding->section;
        printable_print(stdout, "  %-4s %-18s %s\n", finding->good ? "yes" : "no", finding->name,
                        finding->words);
    }
}

static bool print_json(const Report *report)
{
    cJSON *all = cJSON_CreateObject();
    for (int i = 0; i < report->count; i++) {
        const Finding *finding = &report->findings[i];
        cJSON *section = cJSON_GetObjectItem(all, finding->section);
        if (section == NULL)
            section = cJSON_AddArrayToObject(all, finding->section);
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "name", finding->name);
        cJSON_AddBoolToObject(one, "available", finding->good);
        cJSON_AddStringToObject(one, finding->good ? "details" : "reason", finding->words);
        if (finding->info != NULL) {
            cJSON_AddItemToObject(one, "info", finding->info);
            cJSON_AddItemToObject(one, "exercise", finding->exercise);
            cJSON_AddItemToObject(one, "counters", finding->counters);
        }
        cJSON_AddItemToArray(section, one);
    }
    char *text = cJSON_Print(all);
    if (text != NULL)
        puts(text);
    cJSON_free(text);
    cJSON_Delete(all);
    return text != NULL;
}

int cli_doctor(CliOptions *options)
{
    static Report report;
    if (options->word_count > 0)
        return cli_usage("doctor takes no names, given \"%s\"", options->words[0]);
    memset(&report, 0, sizeof report);
    look_at_renderers(&report, options);
    look_at_devices(&report);
    look_at_libraries(&report);
    look_at_fonts(&report);
    look_at_folders(&report, options);
    if (options->json)
        return print_json(&report) ? 0 : 1;
    print_lines(&report);
    return 0;
}
