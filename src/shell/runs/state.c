/* The view as JSON, for tests that play scripted input. Frame thread, after the last frame. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "shell/runs/runs_impl.h"
#include "shell/runs/state_text.h"

static const char *const axes[] = {"step", "wall", "relative", "arrival"};

void state_put_text(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\')
            fprintf(file, "\\%c", byte);
        else if (byte < 0x20)
            fprintf(file, "\\u%04x", byte);
        else
            fputc(byte, file);
    }
    fputc('"', file);
}

void state_put_number(FILE *file, double value)
{
    if (isfinite(value))
        fprintf(file, "%.17g", value);
    else
        fputs("null", file);
}

static void put_column(FILE *file, const char *name, const double *values, uint32_t count)
{
    fprintf(file, ", \"%s\": [", name);
    for (uint32_t i = 0; i < count; i++) {
        fputs(i > 0 ? ", " : "", file);
        state_put_number(file, values[i]);
    }
    fputc(']', file);
}

static void put_series(FILE *file, const RunsSeries *series)
{
    fprintf(file, "{\"run\": %llu, \"rows\": %llu, \"gaps\": %llu, \"last_step\": %lld, \"last\": ",
            (unsigned long long)series->run, (unsigned long long)series->rows,
            (unsigned long long)series->gaps, (long long)series->last_step);
    state_put_number(file, series->last);
    put_column(file, "x", series->x, series->count);
    put_column(file, "mean", series->mean, series->count);
    put_column(file, "least", series->least, series->count);
    put_column(file, "greatest", series->greatest, series->count);
    put_column(file, "smooth", series->smooth, series->count);
    put_column(file, "gap_x", series->gap_x, series->gap_count);
    fputc('}', file);
}

static void put_charts(FILE *file, const Runs *runs)
{
    fprintf(file, ",\n\"chart_total\": %u,\n\"charts\": [", runs->chart_total);
    for (uint32_t i = 0, done = 0; i < runs->in_sight_count; i++) {
        const RunsChart *chart = runs_chart(runs, runs->in_sight[i].tag);
        if (chart == NULL)
            continue;
        fputs(done++ > 0 ? ",\n {\"tag\": " : "\n {\"tag\": ", file);
        state_put_text(file, chart->tag);
        fprintf(file,
                ", \"axis\": \"%s\", \"rows\": %llu, \"gaps\": %llu, \"low\": ", axes[chart->axis],
                (unsigned long long)chart->rows, (unsigned long long)chart->gaps);
        state_put_number(file, chart->low);
        fputs(", \"high\": ", file);
        state_put_number(file, chart->high);
        fputs(", \"inner_low\": ", file);
        state_put_number(file, chart->inner_low);
        fputs(", \"inner_high\": ", file);
        state_put_number(file, chart->inner_high);
        fputs(", \"from\": ", file); /* of the window that was read again; null: there is none */
        state_put_number(file, chart->has_range ? chart->from : (double)NAN);
        fputs(", \"to\": ", file);
        state_put_number(file, chart->has_range ? chart->to : (double)NAN);
        fputs(", \"series\": [", file);
        for (uint32_t k = 0; k < chart->count; k++) {
            fputs(k > 0 ? ",\n  " : "\n  ", file);
            put_series(file, &chart->series[k]);
        }
        fputs("]}", file);
    }
    fputs("]", file);
}

static void put_runs(FILE *file, const Runs *runs)
{
    static const char *const states[] = {"running", "done", "interrupted"};
    fputs(",\n\"rows\": [", file);
    for (uint32_t i = 0; i < runs->row_count; i++) {
        const MetricsRunInfo *run = &runs->catalog->runs.items[runs->rows[i]];
        fprintf(file, "%s{\"id\": %llu, \"label\": ", i > 0 ? ",\n " : "\n ",
                (unsigned long long)run->id);
        state_put_text(file, runs->labels[runs->rows[i]]);
        fprintf(file, ", \"state\": \"%s\", \"chosen\": %s, \"seconds\": ", states[run->state],
                runs_is_chosen(runs, run->id) ? "true" : "false");
        state_put_number(file, run->ended_us > 0 ? (double)(run->ended_us - run->started_us) / 1e6
                                                 : (double)NAN);
        fputs(", \"note\": ", file);
        state_put_text(file, run->note);
        fputc('}', file);
    }
    fputs("]", file);
}

static void put_parameters(FILE *file, const Runs *runs)
{
    const Parameters *all = &runs->parameters;
    fputs(",\n\"parameters\": [", file);
    for (uint32_t i = 0; i < all->count; i++) {
        fputs(i > 0 ? ",\n {\"name\": " : "\n {\"name\": ", file);
        state_put_text(file, all->rows[i].name);
        fprintf(file, ", \"differs\": %s, \"values\": [", all->rows[i].differs ? "true" : "false");
        for (uint32_t k = 0; k < all->runs; k++) {
            fputs(k > 0 ? ", " : "", file);
            if (all->rows[i].values[k] != NULL)
                state_put_text(file, all->rows[i].values[k]);
            else
                fputs("null", file);
        }
        fputs("]}", file);
    }
    fputs("]", file);
}

static void put_media(FILE *file, const Runs *runs)
{
    const RunsMedia *media = runs->snapshot != NULL ? runs->snapshot->media : NULL;
    if (media == NULL)
        return;
    fputs(",\n\"media\": {\"tag\": ", file);
    state_put_text(file, media->tag);
    fprintf(file, ", \"run\": %llu, \"images\": %u, \"image_step\": %lld, \"low\": ",
            (unsigned long long)media->run, media->list.count,
            media->image.count > 0 ? (long long)media->image.items[0].step : -1LL);
    state_put_number(file, media->low);
    fputs(", \"high\": ", file);
    state_put_number(file, media->high);
    fprintf(file, ", \"not_finite\": %llu, \"texts\": %u", (unsigned long long)media->not_finite,
            media->text_list.count);
    if (media->text.count > 0 && media->text.items[0].value != NULL) {
        fprintf(file, ", \"text_step\": %lld, \"text\": ", (long long)media->text.items[0].step);
        state_put_text(file, media->text.items[0].value);
    }
    fputs(", \"steps\": [", file);
    for (uint32_t i = 0; i < media->step_count; i++)
        fprintf(file, "%s%lld", i > 0 ? ", " : "", (long long)media->steps[i]);
    fputs("], \"counts\": [", file);
    for (uint32_t i = 0; i < media->step_count * RUNS_BINS; i++)
        fprintf(file, "%s%.0f", i > 0 ? ", " : "", media->counts[i]);
    fputs("]}", file);
}

static void put_actions(FILE *file, const Runs *runs)
{
    fputs(",\n\"actions\": [", file);
    for (int i = 0; i < RUNS_ACTION_COUNT; i++) {
        const RunsActionInfo *info = &runs_actions[i];
        const RunsActionSeen *seen = &runs->seen[i];
        fprintf(file, "%s{\"name\": \"%s\", \"key\": ", i > 0 ? ",\n " : "\n ", info->name);
        state_put_text(file, info->key);
        fprintf(file, ", \"page\": \"%s\", \"by_key\": %u, \"by_pointer\": %u",
                info->page < RUNS_ACTION_COUNT ? runs_actions[info->page].name : "", seen->by_key,
                seen->by_pointer);
        if (seen->w > 0.0f)
            fprintf(file, ", \"rect\": [%.9g, %.9g, %.9g, %.9g]", (double)seen->x, (double)seen->y,
                    (double)seen->w, (double)seen->h);
        fputc('}', file);
    }
    fputs("]", file);
}

static void put_state(FILE *file, const Runs *runs)
{
    RunsReaderCounters counters;
    runs_reader_counters(runs->reader, &counters);
    fprintf(file, "{\"page\": \"%s\", \"axis\": \"%s\", \"smoothing\": %.17g,\n",
            runs_actions[runs->page].name, axes[runs->axis], runs->smoothing);
    fprintf(file, "\"log_x\": %d, \"log_y\": %d, \"no_outliers\": %d, \"bands\": %d,\n",
            runs->log_x, runs->log_y, runs->no_outliers, runs->bands);
    fputs("\"search\": ", file);
    state_put_text(file, runs->search);
    fputs(", \"tags\": ", file);
    state_put_text(file, runs->tags);
    fprintf(file,
            ", \"cursor\": %llu, \"deleted\": %u, \"told\": ", (unsigned long long)runs->cursor,
            runs->deleted_count);
    state_put_text(file, runs->told);
    fputs(", \"error\": ", file);
    state_put_text(file, runs->snapshot != NULL ? runs->snapshot->error : "");
    fprintf(file, ",\n\"queries\": %llu, \"frame_queries\": %llu, \"snapshots\": %llu",
            (unsigned long long)counters.queries, (unsigned long long)counters.frame_queries,
            (unsigned long long)counters.snapshots);
    fprintf(file, ",\n\"owner\": %s",
            runs->snapshot != NULL && runs->snapshot->owner ? "true" : "false");
    if (runs->catalog != NULL)
        put_runs(file, runs);
    put_charts(file, runs);
    if (runs->catalog != NULL)
        runs_put_sections(file, runs);
    put_parameters(file, runs);
    put_media(file, runs);
    runs_artifacts_put_state(file, runs);
    runs_data_put_state(file, runs);
    put_actions(file, runs);
    fputs("}\n", file);
}

bool runs_write_state(const Runs *runs, const char *path)
{
    FILE *file = fopen(path, "w");
    if (file != NULL)
        put_state(file, runs);
    bool failed = file == NULL || ferror(file) != 0;
    int why = errno;
    if (file != NULL && fclose(file) != 0) {
        failed = true;
        why = errno;
    }
    if (failed)
        log_item(RUNS_STATE_FAILED, path, strerror(why));
    return !failed;
}
