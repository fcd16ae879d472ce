/* hpp_applet.cpp: an applet in C++17 on caliper.hpp, which does everything the sugar offers.
 *
 * Loaded by test_hpp.c. What it found goes into the probe; where it throws the probe says. */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include <caliper/caliper.hpp>

#include "hpp_probe.h"

namespace
{

Probe *probe_of_environment()
{
    const char *text = std::getenv(PROBE_VARIABLE);
    void *address = nullptr;
    if (text == nullptr || std::sscanf(text, "%p", &address) != 1) {
        return nullptr;
    }
    return static_cast<Probe *>(address);
}

void throw_if(const Probe *probe, ThrowWhere here)
{
    if (probe == nullptr || probe->throw_where != here) {
        return;
    }
    if (probe->throw_number) {
        throw 7;
    }
    throw std::runtime_error("thrown on purpose");
}

class Member
{
  public:
    explicit Member(Probe *probe) : probe_(probe)
    {
        probe_->objects++;
    }
    Member(const Member &) = delete;
    Member &operator=(const Member &) = delete;
    ~Member()
    {
        probe_->objects--;
    }

  private:
    Probe *probe_;
};

class TestApplet : public caliper::Applet
{
  public:
    TestApplet() : probe_(probe_of_environment()), member_(probe_)
    {
        throw_if(probe_, THROW_CONSTRUCTOR);
    }

  private:
    bool initialize(caliper::Host host) override
    {
        const caliper::Device device(host);
        const caliper::Log log(host);
        const caliper::TextureRead read(host);
        bridge_ = caliper::Bridge(host);
        log.info("initialize");
        log.debug(std::string("a std::string"));
        throw_if(probe_, THROW_INITIALIZE);
        probe_->host_version = host.version();
        std::snprintf(probe_->data_dir, sizeof(probe_->data_dir), "%s", host.data_dir());
        std::snprintf(probe_->device_name, sizeof(probe_->device_name), "%s", device.name);
        probe_->device_kind = device.kind;
        probe_->device_index = device.index;
        probe_->device_free_bytes = device.free_memory_hint;
        probe_->has_log = static_cast<bool>(log);
        probe_->has_bridge = static_cast<bool>(bridge_);
        probe_->has_read = static_cast<bool>(read);
        use_bridge();
        use_read(read);
        return !probe_->refuse;
    }

    void use_bridge()
    {
        static const float floats[6] = {};
        static const std::uint8_t bytes[24] = {};
        const CaliperTensor direct = caliper::tensor(bytes, 2, 3, 4);
        const std::uint32_t caps = bridge_.caps();
        probe_->bridge_revision = bridge_.revision();
        probe_->caps = caps;
        caliper::Texture first = bridge_.texture(direct);
        direct_ = std::move(first);
        probe_->moved_is_empty = !first && first.id() == 0; // NOLINT(bugprone-use-after-move)
        mapped_ =
            bridge_.texture_mapped(caliper::tensor(floats, 2, 3), CALIPER_CMAP_MAGMA, 0.0f, 1.0f);
        if (auto shared = bridge_.shared(CALIPER_DT_F32, {2, 3})) {
            shared_ = std::move(*shared);
        }
        probe_->direct = direct_.id();
        probe_->mapped = mapped_.id();
        probe_->shared = shared_.texture.id();
        probe_->direct_updated = direct_.update(direct);
        probe_->shared_updated = shared_.texture.update(shared_.tensor);
        probe_->alloc = bridge_.import_allocation(nullptr, 4096, CALIPER_ALLOC_HANDLE_OPAQUE_FD);
        probe_->updated_from_alloc = bridge_.update_from(direct_.id(), probe_->alloc, 16, direct);
        bridge_.release_allocation(probe_->alloc);
    }

    void use_read(const caliper::TextureRead &read)
    {
        if (const auto size = read.size(direct_.id())) {
            probe_->read_width = size->width;
            probe_->read_height = size->height;
        }
        const auto pixels = read.rgba8(direct_.id());
        probe_->read_bytes = pixels.size();
        probe_->read_first = pixels.empty() ? std::uint8_t{0} : pixels[0];
    }

    void frame(const CaliperFrameInfo &info) override
    {
        throw_if(probe_, THROW_FRAME);
        probe_->frames += info.fb_width;
    }

    void cleanup() override
    {
        probe_->cleanups++;
        throw_if(probe_, THROW_CLEANUP);
    }

    Probe *probe_;
    Member member_;
    caliper::Bridge bridge_;
    caliper::Texture direct_;
    caliper::Texture mapped_;
    caliper::SharedTexture shared_;
};

} // namespace

CALIPER_APPLET(TestApplet, "org.caliper.tests.hpp", "1.2.3", "Hpp", "Tries caliper.hpp", "test",
               CALIPER_LOG_V1, CALIPER_TENSOR_BRIDGE_V1);
