/* caliper/caliper.hpp: optional C++17 sugar over the C tables. Header-only, nothing to link.
 *
 * Everything here could be written by an applet on top of caliper.h; nothing is kept in the host.
 * Every slot is looked at before it is called: on a missing service a call does nothing and answers
 * false, 0 or empty. Nothing here throws unless it says so. Threads are those of the slots.
 *
 *     class Hello : public caliper::Applet {
 *     public:
 *         bool initialize(caliper::Host host) override { bridge_ = caliper::Bridge(host); ... }
 *         void frame(const CaliperFrameInfo &info) override { ... }
 *     private:
 *         caliper::Bridge bridge_;
 *         caliper::Texture texture_; // released for you, while that is still allowed
 *     };
 *     CALIPER_APPLET(Hello, "org.example.hello", "1.0.0", "Hello", "Says hello", "demo",
 *                    CALIPER_LOG_V1, CALIPER_TENSOR_BRIDGE_V1);
 *
 * Build applets with -fvisibility=hidden, so that the descriptor is the one symbol they export. */
#ifndef CALIPER_CALIPER_HPP
#define CALIPER_CALIPER_HPP

#if !defined(__cplusplus) || \
    (__cplusplus < 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG < 201703L))
#error "caliper/caliper.hpp needs C++17"
#endif

#include <caliper/caliper.h>
#include <caliper/cpp/applet.hpp>
#include <caliper/cpp/bridge.hpp>
#include <caliper/cpp/host.hpp>

#endif
