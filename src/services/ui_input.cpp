/* services/ui_input.cpp: queued events become the state that Dear ImGui reads once a frame.
 * Frame thread. */
#include <caliper/services/widgets_v1.h>

#include "services/ui_internal.h"

#include <cstdlib>
#include <cstring>

void ui_input_connect(ImGuiIO *io)
{
    io->KeyMap[ImGuiKey_Tab] = CALIPER_KEY_TAB;
    io->KeyMap[ImGuiKey_LeftArrow] = CALIPER_KEY_LEFT;
    io->KeyMap[ImGuiKey_RightArrow] = CALIPER_KEY_RIGHT;
    io->KeyMap[ImGuiKey_UpArrow] = CALIPER_KEY_UP;
    io->KeyMap[ImGuiKey_DownArrow] = CALIPER_KEY_DOWN;
    io->KeyMap[ImGuiKey_PageUp] = CALIPER_KEY_PAGE_UP;
    io->KeyMap[ImGuiKey_PageDown] = CALIPER_KEY_PAGE_DOWN;
    io->KeyMap[ImGuiKey_Home] = CALIPER_KEY_HOME;
    io->KeyMap[ImGuiKey_End] = CALIPER_KEY_END;
    io->KeyMap[ImGuiKey_Insert] = CALIPER_KEY_INSERT;
    io->KeyMap[ImGuiKey_Delete] = CALIPER_KEY_DELETE;
    io->KeyMap[ImGuiKey_Backspace] = CALIPER_KEY_BACKSPACE;
    io->KeyMap[ImGuiKey_Space] = ' ';
    io->KeyMap[ImGuiKey_Enter] = CALIPER_KEY_ENTER;
    io->KeyMap[ImGuiKey_Escape] = CALIPER_KEY_ESCAPE;
    io->KeyMap[ImGuiKey_A] = 'A';
    io->KeyMap[ImGuiKey_C] = 'C';
    io->KeyMap[ImGuiKey_V] = 'V';
    io->KeyMap[ImGuiKey_X] = 'X';
    io->KeyMap[ImGuiKey_Y] = 'Y';
    io->KeyMap[ImGuiKey_Z] = 'Z';
    io->GetClipboardTextFn = [](void *) { return ui_clipboard_get(); };
    io->SetClipboardTextFn = [](void *, const char *text) { ui_clipboard_set(text); };
}

/* ---- Clipboard ---- */

void ui_set_clipboard(Ui *ui, const UiClipboard *clipboard)
{
    ui->clipboard = clipboard != nullptr ? *clipboard : UiClipboard();
}

const char *ui_clipboard_get(void)
{
    const Ui *const ui = ui_current;
    const char *text = nullptr;
    if (ui != nullptr && ui->clipboard.get != nullptr)
        text = ui->clipboard.get(ui->clipboard.user);
    else if (ui != nullptr)
        text = ui->clipboard_text;
    return text != nullptr ? text : "";
}

void ui_clipboard_set(const char *text)
{
    Ui *const ui = ui_current;
    if (ui == nullptr || text == nullptr)
        return;
    if (ui->clipboard.set != nullptr) {
        ui->clipboard.set(ui->clipboard.user, text);
        return;
    }
    char *const copy = strdup(text);
    if (copy == nullptr)
        return;
    std::free(ui->clipboard_text);
    ui->clipboard_text = copy;
}

/* ---- The queue ---- */

static UiEvent *queued(Ui *ui, uint32_t index)
{
    return &ui->events[(ui->event_first + index) % UI_EVENTS_MAX];
}

void ui_event(Ui *ui, const UiEvent *event)
{
    /* Movements in a row are one movement. */
    if (event->kind == UI_EVENT_POINTER && ui->event_count > 0 &&
        queued(ui, ui->event_count - 1)->kind == UI_EVENT_POINTER) {
        *queued(ui, ui->event_count - 1) = *event;
        return;
    }
    if (ui->event_count == UI_EVENTS_MAX) {
        ui->event_first = (ui->event_first + 1) % UI_EVENTS_MAX;
        ui->event_count--;
    }
    *queued(ui, ui->event_count) = *event;
    ui->event_count++;
}

struct Applied { /* what this frame has already seen */
    bool button[3];
    bool key[UI_KEYS_MAX];
    bool moved, any_button, any_key, text;
};

/* False: the event has to wait for the next frame. */
static bool apply_event(Ui *ui, Applied *seen, const UiEvent *event)
{
    ImGuiIO &io = ImGui::GetIO();
    switch (event->kind) {
    case UI_EVENT_POINTER:
        if (seen->any_button)
            return false;
        ui->pointer = ImVec2(event->x, event->y);
        seen->moved = true;
        return true;
    case UI_EVENT_LEAVE:
        if (seen->any_button)
            return false;
        ui->pointer = ImVec2(-FLT_MAX, -FLT_MAX);
        return true;
    case UI_EVENT_BUTTON:
        if (event->code >= 3)
            return true;
        if (seen->button[event->code])
            return false;
        seen->button[event->code] = true;
        seen->any_button = true;
        ui->buttons[event->code] = event->down;
        ui->modifiers = event->modifiers;
        return true;
    case UI_EVENT_WHEEL:
        if (seen->any_button)
            return false;
        io.MouseWheel += event->y;
        io.MouseWheelH += event->x;
        ui->modifiers = event->modifiers;
        return true;
    case UI_EVENT_KEY:
        if (event->code < UI_KEYS_MAX && event->code > 0) {
            if (seen->key[event->code] || seen->text)
                return false;
            seen->key[event->code] = true;
            ui->keys[event->code].down = event->down;
        } else if (seen->any_key && ui->modifiers != event->modifiers) {
            return false; /* a modifier alone: not in the frame of the key before it */
        }
        seen->any_key = true;
        ui->modifiers = event->modifiers;
        return true;
    case UI_EVENT_TEXT:
        io.AddInputCharacter(event->code);
        seen->text = true;
        return true;
    case UI_EVENT_FOCUS:
        io.AddFocusEvent(event->down);
        if (!event->down) {
            for (UiKeyState &key : ui->keys)
                key.down = false;
            ui->modifiers = 0;
        }
        return true;
    }
    return true;
}

void ui_input_apply(Ui *ui, float delta_sec)
{
    ImGuiIO &io = ImGui::GetIO();
    Applied seen = {};
    while (ui->event_count > 0 && apply_event(ui, &seen, queued(ui, 0))) {
        ui->event_first = (ui->event_first + 1) % UI_EVENTS_MAX;
        ui->event_count--;
    }
    io.MousePos = ui->pointer;
    for (int i = 0; i < 3; i++)
        io.MouseDown[i] = ui->buttons[i];
    io.KeyCtrl = (ui->modifiers & UI_MODIFIER_CTRL) != 0;
    io.KeyShift = (ui->modifiers & UI_MODIFIER_SHIFT) != 0;
    io.KeyAlt = (ui->modifiers & UI_MODIFIER_ALT) != 0;
    io.KeySuper = (ui->modifiers & UI_MODIFIER_SUPER) != 0;
    /* Without a focus that is seen the arrows are the applets' shortcuts alone. */
    const bool arrows = ui_focus_takes_arrows();
    for (int i = 0; i < UI_KEYS_MAX; i++) {
        UiKeyState *const key = &ui->keys[i];
        const bool is_arrow = i >= CALIPER_KEY_LEFT && i <= CALIPER_KEY_PAGE_DOWN;
        io.KeysDown[i] = key->down && (arrows || !is_arrow);
        key->pressed = key->down && !key->was_down;
        key->was_down = key->down;
        key->taken = false;
        key->held_before_sec = key->held_sec;
        key->held_sec = key->pressed || !key->down ? 0.0f : key->held_sec + delta_sec;
    }
    /* Dear ImGui presses items by Space alone. Decided where Enter goes down: the one that ends a
     * text is not to begin it again while it is held. */
    const UiKeyState *const enter = &ui->keys[CALIPER_KEY_ENTER];
    if (enter->pressed)
        ui->enter_presses = ui->modifiers == 0 && ui_focus_is_seen() && !io.WantTextInput;
    io.NavInputs[ImGuiNavInput_Activate] = enter->down && ui->enter_presses ? 1.0f : 0.0f;
}

bool ui_modifiers_match(const Ui *ui, uint32_t chord)
{
    uint32_t wanted = 0;
    wanted |= (chord & (CALIPER_MOD_CTRL | CALIPER_MOD_MAIN)) != 0 ? UI_MODIFIER_CTRL : 0;
    wanted |= (chord & CALIPER_MOD_SHIFT) != 0 ? UI_MODIFIER_SHIFT : 0;
    wanted |= (chord & CALIPER_MOD_ALT) != 0 ? UI_MODIFIER_ALT : 0;
    wanted |= (chord & CALIPER_MOD_SUPER) != 0 ? UI_MODIFIER_SUPER : 0;
    return wanted == ui->modifiers;
}

bool ui_take_chord(Ui *ui, uint32_t chord)
{
    const uint32_t code = chord & 0xffffu;
    if (code == 0 || code >= UI_KEYS_MAX)
        return false;
    UiKeyState *const key = &ui->keys[code];
    if (!key->pressed || key->taken || !ui_modifiers_match(ui, chord))
        return false;
    key->taken = true;
    return true;
}
