/* cli/new.c: `caliper new NAME`: writes the folder of a new applet in C.
 *
 * The folder is made under another name and renamed when it is whole, so that a failure leaves
 * nothing behind and nothing that is there is touched. First thread of the process. */
#include <caliper/abi.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/new_templates.h"
#include "cli/printable.h"
#include "core/fault.h"
#include "core/ids.h"
#include "core/log.h"
#include "core/paths.h"

enum { NAME_MIN = 2, NAME_MAX = 40, FILE_NAME_BYTES = 64 };

/* What stands for what in a template. */
typedef struct Words {
    char name[NAME_MAX + 1];
    char guard[NAME_MAX + 1]; /* upper case, for the include guard */
    char title[NAME_MAX + 1];
    char id[APPLET_ID_MAX_BYTES + 1];
    char host_version[32];
    char epoch[16];
} Words;

/* ---- Names ---- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* CMake has targets of these names. */
static bool is_taken(const char *name)
{
    static const char *const taken[] = {"all",        "clean",        "depend",  "help",
                                        "install",    "test",         "package", "package_source",
                                        "edit_cache", "rebuild_cache"};
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        if (strcmp(taken[i], name) == 0)
            return true;
    }
    return false;
}

/* It becomes a file's name, a target's and a part of an id. */
static bool is_name(const char *name)
{
    size_t length = strlen(name);
    if (length < NAME_MIN || length > NAME_MAX || !is_letter(name[0]) || is_taken(name))
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!is_letter(name[i]) && !is_digit(name[i]) && name[i] != '-' && name[i] != '_')
            return false;
    }
    return is_letter(name[length - 1]) || is_digit(name[length - 1]);
}

/* "wave-tank" is the title "Wave tank". Upper case and lower case are done for ASCII whatever the
 * locale. */
static void fill_words(Words *words, const char *name, const char *id)
{
    snprintf(words->name, sizeof words->name, "%s", name);
    for (size_t i = 0; i <= strlen(name); i++) {
        bool separates = name[i] == '-' || name[i] == '_';
        char upper = name[i] >= 'a' && name[i] <= 'z' ? (char)(name[i] - 'a' + 'A') : name[i];
        words->guard[i] = separates ? '_' : upper;
        words->title[i] = separates ? ' ' : i == 0 ? upper : name[i];
    }
    if (id != NULL)
        snprintf(words->id, sizeof words->id, "%s", id);
    else
        snprintf(words->id, sizeof words->id, "org.example.%s", name);
    snprintf(words->host_version, sizeof words->host_version, "%d.%d.%d", CALIPER_VERSION_MAJOR,
             CALIPER_VERSION_MINOR, CALIPER_VERSION_PATCH);
    snprintf(words->epoch, sizeof words->epoch, "%d", CALIPER_ABI_EPOCH);
}

/* ---- Templates ---- */

/* The word for a place that starts at `at` ("@NAME@"), with its length there; NULL: it is none. */
static const char *word_at(const Words *words, const char *at, size_t *out_length)
{
    const struct {
        const char *place, *word;
    } places[] = {{"@NAME@", words->name},   {"@GUARD@", words->guard},
                  {"@TITLE@", words->title}, {"@ID@", words->id},
                  {"@EPOCH@", words->epoch}, {"@HOST_VERSION@", words->host_version}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        *out_length = strlen(places[i].place);
        if (strncmp(at, places[i].place, *out_length) == 0)
            return places[i].word;
    }
    return NULL;
}

static bool write_expanded(FILE *file, const char *text, const Words *words)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "@");
        if (fwrite(text, 1, length, file) != length)
            return false;
        text += length;
        if (*text == '\0')
            break;
        const char *word = word_at(words, text, &length);
        if (word == NULL) {
            word = "@";
            length = 1;
        }
        if (fputs(word, file) < 0)
            return false;
        text += length;
    }
    return true;
}

/* A failure on demand, with the reason that a disk would give. */
static bool fails_here(const char *site)
{
    if (!fault_here(site))
        return false;
    errno = EIO;
    return true;
}

static void file_name(const NewTemplate *part, const Words *words, char out[FILE_NAME_BYTES])
{
    snprintf(out, FILE_NAME_BYTES, "%s%s", part->is_named ? words->name : "", part->file_name);
}

/* False with errno. */
static bool write_file(const char *folder, const NewTemplate *part, const Words *words)
{
    char name[FILE_NAME_BYTES];
    file_name(part, words, name);
    char *path = paths_join(folder, name);
    FILE *file = path != NULL && !fails_here("new.open") ? fopen(path, "wxe") : NULL;
    bool good = file != NULL && write_expanded(file, (const char *)part->text, words);
    int problem = errno;
    if (file != NULL && (fclose(file) != 0 || fails_here("new.write"))) {
        problem = good ? errno : problem;
        good = false;
    }
    free(path);
    errno = problem;
    return good;
}

/* ---- The folder ---- */

static void remove_folder(const char *folder, const Words *words)
{
    char name[FILE_NAME_BYTES];
    for (const NewTemplate *part = new_templates; part->file_name != NULL; part++) {
        file_name(part, words, name);
        char *path = paths_join(folder, name);
        if (path != NULL)
            unlink(path);
        free(path);
    }
    rmdir(folder);
}

/* Fills a new folder beside `folder` and gives it that name. False with errno. */
static bool make_folder(const char *parent, const char *folder, const Words *words)
{
    char *half = paths_join(parent, ".caliper-new-XXXXXX");
    if (half == NULL || fails_here("new.folder") || mkdtemp(half) == NULL) {
        int problem = errno;
        free(half);
        errno = problem;
        return false;
    }
    mode_t mask = umask(0); /* as mkdir would have it; mkdtemp lets nobody else in */
    umask(mask);
    bool good = chmod(half, 0777 & ~mask) == 0;
    for (const NewTemplate *part = new_templates; good && part->file_name != NULL; part++)
        good = write_file(half, part, words);
    /* Over a folder that is not empty this fails, so what came there meanwhile stays. */
    good = good && !fails_here("new.rename") && rename(half, folder) == 0;
    int problem = errno;
    if (!good)
        remove_folder(half, words);
    free(half);
    errno = problem;
    return good;
}

static bool exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

static void print_next(const char *folder, const Words *words)
{
    printable_print(stdout, "%s: an applet with the id %s\n\n", folder, words->id);
    printable_print(stdout, "  cd %s\n", folder);
    printf("  cmake -B build && cmake --build build && ctest --test-dir build\n"
           "  caliper run build/%s.so\n",
           words->name);
}

int cli_new(CliOptions *options)
{
    Words words;
    if (options->word_count != 1)
        return cli_usage("new: %d names given, wanted one", (int)options->word_count);
    const char *name = options->words[0];
    if (!is_name(name))
        return cli_usage("new: given \"%s\", wanted a name of %d to %d letters, digits, - and _ "
                         "that starts with a letter and is no word of CMake's",
                         name, (int)NAME_MIN, (int)NAME_MAX);
    fill_words(&words, name, options->id);
    const char *parent = options->dir != NULL ? options->dir : ".";
    char *folder = paths_join(parent, name);
    int status = 1;
    if (folder == NULL)
        log_item(NEW_FAILED, name, "no memory");
    else if (exists(folder))
        log_item(NEW_FAILED, folder, "it is there already, and nothing of it was changed");
    else if (!paths_is_folder(parent))
        log_item(NEW_FAILED, parent, "there is no such folder");
    else if (!make_folder(parent, folder, &words))
        log_item(NEW_FAILED, folder, strerror(errno));
    else
        status = 0;
    if (status == 0)
        print_next(options->dir != NULL ? folder : name, &words);
    free(folder);
    return status;
}
