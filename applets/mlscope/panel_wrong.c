/* What the net gets wrong: the confusion matrix, and the misclassified test images, all of them or
 * those of one cell of the matrix. Frame thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mlscope.h"

/* Logical units. */
enum {
    LABEL_WIDTH = 76, /* of the rows' names */
    SHARE_WIDTH = 70, /* of what is right of the matrix */
    LABEL_HEIGHT = 13,
    CELL_MIN = 16,
    CELL_MAX = 62,
    IMAGE_SIDE = 84,
    CAPTION_HEIGHT = 36,
    HEAD_HEIGHT = 130, /* of what is above the images */
    CHOICE_WIDTH = 220
};

enum { PAIRS_MAX = MODEL_CLASSES * (MODEL_CLASSES - 1) };

static uint32_t with_alpha(uint32_t rgba, float share)
{
    return (rgba & 0xffffffu) | (uint32_t)(fminf(share, 1.0f) * 255.0f + 0.5f) << 24;
}

static float small_width(const CaliperWidgetsV1 *ui, const char *text, int64_t length)
{
    float width = 0;
    ui->text_size(text, length, 0, CALIPER_TEXT_SMALL, &width, NULL);
    return width;
}

static int64_t row_sum(const MlScope *app, int32_t truth)
{
    int64_t sum = 0;
    for (int32_t c = 0; c < MODEL_CLASSES; c++)
        sum += app->score.confusion[truth][c];
    return sum;
}

/* ---- The matrix ---- */

/* Right answers in one colour, wrong ones in another, by their share of the row; small shares of
 * wrong ones are what one looks for, so their root is shown. */
static void draw_cell(MlScope *app, int32_t truth, int32_t said, double x, double y, double side)
{
    const CaliperWidgetsV1 *ui = app->ui;
    int64_t count = app->score.confusion[truth][said], sum = row_sum(app, truth);
    float share = sum > 0 ? (float)count / (float)sum : 0.0f;
    bool right = truth == said;
    bool chosen = app->has_filter && app->filter_truth == truth && app->filter_said == said;
    uint32_t hue = ui->color(right ? CALIPER_THEME_GOOD : CALIPER_THEME_BAD);
    ui->draw_rect(x, y, x + side - 2, y + side - 2,
                  with_alpha(hue, count == 0 ? 0.04f
                                  : right    ? 0.75f * share
                                             : 0.1f + sqrtf(share)),
                  -1);
    if (chosen)
        ui->draw_rect(x, y, x + side - 2, y + side - 2, ui->color(CALIPER_THEME_ACCENT), 2);
    if (count > 0) {
        char text[24];
        snprintf(text, sizeof text, "%lld", (long long)count);
        if (small_width(ui, text, -1) > side - 2) /* the tooltip has it */
            return;
        ui->draw_text(x + side / 2 - 1, y + side / 2 - 1, text, -1, ui->color(CALIPER_THEME_TEXT),
                      CALIPER_TEXT_CENTER | CALIPER_TEXT_SMALL);
    }
}

static void tell_cell(MlScope *app, int32_t truth, int32_t said)
{
    char text[160], names[2][16];
    int64_t count = app->score.confusion[truth][said], sum = row_sum(app, truth);
    snprintf(text, sizeof text, "%lld of %lld of \"%s\" taken for \"%s\": %.1f %%",
             (long long)count, (long long)sum,
             mlscope_class_name(app, truth, names[0], sizeof names[0]),
             mlscope_class_name(app, said, names[1], sizeof names[1]),
             sum > 0 ? 100.0 * (double)count / (double)sum : 0.0);
    if (app->ui->tooltip_box())
        app->ui->text(text);
    app->ui->end(CALIPER_SCOPE_TOOLTIP);
}

/* Whether some column's name is wider than the column: every second one then is a line higher. */
static bool is_staggered(const MlScope *app, float side)
{
    char name[16];
    for (int32_t i = 0; i < MODEL_CLASSES; i++) {
        if (small_width(app->ui, mlscope_class_name(app, i, name, sizeof name), -1) > side - 4)
            return true;
    }
    return false;
}

/* As much of the name as there is room for, in the middle above the column. */
static void draw_column_name(MlScope *app, int32_t number, double side, bool staggered)
{
    const CaliperWidgetsV1 *ui = app->ui;
    char name[16];
    const char *label = mlscope_class_name(app, number, name, sizeof name);
    int64_t length = (int64_t)strlen(label);
    double room = (staggered ? 2 * side : side) - 4;
    while (length > 1 && small_width(ui, label, length) > room)
        length--;
    double y = LABEL_HEIGHT + (staggered ? number % 2 * LABEL_HEIGHT : 0);
    ui->draw_text(LABEL_WIDTH + number * side + side / 2, y, label, length,
                  ui->color(CALIPER_THEME_TEXT_DIM), CALIPER_TEXT_CENTER | CALIPER_TEXT_SMALL);
}

static void draw_matrix(MlScope *app, double side, double top, bool staggered)
{
    const CaliperWidgetsV1 *ui = app->ui;
    char name[16], text[32];
    uint32_t dim = ui->color(CALIPER_THEME_TEXT_DIM);
    double x = 0, y = 0;
    for (int32_t i = 0; i < MODEL_CLASSES; i++) {
        const char *label = mlscope_class_name(app, i, name, sizeof name);
        draw_column_name(app, i, side, staggered);
        ui->draw_text(LABEL_WIDTH - 8, top + i * side + side / 2 - 8, label, -1, dim,
                      CALIPER_TEXT_RIGHT | CALIPER_TEXT_SMALL);
        int64_t sum = row_sum(app, i);
        snprintf(text, sizeof text, "%.1f %%",
                 sum > 0 ? 100.0 * (double)app->score.confusion[i][i] / (double)sum : 0.0);
        ui->draw_text(LABEL_WIDTH + MODEL_CLASSES * side + 12, top + i * side + side / 2 - 8, text,
                      -1, dim, CALIPER_TEXT_SMALL);
        for (int32_t said = 0; said < MODEL_CLASSES; said++)
            draw_cell(app, i, said, LABEL_WIDTH + said * side, top + i * side, side);
    }
    uint32_t pointer = ui->pointer(&x, &y, NULL);
    int32_t said = (int32_t)floor((x - LABEL_WIDTH) / side),
            truth = (int32_t)floor((y - top) / side);
    if ((pointer & CALIPER_POINTER_HOVERED) == 0 || said < 0 || said >= MODEL_CLASSES ||
        truth < 0 || truth >= MODEL_CLASSES)
        return;
    tell_cell(app, truth, said);
    if ((pointer & CALIPER_POINTER_PRESSED) != 0 && truth != said) {
        app->has_filter =
            !app->has_filter || app->filter_truth != truth || app->filter_said != said;
        app->filter_truth = truth;
        app->filter_said = said;
        app->wrong_page = 0;
    }
}

void panel_draw_confusion(MlScope *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    float width = 0, height = 0;
    char text[128];
    if (app->score.seen == 0) {
        ui->text_ex("After the first evaluation: at step 50, or at the epoch's end.", -1, 0,
                    CALIPER_TEXT_DIM | CALIPER_TEXT_WRAP);
        return;
    }
    snprintf(text, sizeof text, "%lld of %lld test images are right: %.2f %%",
             (long long)app->score.right, (long long)app->score.seen,
             100.0 * (double)app->score.right / (double)app->score.seen);
    ui->text_ex(text, -1, 0, CALIPER_TEXT_HEADING | CALIPER_TEXT_WRAP);
    ui->text_ex(
        "Rows are what an image is, columns what the net says, the share at the right is of "
        "the row. A click chooses the wrong ones of a cell for the next page.",
        -1, 0, CALIPER_TEXT_DIM | CALIPER_TEXT_WRAP);
    ui->space(0, 4);
    ui->remaining(&width, &height);
    float side =
        fminf(width - LABEL_WIDTH - SHARE_WIDTH, height - 3 * LABEL_HEIGHT) / MODEL_CLASSES;
    side = side < CELL_MIN ? CELL_MIN : side > CELL_MAX ? CELL_MAX : floorf(side);
    bool staggered = is_staggered(app, side);
    float top = (staggered ? 3 : 2) * LABEL_HEIGHT;
    if (ui->canvas("matrix", LABEL_WIDTH + side * MODEL_CLASSES + SHARE_WIDTH,
                   top + 2 + side * MODEL_CLASSES, 0))
        draw_matrix(app, (double)side, (double)top, staggered);
    ui->end(CALIPER_SCOPE_CANVAS);
}

/* ---- The images ---- */

/* Numbers of the score's wrong images that are to be seen; answers how many. */
static int32_t list_chosen(const MlScope *app, int32_t out[MODEL_WRONG_MAX])
{
    int32_t count = 0;
    for (int32_t i = 0; i < app->score.wrong_count; i++) {
        if (!app->has_filter || (app->score.wrong_truth[i] == app->filter_truth &&
                                 app->score.wrong_predicted[i] == app->filter_said))
            out[count++] = i;
    }
    return count;
}

static void draw_one(MlScope *app, int32_t slot, int32_t number)
{
    const CaliperWidgetsV1 *ui = app->ui;
    char text[96], names[2][16];
    const ModelScore *score = &app->score;
    const char *said =
        mlscope_class_name(app, score->wrong_predicted[number], names[0], sizeof names[0]);
    const char *is = mlscope_class_name(app, score->wrong_truth[number], names[1], sizeof names[1]);
    if (!views_show_wrong(app, slot, number))
        return;
    ui->group();
    ui->image(app->views.wrong[slot], IMAGE_SIDE, IMAGE_SIDE, CALIPER_IMAGE_BORDER);
    snprintf(text, sizeof text, "t10k[%d]: pred %s / true %s", (int)score->wrong_index[number],
             said, is);
    ui->tooltip(text);
    ui->text_ex(said, -1, ui->color(CALIPER_THEME_BAD), CALIPER_TEXT_SMALL);
    ui->text_ex(is, -1, ui->color(CALIPER_THEME_TEXT_DIM), CALIPER_TEXT_SMALL);
    ui->end(CALIPER_SCOPE_GROUP);
}

typedef struct Pair {
    int32_t truth, said;
    int64_t count;
} Pair;

static int compare_pairs(const void *left, const void *right)
{
    const Pair *a = left, *b = right;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return a->truth != b->truth ? a->truth - b->truth : a->said - b->said;
}

/* What is taken for what, the most frequent first, the chosen one also when it is over; answers how
 * many. */
static int32_t list_pairs(const MlScope *app, Pair out[PAIRS_MAX])
{
    int32_t count = 0;
    for (int32_t truth = 0; truth < MODEL_CLASSES; truth++) {
        for (int32_t said = 0; said < MODEL_CLASSES; said++) {
            int64_t cases = app->score.confusion[truth][said];
            bool chosen = app->has_filter && app->filter_truth == truth && app->filter_said == said;
            if (truth != said && (cases > 0 || chosen))
                out[count++] = (Pair){truth, said, cases};
        }
    }
    qsort(out, (size_t)count, sizeof *out, compare_pairs);
    return count;
}

/* What a click on the matrix chooses, for the keyboard too. */
static void choose_pair(MlScope *app)
{
    static char texts[PAIRS_MAX + 1][64];
    static const char *items[PAIRS_MAX + 1];
    Pair pairs[PAIRS_MAX];
    char names[2][16];
    int32_t index = 0, count = list_pairs(app, pairs);
    snprintf(texts[0], sizeof texts[0], "all wrong ones");
    items[0] = texts[0];
    for (int32_t i = 0; i < count; i++) {
        snprintf(texts[i + 1], sizeof texts[i + 1], "%s taken for %s: %lld",
                 mlscope_class_name(app, pairs[i].truth, names[0], sizeof names[0]),
                 mlscope_class_name(app, pairs[i].said, names[1], sizeof names[1]),
                 (long long)pairs[i].count);
        items[i + 1] = texts[i + 1];
        if (app->has_filter && pairs[i].truth == app->filter_truth &&
            pairs[i].said == app->filter_said)
            index = i + 1;
    }
    app->ui->push_width(CHOICE_WIDTH);
    if (app->ui->combo("show", &index, items, count + 1, 0)) {
        app->has_filter = index > 0;
        if (index > 0) {
            app->filter_truth = pairs[index - 1].truth;
            app->filter_said = pairs[index - 1].said;
        }
        app->wrong_page = 0;
    }
    app->ui->end(CALIPER_SCOPE_WIDTH);
}

static void draw_head(MlScope *app, int32_t chosen, int64_t first, int64_t shown)
{
    const CaliperWidgetsV1 *ui = app->ui;
    char text[192];
    int64_t wrong = app->score.seen - app->score.right;
    snprintf(text, sizeof text, "%lld of %lld test images are wrong", (long long)wrong,
             (long long)app->score.seen);
    ui->text_ex(text, -1, 0, CALIPER_TEXT_HEADING | CALIPER_TEXT_WRAP);
    choose_pair(app);
    snprintf(
        text, sizeof text,
        "%lld to %lld of %d%s; red: what the net says, below it: what it is. Left and Right turn "
        "the page.",
        (long long)(chosen > 0 ? first + 1 : 0), (long long)(first + shown), (int)chosen,
        app->score.wrong_count < wrong ? " (of the first 512)" : "");
    ui->text_ex(text, -1, 0, CALIPER_TEXT_DIM | CALIPER_TEXT_WRAP);
}

static void turn_page(MlScope *app, int64_t pages)
{
    const CaliperWidgetsV1 *ui = app->ui;
    if (app->wrong_page >= pages)
        app->wrong_page = pages - 1;
    ui->disabled(app->wrong_page == 0);
    bool back = ui->button("Back", 90, 0, 0);
    ui->end(CALIPER_SCOPE_DISABLED);
    ui->same_line(0, 6);
    ui->disabled(app->wrong_page + 1 >= pages);
    bool on = ui->button("Next", 90, 0, 0);
    ui->end(CALIPER_SCOPE_DISABLED);
    if ((back || ui->shortcut(CALIPER_KEY_LEFT, CALIPER_SHORTCUT_REPEAT)) && app->wrong_page > 0)
        app->wrong_page--;
    if ((on || ui->shortcut(CALIPER_KEY_RIGHT, CALIPER_SHORTCUT_REPEAT)) &&
        app->wrong_page + 1 < pages)
        app->wrong_page++;
}

void panel_draw_wrong(MlScope *app)
{
    static int32_t chosen[MODEL_WRONG_MAX];
    const CaliperWidgetsV1 *ui = app->ui;
    float width = 0, height = 0;
    if (app->score.seen == 0) {
        ui->text_ex("After the first evaluation: at step 50, or at the epoch's end.", -1, 0,
                    CALIPER_TEXT_DIM | CALIPER_TEXT_WRAP);
        return;
    }
    int32_t count = list_chosen(app, chosen);
    ui->remaining(&width, &height);
    int64_t columns = (int64_t)((width + 8) / (IMAGE_SIDE + 8));
    int64_t lines = (int64_t)((height - HEAD_HEIGHT) / (IMAGE_SIDE + CAPTION_HEIGHT + 8));
    columns = columns < 1 ? 1 : columns;
    lines = lines < 1 ? 1 : lines;
    int64_t fit = columns * lines < MLSCOPE_PAGE ? columns * lines : (int64_t)MLSCOPE_PAGE;
    int64_t pages = count > 0 ? (count + fit - 1) / fit : 1;
    if (app->wrong_page >= pages)
        app->wrong_page = pages - 1;
    int64_t first = app->wrong_page * fit;
    int64_t shown = count - first < fit ? count - first : fit;
    draw_head(app, count, first, shown);
    turn_page(app, pages);
    ui->space(0, 4);
    for (int64_t i = 0; i < shown; i++) {
        if (i % columns != 0)
            ui->same_line(0, 8);
        draw_one(app, (int32_t)i, chosen[first + i]);
    }
}
