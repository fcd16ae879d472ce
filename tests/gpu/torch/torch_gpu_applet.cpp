/* An applet that tries the torch adapters on a CUDA device: order behind a slow producer, the
 * stream that comes through, memory of a TorchPool, DLPack both ways. Built and run by run.sh
 * beside it, where a libtorch with CUDA is; each result is one line of the log, "PASS ..." or "FAIL
 * ...". */
#include <thread>
#include <vector>

#include <ATen/DLConvertor.h>
#include <c10/cuda/CUDAGuard.h>

#include <caliper/adapters/dlpack.h>
#include <caliper/adapters/torch_pool.hpp>
#include <caliper/caliper.h>

namespace
{

using namespace caliper::adapters;

const int64_t side = 64;
const int rounds = 100;

struct Try {
    const CaliperHost *host = nullptr;
    const CaliperTensorBridgeV1_2 *bridge = nullptr;
    const CaliperTextureReadV1 *reader = nullptr;
    bool is_done = false;
    at::Tensor heavy;
};

void report(Try *self, bool good, const char *what, long tries, long wrong)
{
    caliper_logf(self->host, good ? CALIPER_LOG_INFO : CALIPER_LOG_ERROR,
                 "%s %s (%ld tries, %ld wrong)", good ? "PASS" : "FAIL", what, tries, wrong);
}

/* About two milliseconds of the device. */
void be_slow(Try *self)
{
    at::Tensor x = self->heavy;
    for (int i = 0; i < 12; i++) {
        x = at::matmul(x, self->heavy).mul_(1e-3);
    }
}

bool shows(Try *self, CaliperTextureId texture, uint8_t grey)
{
    std::vector<uint8_t> pixels(side * side * 4);
    if (!self->reader->read_rgba8(texture, pixels.data(), pixels.size())) {
        return false;
    }
    for (size_t i = 0; i < pixels.size(); i++) {
        if (pixels[i] != (i % 4 == 3 ? 255 : grey)) {
            return false;
        }
    }
    return true;
}

at::Tensor image()
{
    return torch::zeros({side, side, 1}, at::TensorOptions().dtype(at::kByte).device(at::kCUDA));
}

bool own(TorchPool *pool, const at::Tensor &t)
{
    uint64_t offset = 0, size = 0;
    return caliper_cuda_pool_find(pool->handle(), t.data_ptr(), &offset, &size);
}

enum class Way { ordered, undrained, pool };

/* Each round: two milliseconds of work, then a fill with the round's number, then the update. */
void order(Try *self, const char *what, bool own_stream, Way way)
{
    auto stream = own_stream ? c10::cuda::getStreamFromPool() : c10::cuda::getDefaultCUDAStream();
    c10::cuda::CUDAStreamGuard guard(stream);
    const char *why = "";
    std::shared_ptr<TorchPool> pool;
    at::Tensor img = image();
    if (way == Way::pool) {
        pool = TorchPool::create(0, &why);
        img = pool != nullptr ? pool->empty({side, side, 1}, at::kByte) : at::Tensor();
        if (!img.defined()) {
            report(self, false, why, 0, 1);
            return;
        }
        img.zero_();
    }
    torch::cuda::synchronize();
    auto first = stream_to_tensor(img, self->bridge->caps());
    CaliperTextureId texture = self->bridge->texture_from_tensor(&*first, 0);
    long wrong = 0, undrained = 0, streams = 0;
    for (int i = 1; i <= rounds; i++) {
        be_slow(self);
        img.fill_(i);
        auto t =
            way == Way::undrained ? to_tensor(img) : stream_to_tensor(img, self->bridge->caps());
        undrained += cudaStreamQuery(stream.stream()) == cudaErrorNotReady ? 1 : 0;
        streams += t->stream == static_cast<void *>(stream.stream()) ? 1 : 0;
        bool updated = way == Way::pool ? pool->update(self->bridge, texture, *t)
                                        : self->bridge->update_texture(texture, &*t);
        wrong += updated && shows(self, texture, static_cast<uint8_t>(i)) ? 0 : 1;
    }
    self->bridge->release_texture(texture);
    if (pool != nullptr) {
        img = at::Tensor();
        pool->collect(self->bridge);
        pool->close(self->bridge);
    }
    if (way == Way::undrained) { /* the negative control: without the stream old pixels are seen */
        report(self, wrong > 0, what, rounds, wrong);
        return;
    }
    report(self, wrong == 0, what, rounds, wrong);
    report(self, undrained == rounds, "... and nothing was drained", rounds, rounds - undrained);
    report(self, streams == rounds, "... and the producer's stream came through", rounds,
           rounds - streams);
}

void tripwire(Try *self)
{
    auto pooled = c10::cuda::getStreamFromPool();
    c10::cuda::CUDAStreamGuard guard(pooled);
    auto t = stream_to_tensor(image(), CALIPER_BRIDGE_CAP_STREAM_ORDERED);
    report(self,
           CALIPER_TORCH_CUDA == 1 && t && t->stream == (void *)pooled.stream() &&
               t->stream != nullptr,
           "tripwire: a non-default pool stream round-trips", 1, 0);
    report(self, stream_to_tensor(image(), 0)->stream == nullptr, "without the cap: drained", 1, 0);
}

void dlpack(Try *self)
{
    long wrong = 0;
    const char *why = "";
    for (int i = 1; i <= 20; i++) {
        at::Tensor img = image().fill_(i);
        CaliperDLHold hold;
        auto *managed = reinterpret_cast<CaliperDLManagedTensor *>(at::toDLPack(img));
        void *stream = c10::cuda::getCurrentCUDAStream().stream();
        if (!caliper_dl_hold(managed, stream, &hold, &why) || hold.tensor.data != img.data_ptr()) {
            wrong++;
            continue;
        }
        CaliperTextureId texture = self->bridge->texture_from_tensor(&hold.tensor, 0);
        wrong += shows(self, texture, static_cast<uint8_t>(i)) ? 0 : 1;
        self->bridge->release_texture(texture);
        caliper_dl_release(&hold);
        wrong += img.use_count() == 1 ? 0 : 1;
    }
    report(self, wrong == 0, "DLPack of torch comes in, and is let go", 20, wrong);
    wrong = 0;
    static int released;
    released = 0;
    for (int i = 1; i <= 20; i++) {
        at::Tensor img = torch::full({3, 4}, i, at::TensorOptions().device(at::kCUDA));
        auto t = to_tensor(img.to(at::kFloat));
        at::Tensor source = img.to(at::kFloat);
        t = to_tensor(source);
        auto *given = caliper_to_dlpack(
            &*t, nullptr, [](void *) { released++; }, &why);
        at::Tensor back = at::fromDLPack(reinterpret_cast<DLManagedTensor *>(given));
        wrong += back.data_ptr() == source.data_ptr() && at::equal(back, source) ? 0 : 1;
    }
    report(self, wrong == 0 && released == 20, "ours goes out to torch, and comes back once", 20,
           wrong + (20 - released));
}

/* Tensors that torch allocates by itself, many in one block, while another thread allocates from
 * torch's own memory. */
void scopes(Try *self)
{
#if CALIPER_TORCH_POOL_SCOPES
    long wrong = 0, elsewhere = 0;
    const char *why = "";
    std::shared_ptr<TorchPool> pool = TorchPool::create(0, &why);
    std::vector<at::Tensor> kept;
    {
        TorchPoolAllocator allocator(pool);
        {
            TorchPoolAllocator::Scope scope(allocator);
            for (int i = 1; i <= 50; i++) {
                kept.push_back(image().add_(i)); /* with an intermediate result */
            }
            std::thread other([&] { elsewhere += own(pool.get(), image()) ? 1 : 0; });
            other.join();
        }
        elsewhere += own(pool.get(), image()) ? 1 : 0; /* the scope has ended */
        auto first = stream_to_tensor(kept[0], self->bridge->caps());
        CaliperTextureId texture = self->bridge->texture_from_tensor(&*first, 0);
        for (int i = 1; i <= 50; i++) {
            auto t = stream_to_tensor(kept[i - 1], self->bridge->caps());
            wrong += pool->update(self->bridge, texture, *t) &&
                             shows(self, texture, static_cast<uint8_t>(i))
                         ? 0
                         : 1;
        }
        self->bridge->release_texture(texture);
    }
    pool->close(self->bridge);
    pool.reset();
    torch::cuda::synchronize();
    wrong += kept[49].sum().item<int64_t>() == 50 * side * side ? 0 : 1; /* outlived both */
    kept.clear();
    report(self, wrong == 0 && elsewhere == 0, "tensors of torch's own in a pool", 51,
           wrong + elsewhere);
#else
    caliper_logf(self->host, CALIPER_LOG_INFO, "skipped: scopes need libtorch 2.9 or later");
#endif
}

void *create()
{
    return new Try;
}

void destroy(void *self)
{
    delete static_cast<Try *>(self);
}

bool initialize(void *state, const CaliperHost *host)
{
    auto *self = static_cast<Try *>(state);
    self->host = host;
    self->bridge = CALIPER_SERVICE(host, CaliperTensorBridgeV1_2, CALIPER_TENSOR_BRIDGE_V1_2);
    self->reader = CALIPER_SERVICE(host, CaliperTextureReadV1, CALIPER_TEXTURE_READ_V1);
    return self->bridge != nullptr && self->reader != nullptr && torch::cuda::is_available();
}

void frame(void *state, const CaliperFrameInfo *)
{
    auto *self = static_cast<Try *>(state);
    if (self->is_done) {
        return;
    }
    self->is_done = true;
    try {
        caliper_logf(self->host, CALIPER_LOG_INFO, "torch %s, caps %u", TORCH_VERSION,
                     self->bridge->caps());
        self->heavy = torch::rand({2048, 2048}, at::TensorOptions().device(at::kCUDA)).sub_(0.5);
        be_slow(self);
        torch::cuda::synchronize();
        tripwire(self);
        order(self, "behind a slow producer, default stream", false, Way::ordered);
        order(self, "behind a slow producer, pool stream", true, Way::ordered);
        order(self, "negative control: no stream given", true, Way::undrained);
        order(self, "memory of a TorchPool, pool stream", true, Way::pool);
        scopes(self);
        dlpack(self);
    } catch (const std::exception &error) {
        report(self, false, error.what(), 0, 1);
    }
    self->heavy = at::Tensor();
    caliper_logf(self->host, CALIPER_LOG_INFO, "torch adapters: done");
}

void cleanup(void *) {}

} // namespace

extern "C" CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void)
{
    static const char *const required[] = {CALIPER_TENSOR_BRIDGE_V1_2, CALIPER_TEXTURE_READ_V1,
                                           nullptr};
    static const CaliperAppletDescriptor descriptor = {
        sizeof(CaliperAppletDescriptor),
        CALIPER_ABI_EPOCH,
        "org.caliper.test.torch-gpu",
        "1.0.0",
        "Torch adapters",
        "Tries the torch adapters on a CUDA device",
        "test",
        required,
        {sizeof(CaliperAppletAPI), create, destroy, initialize, frame, cleanup}};
    return &descriptor;
}
