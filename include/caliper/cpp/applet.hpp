/* caliper/cpp/applet.hpp: the base class of an applet and the macro that makes its descriptor.
 *
 * Part of caliper/caliper.hpp, which says the rules. This is where exceptions stop. */
#ifndef CALIPER_CPP_APPLET_HPP
#define CALIPER_CPP_APPLET_HPP

#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <caliper/caliper.h>
#include <caliper/cpp/host.hpp>

namespace caliper
{

/* What an applet derives from. The object is made at the start of initialize, when services may be
 * used, and is gone at the end of cleanup, while they still may: its members can own textures. Any
 * exception is stopped at the boundary and logged: from the constructor or initialize() it means
 * that the applet cannot run; from frame() it ends that frame, and is logged once until a frame is
 * good again; from cleanup() it ends cleanup. */
class Applet
{
  public:
    Applet() = default;
    Applet(const Applet &) = delete;
    Applet &operator=(const Applet &) = delete;
    virtual ~Applet() = default;

    virtual bool initialize(Host host)
    {
        (void)host;
        return true;
    }
    virtual void frame(const CaliperFrameInfo &info) = 0;
    virtual void cleanup() {}
};

namespace detail
{

/* Logs the exception that is being handled; call it from a catch block. */
inline void log_current_exception(Host host, const char *where) noexcept
{
    try {
        throw;
    } catch (const std::exception &error) {
        caliper_logf(host.get(), CALIPER_LOG_ERROR, "exception in %s: %s", where, error.what());
    } catch (...) {
        caliper_logf(host.get(), CALIPER_LOG_ERROR, "exception in %s: not a std::exception", where);
    }
}

/* What stands behind `self`. Its functions are the five of CaliperAppletAPI. */
template <class Class> class Boundary
{
    static_assert(std::is_base_of_v<Applet, Class>, "CALIPER_APPLET takes a caliper::Applet");

  public:
    static void *create() noexcept
    {
        return new (std::nothrow) Boundary;
    }
    static void destroy(void *self) noexcept
    {
        delete static_cast<Boundary *>(self);
    }

    static bool initialize(void *self, const CaliperHost *host) noexcept
    {
        auto *me = static_cast<Boundary *>(self);
        bool ready = false;
        me->host_ = Host(host);
        try {
            me->applet_ = std::make_unique<Class>();
            ready = me->applet_->initialize(me->host_);
        } catch (...) {
            log_current_exception(me->host_, "initialize");
        }
        if (!ready) {
            me->applet_.reset();
        }
        return ready;
    }

    static void frame(void *self, const CaliperFrameInfo *info) noexcept
    {
        auto *me = static_cast<Boundary *>(self);
        if (me->applet_ == nullptr) {
            return;
        }
        try {
            me->applet_->frame(*info);
            me->frame_failing_ = false;
        } catch (...) {
            if (!std::exchange(me->frame_failing_, true)) {
                log_current_exception(me->host_, "frame");
            }
        }
    }

    static void cleanup(void *self) noexcept
    {
        auto *me = static_cast<Boundary *>(self);
        try {
            if (me->applet_ != nullptr) {
                me->applet_->cleanup();
            }
        } catch (...) {
            log_current_exception(me->host_, "cleanup");
        }
        me->applet_.reset();
    }

  private:
    Host host_;
    std::unique_ptr<Applet> applet_;
    bool frame_failing_ = false;
};

/* `texts`: id, version, name, summary, tag, then the required services and a NULL. */
template <class Class> CaliperAppletDescriptor describe(const char *const *texts) noexcept
{
    CaliperAppletDescriptor descriptor{};
    descriptor.struct_size = sizeof(CaliperAppletDescriptor);
    descriptor.abi_epoch = CALIPER_ABI_EPOCH;
    descriptor.id = texts[0];
    descriptor.version = texts[1];
    descriptor.name = texts[2];
    descriptor.summary = texts[3];
    descriptor.tag = texts[4];
    descriptor.required_services = texts + 5;
    descriptor.api.struct_size = sizeof(CaliperAppletAPI);
    descriptor.api.create = &Boundary<Class>::create;
    descriptor.api.destroy = &Boundary<Class>::destroy;
    descriptor.api.initialize = &Boundary<Class>::initialize;
    descriptor.api.frame = &Boundary<Class>::frame;
    descriptor.api.cleanup = &Boundary<Class>::cleanup;
    return descriptor;
}

} // namespace detail

} // namespace caliper

/* Once an applet, outside any namespace and with a semicolon: its class, then id, version, name,
 * summary, tag, then the ids of the services it cannot do without, if any. */
#define CALIPER_APPLET(Class, ...)                                                            \
    extern "C" CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void); \
    extern "C" CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void)  \
    {                                                                                         \
        static const char *const texts[] = {__VA_ARGS__, nullptr};                            \
        static_assert(sizeof(texts) / sizeof(texts[0]) >= 6,                                  \
                      "CALIPER_APPLET: class, id, version, name, summary, tag, services..."); \
        static const CaliperAppletDescriptor descriptor =                                     \
            ::caliper::detail::describe<Class>(texts);                                        \
        return &descriptor;                                                                   \
    }                                                                                         \
    static_assert(true, "a semicolon may follow")

#endif
