/* services/widgets_text.cpp: the text field, on a copy of the caller's buffer that is checked on
 * the way in and cut at a code point on the way out. Frame thread. */
#include "services/widgets_table.h"

#include <cstring>

/* Length of the valid sequence at `text`, 0 when it is not one. */
static size_t sequence_length(const char *text, size_t left)
{
    const unsigned char *const b = reinterpret_cast<const unsigned char *>(text);
    if (b[0] < 0x80)
        return 1;
    size_t length = 0;
    if (b[0] >= 0xc2 && b[0] <= 0xdf)
        length = 2;
    else if ((b[0] & 0xf0) == 0xe0)
        length = 3;
    else if (b[0] >= 0xf0 && b[0] <= 0xf4)
        length = 4;
    if (length == 0 || length > left)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((b[i] & 0xc0) != 0x80)
            return 0;
    }
    if ((b[0] == 0xe0 && b[1] < 0xa0) || (b[0] == 0xed && b[1] > 0x9f) ||
        (b[0] == 0xf0 && b[1] < 0x90) || (b[0] == 0xf4 && b[1] > 0x8f))
        return 0;
    return length;
}

/* Writes valid UTF-8 of at most to_bytes - 1 bytes, cut at a code point. True when it differs. */
static bool copy_valid(char *to, size_t to_bytes, const char *from, size_t length)
{
    size_t used = 0;
    bool differs = false;
    for (size_t i = 0; i < length;) {
        size_t step = sequence_length(from + i, length - i);
        const char *piece = from + i;
        size_t piece_bytes = step;
        if (step == 0) {
            piece = "\xef\xbf\xbd";
            piece_bytes = 3;
            step = 1;
            differs = true;
        }
        if (used + piece_bytes > to_bytes - 1) {
            differs = true;
            break;
        }
        std::memcpy(to + used, piece, piece_bytes);
        used += piece_bytes;
        i += step;
    }
    to[used] = '\0';
    return differs;
}

static ImGuiInputTextFlags text_flags(uint32_t flags, bool many_lines)
{
    ImGuiInputTextFlags own = 0;
    if ((flags & CALIPER_INPUT_ON_ENTER) != 0)
        own |= ImGuiInputTextFlags_EnterReturnsTrue;
    if ((flags & CALIPER_INPUT_READ_ONLY) != 0)
        own |= ImGuiInputTextFlags_ReadOnly;
    if ((flags & CALIPER_INPUT_PASSWORD) != 0 && !many_lines)
        own |= ImGuiInputTextFlags_Password;
    if ((flags & CALIPER_INPUT_SELECT_ALL) != 0)
        own |= ImGuiInputTextFlags_AutoSelectAll;
    if (many_lines && (flags & CALIPER_INPUT_NO_NEWLINE_TAB) == 0)
        own |= ImGuiInputTextFlags_AllowTabInput;
    return own;
}

bool widgets_slot_input_text(const char *label, const char *hint, char *buf, uint64_t buf_bytes,
                             float h, uint32_t flags)
{
    if (!widgets_enter("input_text"))
        return false;
    widgets_unknown_flags("input_text", flags, 31);
    const void *const zero =
        buf != nullptr && buf_bytes >= 2 ? std::memchr(buf, 0, buf_bytes) : nullptr;
    if (zero == nullptr) {
        widgets_refuse("input_text", "a NULL buffer, under 2 bytes, or without a NUL inside",
                       "a buffer with a NUL-terminated text");
        return false;
    }
    const size_t length = static_cast<size_t>(static_cast<const char *>(zero) - buf);
    /* More than this cannot be typed in one frame; a larger paste is cut. */
    const uint64_t room = length + 65536;
    const size_t capacity = static_cast<size_t>(buf_bytes < room ? buf_bytes : room);
    char *const text = widgets_scratch(capacity + 8);
    if (text == nullptr)
        return false;
    const bool mended = copy_valid(text, capacity, buf, length);
    if (hint != nullptr)
        widgets_text_end(&hint, -1);
    const char *const shown = widgets_label(label);
    const float height = widgets_size_or(h, 0.0f);
    const bool many_lines = height > 0.0f;
    widgets_item(0.0f);
    bool fired;
    if (many_lines)
        fired = ImGui::InputTextMultiline(shown, text, capacity, ImVec2(0.0f, height),
                                          text_flags(flags, true));
    else
        fired = ImGui::InputTextWithHint(shown, hint != nullptr ? hint : "", text, capacity,
                                         text_flags(flags, false));
    widgets_listed("input_text", shown);
    const bool edited = ImGui::IsItemEdited() || fired || ImGui::IsItemDeactivatedAfterEdit();
    if (edited || mended)
        copy_valid(buf, static_cast<size_t>(buf_bytes < room ? buf_bytes : capacity), text,
                   std::strlen(text));
    return fired;
}
