/* tests/e2e/tensorscope_test.c: `caliper view` from outside, on the cpu renderer: every pixel of
 * the shown picture is the published table's colour of the entry worked out here with whole
 * numbers, or the colour that libpng or zlib reads from the same file; each kind of file opens; a
 * damaged one is text and no failure.
 *
 * usage: e2e_tensorscope CALIPER LUT_DIR FORMATS_DATA_DIR. Skips what needs a data set that is not
 * installed, and says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "formats/array_write.h"
#include "png_compare.h"

static const char *program, *lut_dir, *data_dir;
static const char fashion[] = "/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz";
static char folder[64];
static char output[65536];

/* ---- Running ---- */

static char *in_folder(const char *name)
{
    static char paths[8][256];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    return path;
}

/* Runs `caliper ARGUMENTS` headless with a picture at shot.png; its output is in `output`. */
static int run(const char *arguments, const char *input)
{
    char command[4096];
    size_t used = 0, got;
    if (input != NULL) {
        FILE *script = fopen(in_folder("input.txt"), "w");
        assert_non_null(script);
        fputs(input, script);
        fclose(script);
    }
    snprintf(command, sizeof(command),
             "'%s' %s --headless --renderer cpu --data-dir '%s' --screenshot '%s' %s%s%s 2>&1",
             program, arguments, in_folder("data"), in_folder("shot.png"),
             input != NULL ? "--input '" : "", input != NULL ? in_folder("input.txt") : "",
             input != NULL ? "'" : "");
    unlink(in_folder("shot.png"));
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    while (used < sizeof(output) - 1 &&
           (got = fread(output + used, 1, sizeof(output) - 1 - used, pipe)) > 0) {
        used += got;
    }
    output[used] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void run_well(const char *arguments, const char *input)
{
    int status = run(arguments, input);
    if (status != 0) {
        fail_msg("%s: exit status %d\n%s", arguments, status, output);
    }
}

static int count_of(const char *word)
{
    int count = 0;
    for (const char *at = output; (at = strstr(at, word)) != NULL; at += strlen(word)) {
        count++;
    }
    return count;
}

static Picture shot(void)
{
    Picture picture;
    assert_true(picture_read(in_folder("shot.png"), &picture));
    return picture;
}

/* ---- What is expected ---- */

typedef struct Cells {
    int rows, cols;
    uint32_t *rgba; /* 0xAABBGGRR */
} Cells;

static void read_table(const char *name, uint32_t table[256])
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s.txt", lut_dir, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (int i = 0; i < 256; i++) {
        unsigned r, g, b;
        assert_int_equal(fscanf(file, "%u %u %u", &r, &g, &b), 3);
        table[i] = r | g << 8 | b << 16 | 0xff000000u;
    }
    fclose(file);
}

static uint32_t pixel(const Picture *picture, int x, int y)
{
    const uint8_t *p = picture->rgba + 4 * ((size_t)y * picture->width_px + (size_t)x);
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static bool uniform(const Picture *picture, int x, int y, int side, uint32_t color)
{
    if (x < 0 || y < 0 || x + side > (int)picture->width_px || y + side > (int)picture->height_px) {
        return false;
    }
    for (int j = 0; j < side; j++) {
        for (int i = 0; i < side; i++) {
            if (pixel(picture, x + i, y + j) != color) {
                return false;
            }
        }
    }
    return true;
}

/* The place of the picture: its first and last cells are found as squares of their colour, larger
 * than the colour bar is wide. */
static Region find(const Picture *picture, const Cells *cells, int side)
{
    Region region = {0, 0, 0, 0};
    bool begun = false;
    uint32_t first = cells->rgba[0], last = cells->rgba[cells->rows * cells->cols - 1];
    for (int y = 0; y < (int)picture->height_px && !begun; y++) {
        for (int x = 0; x < (int)picture->width_px && !begun; x++) {
            if (uniform(picture, x, y, side, first)) {
                region.x = (uint32_t)x;
                region.y = (uint32_t)y;
                begun = true;
            }
        }
    }
    for (int y = (int)picture->height_px - side; y >= 0; y--) {
        for (int x = (int)picture->width_px - side; x >= 0; x--) {
            if (uniform(picture, x, y, side, last)) {
                region.w = (uint32_t)(x + side) - region.x;
                region.h = (uint32_t)(y + side) - region.y;
                return region;
            }
        }
    }
    fail_msg("the picture is not there");
    return region;
}

/* Every pixel is its cell's colour; beside an edge between cells it may be either one's, since a
 * cell's edges need not fall between pixels. */
static void check_cells(const Picture *picture, Region at, const Cells *cells)
{
    for (uint32_t y = 0; y < at.h; y++) {
        for (uint32_t x = 0; x < at.w; x++) {
            uint32_t found = pixel(picture, (int)(at.x + x), (int)(at.y + y));
            bool good = false;
            for (int dy = -1; dy <= 1 && !good; dy++) {
                for (int dx = -1; dx <= 1 && !good; dx++) {
                    int col = (int)((x + 0.5 + dx) * cells->cols / at.w);
                    int row = (int)((y + 0.5 + dy) * cells->rows / at.h);
                    good = col >= 0 && row >= 0 && col < cells->cols && row < cells->rows &&
                           cells->rgba[row * cells->cols + col] == found;
                }
            }
            int col = (int)((x + 0.5) * cells->cols / at.w);
            int row = (int)((y + 0.5) * cells->rows / at.h);
            if (!good) {
                fail_msg("pixel %u, %u (cell %d, %d) is %08x, wanted %08x", x, y, row, col, found,
                         cells->rgba[row * cells->cols + col]);
            }
        }
    }
    /* And every cell's middle is its own. */
    for (int row = 0; row < cells->rows; row++) {
        for (int col = 0; col < cells->cols; col++) {
            int x = (int)(at.x + (col + 0.5) * at.w / cells->cols);
            int y = (int)(at.y + (row + 0.5) * at.h / cells->rows);
            assert_int_equal(pixel(picture, x, y), cells->rgba[row * cells->cols + col]);
        }
    }
}

/* ---- An 8x8 of 0..63 from min to max: entry floor(v * 255 / 63 + 1/2), never on an edge ---- */

static void write_ramp(void)
{
    const uint64_t shape[2] = {8, 8};
    float values[64];
    ArrayError error;
    for (int i = 0; i < 64; i++) {
        values[i] = (float)i;
    }
    assert_true(array_write_npy(in_folder("ramp.npy"), ARRAY_DTYPE_F32, 2, shape, values, &error));
}

static void check_ramp(const char *map, const char *options, const char *input, int side)
{
    uint32_t table[256], colors[64];
    char arguments[512];
    Cells cells = {8, 8, colors};
    read_table(map, table);
    for (int v = 0; v < 64; v++) {
        colors[v] = table[(510 * v + 63) / 126];
    }
    write_ramp();
    snprintf(arguments, sizeof(arguments), "view '%s' --frames 8 %s", in_folder("ramp.npy"),
             options);
    run_well(arguments, input);
    assert_int_equal(count_of("error"), 0);
    Picture picture = shot();
    Region at = find(&picture, &cells, side);
    assert_in_range(at.w, at.h - 2, at.h + 2); /* square */
    assert_true(at.h > picture.height_px / 4);
    check_cells(&picture, at, &cells);
    picture_free(&picture);
}

static void test_pixels_are_the_tables_colours(void **state)
{
    (void)state;
    check_ramp("viridis", "", NULL, 40);
    check_ramp("magma", "", "at 3\nkey m\n", 40);
    check_ramp("rdbu", "", "at 3\nkey m\nat 5\nkey m\n", 40);
}

static void test_pixels_at_other_scales_and_sizes(void **state)
{
    (void)state;
    check_ramp("viridis", "--scale 1.5 --size 1500x1000", NULL, 40);
    check_ramp("viridis", "--size 600x900", NULL, 30);
}

/* ---- Files whose pixels other libraries read ---- */

static void test_png_colours_are_direct(void **state)
{
    uint32_t colors[64];
    char path[512], arguments[600];
    Picture truth;
    (void)state;
    snprintf(path, sizeof(path), "%s/png_rgb.png", data_dir);
    assert_true(picture_read(path, &truth));
    Cells cells = {(int)truth.height_px, (int)truth.width_px, colors};
    assert_true(cells.rows * cells.cols <= 64);
    for (int i = 0; i < cells.rows * cells.cols; i++) {
        colors[i] = pixel(&truth, i % cells.cols, i / cells.cols);
    }
    snprintf(arguments, sizeof(arguments), "view '%s' --frames 5", path);
    run_well(arguments, NULL);
    Picture picture = shot();
    check_cells(&picture, find(&picture, &cells, 40), &cells);
    picture_free(&picture);
    picture_free(&truth);
}

/* 10000 clothes of 28x28; the right key shows the second. */
static void test_idx_images(void **state)
{
    uint8_t header[16], images[2][784];
    uint32_t table[256], colors[784];
    char arguments[512];
    Cells cells = {28, 28, colors};
    Region at = {0, 0, 0, 0};
    (void)state;
    gzFile file = gzopen(fashion, "rb");
    if (file == NULL) {
        print_message("skipped: no dataset-fashion-mnist here\n");
        skip();
    }
    assert_int_equal(gzread(file, header, 16), 16);
    assert_int_equal(gzread(file, images, sizeof(images)), (int)sizeof(images));
    gzclose(file);
    read_table("viridis", table);
    for (int image = 0; image < 2; image++) {
        int most = 0;
        for (int i = 0; i < 784; i++) {
            most = images[image][i] > most ? images[image][i] : most;
        }
        for (int i = 0; i < 784; i++) { /* the least is 0 in both */
            colors[i] = table[(510 * images[image][i] + most) / (2 * most)];
        }
        snprintf(arguments, sizeof(arguments), "view '%s' --frames 6", fashion);
        run_well(arguments, image == 0 ? NULL : "at 3\nkey right\n");
        Picture picture = shot();
        if (image == 0) {
            at = find(&picture, &cells, 30);
        }
        check_cells(&picture, at, &cells);
        picture_free(&picture);
    }
}

/* ---- Kinds, damage, the demo ---- */

static void test_every_kind_opens(void **state)
{
    static const char *const names[] = {
        "le_f64.npy",   "le_bool.npy",  "be_fortran_f16.npy", "array.npy.gz", "mixed.npz",
        "deflated.npz", "idx_u8",       "idx_i16.gz",         "png_rgba.png", "png_grey16.png",
        "scalar.npy",   "vector.npy",   "rank8.npy",          "rank32.npy",   "model.safetensors",
        "zip64.npz",    "png_1bit.png", "empty_03.npy"};
    char arguments[600];
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(arguments, sizeof(arguments), "view '%s/%s' --frames 4", data_dir, names[i]);
        run_well(arguments, "at 2\nmove 800 400\n");
        if (count_of("error") != 0) {
            fail_msg("%s: %s", names[i], output);
        }
    }
}

static void test_a_damaged_file_is_no_failure(void **state)
{
    static const char *const bytes[] = {"\x93NUMPY damaged", "<!doctype html>", "", "PK\x03\x04"};
    char arguments[512];
    (void)state;
    for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
        FILE *file = fopen(in_folder("bad.npy"), "wb");
        assert_non_null(file);
        fputs(bytes[i], file);
        fclose(file);
        snprintf(arguments, sizeof(arguments), "view '%s' --frames 6", in_folder("bad.npy"));
        run_well(arguments, NULL);
        assert_int_equal(count_of("error"), 1);
        assert_int_equal(count_of("bad.npy"), 1);
    }
    snprintf(arguments, sizeof(arguments), "view '%s' --frames 6", in_folder("bad.npy"));
    write_ramp(); /* the applet goes on: the next file is shown */
    char input[512];
    snprintf(input, sizeof(input), "at 3\nmove 800 400\ndrop %s\n", in_folder("ramp.npy"));
    run_well(arguments, input);
    uint32_t table[256], colors[64];
    Cells cells = {8, 8, colors};
    read_table("viridis", table);
    for (int v = 0; v < 64; v++) {
        colors[v] = table[(510 * v + 63) / 126];
    }
    Picture picture = shot();
    Region at = find(&picture, &cells, 40);
    assert_true(at.h > picture.height_px / 2);
    picture_free(&picture);
}

static void test_the_demo_repeats(void **state)
{
    Picture pictures[3];
    (void)state;
    for (int i = 0; i < 3; i++) {
        run_well(i < 2 ? "run tensorscope --frames 7" : "run tensorscope --frames 20", NULL);
        pictures[i] = shot();
    }
    const Region all = {0, 0, pictures[0].width_px, pictures[0].height_px};
    const Region live = {500, 200, 500, 400};
    assert_int_equal(picture_differs(&pictures[0], &pictures[1], all, 0), 0);
    assert_true(picture_differs(&pictures[0], &pictures[2], live, 8) > 50000);
    for (int i = 0; i < 3; i++) {
        picture_free(&pictures[i]);
    }
}

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/tensorscope_XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    return system(command);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pixels_are_the_tables_colours),
        cmocka_unit_test(test_pixels_at_other_scales_and_sizes),
        cmocka_unit_test(test_png_colours_are_direct),
        cmocka_unit_test(test_idx_images),
        cmocka_unit_test(test_every_kind_opens),
        cmocka_unit_test(test_a_damaged_file_is_no_failure),
        cmocka_unit_test(test_the_demo_repeats),
    };
    if (count != 4) {
        fprintf(stderr, "usage: %s CALIPER LUT_DIR FORMATS_DATA_DIR\n", arguments[0]);
        return 2;
    }
    program = arguments[1];
    lut_dir = arguments[2];
    data_dir = arguments[3];
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
