/* The network of MLScope; see model.h. */
#include "model.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include <caliper/adapters/torch.hpp>

namespace
{

struct NetImpl : torch::nn::Module {
    NetImpl()
        : conv1(register_module("conv1", torch::nn::Conv2d(1, 8, 3))),
          conv2(register_module("conv2", torch::nn::Conv2d(8, 16, 3))),
          out(register_module("out", torch::nn::Linear(400, MODEL_CLASSES)))
    {
    }
    at::Tensor forward(const at::Tensor &images)
    {
        return after_conv1(conv1(images));
    }
    at::Tensor after_conv1(const at::Tensor &maps)
    {
        at::Tensor x = torch::max_pool2d(torch::relu(maps), 2);
        x = torch::max_pool2d(torch::relu(conv2(x)), 2);
        return out(x.flatten(1));
    }
    torch::nn::Conv2d conv1, conv2;
    torch::nn::Linear out;
};
TORCH_MODULE(Net);

/* One line of what is being handled, for `why`. */
void say_why(char *why)
{
    try {
        throw;
    } catch (const std::exception &error) {
        std::snprintf(why, MODEL_ERROR_BYTES, "%s", error.what());
    } catch (...) {
        std::snprintf(why, MODEL_ERROR_BYTES, "an exception that is no std::exception");
    }
    for (char *at = why; *at != '\0'; at++) {
        if (*at == '\n') {
            *at = '\0';
            break;
        }
    }
}

/* u8 images as (N, 1, 28, 28) f32 in 0..1, on the device. */
at::Tensor images_of(const uint8_t *bytes, int64_t count, at::Device device)
{
    at::Tensor raw = torch::from_blob(const_cast<uint8_t *>(bytes),
                                      {count, 1, MODEL_DIGIT_SIDE, MODEL_DIGIT_SIDE}, at::kByte);
    return raw.to(device).to(at::kFloat).div_(255.0);
}

at::Tensor labels_of(const uint8_t *bytes, int64_t count, at::Device device)
{
    return torch::from_blob(const_cast<uint8_t *>(bytes), {count}, at::kByte)
        .to(device)
        .to(at::kLong);
}

} // namespace

struct Model {
    ModelParams params;
    at::Device device{at::kCPU};
    Net net;
    std::unique_ptr<torch::optim::Adam> adam;
    at::Tensor train_images, train_labels, test_images, test_labels, order;
    at::Tensor digit; /* the first of the test set, alone: a snapshot outlives the set */
    int64_t at = 0;   /* in `order` */
    bool has_ranges = false;
    float kernel_max = 0, map_min = 0, map_max = 0; /* of the first snapshot */
};

/* One of the pictures that lie behind one another in `all`: its last two dimensions. */
static CaliperTensor plane_of(const CaliperTensor &all, int64_t index)
{
    CaliperTensor plane = all;
    const int64_t height = all.shape[all.ndim - 2], width = all.shape[all.ndim - 1];
    plane.data = static_cast<float *>(all.data) + index * height * width;
    plane.ndim = 2;
    plane.shape[0] = height;
    plane.shape[1] = width;
    plane.strides[0] = width;
    plane.strides[1] = 1;
    for (int i = 2; i < 8; i++) {
        plane.shape[i] = 0;
        plane.strides[i] = 0;
    }
    return plane;
}

struct Owner { /* what a snapshot's descriptors point into */
    std::vector<at::Tensor> tensors;
};

bool model_has_cuda(void)
{
    try {
        return torch::cuda::is_available();
    } catch (...) {
        return false;
    }
}

Model *model_create(const ModelParams *params, char *why)
{
    try {
        auto model = std::make_unique<Model>();
        model->params = *params;
        model->device = params->on_cuda ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU);
        torch::manual_seed(params->seed);
        model->net = Net();
        model->net->to(model->device);
        model->adam = std::make_unique<torch::optim::Adam>(
            model->net->parameters(), torch::optim::AdamOptions(params->learning_rate));
        model->train_images = images_of(params->train_images, params->train_count, model->device);
        model->train_labels = labels_of(params->train_labels, params->train_count, model->device);
        model->test_images = images_of(params->test_images, params->test_count, model->device);
        model->test_labels = labels_of(params->test_labels, params->test_count, model->device);
        model->digit = model->test_images.slice(0, 0, 1).clone();
        return model.release();
    } catch (...) {
        say_why(why);
        return nullptr;
    }
}

void model_destroy(Model **model)
{
    try {
        delete *model;
    } catch (...) { /* a device that is lost: there is nothing left to free */
    }
    *model = nullptr;
}

int64_t model_steps_per_epoch(const Model *model)
{
    return (model->params.train_count + model->params.batch - 1) / model->params.batch;
}

bool model_step(Model *model, double *out_loss, char *why)
{
    try {
        const int64_t count = model->params.train_count;
        if (model->at == 0) { /* on the CPU, so that a seed gives one order on every device */
            model->order = torch::randperm(count, at::kLong).to(model->device);
        }
        const int64_t last = std::min<int64_t>(model->at + model->params.batch, count);
        at::Tensor chosen = model->order.slice(0, model->at, last);
        model->at = last == count ? 0 : last;
        model->net->train();
        model->adam->zero_grad();
        at::Tensor loss = torch::nn::functional::cross_entropy(
            model->net(model->train_images.index_select(0, chosen)),
            model->train_labels.index_select(0, chosen));
        loss.backward();
        model->adam->step();
        *out_loss = loss.item<double>();
        return true;
    } catch (...) {
        say_why(why);
        return false;
    }
}

bool model_conv1(Model *model, float out[MODEL_CONV1_FLOATS], char *why)
{
    try {
        torch::NoGradGuard no_grad;
        at::Tensor all =
            torch::cat({model->net->conv1->weight.flatten(), model->net->conv1->bias.flatten()})
                .to(at::kCPU)
                .contiguous();
        std::memcpy(out, all.data_ptr<float>(), MODEL_CONV1_FLOATS * sizeof(float));
        return true;
    } catch (...) {
        say_why(why);
        return false;
    }
}

bool model_evaluate(Model *model, ModelScore *out, bool (*stop)(void *), void *user, char *why)
{
    try {
        torch::NoGradGuard no_grad;
        model->net->eval();
        *out = ModelScore{};
        const int64_t count = model->params.test_count, batch = 1000;
        for (int64_t first = 0; first < count; first += batch) {
            const int64_t last = std::min(first + batch, count);
            if (stop != nullptr && stop(user)) {
                why[0] = '\0';
                return false;
            }
            at::Tensor predicted =
                model->net(model->test_images.slice(0, first, last)).argmax(1).to(at::kCPU);
            const int64_t *answers = predicted.data_ptr<int64_t>();
            for (int64_t i = first; i < last; i++) {
                const uint8_t truth = model->params.test_labels[i];
                const auto answer = static_cast<uint8_t>(answers[i - first]);
                out->confusion[truth][answer]++;
                out->right += truth == answer ? 1 : 0;
                if (truth != answer && out->wrong_count < MODEL_WRONG_MAX) {
                    out->wrong_index[out->wrong_count] = static_cast<int32_t>(i);
                    out->wrong_truth[out->wrong_count] = truth;
                    out->wrong_predicted[out->wrong_count++] = answer;
                }
            }
        }
        out->seen = count;
        return true;
    } catch (...) {
        say_why(why);
        return false;
    }
}

ModelSnapshot *model_snapshot(Model *model, bool on_cpu, char *why)
{
    try {
        torch::NoGradGuard no_grad;
        auto snapshot = std::make_unique<ModelSnapshot>();
        auto owner = std::make_unique<Owner>();
        const at::Device device = on_cpu ? at::Device(at::kCPU) : model->device;
        model->net->eval();
        const at::Tensor &digit = model->digit;
        at::Tensor maps = model->net->conv1(digit);
        at::Tensor weight = model->net->conv1->weight;
        at::Tensor answer = model->net->after_conv1(maps).argmax(1);
        snapshot->truth = model->params.test_labels[0];
        if (!model->has_ranges) { /* each of these waits for the device: once is enough */
            model->kernel_max = weight.abs().max().item<float>();
            model->map_min = maps.min().item<float>();
            model->map_max = maps.max().item<float>();
            model->has_ranges = true;
        }
        snapshot->kernel_max = model->kernel_max;
        snapshot->map_min = model->map_min;
        snapshot->map_max = model->map_max;
        snapshot->on_device = !device.is_cpu();
        /* The training waits while this is made, so nothing is done twice: the weight goes on
         * changing and is copied, the maps are new, the digit never changes. A picture is a part of
         * its tensor, whose place the address on a CPU or CUDA device holds. */
        auto hand_over = [&](const at::Tensor &of) {
            owner->tensors.push_back(of);
            auto handed = caliper::adapters::stream_to_tensor(of, model->params.bridge_caps);
            if (!handed) {
                throw std::runtime_error("a tensor of the net cannot be handed over");
            }
            return *handed;
        };
        const CaliperTensor kernels =
            hand_over(weight.to(device).clone(at::MemoryFormat::Contiguous));
        const CaliperTensor shown_maps = hand_over(maps.to(device).contiguous());
        for (int i = 0; i < MODEL_KERNELS; i++) {
            snapshot->kernels[i] = plane_of(kernels, i);
            snapshot->maps[i] = plane_of(shown_maps, i);
        }
        snapshot->digit = plane_of(hand_over(digit.to(device).contiguous()), 0);
        /* The device's answer, and the only wait: all of the above is on its way by now. */
        snapshot->predicted = static_cast<int32_t>(answer.item<int64_t>());
        snapshot->owner = owner.release();
        return snapshot.release();
    } catch (...) {
        say_why(why);
        return nullptr;
    }
}

void model_snapshot_free(ModelSnapshot **snapshot)
{
    if (*snapshot != nullptr) {
        try {
            delete static_cast<Owner *>((*snapshot)->owner);
        } catch (...) {
        }
        delete *snapshot;
    }
    *snapshot = nullptr;
}
