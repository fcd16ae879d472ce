/* tests/fuzz/manifest_fuzz.c: libFuzzer target: the text of a manifest. Whatever it is, it is read
 * or refused with one line, and what was read keeps the bounds of its fields. One thread. */
#include <string.h>

#include "core/ids.h"
#include "core/manifest.h"
#include "core/utf8.h"
#include "fuzz_input.h"

static void require_text(const char *text, size_t bytes)
{
    FUZZ_REQUIRE(memchr(text, '\0', bytes) != NULL && utf8_one_line(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Manifest manifest;
    char why[128] = "";
    if (!manifest_parse((const char *)data, size, &manifest, why, sizeof why)) {
        FUZZ_REQUIRE(why[0] != '\0' && strlen(why) < sizeof why);
        return 0;
    }
    require_text(manifest.id, sizeof manifest.id);
    require_text(manifest.name, sizeof manifest.name);
    require_text(manifest.version, sizeof manifest.version);
    require_text(manifest.summary, sizeof manifest.summary);
    require_text(manifest.tag, sizeof manifest.tag);
    FUZZ_REQUIRE(ids_applet_valid(manifest.id) && ids_version_valid(manifest.version));
    FUZZ_REQUIRE(manifest.name[0] != '\0' && manifest.abi_epoch >= 1);
    FUZZ_REQUIRE(manifest.required_count <= DESCRIPTOR_SERVICES_MAX &&
                 manifest.optional_count <= DESCRIPTOR_SERVICES_MAX);
    for (uint32_t i = 0; i < manifest.required_count; i++)
        require_text(manifest.required[i], sizeof manifest.required[i]);
    for (uint32_t i = 0; i < manifest.optional_count; i++)
        require_text(manifest.optional[i], sizeof manifest.optional[i]);
    return 0;
}
