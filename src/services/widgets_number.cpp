/* services/widgets_number.cpp: numbers: sliders, drags, typed fields. Frame thread. */
#include "services/widgets_table.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

enum { FORMAT_BYTES = 96 };

/* The unit behind a number, every `%` doubled; long or NULL units are cut. */
static void append_unit(char *format, size_t used, const char *unit)
{
    if (unit != nullptr && unit[0] != '\0')
        format[used++] = ' ';
    for (size_t i = 0; unit != nullptr && unit[i] != '\0' && used < FORMAT_BYTES - 3; i++) {
        format[used++] = unit[i];
        if (unit[i] == '%')
            format[used++] = '%';
    }
    format[used] = '\0';
}

/* Whether so many digits name each of these numbers as binary32 has it, and no two alike. */
static bool digits_tell(int digits, const double *values, int32_t n)
{
    char text[4][40];
    for (int32_t i = 0; i < n; i++) {
        std::snprintf(text[i], sizeof text[i], "%.*g", digits, values[i]);
        if (std::isfinite(values[i]) &&
            std::strtof(text[i], nullptr) != static_cast<float>(values[i]))
            return false;
        for (int32_t j = 0; j < i; j++) {
            if (values[i] != values[j] && std::strcmp(text[i], text[j]) == 0)
                return false;
        }
    }
    return true;
}

/* digits 0: as many as needed, 7 at least, for the numbers of one row; < 0: none. */
static void number_format(char *format, int32_t digits, const char *unit, const double *values,
                          int32_t n)
{
    const int places = digits < 0 ? 0 : digits > 17 ? 17 : digits;
    int needed = 7;
    while (digits == 0 && needed < 17 && !digits_tell(needed, values, n))
        needed++;
    const int used = digits == 0 ? std::snprintf(format, FORMAT_BYTES, "%%.%dg", needed)
                                 : std::snprintf(format, FORMAT_BYTES, "%%.%df", places);
    append_unit(format, static_cast<size_t>(used), unit);
}

static void integer_format(char *format, const char *unit)
{
    std::memcpy(format, "%lld", 4);
    append_unit(format, 4, unit);
}

/* Typing begins or goes on in a field: its edit line takes the text from the format. */
static bool is_typed_in(const char *id_label)
{
    const ImGuiContext &g = *ImGui::GetCurrentContext();
    const ImGuiID id = ImGui::GetCurrentWindow()->GetID(id_label);
    return ImGui::TempInputIsActive(id) || g.NavActivateInputId == id || g.IO.KeyCtrl ||
           g.IO.MouseClickedCount[0] > 1 || g.IO.MouseDoubleClicked[0];
}

/* A number that a field would cut reads as another one: -1.5e-12 as -1.5e-1. The format for what
 * fits of it: fewer digits, behind ~ where they are not the whole number, then without the unit,
 * then dots. Answers `format` itself where that fits, else `own`. */
static const char *fitting_format(char *own, const char *format, ImGuiDataType type,
                                  const void *number, const char *unit, float room)
{
    char text[FORMAT_BYTES + 400];
    ImGui::DataTypeFormatString(text, sizeof text, type, number, format);
    if (ImGui::CalcTextSize(text).x <= room)
        return format;
    const bool whole = type == ImGuiDataType_S64;
    const int64_t integer = whole ? *static_cast<const int64_t *>(number) : 0;
    const double value =
        whole ? static_cast<double>(integer) : *static_cast<const double *>(number);
    const bool kept = !whole || (integer <= INT64_C(1) << 53 && integer >= -(INT64_C(1) << 53));
    const char *const tails[2] = {unit, nullptr};
    for (const char *tail : tails) {
        for (int digits = 16; digits >= 1; digits--) {
            int used = std::snprintf(own, FORMAT_BYTES, "%.*g", digits, value);
            if (!kept || std::strtod(own, nullptr) != value)
                used = std::snprintf(own, FORMAT_BYTES, "~%.*g", digits, value);
            append_unit(own, static_cast<size_t>(used), tail);
            ImGui::DataTypeFormatString(text, sizeof text, type, number, own);
            if (ImGui::CalcTextSize(text).x <= room)
                return own;
        }
    }
    std::snprintf(own, FORMAT_BYTES, "..");
    return own;
}

static ImGuiSliderFlags slider_flags(uint32_t flags)
{
    return ((flags & CALIPER_NUMBER_LOG) != 0 ? ImGuiSliderFlags_Logarithmic : 0) |
           ((flags & CALIPER_NUMBER_NO_CLAMP) != 0 ? 0 : ImGuiSliderFlags_AlwaysClamp) |
           ImGuiSliderFlags_NoRoundToFormat;
}

/* Wide enough for the ends and the value, so that an upright slider cuts no number. */
static float upright_width(ImGuiDataType type, const void *value, const void *min, const void *max,
                           const char *format)
{
    const void *const shown[3] = {value, min, max};
    float widest = 0.0f;
    for (const void *number : shown) {
        char text[FORMAT_BYTES + 400];
        ImGui::DataTypeFormatString(text, sizeof text, type, number, format);
        widest = ImMax(widest, ImGui::CalcTextSize(text).x);
    }
    return ImMax(ImGui::GetFrameHeight(), widest + 8.0f);
}

typedef struct SliderText {
    ImGuiDataType type;
    const void *value, *min, *max;
    const char *format, *unit;
    uint32_t flags;
} SliderText;

/* Where the toolkit has drawn the knob of the last item: asked for in the name of an item that
 * nobody can hold, so that nothing is moved by it. */
static ImRect knob_of(const SliderText *slider, const ImRect &frame)
{
    ImRect knob(frame.Min, frame.Min);
    const bool upright = (slider->flags & CALIPER_NUMBER_VERTICAL) != 0;
    union {
        double real;
        int64_t whole;
    } copy;
    std::memcpy(&copy, slider->value, sizeof copy);
    ImGui::SliderBehavior(frame, ImGui::GetCurrentContext()->ActiveId + 1, slider->type, &copy,
                          slider->min, slider->max, slider->format,
                          slider_flags(slider->flags) | (upright ? ImGuiSliderFlags_Vertical : 0),
                          &knob);
    return knob;
}

/* Number and knob are both read where they meet: there the number has the panel's colour, as if it
 * was cut out of the knob. */
static void draw_number(const SliderText *slider, const ImRect &frame)
{
    char own[FORMAT_BYTES];
    char text[FORMAT_BYTES + 400];
    const bool upright = (slider->flags & CALIPER_NUMBER_VERTICAL) != 0;
    const char *format = upright ? slider->format
                                 : fitting_format(own, slider->format, slider->type, slider->value,
                                                  slider->unit, frame.GetWidth());
    ImGui::DataTypeFormatString(text, sizeof text, slider->type, slider->value, format);
    const ImVec2 room = ImGui::CalcTextSize(text);
    const float inset =
        upright ? ImGui::GetStyle().FramePadding.y : (frame.GetHeight() - room.y) * 0.5f;
    const ImVec2 at(frame.Min.x + ImMax(0.0f, (frame.GetWidth() - room.x) * 0.5f),
                    frame.Min.y + inset);
    const ImRect knob = knob_of(slider, frame);
    ImDrawList *const list = ImGui::GetWindowDrawList();
    if (!knob.Overlaps(ImRect(at, ImVec2(at.x + room.x, at.y + room.y)))) {
        const ImVec4 inside = frame.ToVec4();
        list->AddText(ImGui::GetFont(), ImGui::GetFontSize(), at, ImGui::GetColorU32(ImGuiCol_Text),
                      text, nullptr, 0.0f, &inside);
        return;
    }
    ImRect before = frame;
    ImRect behind = frame;
    (upright ? before.Max.y : before.Max.x) = upright ? knob.Min.y : knob.Min.x;
    (upright ? behind.Min.y : behind.Min.x) = upright ? knob.Max.y : knob.Max.x;
    const ImRect *const pieces[3] = {&before, &knob, &behind};
    for (const ImRect *piece : pieces) {
        ImGui::PushClipRect(piece->Min, piece->Max, true);
        list->AddText(at, ImGui::GetColorU32(piece == &knob ? ImGuiCol_WindowBg : ImGuiCol_Text),
                      text);
        ImGui::PopClipRect();
    }
}

/* The toolkit writes number and label in one colour; here it writes neither, unless the number is
 * typed in. */
static bool any_slider(const char *shown, ImGuiDataType type, void *value, const void *min,
                       const void *max, const char *format, const char *unit, uint32_t flags)
{
    const SliderText slider = {type, value, min, max, format, unit, flags};
    widgets_item(0.0f);
    const ImGuiContext &g = *ImGui::GetCurrentContext();
    const ImGuiID id = ImGui::GetCurrentWindow()->GetID(shown);
    const bool typed = ImGui::TempInputIsActive(id) || g.NavActivateInputId == id ||
                       (g.IO.KeyCtrl && g.IO.MouseClicked[0] && g.HoveredIdPreviousFrame == id);
    ImVec2 size(ImGui::CalcItemWidth(), 0.0f);
    if (!typed)
        ImGui::PushStyleColor(ImGuiCol_Text, ImVec4(0, 0, 0, 0));
    bool changed = false;
    if ((flags & CALIPER_NUMBER_VERTICAL) != 0) {
        size = ImVec2(upright_width(type, value, min, max, format), 120.0f);
        changed =
            ImGui::VSliderScalar(shown, size, type, value, min, max, format, slider_flags(flags));
    } else {
        changed = ImGui::SliderScalar(shown, type, value, min, max, format, slider_flags(flags));
        size.y = g.LastItemData.NavRect.GetHeight();
    }
    if (!typed)
        ImGui::PopStyleColor();
    if (!typed && ImGui::IsItemVisible()) {
        const ImVec2 from = g.LastItemData.Rect.Min;
        const ImGuiStyle &style = g.Style;
        if (!ImGui::TempInputIsActive(id))
            draw_number(&slider, ImRect(from, ImVec2(from.x + size.x, from.y + size.y)));
        ImGui::RenderText(
            ImVec2(from.x + size.x + style.ItemInnerSpacing.x, from.y + style.FramePadding.y),
            shown);
    }
    widgets_listed("slider", shown);
    return changed;
}

bool widgets_slot_slider(const char *label, double *v, double min, double max, int32_t digits,
                         const char *unit, uint32_t flags)
{
    if (!widgets_enter("slider") || v == nullptr)
        return false;
    widgets_unknown_flags("slider", flags, 15);
    constexpr double limit = 8e307;
    if (!(min <= max) || !(min >= -limit) || !(max <= limit)) {
        widgets_refuse("slider", "a range that is not finite, or upside down",
                       "min <= max, neither beyond 8e307");
        return false;
    }
    if ((flags & CALIPER_NUMBER_LOG) != 0 && !(min > 0.0 || max < 0.0)) {
        widgets_refuse("slider", "LOG over a range with 0", "both ends above or both below 0");
        return false;
    }
    double value = *v;
    const double before = value;
    char format[FORMAT_BYTES];
    number_format(format, digits, unit, &value, 1);
    if (std::isnan(value)) {
        std::memcpy(format, "nan", 4);
        value = min;
    }
    value = ImClamp(value, -limit, limit);
    const double start = value;
    const char *const shown = widgets_label(label);
    any_slider(shown, ImGuiDataType_Double, &value, &min, &max, format, unit, flags);
    if (value == start || value == before)
        return false;
    *v = value;
    return true;
}

bool widgets_slot_slider_int(const char *label, int64_t *v, int64_t min, int64_t max,
                             const char *unit, uint32_t flags)
{
    if (!widgets_enter("slider_int") || v == nullptr)
        return false;
    widgets_unknown_flags("slider_int", flags, 15);
    constexpr int64_t limit = INT64_C(1) << 62;
    if (min > max || min < -limit || max >= limit) {
        widgets_refuse("slider_int", "a range too wide, or upside down",
                       "-2^62 <= min <= max < 2^62");
        return false;
    }
    if ((flags & CALIPER_NUMBER_LOG) != 0 && min <= 0 && max >= 0) {
        widgets_refuse("slider_int", "LOG over a range with 0", "both ends above or both below 0");
        return false;
    }
    const int64_t before = *v;
    int64_t value = before < -limit ? -limit : before >= limit ? limit - 1 : before;
    const int64_t start = value;
    char format[FORMAT_BYTES];
    integer_format(format, unit);
    const char *const shown = widgets_label(label);
    any_slider(shown, ImGuiDataType_S64, &value, &min, &max, format, unit, flags);
    if (value == start)
        return false;
    *v = value;
    return true;
}

/* ---- Drags ---- */

static float drag_speed(double speed, double min, double max, bool limited, double value)
{
    if (std::isfinite(speed) && speed > 0.0)
        return static_cast<float>(ImMin(speed, 1e30));
    if (limited && std::isfinite(max - min))
        return static_cast<float>(ImMin((max - min) / 300.0, 1e30));
    const double size = std::fabs(value);
    return std::isfinite(size) && size > 0.0 ? static_cast<float>(ImMin(size * 0.01, 1e30)) : 0.01f;
}

static bool drag_one(const char *id, double *value, float speed, const double *min,
                     const double *max, const char *format, const char *unit, uint32_t flags)
{
    const bool nan = std::isnan(*value);
    char fitting[FORMAT_BYTES];
    double own = nan ? (min != nullptr ? *min : 0.0) : *value;
    const double start = own;
    /* Limits decide only what the person enters: a value outside is shown as it is. */
    const char *const shown = nan ? "nan"
                              : is_typed_in(id)
                                  ? format
                                  : fitting_format(fitting, format, ImGuiDataType_Double, &own,
                                                   unit, ImGui::CalcItemWidth());
    ImGui::DragScalar(id, ImGuiDataType_Double, &own, speed, min, max, shown, slider_flags(flags));
    const bool touched = ImGui::IsItemActive() || ImGui::IsItemDeactivated();
    if (!touched || own == start)
        return false;
    *value = own;
    return true;
}

/* `n` fields in one row, then the label; `field(i)` draws one under the id "##v" and answers
 * whether it changed. */
template <typename Field>
static bool row_of_fields(const char *kind, const char *shown, int32_t n, Field field)
{
    bool changed = false;
    widgets_item(0.0f);
    ImGui::BeginGroup();
    ImGui::PushID(shown);
    ImGui::PushMultiItemsWidths(n, ImGui::CalcItemWidth());
    for (int32_t i = 0; i < n; i++) {
        ImGui::PushID(i);
        if (i > 0)
            ImGui::SameLine(0.0f, ImGui::GetStyle().ItemInnerSpacing.x);
        changed |= field(i);
        widgets_listed(kind, shown);
        ImGui::PopID();
        ImGui::PopItemWidth();
    }
    ImGui::PopID();
    const char *const end = ImGui::FindRenderedTextEnd(shown);
    if (end != shown) {
        ImGui::SameLine(0.0f, ImGui::GetStyle().ItemInnerSpacing.x);
        ImGui::TextEx(shown, end);
    }
    ImGui::EndGroup();
    return changed;
}

static bool drag_row(const char *shown, double *values, int32_t n, double speed, const double *min,
                     const double *max, const char *format, const char *unit, uint32_t flags)
{
    const bool limited = min != nullptr && max != nullptr;
    return row_of_fields("drag", shown, n, [&](int32_t i) {
        const float step =
            drag_speed(speed, limited ? *min : 0.0, limited ? *max : 0.0, limited, values[i]);
        return drag_one("##v", &values[i], step, min, max, format, unit, flags);
    });
}

bool widgets_slot_drag(const char *label, double *v, int32_t n, double speed, double min,
                       double max, int32_t digits, const char *unit, uint32_t flags)
{
    if (!widgets_enter("drag") || v == nullptr)
        return false;
    widgets_unknown_flags("drag", flags, 15);
    if (n < 1 || n > 4) {
        widgets_refuse("drag", "a count outside 1..4", "1 to 4 numbers");
        return false;
    }
    double values[4] = {};
    std::memcpy(values, v, sizeof(double) * static_cast<size_t>(n));
    char format[FORMAT_BYTES];
    number_format(format, digits, unit, values, n);
    const bool limited = min < max;
    const char *const shown = widgets_label(label);
    if (!drag_row(shown, values, n, speed, limited ? &min : nullptr, limited ? &max : nullptr,
                  format, unit, flags))
        return false;
    std::memcpy(v, values, sizeof(double) * static_cast<size_t>(n));
    return true;
}

bool widgets_slot_drag_int(const char *label, int64_t *v, int32_t n, double speed, int64_t min,
                           int64_t max, const char *unit, uint32_t flags)
{
    if (!widgets_enter("drag_int") || v == nullptr)
        return false;
    widgets_unknown_flags("drag_int", flags, 15);
    if (n < 1 || n > 4) {
        widgets_refuse("drag_int", "a count outside 1..4", "1 to 4 numbers");
        return false;
    }
    int64_t values[4] = {};
    std::memcpy(values, v, sizeof(int64_t) * static_cast<size_t>(n));
    char format[FORMAT_BYTES];
    integer_format(format, unit);
    const bool limited = min < max;
    const double low = static_cast<double>(min), high = static_cast<double>(max);
    float step = drag_speed(speed, low, high, limited, static_cast<double>(values[0]));
    if (!(std::isfinite(speed) && speed > 0.0))
        step = ImMax(step, 0.2f);
    const char *const shown = widgets_label(label);
    const bool changed = row_of_fields("drag_int", shown, n, [&](int32_t i) {
        char own[FORMAT_BYTES];
        const char *const fitting = is_typed_in("##v")
                                        ? format
                                        : fitting_format(own, format, ImGuiDataType_S64, &values[i],
                                                         unit, ImGui::CalcItemWidth());
        return ImGui::DragScalar("##v", ImGuiDataType_S64, &values[i], step,
                                 limited ? &min : nullptr, limited ? &max : nullptr, fitting,
                                 slider_flags(flags));
    });
    if (!changed)
        return false;
    std::memcpy(v, values, sizeof(int64_t) * static_cast<size_t>(n));
    return true;
}

bool widgets_slot_drag_range(const char *label, double *lo, double *hi, double speed, double min,
                             double max, int32_t digits, const char *unit, uint32_t flags)
{
    if (!widgets_enter("drag_range") || lo == nullptr || hi == nullptr)
        return false;
    widgets_unknown_flags("drag_range", flags, 15);
    double values[2] = {*lo, *hi};
    const double before[2] = {values[0], values[1]};
    char format[FORMAT_BYTES];
    number_format(format, digits, unit, values, 2);
    const bool limited = min < max;
    double width = values[1] - values[0];
    if (!(std::isfinite(speed) && speed > 0.0) && !limited && std::isfinite(width) && width > 0.0)
        speed = width / 300.0;
    const char *const shown = widgets_label(label);
    if (!drag_row(shown, values, 2, speed, limited ? &min : nullptr, limited ? &max : nullptr,
                  format, unit, flags))
        return false;
    if (values[0] > values[1]) { /* the moved end stops at the other one */
        if (values[0] != before[0])
            values[0] = values[1];
        else
            values[1] = values[0];
    }
    *lo = values[0];
    *hi = values[1];
    return values[0] != before[0] || values[1] != before[1];
}

/* ---- Typed ---- */

static bool parse_number(const char *text, double *out)
{
    char *end = nullptr;
    const double value = std::strtod(text, &end);
    if (end == text)
        return false;
    *out = value;
    return true;
}

/* The number as text without a needless digit: the shortest that reads back as the same double. */
static void print_number(char *text, size_t text_bytes, double value, int32_t digits)
{
    if (digits != 0) {
        std::snprintf(text, text_bytes, "%.*f", digits < 0 ? 0 : digits > 17 ? 17 : digits, value);
        return;
    }
    for (int places = 6; places <= 17; places++) {
        std::snprintf(text, text_bytes, "%.*g", places, value);
        if (std::strtod(text, nullptr) == value || std::isnan(value))
            return;
    }
}

static bool step_buttons(double *value, double step)
{
    const float side = ImGui::GetFrameHeight();
    bool changed = false;
    ImGui::PushButtonRepeat(true);
    ImGui::SameLine(0.0f, 4.0f);
    if (ImGui::Button("-", ImVec2(side, side))) {
        *value -= step;
        changed = true;
    }
    widgets_listed("button", "-");
    ImGui::SameLine(0.0f, 4.0f);
    if (ImGui::Button("+", ImVec2(side, side))) {
        *value += step;
        changed = true;
    }
    widgets_listed("button", "+");
    ImGui::PopButtonRepeat();
    return changed;
}

bool widgets_slot_input_number(const char *label, double *v, double step, int32_t digits,
                               const char *unit, uint32_t flags)
{
    if (!widgets_enter("input_number") || v == nullptr)
        return false;
    widgets_unknown_flags("input_number", flags, 15);
    double value = *v;
    const double before = value;
    char text[400];
    print_number(text, sizeof text, value, digits);
    char tail[FORMAT_BYTES] = "";
    append_unit(tail, 0, unit);
    const char *const shown = widgets_label(label);
    const bool steps = std::isfinite(step) && step != 0.0;
    ImGuiInputTextFlags own = ImGuiInputTextFlags_AutoSelectAll;
    if ((flags & CALIPER_NUMBER_ON_ENTER) != 0)
        own |= ImGuiInputTextFlags_EnterReturnsTrue;
    widgets_item(0.0f);
    ImGui::BeginGroup();
    ImGui::PushID(shown);
    const float width = ImGui::CalcItemWidth();
    ImGui::SetNextItemWidth(steps ? ImMax(width - 2.0f * (ImGui::GetFrameHeight() + 4.0f), 20.0f)
                                  : width);
    bool changed = ImGui::InputText("##v", text, sizeof text, own) && parse_number(text, &value);
    widgets_listed("input_number", shown);
    if (steps)
        changed |= step_buttons(&value, step);
    ImGui::PopID();
    const char *const end = ImGui::FindRenderedTextEnd(shown);
    if (tail[0] != '\0') {
        ImGui::SameLine(0.0f, 0.0f);
        ImGui::TextUnformatted(tail);
    }
    if (end != shown) {
        ImGui::SameLine(0.0f, ImGui::GetStyle().ItemInnerSpacing.x);
        ImGui::TextEx(shown, end);
    }
    ImGui::EndGroup();
    if (!changed || std::memcmp(&value, &before, sizeof value) == 0)
        return false;
    *v = value;
    return true;
}

bool widgets_slot_input_int(const char *label, int64_t *v, int64_t step, uint32_t flags)
{
    if (!widgets_enter("input_int") || v == nullptr)
        return false;
    widgets_unknown_flags("input_int", flags, 15);
    int64_t value = *v;
    const char *const shown = widgets_label(label);
    const ImGuiInputTextFlags own =
        (flags & CALIPER_NUMBER_ON_ENTER) != 0 ? ImGuiInputTextFlags_EnterReturnsTrue : 0;
    widgets_item(0.0f);
    const bool edited = ImGui::InputScalar(shown, ImGuiDataType_S64, &value,
                                           step != 0 ? &step : nullptr, nullptr, "%lld", own);
    widgets_listed("input_int", shown);
    if (!edited || value == *v)
        return false;
    *v = value;
    return true;
}
