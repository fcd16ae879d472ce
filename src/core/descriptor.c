/* Reading and checking an applet's descriptor; the first thing wrong is named. Frame thread. */
#include "core/descriptor.h"

#include <stdio.h>
#include <string.h>

#include "core/utf8.h"

/* A later revision may append to a struct; a size beyond this is no struct. */
enum { STRUCT_BYTES_MAX = 4096 };

static bool text_copy(const char *field, const char *from, char *out, size_t out_bytes, char *why,
                      size_t why_bytes)
{
    size_t length = strnlen(from, out_bytes);
    if (length == out_bytes) {
        snprintf(why, why_bytes, "descriptor.%s is longer than %zu bytes", field, out_bytes - 1);
        return false;
    }
    memcpy(out, from, length);
    out[length] = '\0';
    if (!utf8_one_line(out)) {
        snprintf(why, why_bytes, "descriptor.%s is not one line of UTF-8", field);
        return false;
    }
    return true;
}

static bool texts_read(const CaliperAppletDescriptor *from, Descriptor *out, char *why,
                       size_t why_bytes)
{
    const struct {
        const char *field;
        const char *from;
        char *to;
        size_t to_bytes;
        bool wanted;
    } texts[] = {
        {"id", from->id, out->id, sizeof out->id, true},
        {"version", from->version, out->version, sizeof out->version, true},
        {"name", from->name, out->name, sizeof out->name, true},
        {"summary", from->summary, out->summary, sizeof out->summary, false},
        {"tag", from->tag, out->tag, sizeof out->tag, false},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const char *text = texts[i].from;
        if (text == NULL && texts[i].wanted) {
            snprintf(why, why_bytes, "descriptor.%s is NULL", texts[i].field);
            return false;
        }
        if (!text_copy(texts[i].field, text != NULL ? text : "", texts[i].to, texts[i].to_bytes,
                       why, why_bytes))
            return false;
    }
    if (!ids_applet_valid(out->id)) {
        snprintf(why, why_bytes,
                 "descriptor.id \"%s\" is no reverse DNS name like org.example.viewer", out->id);
        return false;
    }
    if (!ids_version_valid(out->version)) {
        snprintf(why, why_bytes, "descriptor.version \"%s\" is no semantic version like 1.2.3",
                 out->version);
        return false;
    }
    if (out->name[0] == '\0') {
        snprintf(why, why_bytes, "descriptor.name is empty");
        return false;
    }
    return true;
}

static bool services_read(const char *const *from, Descriptor *out, char *why, size_t why_bytes)
{
    out->required_count = 0;
    for (uint32_t i = 0; from != NULL && from[i] != NULL; i++) {
        if (i == DESCRIPTOR_SERVICES_MAX) {
            snprintf(why, why_bytes, "descriptor.required_services has no NULL within %d entries",
                     (int)DESCRIPTOR_SERVICES_MAX);
            return false;
        }
        if (!text_copy("required_services", from[i], out->required_services[i],
                       DESCRIPTOR_SERVICE_BYTES, why, why_bytes))
            return false;
        out->required_count = i + 1;
    }
    return true;
}

static bool api_read(const CaliperAppletAPI *from, CaliperAppletAPI *out, char *why,
                     size_t why_bytes)
{
    if (from->struct_size < sizeof *from || from->struct_size > STRUCT_BYTES_MAX) {
        snprintf(why, why_bytes, "descriptor.api.struct_size is %u, wanted %zu", from->struct_size,
                 sizeof *from);
        return false;
    }
    *out = *from;
    const char *missing = out->create == NULL       ? "create"
                          : out->destroy == NULL    ? "destroy"
                          : out->initialize == NULL ? "initialize"
                          : out->frame == NULL      ? "frame"
                          : out->cleanup == NULL    ? "cleanup"
                                                    : NULL;
    if (missing != NULL) {
        snprintf(why, why_bytes, "descriptor.api.%s is NULL", missing);
        return false;
    }
    return true;
}

bool descriptor_read(const CaliperAppletDescriptor *from, Descriptor *out, char *why,
                     size_t why_bytes)
{
    if (from == NULL) {
        snprintf(why, why_bytes, CALIPER_DESCRIPTOR_SYMBOL "() answered NULL");
        return false;
    }
    if (from->struct_size < offsetof(CaliperAppletDescriptor, id)) {
        snprintf(why, why_bytes, "descriptor.struct_size is %u, wanted %zu", from->struct_size,
                 sizeof *from);
        return false;
    }
    /* The epoch comes before all else: in another one the rest may lie elsewhere. */
    if (from->abi_epoch != CALIPER_ABI_EPOCH) {
        snprintf(why, why_bytes, "built for ABI epoch %u, this host has epoch %u", from->abi_epoch,
                 (unsigned)CALIPER_ABI_EPOCH);
        return false;
    }
    if (from->struct_size < sizeof *from || from->struct_size > STRUCT_BYTES_MAX) {
        snprintf(why, why_bytes, "descriptor.struct_size is %u, wanted %zu", from->struct_size,
                 sizeof *from);
        return false;
    }
    return texts_read(from, out, why, why_bytes) &&
           services_read(from->required_services, out, why, why_bytes) &&
           api_read(&from->api, &out->api, why, why_bytes);
}
