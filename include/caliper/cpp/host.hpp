/* caliper/cpp/host.hpp: the host, its log and its device as C++ values.
 *
 * Part of caliper/caliper.hpp, which says the rules. */
#ifndef CALIPER_CPP_HOST_HPP
#define CALIPER_CPP_HOST_HPP

#include <cstdint>
#include <string>

#include <caliper/caliper.h>

namespace caliper
{

/* The host, as a value that is cheap to copy. An empty one offers no service. */
class Host
{
  public:
    Host() = default;
    Host(const CaliperHost *host) noexcept : host_(host) {}

    explicit operator bool() const noexcept
    {
        return host_ != nullptr;
    }
    const CaliperHost *get() const noexcept
    {
        return host_;
    }

    /* The table of an id, nullptr when missing or shorter than Table:
     * host.service<CaliperJobsV1>(CALIPER_JOBS_V1). [any] */
    template <class Table> const Table *service(const char *service_id) const noexcept
    {
        return static_cast<const Table *>(caliper_service(host_, service_id, sizeof(Table)));
    }

    /* This applet's own folder; "" when the host gives none. [any] */
    const char *data_dir() const noexcept
    {
        return CALIPER_HAS(host_, CaliperHost, applet_data_dir) ? host_->applet_data_dir : "";
    }

    /* major << 16 | minor << 8 | patch; 0 without a host. [any] */
    std::uint32_t version() const noexcept
    {
        return host_ != nullptr ? host_->host_version : 0;
    }

  private:
    const CaliperHost *host_ = nullptr;
};

/* caliper.log.v1. [any] */
class Log
{
  public:
    Log() = default;
    explicit Log(Host host) noexcept : log_(host.service<CaliperLogV1>(CALIPER_LOG_V1)) {}

    explicit operator bool() const noexcept
    {
        return CALIPER_HAS(log_, CaliperLogV1, log);
    }
    void write(CaliperLogLevel level, const char *text) const noexcept
    {
        if (*this) {
            log_->log(level, text);
        }
    }
    void debug(const char *text) const noexcept
    {
        write(CALIPER_LOG_DEBUG, text);
    }
    void info(const char *text) const noexcept
    {
        write(CALIPER_LOG_INFO, text);
    }
    void warn(const char *text) const noexcept
    {
        write(CALIPER_LOG_WARN, text);
    }
    void error(const char *text) const noexcept
    {
        write(CALIPER_LOG_ERROR, text);
    }
    void debug(const std::string &text) const noexcept
    {
        debug(text.c_str());
    }
    void info(const std::string &text) const noexcept
    {
        info(text.c_str());
    }
    void warn(const std::string &text) const noexcept
    {
        warn(text.c_str());
    }
    void error(const std::string &text) const noexcept
    {
        error(text.c_str());
    }

  private:
    const CaliperLogV1 *log_ = nullptr;
};

/* The host's device at one moment; the CPU by default and wherever the host does not say, as
 * caliper_device_snapshot(). [any] */
struct Device {
    CaliperDeviceKind kind = CALIPER_DEV_CPU;
    std::int32_t index = 0;
    const char *name = "CPU";
    std::uint64_t free_memory_hint = 0; /* bytes; 0: unknown */

    Device() = default;
    explicit Device(Host host) noexcept
    {
        const CaliperDeviceSnapshot snapshot = caliper_device_snapshot(host.get());
        kind = snapshot.kind;
        index = snapshot.index;
        name = snapshot.name;
        free_memory_hint = snapshot.free_memory_bytes;
    }
};

/* Host-memory tensors without gaps; the data is borrowed. [any] */
inline CaliperTensor tensor(const float *data, std::int64_t height, std::int64_t width) noexcept
{
    return caliper_tensor_f32_2d(data, height, width);
}
inline CaliperTensor tensor(const std::uint8_t *data, std::int64_t height, std::int64_t width,
                            std::int64_t channels) noexcept
{
    return caliper_tensor_u8_3d(data, height, width, channels);
}

} // namespace caliper

#endif
