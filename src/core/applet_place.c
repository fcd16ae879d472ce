/* Finding an applet's manifest and library. Any thread. */
#include "core/applet_place.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/paths.h"

bool place_has_suffix(const char *name, const char *suffix)
{
    size_t length = strlen(name), suffix_length = strlen(suffix);
    return length > suffix_length && strcmp(name + length - suffix_length, suffix) == 0;
}

bool place_is_applet_name(const char *name)
{
    return name[0] != '.' && (place_has_suffix(name, PLACE_MANIFEST_SUFFIX) ||
                              place_has_suffix(name, PLACE_BUNDLE_SUFFIX));
}

void place_free(AppletPlace *place)
{
    free(place->manifest);
    free(place->library);
    *place = (AppletPlace){0};
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* `path` up to its last slash; the caller's. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL   ? strdup(".")
           : slash == path ? strdup("/")
                           : strndup(path, (size_t)(slash - path));
}

/* `folder`/`before``stem``after`, or NULL without memory. */
static char *join_name(const char *folder, const char *before, const char *stem, size_t stem_length,
                       const char *after)
{
    char name[1024];
    int length = snprintf(name, sizeof name, "%s%.*s%s", before, (int)stem_length, stem, after);
    return length < (int)sizeof name ? paths_join(folder, name) : NULL;
}

static int is_library(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && place_has_suffix(entry->d_name, PLACE_LIBRARY_SUFFIX);
}

/* The one library of a folder; NULL when there is none, or several. */
static char *only_library(const char *folder)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_library, alphasort);
    char *path = count == 1 ? paths_join(folder, entries[0]->d_name) : NULL;
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    return path;
}

/* Fills library and has_library. */
static bool find_library(const char *folder, const char *stem, size_t stem_length, bool any,
                         AppletPlace *out)
{
    out->library = join_name(folder, "", stem, stem_length, PLACE_LIBRARY_SUFFIX);
    out->has_library = out->library != NULL && exists(out->library);
    if (out->library == NULL || out->has_library)
        return out->library != NULL;
    char *other = join_name(folder, "lib", stem, stem_length, PLACE_LIBRARY_SUFFIX);
    if (any && other != NULL && !exists(other)) {
        free(other);
        other = only_library(folder);
    }
    if (other != NULL && exists(other)) {
        free(out->library);
        out->library = other;
        out->has_library = true;
    } else {
        free(other);
    }
    return true;
}

bool place_of_manifest(const char *manifest, AppletPlace *out)
{
    const char *file = base_name(manifest);
    char *folder = folder_of(manifest);
    bool found = false;
    *out = (AppletPlace){.manifest = strdup(manifest)};
    if (folder == NULL || out->manifest == NULL)
        goto done;
    if (strcmp(file, PLACE_BUNDLE_MANIFEST) == 0) {
        const char *bundle = base_name(folder);
        size_t length = strlen(bundle);
        if (place_has_suffix(bundle, PLACE_BUNDLE_SUFFIX))
            length -= strlen(PLACE_BUNDLE_SUFFIX);
        char *binaries = paths_join(folder, "bin/" PLACE_PLATFORM);
        found = binaries != NULL && find_library(binaries, bundle, length, true, out);
        free(binaries);
    } else {
        size_t length = strlen(file);
        if (place_has_suffix(file, PLACE_MANIFEST_SUFFIX))
            length -= strlen(PLACE_MANIFEST_SUFFIX);
        found = find_library(folder, file, length, false, out);
    }
done:
    free(folder);
    if (!found)
        place_free(out);
    return found;
}

/* Absolute: what links there are in the folder's path are followed. The file need not be there. */
static char *absolute_in_folder(const char *path)
{
    char *folder = folder_of(path);
    char *real_folder = folder != NULL ? realpath(folder, NULL) : NULL;
    char *whole = real_folder != NULL ? paths_join(real_folder, base_name(path)) : NULL;
    free(real_folder);
    free(folder);
    return whole;
}

static bool is_manifest_name(const char *file)
{
    return place_has_suffix(file, PLACE_MANIFEST_SUFFIX) ||
           strcmp(file, PLACE_BUNDLE_MANIFEST) == 0;
}

/* A manifest that is a link stands for what lies beside the link; a library that need not be there
 * may be a link to another one later. */
static char *absolute(const char *path, bool must_exist)
{
    if (is_manifest_name(base_name(path)) && (exists(path) || !must_exist))
        return absolute_in_folder(path);
    return must_exist || paths_is_folder(path) ? realpath(path, NULL) : absolute_in_folder(path);
}

/* The manifest beside a library, under its own stem or without `lib`; NULL: there is none. */
static char *manifest_beside(const char *library)
{
    const char *file = base_name(library);
    char *folder = folder_of(library);
    char *manifest = NULL;
    size_t length = strlen(file);
    if (folder == NULL || !place_has_suffix(file, PLACE_LIBRARY_SUFFIX))
        goto done;
    length -= strlen(PLACE_LIBRARY_SUFFIX);
    manifest = join_name(folder, "", file, length, PLACE_MANIFEST_SUFFIX);
    if (manifest != NULL && !exists(manifest) && length > 3 && strncmp(file, "lib", 3) == 0) {
        free(manifest);
        manifest = join_name(folder, "", file + 3, length - 3, PLACE_MANIFEST_SUFFIX);
    }
    if (manifest != NULL && !exists(manifest)) {
        free(manifest);
        manifest = NULL;
    }
done:
    free(folder);
    return manifest;
}

/* `path` is absolute. */
static bool find_at(const char *path, AppletPlace *out)
{
    const char *file = base_name(path);
    if (paths_is_folder(path) && place_has_suffix(file, PLACE_BUNDLE_SUFFIX)) {
        char *manifest = paths_join(path, PLACE_BUNDLE_MANIFEST);
        bool found = manifest != NULL && place_of_manifest(manifest, out);
        free(manifest);
        return found;
    }
    if (is_manifest_name(file))
        return place_of_manifest(path, out);
    *out = (AppletPlace){.manifest = manifest_beside(path), .library = strdup(path)};
    out->has_library = exists(path);
    return out->library != NULL;
}

bool place_find(const char *path, bool must_exist, AppletPlace *out, char *why, size_t why_bytes)
{
    *out = (AppletPlace){0};
    if (path == NULL) {
        snprintf(why, why_bytes, "no path given");
        return false;
    }
    char *whole = absolute(path, must_exist);
    if (whole == NULL) {
        snprintf(why, why_bytes, "%s", strerror(errno));
        return false;
    }
    bool found = find_at(whole, out);
    if (!found)
        snprintf(why, why_bytes, "no memory");
    free(whole);
    return found;
}
