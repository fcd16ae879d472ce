/* A network learns to paint one picture: from where a pixel is to how bright it is. It trains in a
 * job; each frame shows the newest picture that it has painted. */
#include <atomic>
#include <cstdio>
#include <mutex>
#include <vector>

#include <caliper/adapters/torch.hpp>
#include <caliper/caliper.h>

namespace
{

constexpr int side = 64, steps = 300, show_every = 10;

/* ---- state ---- */
struct Painter {
    const CaliperTensorBridgeV1_1 *bridge = nullptr;
    const CaliperWidgetsV1 *ui = nullptr;
    const CaliperPlotV1 *plot = nullptr;
    const CaliperJobsV1 *jobs = nullptr;
    const CaliperLogV1 *log = nullptr;
    const CaliperMetricsV1 *metrics = nullptr; /* optional */
    uint64_t job = 0;
    uint32_t caps = 0;

    std::mutex lock;           /* held to copy, never while it trains */
    at::Tensor painted;        /* the newest picture, which nobody writes any more */
    std::vector<float> losses; /* one a step */

    CaliperTextureId texture = 0; /* frame thread alone, as is what follows */
    at::Tensor shown;
    std::vector<float> curve;
};
/* ---- state end ---- */

/* ---- network ---- */
/* Where each pixel is, -1 to 1, as (side * side, 2). */
at::Tensor places()
{
    at::Tensor line = torch::linspace(-1, 1, side);
    at::Tensor y = line.view({side, 1}).expand({side, side});
    at::Tensor x = line.view({1, side}).expand({side, side});
    return torch::stack({x.reshape(-1), y.reshape(-1)}, 1);
}

/* What is to be painted: rings, 0 to 1. */
at::Tensor rings(const at::Tensor &at_places)
{
    return (at_places.norm(2, 1, true) * 6).cos() / 2 + 0.5;
}

torch::nn::Sequential make_net()
{
    return torch::nn::Sequential(torch::nn::Linear(2, 64), torch::nn::Tanh(),
                                 torch::nn::Linear(64, 64), torch::nn::Tanh(),
                                 torch::nn::Linear(64, 1));
}
/* ---- network end ---- */

/* ---- job ---- */
void train(void *user, const CaliperJobControl *control)
{
    Painter &self = *static_cast<Painter *>(user);
    torch::manual_seed(1);
    auto net = make_net();
    torch::optim::Adam adam(net->parameters(), torch::optim::AdamOptions(1e-2));
    const at::Tensor where = places(), wanted = rings(where);
    uint64_t run = self.metrics != nullptr ? self.metrics->begin_run("painter", "rings") : 0;
    double loss = 0;
    int step = 0;
    for (; step < steps && !control->cancelled(control); step++) {
        adam.zero_grad();
        at::Tensor painted = net->forward(where);
        at::Tensor error = torch::mse_loss(painted, wanted);
        error.backward();
        adam.step();
        loss = error.item<double>();
        if (run != 0)
            self.metrics->scalar(run, "train/loss", step, loss);
        at::Tensor copy;
        if (step % show_every == 0 || step == steps - 1)
            copy = painted.detach().view({side, side}).clone();
        {
            std::lock_guard<std::mutex> held(self.lock);
            self.losses.push_back(static_cast<float>(loss));
            if (copy.defined())
                self.painted = copy;
        }
        control->progress(control, static_cast<float>(step + 1) / steps, nullptr);
    }
    if (run != 0)
        self.metrics->end_run(run);
    char line[80];
    std::snprintf(line, sizeof line, "painted for %d steps, loss %.4f", step, loss);
    self.log->log(CALIPER_LOG_INFO, line);
}

/* No exception may leave a job. */
void train_guarded(void *user, const CaliperJobControl *control)
{
    try {
        train(user, control);
    } catch (const std::exception &error) {
        static_cast<Painter *>(user)->log->log(CALIPER_LOG_ERROR, error.what());
    }
}
/* ---- job end ---- */

/* ---- picture ---- */
void update_picture(Painter &self)
{
    at::Tensor newest;
    {
        std::lock_guard<std::mutex> held(self.lock);
        newest = self.painted;
        self.curve = self.losses;
    }
    if (!newest.defined() || newest.is_same(self.shown))
        return;
    auto tensor = caliper::adapters::stream_to_tensor(newest, self.caps);
    if (!tensor)
        return; /* it never copies: what it cannot hand over as it is, it does not */
    if (self.texture == 0)
        self.texture =
            self.bridge->texture_from_tensor_mapped(&*tensor, CALIPER_CMAP_MAGMA, 0, 1, 0);
    else
        self.bridge->update_texture(self.texture, &*tensor);
    self.shown = newest; /* its memory stays until the next one was taken */
}
/* ---- picture end ---- */

/* ---- life ---- */
void *create()
{
    return new (std::nothrow) Painter;
}

void destroy(void *self)
{
    delete static_cast<Painter *>(self);
}

bool initialize(void *user, const CaliperHost *host)
{
    Painter &self = *static_cast<Painter *>(user);
    self.bridge = CALIPER_SERVICE(host, CaliperTensorBridgeV1_1, CALIPER_TENSOR_BRIDGE_V1_1);
    self.ui = CALIPER_SERVICE(host, CaliperWidgetsV1, CALIPER_WIDGETS_V1);
    self.plot = CALIPER_SERVICE(host, CaliperPlotV1, CALIPER_PLOT_V1);
    self.jobs = CALIPER_SERVICE(host, CaliperJobsV1, CALIPER_JOBS_V1);
    self.log = CALIPER_SERVICE(host, CaliperLogV1, CALIPER_LOG_V1);
    self.metrics = CALIPER_SERVICE(host, CaliperMetricsV1, CALIPER_METRICS_V1);
    if (self.bridge == nullptr || self.ui == nullptr || self.plot == nullptr ||
        self.jobs == nullptr || self.log == nullptr)
        return false;
    self.caps = self.bridge->caps();
    self.losses.reserve(steps);
    self.job = self.jobs->submit("Painter: training", train_guarded, user);
    return self.job != 0;
}

void frame(void *user, const CaliperFrameInfo *)
{
    Painter &self = *static_cast<Painter *>(user);
    update_picture(self);
    if (self.texture != 0)
        self.ui->image(self.texture, 384, 384, CALIPER_IMAGE_BORDER);
    self.ui->same_line(0, 16);
    CaliperPlotData losses = {};
    losses.struct_size = sizeof losses;
    losses.y = self.curve.data();
    losses.y_type = CALIPER_PLOT_TYPE_F32;
    losses.count = static_cast<int64_t>(self.curve.size());
    losses.dx = 1;
    if (self.plot->plot("train/loss", 0, 384, CALIPER_PLOT_NO_LEGEND)) {
        self.plot->axis(CALIPER_AXIS_Y1, "mean square", CALIPER_SCALE_LOG10, CALIPER_AXIS_FIT);
        self.plot->axis(CALIPER_AXIS_X1, "step", CALIPER_SCALE_LINEAR, CALIPER_AXIS_FIT);
        self.plot->line("loss", &losses, 0);
    }
    self.plot->end();
    if (self.jobs->is_running(self.job) && self.ui->button("Stop", 0, 0, 0))
        self.jobs->request_cancel(self.job);
}

/* The job has ended by now. */
void cleanup(void *user)
{
    Painter &self = *static_cast<Painter *>(user);
    self.bridge->release_texture(self.texture);
    self.texture = 0;
}
/* ---- life end ---- */

} // namespace

extern "C" CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void)
{
    static const char *const needed[] = {CALIPER_TENSOR_BRIDGE_V1_1,
                                         CALIPER_WIDGETS_V1,
                                         CALIPER_PLOT_V1,
                                         CALIPER_JOBS_V1,
                                         CALIPER_LOG_V1,
                                         nullptr};
    static const CaliperAppletDescriptor me = {
        sizeof me,
        CALIPER_ABI_EPOCH,
        "org.example.painter",
        "0.1.0",
        "Painter",
        "A network learns to paint one picture, and you watch.",
        "training",
        needed,
        {sizeof me.api, create, destroy, initialize, frame, cleanup}};
    return &me;
}
