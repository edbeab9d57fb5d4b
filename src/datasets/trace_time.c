/* See trace_time.h. */
#include "datasets/trace_time.h"

/* Digits at `at`; -1 when one is none. */
static int digits(struct sv text, size_t at, size_t count)
{
    int value = 0;
    for (size_t i = at; i < at + count; i++) {
        if (i >= text.len || text.ptr[i] < '0' || text.ptr[i] > '9')
            return -1;
        value = value * 10 + (text.ptr[i] - '0');
    }
    return value;
}

static bool is_at(struct sv text, size_t at, char c)
{
    return at < text.len && text.ptr[at] == c;
}

/* Days since 1970-01-01 in the Gregorian calendar; years begin in March so that the leap day is their last. */
static int64_t days_from(int year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return y * 365 + y / 4 - y / 100 + y / 400 + of_year - 719468;
}

static bool fraction(struct sv text, size_t at, int64_t *ns)
{
    int64_t unit = 100 * 1000 * 1000;
    *ns = 0;
    if (at < text.len && text.ptr[text.len - 1] == 'Z')
        text.len--;
    if (at == text.len)
        return true;
    if (!is_at(text, at, '.'))
        return false;
    for (at++; at < text.len; at++, unit /= 10) {
        int digit = digits(text, at, 1);
        if (digit < 0)
            return false;
        *ns += digit * unit;
    }
    return true;
}

bool trace_time_parse(struct sv text, int64_t *ns)
{
    int year = digits(text, 0, 4);
    int month = digits(text, 5, 2);
    int day = digits(text, 8, 2);
    int hour = digits(text, 11, 2);
    int minute = digits(text, 14, 2);
    int second = digits(text, 17, 2);
    int64_t part;
    /* Nanoseconds in 64 bits reach from 1678 to 2261. */
    if (year < 1678 || year > 2261 || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 ||
        hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
        return false;
    if (!is_at(text, 4, '-') || !is_at(text, 7, '-') || !is_at(text, 13, ':') ||
        !is_at(text, 16, ':') || (!is_at(text, 10, ' ') && !is_at(text, 10, 'T')) ||
        !fraction(text, 19, &part))
        return false;
    int64_t seconds = days_from(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    *ns = seconds * 1000000000 + part;
    return true;
}
