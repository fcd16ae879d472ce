/* Fits a line to noisy points in a job: each step's loss goes to the metrics, the result to the
 * artifacts, and the panel shows both while the job runs.
 *
 * The frame thread draws, the job's thread works. What both use is atomic; the losses are written
 * by the job before it raises `steps`, and read by frame() below that. */
#include <caliper/caliper.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { POINTS = 256, STEPS = 400 };

typedef struct LineFit {
    const CaliperJobsV1 *jobs;
    const CaliperMetricsV1 *metrics;
    const CaliperArtifactsV1 *artifacts;
    const CaliperLogV1 *log;
    const CaliperWidgetsV1 *ui;
    const CaliperPlotV1 *plot;
    uint64_t job;
    float x[POINTS], y[POINTS];
    float losses[STEPS];
    atomic_int steps;
    _Atomic double slope, offset;
} LineFit;

/* y = 2 x - 1 and some noise; the same points each time. */
static void make_points(LineFit *fit)
{
    uint32_t seed = 1;
    for (int i = 0; i < POINTS; i++) {
        seed = seed * 1664525u + 1013904223u;
        fit->x[i] = (float)i / (float)(POINTS - 1) * 2.0f - 1.0f;
        fit->y[i] = 2.0f * fit->x[i] - 1.0f + ((float)(seed >> 8) / 16777216.0f - 0.5f) * 0.2f;
    }
}

/* ---- On the job's thread ---- */

/* One step of gradient descent on the mean square; answers the loss before it. */
static double descend(const LineFit *fit, double rate, double *slope, double *offset)
{
    double loss = 0.0, by_slope = 0.0, by_offset = 0.0;
    for (int i = 0; i < POINTS; i++) {
        double error = *slope * (double)fit->x[i] + *offset - (double)fit->y[i];
        loss += error * error / POINTS;
        by_slope += 2.0 * error * (double)fit->x[i] / POINTS;
        by_offset += 2.0 * error / POINTS;
    }
    *slope -= rate * by_slope;
    *offset -= rate * by_offset;
    return loss;
}

static void keep(LineFit *fit, uint64_t run, double slope, double offset)
{
    char digest[CALIPER_ARTIFACT_DIGEST_SIZE], line[200];
    const double weights[2] = {slope, offset};
    if (!fit->artifacts->put("line_fit/weights.f64", weights, sizeof weights, run, digest))
        return; /* it has said why */
    snprintf(line, sizeof line, "y = %.3f x + %.3f, kept as %s", slope, offset, digest);
    fit->log->log(CALIPER_LOG_INFO, line);
}

static void train(void *user, const CaliperJobControl *control)
{
    LineFit *fit = user;
    const double rate = 0.05;
    double slope = 0.0, offset = 0.0;
    char words[64];
    uint64_t run = fit->metrics->begin_run("line_fit", "gradient descent");
    fit->metrics->hparams_json(run, "{\"rate\": 0.05, \"points\": 256}");
    int step = 0;
    for (; step < STEPS && !control->cancelled(control); step++) {
        double loss = descend(fit, rate, &slope, &offset);
        fit->metrics->scalar(run, "loss", step, loss);
        fit->losses[step] = (float)loss;
        atomic_store(&fit->slope, slope);
        atomic_store(&fit->offset, offset);
        atomic_store(&fit->steps, step + 1);
        snprintf(words, sizeof words, "step %d of %d, loss %.5f", step + 1, STEPS, loss);
        control->progress(control, (float)(step + 1) / STEPS, words);
    }
    if (step == STEPS)
        keep(fit, run, slope, offset);
    fit->metrics->end_run(run);
}

/* ---- On the frame thread ---- */

static void *create(void)
{
    LineFit *fit = calloc(1, sizeof *fit);
    if (fit != NULL)
        make_points(fit);
    return fit;
}

/* The job has ended by now, or this is not called. */
static void destroy(void *self)
{
    free(self);
}

static bool initialize(void *self, const CaliperHost *host)
{
    LineFit *fit = self;
    fit->jobs = host->get_service(host, CALIPER_JOBS_V1);
    fit->metrics = host->get_service(host, CALIPER_METRICS_V1);
    fit->artifacts = host->get_service(host, CALIPER_ARTIFACTS_V1);
    fit->log = host->get_service(host, CALIPER_LOG_V1);
    fit->ui = host->get_service(host, CALIPER_WIDGETS_V1);
    fit->plot = host->get_service(host, CALIPER_PLOT_V1);
    if (fit->jobs == NULL || fit->metrics == NULL || fit->artifacts == NULL || fit->log == NULL ||
        fit->ui == NULL || fit->plot == NULL)
        return false;
    fit->job = fit->jobs->submit("Fit a line", train, fit);
    return true;
}

static void draw_loss(LineFit *fit, int steps)
{
    CaliperPlotData data = {.struct_size = sizeof data,
                            .y_type = CALIPER_PLOT_TYPE_F32,
                            .y = fit->losses,
                            .count = steps};
    if (fit->plot->plot("Loss", 0, 0, 0)) {
        fit->plot->axis(CALIPER_AXIS_X1, "step", CALIPER_SCALE_LINEAR, 0);
        fit->plot->axis(CALIPER_AXIS_Y1, "mean square", CALIPER_SCALE_LOG10, 0);
        fit->plot->line("loss", &data, 0);
    }
    fit->plot->end();
}

static void frame(void *self, const CaliperFrameInfo *info)
{
    LineFit *fit = self;
    char text[96];
    (void)info;
    int steps = atomic_load(&fit->steps);
    if (fit->jobs->is_running(fit->job)) {
        if (fit->ui->button("Stop", 0, 0, 0))
            fit->jobs->request_cancel(fit->job);
    } else if (fit->ui->button("Again", 0, 0, CALIPER_BUTTON_PRIMARY)) {
        atomic_store(&fit->steps, 0);
        fit->job = fit->jobs->submit("Fit a line", train, fit);
    }
    fit->ui->same_line(0, 0);
    snprintf(text, sizeof text, "y = %.3f x + %.3f after %d steps", atomic_load(&fit->slope),
             atomic_load(&fit->offset), steps);
    fit->ui->text(text);
    draw_loss(fit, steps);
}

static void cleanup(void *self)
{
    (void)self;
}

static const char *const required[] = {CALIPER_JOBS_V1,
                                       CALIPER_METRICS_V1,
                                       CALIPER_ARTIFACTS_V1,
                                       CALIPER_LOG_V1,
                                       CALIPER_WIDGETS_V1,
                                       CALIPER_PLOT_V1,
                                       NULL};

static const CaliperAppletDescriptor descriptor = {.struct_size = sizeof descriptor,
                                                   .abi_epoch = CALIPER_ABI_EPOCH,
                                                   .id = "org.example.line_fit",
                                                   .version = "1.0.0",
                                                   .name = "Line fit",
                                                   .summary = "Trains in a job, keeps the result.",
                                                   .tag = "example",
                                                   .required_services = required,
                                                   .api = {.struct_size = sizeof(CaliperAppletAPI),
                                                           .create = create,
                                                           .destroy = destroy,
                                                           .initialize = initialize,
                                                           .frame = frame,
                                                           .cleanup = cleanup}};

CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void);
CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void)
{
    return &descriptor;
}
