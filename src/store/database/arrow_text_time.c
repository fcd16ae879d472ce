/* Dates, times and intervals as DuckDB writes them; see arrow_text.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "store/database/arrow_text_impl.h"

static const int64_t unit_of_digits[] = {1,      10,      100,      1000,      10000,
                                         100000, 1000000, 10000000, 100000000, 1000000000};

/* The proleptic Gregorian calendar, from days since 1970-01-01 (Howard Hinnant's civil_from_days).
 */
static void civil_of_days(int64_t days, int64_t *year, int *month, int *day)
{
    int64_t shifted = days + 719468;
    int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int64_t of_era = shifted - era * 146097;
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t moved_month = (5 * of_year + 2) / 153;
    *day = (int)(of_year - (153 * moved_month + 2) / 5 + 1);
    *month = (int)(moved_month < 10 ? moved_month + 3 : moved_month - 9);
    *year = year_of_era + era * 400 + (*month <= 2 ? 1 : 0);
}

static void add_date(int64_t days, TextBuffer *out)
{
    int64_t year = 0;
    int month = 0, day = 0;
    civil_of_days(days, &year, &month, &day);
    /* There is no year 0: before year 1 comes 1 BC. */
    text_buffer_print(out, "%04" PRId64 "-%02d-%02d%s", year > 0 ? year : 1 - year, month, day,
                      year > 0 ? "" : " (BC)");
}

void arrow_text_date(int64_t days, TextBuffer *out)
{
    if (days == INT32_MAX || days == -INT32_MAX)
        text_buffer_text(out, days > 0 ? "infinity" : "-infinity");
    else
        add_date(days, out);
}

/* .ffffff without zeros at its end. */
static void add_fraction(int64_t fraction, int digits, TextBuffer *out)
{
    if (fraction == 0)
        return;
    while (fraction % 10 == 0) {
        fraction /= 10;
        digits--;
    }
    text_buffer_print(out, ".%0*" PRId64, digits, fraction);
}

void arrow_text_time(int64_t value, int digits, TextBuffer *out)
{
    int64_t unit = unit_of_digits[digits];
    int64_t seconds = value / unit;
    text_buffer_print(out, "%02" PRId64 ":%02d:%02d", seconds / 3600, (int)(seconds / 60 % 60),
                      (int)(seconds % 60));
    add_fraction(value % unit, digits, out);
}

void arrow_text_timestamp(int64_t value, int digits, bool has_zone, TextBuffer *out)
{
    if (value == INT64_MAX || value == -INT64_MAX) {
        text_buffer_text(out, value > 0 ? "infinity" : "-infinity");
        return;
    }
    int64_t day_units = 86400 * unit_of_digits[digits];
    int64_t days = value / day_units - (value % day_units < 0 ? 1 : 0);
    add_date(days, out);
    text_buffer_text(out, " ");
    arrow_text_time(value - days * day_units, digits, out);
    if (has_zone)
        text_buffer_text(out, "+00");
}

static void add_count(int64_t count, const char *word, bool *first, TextBuffer *out)
{
    if (count == 0)
        return;
    text_buffer_print(out, "%s%" PRId64 " %s%s", *first ? "" : " ", count, word,
                      count == 1 || count == -1 ? "" : "s");
    *first = false;
}

void arrow_text_interval(int32_t months, int32_t days, int64_t nanoseconds, TextBuffer *out)
{
    bool first = true;
    add_count(months / 12, "year", &first, out);
    add_count(months % 12, "month", &first, out);
    add_count(days, "day", &first, out);
    if (nanoseconds == 0 && !first)
        return;
    /* The least value has no positive twin; DuckDB's own intervals are of microseconds. */
    int64_t size = nanoseconds == INT64_MIN ? INT64_MAX : llabs(nanoseconds);
    text_buffer_print(out, "%s%s", first ? "" : " ", nanoseconds < 0 ? "-" : "");
    arrow_text_time(size, 9, out);
}
