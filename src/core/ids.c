/* Checks of applet ids and versions. Pure; ASCII whatever the locale. */
#include "core/ids.h"

#include <stddef.h>
#include <string.h>

enum { LABEL_MAX_BYTES = 63, VERSION_MAX_BYTES = 100 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter_or_digit(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool label_valid(const char *label, size_t length)
{
    if (length == 0 || length > LABEL_MAX_BYTES || !is_letter_or_digit(label[0]) ||
        !is_letter_or_digit(label[length - 1]))
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!is_letter_or_digit(label[i]) && label[i] != '-' && label[i] != '_')
            return false;
    }
    return true;
}

bool ids_applet_valid(const char *id)
{
    if (strlen(id) > APPLET_ID_MAX_BYTES)
        return false;
    int labels = 0;
    for (const char *label = id;; labels++) {
        size_t length = strcspn(label, ".");
        if (!label_valid(label, length))
            return false;
        label += length;
        if (*label == '\0')
            return labels >= 1;
        label++;
    }
}

/* A number without leading zeros; moves *text past it. */
static bool number_take(const char **text)
{
    size_t length = 0;
    while (is_digit((*text)[length]))
        length++;
    bool valid = length > 0 && (length == 1 || (*text)[0] != '0');
    *text += length;
    return valid;
}

/* Dot-separated identifiers of letters, digits and '-'; in a pre-release, all-digit ones have no
 * leading zeros. Moves *text past them. */
static bool identifiers_take(const char **text, bool pre_release)
{
    for (;;) {
        size_t length = 0;
        bool all_digits = true;
        while (is_letter_or_digit((*text)[length]) || (*text)[length] == '-') {
            all_digits = all_digits && is_digit((*text)[length]);
            length++;
        }
        if (length == 0 || (pre_release && all_digits && length > 1 && (*text)[0] == '0'))
            return false;
        *text += length;
        if (**text != '.')
            return true;
        (*text)++;
    }
}

bool ids_version_valid(const char *version)
{
    if (strlen(version) > VERSION_MAX_BYTES)
        return false;
    for (int i = 0; i < 3; i++) {
        if (i > 0 && *version++ != '.')
            return false;
        if (!number_take(&version))
            return false;
    }
    if (*version == '-') {
        version++;
        if (!identifiers_take(&version, true))
            return false;
    }
    if (*version == '+') {
        version++;
        if (!identifiers_take(&version, false))
            return false;
    }
    return *version == '\0';
}
