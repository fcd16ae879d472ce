/* caliper/abi.h: what a host and an applet know of each other before any service.
 *
 * Frozen. An applet is a shared library that exports one symbol, CALIPER_DESCRIPTOR_SYMBOL; a host
 * reads the descriptor behind it, then calls the five functions of `api`. Thread tags are defined
 * in caliper/caliper.h; everything here is [frame] unless it says otherwise.
 *
 * struct_size, in every struct of the SDK that has one, is the size in bytes of what its writer
 * filled. A reader touches no byte past it, and treats a member that is not covered as absent. */
#ifndef CALIPER_ABI_H
#define CALIPER_ABI_H

#include <stdbool.h>
#include <stdint.h>

#include <caliper/layout.h>

/* Host and applet must carry the same epoch; it moves only if these structs have to break. */
#define CALIPER_ABI_EPOCH 2

/* The name a host looks up, and the only name an applet exports. */
#define CALIPER_DESCRIPTOR_SYMBOL "caliper_applet_descriptor"

#if defined(_WIN32)
#define CALIPER_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define CALIPER_EXPORT __attribute__((visibility("default")))
#else
#define CALIPER_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CaliperHost CaliperHost;

/* The host as an applet sees it. Host-owned; valid from initialize until cleanup has returned. */
struct CaliperHost {
    uint32_t struct_size;
    uint32_t abi_epoch;    /* CALIPER_ABI_EPOCH of the host's build */
    uint32_t host_version; /* major << 16 | minor << 8 | patch */

    /* UTF-8 path of a folder of this applet's own; it exists and may be written to. Host-owned,
     * lives as long as the host struct. */
    const char *applet_data_dir;

    /* The table of a service, or NULL when this host does not offer it (also for NULL, and for ids
     * from the future). Cast it to the struct of that id's header and check its struct_size. The
     * table stays valid for the applet's lifetime; asking twice answers the same table. [any] */
    const void *(*get_service)(const CaliperHost *host, const char *service_id);
};

/* One frame. Host-owned, valid for the call. */
typedef struct CaliperFrameInfo {
    uint32_t struct_size;
    int32_t fb_width;  /* physical pixels */
    int32_t fb_height; /* physical pixels */
    float dpi_scale;   /* physical pixels = logical units * dpi_scale; UI coordinates are logical */
    double time_sec;   /* since the host started; never goes back */
    double delta_sec;  /* since the frame before; > 0 */
} CaliperFrameInfo;

/* The applet's five functions, none of them NULL, called in this order:
 *     create -> initialize -> frame, frame, ... -> cleanup -> destroy
 * If initialize answers false, destroy follows at once, without cleanup. No C++ exception may
 * leave any of them. */
typedef struct CaliperAppletAPI {
    uint32_t struct_size;

    /* Makes the applet's state; NULL means that it cannot start. The applet owns what it returns
     * and gets it back as `self`. No service may be used yet. */
    void *(*create)(void);

    /* Frees what create made. No service may be used any more. */
    void (*destroy)(void *self);

    /* Looks up services and prepares. `host` may be kept until cleanup returns. false means that
     * the applet cannot run; say why through caliper.log.v1 first. */
    bool (*initialize)(void *self, const CaliperHost *host);

    /* Draws one frame and returns within it: work that lasts goes to caliper.jobs.v1. */
    void (*frame)(void *self, const CaliperFrameInfo *info);

    /* Releases what the services gave. The applet's jobs were cancelled before and have ended, or
     * the host keeps the library loaded while one still runs. */
    void (*cleanup)(void *self);
} CaliperAppletAPI;

/* What an applet is. Applet-owned, unchanging, valid while the library is loaded; strings are UTF-8
 * and not NULL unless said. */
typedef struct CaliperAppletDescriptor {
    uint32_t struct_size;
    uint32_t abi_epoch;  /* CALIPER_ABI_EPOCH of the applet's build */
    const char *id;      /* reverse DNS, e.g. "org.example.viewer"; one per applet, for ever */
    const char *version; /* semantic version, "1.2.3" */
    const char *name;    /* for people, a few words */
    const char *summary; /* for people, one line */
    const char *tag;     /* one word by which a host may group or mark its cards */

    /* Service ids without which the applet cannot run, ended by NULL; NULL itself when there are
     * none. A host that lacks one does not start the applet and says which. */
    const char *const *required_services;

    CaliperAppletAPI api; /* embedded; has a struct_size of its own */
} CaliperAppletDescriptor;

/* The exported symbol: answers the descriptor, the same each time, never NULL. Called before
 * create; it must do nothing else. In an applet's source, with CALIPER_EXPORT in front:
 *     CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void); */
typedef const CaliperAppletDescriptor *(*CaliperDescriptorFn)(void);

#ifdef __cplusplus
}
#endif

CALIPER_LAYOUT_SIZE(CaliperHost, 32);
CALIPER_LAYOUT_AT(CaliperHost, struct_size, 0);
CALIPER_LAYOUT_AT(CaliperHost, abi_epoch, 4);
CALIPER_LAYOUT_AT(CaliperHost, host_version, 8);
CALIPER_LAYOUT_AT(CaliperHost, applet_data_dir, 16);
CALIPER_LAYOUT_AT(CaliperHost, get_service, 24);

CALIPER_LAYOUT_SIZE(CaliperFrameInfo, 32);
CALIPER_LAYOUT_AT(CaliperFrameInfo, struct_size, 0);
CALIPER_LAYOUT_AT(CaliperFrameInfo, fb_width, 4);
CALIPER_LAYOUT_AT(CaliperFrameInfo, fb_height, 8);
CALIPER_LAYOUT_AT(CaliperFrameInfo, dpi_scale, 12);
CALIPER_LAYOUT_AT(CaliperFrameInfo, time_sec, 16);
CALIPER_LAYOUT_AT(CaliperFrameInfo, delta_sec, 24);

CALIPER_LAYOUT_SIZE(CaliperAppletAPI, 48);
CALIPER_LAYOUT_AT(CaliperAppletAPI, struct_size, 0);
CALIPER_LAYOUT_AT(CaliperAppletAPI, create, 8);
CALIPER_LAYOUT_AT(CaliperAppletAPI, destroy, 16);
CALIPER_LAYOUT_AT(CaliperAppletAPI, initialize, 24);
CALIPER_LAYOUT_AT(CaliperAppletAPI, frame, 32);
CALIPER_LAYOUT_AT(CaliperAppletAPI, cleanup, 40);

CALIPER_LAYOUT_SIZE(CaliperAppletDescriptor, 104);
CALIPER_LAYOUT_AT(CaliperAppletDescriptor, struct_size, 0);
CALIPER_LAYOUT_AT(CaliperAppletDescriptor, abi_epoch, 4);
CALIPER_LAYOUT_AT(CaliperAppletDescriptor, id, 8);
CALIPER_LAYOUT_AT(CaliperAppletDescriptor, version, 16);
CALIPER_LAYOUT_AT(CaliperAppletDescriptor, name, 24);
CALIPER_LAYOUT_AT(CaliperAppletDescriptor, summary, 32);
CALIPER_LAYOUT_AT(CaliperAppletDescriptor, tag, 40);
CALIPER_LAYOUT_AT(CaliperAppletDescriptor, required_services, 48);
CALIPER_LAYOUT_AT(CaliperAppletDescriptor, api, 56);

#endif
