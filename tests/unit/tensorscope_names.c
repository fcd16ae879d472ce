/* tests/unit/tensorscope_names.c: what a person is shown of names that hold anything: each on one
 * line, spelled; the list of a file with very many arrays; and no file is touched on the frame
 * thread, whatever is done. The system's calls are wrapped. The calling thread is the frame thread.
 */
#include "tensorscope_host.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include "formats/utf8.h"
#include "name_filter.h"

/* ---- The system's calls ---- */

static pthread_t frame_thread;
static bool in_frame;
static const char *touched; /* in a frame, on its thread */

static void note(const char *call)
{
    if (pthread_equal(pthread_self(), frame_thread) && in_frame) {
        touched = call;
    }
}

int __real_open(const char *name, int flags, ...);
int __wrap_open(const char *name, int flags, ...);
ssize_t __real_pread(int fd, void *out, size_t size, off_t at);
ssize_t __wrap_pread(int fd, void *out, size_t size, off_t at);
int __real_stat(const char *name, struct stat *out);
int __wrap_stat(const char *name, struct stat *out);
int __real_fstat(int fd, struct stat *out);
int __wrap_fstat(int fd, struct stat *out);
int __real_access(const char *name, int mode);
int __wrap_access(const char *name, int mode);

int __wrap_open(const char *name, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    int mode = (flags & O_CREAT) != 0 ? va_arg(arguments, int) : 0;
    va_end(arguments);
    note("open");
    return __real_open(name, flags, mode);
}
ssize_t __wrap_pread(int fd, void *out, size_t size, off_t at)
{
    note("pread");
    return __real_pread(fd, out, size, at);
}
int __wrap_stat(const char *name, struct stat *out)
{
    note("stat");
    return __real_stat(name, out);
}
int __wrap_fstat(int fd, struct stat *out)
{
    note("fstat");
    return __real_fstat(fd, out);
}
int __wrap_access(const char *name, int mode)
{
    note("access");
    return __real_access(name, mode);
}

static void watch_frame(bool begins)
{
    in_frame = begins;
    if (touched != NULL) {
        fail_msg("frame() calls %s", touched);
    }
}

/* ---- Files ---- */

/* Each of one u8; `names` as JSON has them. */
static void write_safetensors(const char *where, const char *const *names, uint32_t count)
{
    size_t used = 0, size = 64 + (size_t)count * 160;
    char *header = malloc(size);
    assert_non_null(header);
    for (uint32_t i = 0; i < count; i++) {
        used +=
            (size_t)snprintf(header + used, size - used,
                             "%s\"%s\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[%u,%u]}",
                             i == 0 ? "{" : ",", names[i], i, i + 1);
    }
    used += (size_t)snprintf(header + used, size - used, "}");
    uint64_t length = used;
    FILE *file = fopen(where, "wb");
    assert_non_null(file);
    fwrite(&length, 8, 1, file); /* little-endian, as every machine of these tests */
    fwrite(header, 1, used, file);
    for (uint32_t i = 0; i < count; i++) {
        fputc(7, file);
    }
    assert_int_equal(fclose(file), 0);
    free(header);
}

static bool has_line(const char *line)
{
    size_t length = strlen(line);
    for (const char *at = host.text; (at = strstr(at, line)) != NULL; at++) {
        if ((at == host.text || at[-1] == '\n') && at[length] == '\n') {
            return true;
        }
    }
    return false;
}

static void expect_clean(void)
{
    const unsigned char *at = (const unsigned char *)host.text;
    for (size_t left = strlen(host.text); left > 0;) {
        size_t length = utf8_length(at, left);
        if (length == 0 || (at[0] < 0x20 && at[0] != '\n') || at[0] == 0x7f) {
            fail_msg("byte 0x%02x in\n%s", at[0], host.text);
        }
        at += length;
        left -= length;
    }
}

/* ---- Tests ---- */

static void test_names_are_spelled_on_one_line(void **state)
{
    /* As JSON has it, and as it is shown. */
    static const char *const names[][2] = {
        {"two\\nlines", "two\\nlines"},
        {"tab\\tand\\rreturn", "tab\\tand\\rreturn"},
        {"\\u001b[2Jclear", "\\x1b[2Jclear"},
        {"del\\u007f", "del\\x7f"},
        {"c1\\u009b1m", "c1\\u009b1m"},
        {"to the left \\u202eabc", "to the left \\u202eabc"},
        {"paragraph\\u2029", "paragraph\\u2029"},
        {"a##b", "a##b"},
        {"\\u6df1\\u5c64", "\\u{6df1}\\u{5c64}"}, /* no font has them: told apart all the same */
        {"\\u6df1\\u5c65", "\\u{6df1}\\u{5c65}"},
        {"\\ud83d\\ude00 \\u0645", "\\u{1f600} \\u{645}"},
        {"\\u00e4\\u03b1\\u0436\\u2265", "\u00e4\u03b1\u0436\u2265"},
    };
    enum { COUNT = sizeof(names) / sizeof(names[0]) };
    const char *json[COUNT];
    char line[256];
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        json[i] = names[i][0];
    }
    snprintf(path, sizeof(path), "%s/new\nline \xff\x1b.safetensors", folder);
    write_safetensors(path, json, COUNT);
    void *self = start(path);
    wait_for(self, "maximum: 7");
    expect_clean();
    assert_true(has_line("new\\nline \\xff\\x1b.safetensors / two\\nlines"));
    for (int i = 0; i < COUNT; i++) {
        assert_true(has_line(names[i][1]));
    }
    unlink(path);
    /* The line that says why a file cannot be read. */
    host.dropped = "/nowhere/\x1b[2J\n\xc3.npy";
    wait_for(self, "This could not be shown");
    expect_clean();
    snprintf(line, sizeof(line), "/nowhere/\\x1b[2J\\n\\xc3.npy: cannot be opened: %s",
             "No such file or directory");
    assert_true(has_line(line));
    stop(self);
}

static void test_a_filter_goes_through_many_names(void **state)
{
    enum { COUNT = 3 * NAME_FILTER_NAMES_A_FRAME + 5 };
    SourceArray *arrays = calloc(COUNT, sizeof(*arrays));
    Source source = {.serial = 1, .count = COUNT, .arrays = arrays};
    NameFilter filter = {.wanted = ""};
    (void)state;
    for (uint32_t i = 0; i < COUNT; i++) {
        arrays[i].name = i % 3 == 0 ? (char *)"Layer.Weight" : (char *)"layer.bias";
    }
    name_filter_update(&filter, &source);
    assert_int_equal(name_filter_count(&filter, &source), COUNT);
    assert_int_equal(name_filter_array(&filter, 17), 17);
    strcpy(filter.wanted, "weight"); /* letters of either case */
    for (uint32_t frames = 1; frames <= 4; frames++) {
        name_filter_update(&filter, &source);
        uint32_t seen = frames * NAME_FILTER_NAMES_A_FRAME;
        seen = seen < COUNT ? seen : COUNT;
        assert_int_equal(filter.seen, seen);
        assert_int_equal(name_filter_count(&filter, &source), (seen + 2) / 3);
    }
    for (uint32_t row = 0; row < name_filter_count(&filter, &source); row++) {
        assert_int_equal(name_filter_array(&filter, row), 3 * row);
    }
    source.serial = 2; /* the file was written again, with one name more of the kind */
    arrays[1].name = (char *)"weight";
    for (int i = 0; i < 4; i++) {
        name_filter_update(&filter, &source);
    }
    assert_int_equal(name_filter_count(&filter, &source), (COUNT + 2) / 3 + 1);
    assert_int_equal(name_filter_array(&filter, 1), 1);
    strcpy(filter.wanted, "nothing of that name");
    for (int i = 0; i < 4; i++) {
        name_filter_update(&filter, &source);
    }
    assert_int_equal(name_filter_count(&filter, &source), 0);
    name_filter_finish(&filter);
    free(arrays);
}

/* The list asks for the rows of the filter alone; a filter that is out of sight hides nothing. */
static void test_the_list_is_filtered(void **state)
{
    static char names[2000][32];
    static const char *json[2000];
    (void)state;
    for (int i = 0; i < 2000; i++) {
        snprintf(names[i], sizeof(names[i]), "block.%d.%s", i, i % 4 == 0 ? "bias" : "weight");
        json[i] = names[i];
    }
    snprintf(path, sizeof(path), "%s/many.safetensors", folder);
    write_safetensors(path, json, 2000);
    void *self = start(path);
    wait_for(self, "maximum: 7");
    assert_int_equal(host.rows, 2000);
    host.filter = "BIAS";
    frame(self);
    frame(self);
    assert_int_equal(host.rows, 500);
    assert_true(has_line("block.4.bias"));
    assert_false(has_line("block.5.weight"));
    host.filter = "nothing of that name";
    wait_for(self, "no array matches \"nothing of that name\"");
    assert_false(has_line("block.4.bias"));
    write_safetensors(path, json, 1999); /* written again: what was typed stays */
    host.filter = NULL;
    host.key = CALIPER_MOD_MAIN | 'R';
    frame(self);
    wait_for(self, "1999 arrays");
    wait_for(self, "no array matches \"nothing of that name\"");
    char other[128];
    snprintf(other, sizeof(other), "%s/other.safetensors", folder);
    write_safetensors(other, json, 1000);
    host.dropped = other; /* another file: it was for the names of the first */
    wait_for(self, "1000 arrays");
    frame(self);
    assert_null(strstr(host.text, "no array matches"));
    assert_int_equal(host.rows, 1000);
    unlink(other);
    unlink(path);
    snprintf(path, sizeof(path), "%s/few.safetensors", folder);
    write_safetensors(path, json, 3);
    host.filter = NULL;
    host.dropped = path;
    wait_for(self, "3 arrays");
    frame(self);
    assert_int_equal(host.rows, 3);
    unlink(path);
    stop(self);
}

/* Every sample, and what a person does with it. */
static void test_frames_touch_no_file(void **state)
{
    static const uint32_t keys[] = {'F', 'G', '+', '-', 'C', CALIPER_KEY_LEFT, CALIPER_KEY_UP};
    char file[512];
    DIR *samples = opendir(FORMATS_DATA_DIR);
    (void)state;
    assert_non_null(samples);
    const uint64_t shape[3] = {4, 3, 5};
    const double values[60] = {1.0, 2.0, 1e300};
    write_array(ARRAY_DTYPE_F64, 3, shape, values);
    void *self = start(path);
    wait_for(self, "every element");
    for (struct dirent *entry; (entry = readdir(samples)) != NULL;) {
        if (strstr(entry->d_name, ".json") != NULL || entry->d_name[0] == '.') {
            continue;
        }
        snprintf(file, sizeof(file), "%s/%s", FORMATS_DATA_DIR, entry->d_name);
        host.dropped = file;
        host.points = true;
        for (int i = 0; i < 40; i++) {
            host.key = keys[i % 7];
            host.col = i % 3;
            host.combo = i % 5 == 0 ? "range" : NULL;
            host.choice = i % 4;
            frame(self);
            usleep(200);
        }
    }
    closedir(samples);
    stop(self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_spelled_on_one_line),
        cmocka_unit_test(test_a_filter_goes_through_many_names),
        cmocka_unit_test(test_the_list_is_filtered),
        cmocka_unit_test(test_frames_touch_no_file),
    };
    frame_thread = pthread_self();
    around_frame = watch_frame;
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
