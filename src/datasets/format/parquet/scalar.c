/* See scalar.h.  What the types mean: LogicalTypes.md of apache/parquet-format. */
#include "datasets/format/parquet/scalar.h"

#include "base/base64.h"
#include "base/num.h"
#include "tokenizer/utf8.h"

#include <math.h>
#include <stdio.h>

enum { DECIMAL_BYTES_MAX = 256, JULIAN_EPOCH = 2440588 };

#define DAY_NS    INT64_C(86400000000000)
#define SECOND_NS INT64_C(1000000000)

static void give_text(struct js_value *out, enum js_type type, struct sv text)
{
    out->type = type;
    out->text = text;
}

/* Quotient and remainder for b > 0, the remainder never negative. */
static int64_t floor_div(int64_t a, int64_t b, int64_t *remainder)
{
    int64_t rest = a % b;
    *remainder = rest < 0 ? rest + b : rest;
    return a / b - (rest < 0);
}

/* ---- numbers ------------------------------------------------------------------------------------------------------ */

double pq_widen(uint64_t bits, unsigned exponent_bits, unsigned fraction_bits)
{
    uint64_t most = (UINT64_C(1) << exponent_bits) - 1;
    uint64_t fraction = bits & ((UINT64_C(1) << fraction_bits) - 1);
    uint64_t exponent = bits >> fraction_bits & most;
    int shift = (int)(most >> 1) + (int)fraction_bits; /* fraction and exponent as integers */
    double value;
    if (exponent == most)
        value = fraction != 0 ? (double)NAN : HUGE_VAL;
    else if (exponent == 0)
        value = ldexp((double)fraction, 1 - shift);
    else
        value = ldexp((double)(fraction | UINT64_C(1) << fraction_bits), (int)exponent - shift);
    return bits >> (fraction_bits + exponent_bits) & 1 ? -value : value;
}

static void give_double(struct js_value *out, double value, struct arena *arena)
{
    char text[NUM_TEXT_MAX];
    if (!isfinite(value)) {
        out->type = JS_NULL;
        return;
    }
    size_t len = num_format_double(text, value);
    give_text(out, JS_NUMBER, arena_copy(arena, sv_make(text, len)));
}

static void give_int(struct js_value *out, int64_t value, struct arena *arena)
{
    char text[NUM_TEXT_MAX];
    text[0] = '-';
    size_t sign = value < 0;
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    size_t len = num_format_u64(text + sign, magnitude) + sign;
    give_text(out, JS_NUMBER, arena_copy(arena, sv_make(text, len)));
}

static void give_uint(struct js_value *out, uint64_t value, struct arena *arena)
{
    char text[NUM_TEXT_MAX];
    give_text(out, JS_NUMBER, arena_copy(arena, sv_make(text, num_format_u64(text, value))));
}

/* Integers are stored in 32 or 64 bits whatever their own width; the upper bits of a narrow value are of no meaning to
 * unsigned ones only. */
static int64_t signed_of(const struct pq_element *e, const struct pq_value *value)
{
    return e->type == PQ_INT32 ? (int32_t)(uint32_t)value->bits : (int64_t)value->bits;
}

/* Digits of a magnitude, big-endian bytes, which are divided away; returns the first one. */
static char *divide_digits(uint8_t *bytes, size_t count, char *end)
{
    for (size_t from = 0; from < count;) {
        unsigned remainder = 0;
        for (size_t i = from; i < count; i++) {
            unsigned part = remainder << 8 | bytes[i];
            bytes[i] = (uint8_t)(part / 10);
            remainder = part % 10;
        }
        *--end = (char)('0' + remainder);
        while (from < count && bytes[from] == 0)
            from++;
    }
    return end;
}

/* Two's complement, big-endian. */
static bool give_decimal(struct sv bytes, uint32_t scale, struct arena *arena, struct js_value *out,
                         struct error *err)
{
    uint8_t magnitude[DECIMAL_BYTES_MAX];
    char digits[DECIMAL_BYTES_MAX * 5 / 2 + PQ_SCALE_MAX + 2];
    if (bytes.len > DECIMAL_BYTES_MAX)
        return error_set(err, E_LIMIT, "a decimal of %zu bytes, at most %d are read", bytes.len,
                         DECIMAL_BYTES_MAX);
    bool negative = bytes.len > 0 && ((unsigned char)bytes.ptr[0] & 0x80) != 0;
    unsigned carry = negative;
    for (size_t i = bytes.len; i-- > 0;) {
        unsigned b = (unsigned char)bytes.ptr[i];
        b = negative ? (~b & 0xFF) + carry : b;
        magnitude[i] = (uint8_t)b;
        carry = b >> 8;
    }
    char *end = digits + sizeof(digits);
    char *first = divide_digits(magnitude, bytes.len, end);
    while ((size_t)(end - first) < (size_t)scale + 1)
        *--first = '0';
    int whole = (int)(end - first) - (int)scale;
    give_text(out, JS_STRING,
              arena_fmt(arena, "%s%.*s%s%.*s", negative ? "-" : "", whole, first,
                        scale > 0 ? "." : "", (int)scale, first + whole));
    return true;
}

/* ---- times -------------------------------------------------------------------------------------------------------- */

struct civil {
    int64_t year;
    unsigned month;
    unsigned day;
};

/* Days since 1970-01-01 in the Gregorian calendar, reckoned in eras of 400 years (146097 days) whose years begin in
 * March, so that the leap day comes last: the months then have 153 days in each five. */
static struct civil civil_of(int64_t days)
{
    days += 719468; /* from 0000-03-01 */
    int64_t in_era;
    int64_t era = floor_div(days, 146097, &in_era);
    int64_t year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    int64_t in_year = in_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * in_year + 2) / 153;
    struct civil c = {.day = (unsigned)(in_year - (153 * month + 2) / 5 + 1)};
    c.month = (unsigned)(month < 10 ? month + 3 : month - 9);
    c.year = year + era * 400 + (c.month <= 2);
    return c;
}

static size_t put_date(char *out, size_t cap, int64_t days)
{
    struct civil c = civil_of(days);
    const char *sign = c.year < 0 ? "-" : "";
    long long year = c.year < 0 ? -(long long)c.year : (long long)c.year;
    return (size_t)snprintf(out, cap, "%s%04lld-%02u-%02u", sign, year, c.month, c.day);
}

static size_t put_time(char *out, size_t cap, int64_t ns)
{
    int64_t seconds = ns / SECOND_NS;
    int64_t fraction = ns % SECOND_NS;
    int len = snprintf(out, cap, "%02d:%02d:%02d", (int)(seconds / 3600), (int)(seconds / 60 % 60),
                       (int)(seconds % 60));
    if (fraction % 1000 != 0)
        len += snprintf(out + len, cap - (size_t)len, ".%09lld", (long long)fraction);
    else if (fraction != 0)
        len += snprintf(out + len, cap - (size_t)len, ".%06lld", (long long)fraction / 1000);
    return (size_t)len;
}

static int64_t unit_ns(const struct pq_element *e)
{
    return e->fraction == 3 ? 1000000 : e->fraction == 6 ? 1000 : 1;
}

static bool give_time(const struct pq_element *e, int64_t value, struct arena *arena,
                      struct js_value *out, struct error *err)
{
    char text[64];
    if (value < 0 || value >= DAY_NS / unit_ns(e))
        return error_set(err, E_PARSE, "%lld is no time of a day", (long long)value);
    size_t len = put_time(text, sizeof(text), value * unit_ns(e));
    give_text(out, JS_STRING, arena_copy(arena, sv_make(text, len)));
    return true;
}

static void give_instant(int64_t days, int64_t ns, bool utc, struct arena *arena,
                         struct js_value *out)
{
    char text[96];
    size_t len = put_date(text, sizeof(text), days);
    text[len++] = 'T';
    len += put_time(text + len, sizeof(text) - len, ns);
    if (utc)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "+00:00");
    give_text(out, JS_STRING, arena_copy(arena, sv_make(text, len)));
}

static void give_timestamp(const struct pq_element *e, int64_t value, struct arena *arena,
                           struct js_value *out)
{
    int64_t of_day;
    int64_t days = floor_div(value, DAY_NS / unit_ns(e), &of_day);
    give_instant(days, of_day * unit_ns(e), e->utc, arena, out);
}

/* The retired timestamp: nanoseconds of the day and a Julian day number, little-endian. */
static void give_int96(struct sv bytes, struct arena *arena, struct js_value *out)
{
    uint64_t ns = 0;
    uint32_t day = 0;
    for (size_t i = 0; i < 8; i++)
        ns |= (uint64_t)(unsigned char)bytes.ptr[i] << (8 * i);
    for (size_t i = 0; i < 4; i++)
        day |= (uint32_t)(unsigned char)bytes.ptr[8 + i] << (8 * i);
    int64_t of_day;
    int64_t more = floor_div((int64_t)ns, DAY_NS, &of_day);
    give_instant((int64_t)(int32_t)day - JULIAN_EPOCH + more, of_day, false, arena, out);
}

/* ---- bytes -------------------------------------------------------------------------------------------------------- */

static bool give_string(struct sv bytes, struct arena *arena, struct js_value *out,
                        struct error *err)
{
    size_t bad = utf8_first_invalid(bytes);
    if (bad < bytes.len)
        return error_set(err, E_PARSE, "a text of %zu bytes is not valid UTF-8 at byte %zu",
                         bytes.len, bad);
    give_text(out, JS_STRING, arena_copy(arena, bytes));
    return true;
}

static void give_bytes(struct sv bytes, bool raw, struct arena *arena, struct js_value *out)
{
    if (raw || bytes.len == 0) {
        give_text(out, JS_STRING, arena_copy(arena, bytes));
        return;
    }
    struct buf text = {0};
    base64_add(&text, bytes);
    give_text(out, JS_STRING, arena_copy(arena, buf_sv(&text)));
    buf_done(&text);
}

static void give_uuid(struct sv bytes, struct arena *arena, struct js_value *out)
{
    static const char digits[] = "0123456789abcdef";
    char text[36];
    size_t at = 0;
    for (size_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text[at++] = '-';
        text[at++] = digits[(unsigned char)bytes.ptr[i] >> 4];
        text[at++] = digits[(unsigned char)bytes.ptr[i] & 15];
    }
    give_text(out, JS_STRING, arena_copy(arena, sv_make(text, at)));
}

/* ---- all ---------------------------------------------------------------------------------------------------------- */

static void give_stored(const struct pq_element *e, const struct pq_value *value, bool raw,
                        struct arena *arena, struct js_value *out)
{
    double number;
    switch (e->type) {
    case PQ_BOOLEAN:
        out->type = JS_BOOL;
        out->boolean = value->bits != 0;
        break;
    case PQ_INT32:
    case PQ_INT64:
        give_int(out, signed_of(e, value), arena);
        break;
    case PQ_INT96:
        give_int96(value->bytes, arena, out);
        break;
    case PQ_FLOAT:
        give_double(out, pq_widen(value->bits, 8, 23), arena);
        break;
    case PQ_DOUBLE:
        memcpy(&number, &value->bits, sizeof(number));
        give_double(out, number, arena);
        break;
    case PQ_BYTE_ARRAY:
    case PQ_FIXED:
    case PQ_GROUP:
        give_bytes(value->bytes, raw, arena, out);
        break;
    }
}

/* Integers as the big-endian bytes that the other decimals are. */
static bool give_any_decimal(const struct pq_element *e, const struct pq_value *value,
                             struct arena *arena, struct js_value *out, struct error *err)
{
    if (e->type != PQ_INT32 && e->type != PQ_INT64)
        return give_decimal(value->bytes, e->scale, arena, out, err);
    char bytes[8];
    uint64_t number = (uint64_t)signed_of(e, value);
    for (size_t i = 0; i < 8; i++)
        bytes[i] = (char)(number >> (8 * (7 - i)) & 0xFF);
    return give_decimal(sv_make(bytes, 8), e->scale, arena, out, err);
}

static uint64_t half_bits(struct sv bytes)
{
    return (uint64_t)(unsigned char)bytes.ptr[0] | (uint64_t)(unsigned char)bytes.ptr[1] << 8;
}

bool pq_scalar(const struct pq_element *element, const struct pq_value *value, bool raw_bytes,
               struct arena *arena, struct js_value *out, struct error *err)
{
    char date[64];
    switch (element->meaning) {
    case PQ_TEXT:
        return give_string(value->bytes, arena, out, err);
    case PQ_DECIMAL:
        return give_any_decimal(element, value, arena, out, err);
    case PQ_TIME:
        return give_time(element, signed_of(element, value), arena, out, err);
    case PQ_DATE:
        give_text(out, JS_STRING,
                  arena_copy(arena, sv_make(date, put_date(date, sizeof(date),
                                                           signed_of(element, value)))));
        break;
    case PQ_TIMESTAMP:
        give_timestamp(element, signed_of(element, value), arena, out);
        break;
    case PQ_UNSIGNED:
        give_uint(out, value->bits, arena); /* of 32 bits the upper ones are zero */
        break;
    case PQ_UUID:
        give_uuid(value->bytes, arena, out);
        break;
    case PQ_FLOAT16:
        give_double(out, pq_widen(half_bits(value->bytes), 5, 10), arena);
        break;
    case PQ_AS_STORED:
    case PQ_SIGNED:
    case PQ_NOTHING:
    case PQ_LIST:
    case PQ_MAP:
    case PQ_MEANING_COUNT:
        give_stored(element, value, raw_bytes, arena, out);
        break;
    }
    return true;
}
