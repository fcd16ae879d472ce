/* applets/gallery/pages_layout.c: regions, trees, tabs, menus, popups. */
#include "gallery.h"

#include <stdio.h>

void gallery_layout(Gallery *gallery)
{
    const CaliperWidgetsV1 *ui = gallery->ui;
    static float first = 0.0f;
    char text[64];
    (void)gallery;
    if (ui->child("fixed", 200, 110, CALIPER_CHILD_BORDER)) {
        for (int i = 1; i <= 12; i++) {
            snprintf(text, sizeof text, "line %d of a child that scrolls", i);
            ui->text(text);
        }
    }
    ui->end(CALIPER_SCOPE_CHILD);
    ui->same_line(0, 0);
    ui->group();
    ui->text("A group is one item");
    ui->button("for same_line", 0, 0, 0);
    ui->indent(0);
    ui->text("indented");
    ui->indent(0);
    ui->text("and once more");
    ui->end(CALIPER_SCOPE_INDENT);
    ui->end(CALIPER_SCOPE_INDENT);
    ui->end(CALIPER_SCOPE_GROUP);
    if (ui->child("as high as it needs", 0, 0, CALIPER_CHILD_BORDER | CALIPER_CHILD_AUTO_HEIGHT))
        ui->text_ex("This one is as high as its content, and no higher.", -1, 0, CALIPER_TEXT_WRAP);
    ui->end(CALIPER_SCOPE_CHILD);
    ui->push_text(ui->color(CALIPER_THEME_ACCENT), CALIPER_TEXT_MONO);
    ui->text("push_text: colour and face of all inside");
    ui->button("a button too", 0, 0, 0);
    ui->end(CALIPER_SCOPE_TEXT);
    ui->separator("A split");
    ui->split("halves", CALIPER_SPLIT_TOP_BOTTOM, &first, 30, 30);
    ui->text("above");
    ui->split_next();
    ui->split("inner", CALIPER_SPLIT_LEFT_RIGHT, NULL, 60, 60);
    ui->text("below, left");
    ui->split_next();
    ui->text("below, right");
    ui->end(CALIPER_SCOPE_SPLIT);
    ui->end(CALIPER_SCOPE_SPLIT);
}

static void draw_tree(const CaliperWidgetsV1 *ui)
{
    if (ui->tree("model", CALIPER_TREE_OPEN)) {
        if (ui->tree("encoder", CALIPER_TREE_OPEN | CALIPER_TREE_SELECTED)) {
            ui->tree("weight (512, 256)", CALIPER_TREE_LEAF);
            ui->end(CALIPER_SCOPE_TREE);
            ui->tree("bias (512)", CALIPER_TREE_LEAF);
            ui->end(CALIPER_SCOPE_TREE);
        }
        ui->end(CALIPER_SCOPE_TREE);
        if (ui->tree("decoder", 0))
            ui->text("closed at first");
        ui->end(CALIPER_SCOPE_TREE);
    }
    ui->end(CALIPER_SCOPE_TREE);
}

void gallery_trees(Gallery *gallery)
{
    const CaliperWidgetsV1 *ui = gallery->ui;
    draw_tree(ui);
    if (ui->tree("A framed header", CALIPER_TREE_HEADER | CALIPER_TREE_OPEN))
        ui->text("without an indent");
    ui->end(CALIPER_SCOPE_TREE);
    if (ui->tree("Another, closed", CALIPER_TREE_HEADER))
        ui->text("not seen");
    ui->end(CALIPER_SCOPE_TREE);
    ui->separator("Tabs");
    if (ui->tab_bar("tabs", CALIPER_TAB_REORDER)) {
        if (ui->tab("Plain", NULL, 0))
            ui->text("Only the current tab's content is seen.");
        ui->end(CALIPER_SCOPE_TAB);
        if (ui->tab("Can be closed", &gallery->tab_open[0], 0))
            ui->text("The cross writes false.");
        ui->end(CALIPER_SCOPE_TAB);
        if (ui->tab("Not saved", &gallery->tab_open[1], CALIPER_TAB_UNSAVED))
            ui->text("A dot stands for the cross.");
        ui->end(CALIPER_SCOPE_TAB);
    }
    ui->end(CALIPER_SCOPE_TAB_BAR);
    ui->disabled(true);
    ui->push_id("disabled");
    draw_tree(ui);
    ui->end(CALIPER_SCOPE_ID);
    ui->end(CALIPER_SCOPE_DISABLED);
}

static void draw_menu_bar(Gallery *gallery)
{
    const CaliperWidgetsV1 *ui = gallery->ui;
    if (!ui->menu_bar()) {
        ui->end(CALIPER_SCOPE_MENU_BAR);
        return;
    }
    if (ui->menu("File")) {
        ui->menu_item("Open", CALIPER_MOD_MAIN | 'O', NULL);
        ui->menu_item("Save", CALIPER_MOD_MAIN | CALIPER_MOD_SHIFT | 'S', NULL);
        if (ui->menu("Recent"))
            ui->menu_item("weights.safetensors", 0, NULL);
        ui->end(CALIPER_SCOPE_MENU);
    }
    ui->end(CALIPER_SCOPE_MENU);
    if (ui->menu("View"))
        ui->menu_item("Grid", 'G', &gallery->ticks[0]);
    ui->end(CALIPER_SCOPE_MENU);
    ui->end(CALIPER_SCOPE_MENU_BAR);
}

void gallery_menus(Gallery *gallery)
{
    const CaliperWidgetsV1 *ui = gallery->ui;
    ui->space(0, 150); /* the window lies here */
    if (ui->button("Popup", 0, 0, 0))
        ui->popup_open("choose");
    if (ui->popup("choose", 0)) {
        ui->selectable("first", false, 0, 0, 0);
        ui->selectable("second", false, 0, 0, 0);
    }
    ui->end(CALIPER_SCOPE_POPUP);
    ui->same_line(0, 0);
    if (ui->button("Modal", 0, 0, CALIPER_BUTTON_DANGER))
        ui->popup_open("Delete the run?");
    if (ui->popup("Delete the run?", CALIPER_POPUP_MODAL)) {
        ui->text("This cannot be undone.");
        if (ui->button("Delete", 0, 0, CALIPER_BUTTON_DANGER))
            ui->popup_close();
        ui->same_line(0, 0);
        if (ui->button("Cancel", 0, 0, 0))
            ui->popup_close();
    }
    ui->end(CALIPER_SCOPE_POPUP);
    ui->same_line(0, 0);
    ui->text("Right click here");
    if (ui->popup("context", CALIPER_POPUP_ON_ITEM)) {
        ui->menu_item("Copy", CALIPER_MOD_MAIN | 'C', NULL);
        ui->menu_item("Paste", CALIPER_MOD_MAIN | 'V', NULL);
    }
    ui->end(CALIPER_SCOPE_POPUP);
    ui->checkbox("a window", &gallery->open);
    if (ui->window("A window", 260, 150, &gallery->open, CALIPER_WINDOW_MENU)) {
        draw_menu_bar(gallery);
        ui->text_ex("It has a menu bar of its own, a size and a cross.", -1, 0, CALIPER_TEXT_WRAP);
    }
    ui->end(CALIPER_SCOPE_WINDOW);
}
