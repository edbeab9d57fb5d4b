/* Turns the word after a flag into the field of its row.  Messages name the value and what would be right; the parser
 * puts the flag before them. */
#include "base/num.h"
#include "config/options_priv.h"

#include <limits.h>
#include <math.h>

static void *field(const struct option_call *call)
{
    return (char *)call->target + call->row->offset;
}

/* "; e.g. --flag value", or nothing when the row knows no good value. */
static struct sv hint(const struct option_call *call)
{
    const struct option_row *row = call->row;
    const char *example = row->example != NULL ? row->example : row->default_text;
    if (example == NULL) {
        return SV_LIT("");
    }
    return arena_fmt(call->arena, "; e.g. --%s %s", row->name, example);
}

static bool is_whole(struct sv text)
{
    size_t i = text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+') ? 1 : 0;
    if (i == text.len) {
        return false;
    }
    for (; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            return false;
        }
    }
    return true;
}

static bool fail_low(const struct option_call *call, double lo, struct error *err)
{
    char text[NUM_TEXT_MAX];
    num_format_short(text, lo);
    return error_set(err, E_USAGE, "'%s' is too small; at least %s", call->value, text);
}

static bool fail_high(const struct option_call *call, double hi, struct error *err)
{
    char text[NUM_TEXT_MAX];
    num_format_short(text, hi);
    if (hi > 1e15) {
        return error_set(err, E_USAGE, "'%s' is too large", call->value);
    }
    return error_set(err, E_USAGE, "'%s' is too large; at most %s", call->value, text);
}

/* The bounds of a row, narrowed by those of its type. */
static void bounds(const struct option_row *row, double *lo, double *hi)
{
    if (row->min == 0 && row->max == 0) {
        return;
    }
    *lo = row->min > *lo ? row->min : *lo;
    if (!(row->max == 0 && row->min > 0)) {
        *hi = row->max < *hi ? row->max : *hi;
    }
}

/* Whole numbers of every type: 64 bits are read, then the type's and the row's bounds hold. */
static bool store_unsigned(const struct option_call *call, double type_max, uint64_t *out,
                           struct error *err)
{
    struct sv text = sv_from(call->value);
    if (!is_whole(text)) {
        return error_set(err, E_USAGE, "'%s' is not a whole number" SV_FMT, call->value,
                         SV_ARG(hint(call)));
    }
    double lo = 0;
    double hi = type_max;
    bounds(call->row, &lo, &hi);
    uint64_t value;
    if (text.ptr[0] == '-') {
        return fail_low(call, lo, err);
    }
    if (!num_parse_u64(text, &value) || (double)value > hi) {
        return fail_high(call, hi, err);
    }
    if ((double)value < lo) {
        return fail_low(call, lo, err);
    }
    *out = value;
    return true;
}

static bool store_signed(const struct option_call *call, double type_min, double type_max,
                         int64_t *out, struct error *err)
{
    struct sv text = sv_from(call->value);
    if (!is_whole(text)) {
        return error_set(err, E_USAGE, "'%s' is not a whole number" SV_FMT, call->value,
                         SV_ARG(hint(call)));
    }
    double lo = type_min;
    double hi = type_max;
    bounds(call->row, &lo, &hi);
    int64_t value;
    bool fits = num_parse_i64(text, &value);
    if (fits ? (double)value < lo : text.ptr[0] == '-') {
        return fail_low(call, lo, err);
    }
    if (!fits || (double)value > hi) {
        return fail_high(call, hi, err);
    }
    *out = value;
    return true;
}

static bool store_double(const struct option_call *call, double *out, struct error *err)
{
    double value;
    if (!num_parse_double(sv_from(call->value), &value) || isnan(value)) {
        return error_set(err, E_USAGE, "'%s' is not a number" SV_FMT, call->value,
                         SV_ARG(hint(call)));
    }
    double lo = -HUGE_VAL;
    double hi = HUGE_VAL;
    bounds(call->row, &lo, &hi);
    if (value < lo) {
        return fail_low(call, lo, err);
    }
    if (value > hi) {
        return fail_high(call, hi, err);
    }
    *out = value;
    return true;
}

/* Splits "250us" into number and nanoseconds a unit; a bare number has the row's own unit. */
static bool split_duration(struct sv text, double bare_ns, double *number, double *unit_ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
    *unit_ns = bare_ns;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        struct sv name = sv_from(units[i].name);
        if (sv_ends(text, name)) {
            *unit_ns = units[i].ns;
            text.len -= name.len;
            break;
        }
    }
    return num_parse_double(text, number) && isfinite(*number);
}

static bool store_duration(const struct option_call *call, double bare_ns, uint64_t *out,
                           struct error *err)
{
    double number;
    double unit_ns;
    if (!split_duration(sv_from(call->value), bare_ns, &number, &unit_ns)) {
        return error_set(err, E_USAGE,
                         "'%s' is not a time; a number, in %s or with ns, us, ms, s, m or h" SV_FMT,
                         call->value, bare_ns == 1e9 ? "seconds" : "milliseconds",
                         SV_ARG(hint(call)));
    }
    double lo = 0;
    double hi = HUGE_VAL;
    bounds(call->row, &lo, &hi);
    double ns = number * unit_ns;
    if (ns < lo * bare_ns) {
        return fail_low(call, lo, err);
    }
    if (ns > hi * bare_ns) {
        return fail_high(call, hi, err);
    }
    if (ns >= 9e18) {
        return error_set(err, E_USAGE, "'%s' is too long a time", call->value);
    }
    *out = (uint64_t)(ns + 0.5);
    return true;
}

/* "a, b, c" of blank-separated names. */
static struct sv comma_list(struct arena *arena, const char *names)
{
    struct buf out = {0};
    struct sv rest = sv_from(names);
    struct sv name;
    while (option_next_name(&rest, &name)) {
        buf_add_str(&out, out.len > 0 ? ", " : "");
        buf_add(&out, name);
    }
    struct sv copy = arena_copy(arena, buf_sv(&out));
    buf_done(&out);
    return copy;
}

static bool find_choice(const char *names, struct sv word, struct sv *found)
{
    struct sv rest = sv_from(names);
    while (option_next_name(&rest, found)) {
        if (option_names_alike(*found, word)) {
            return true;
        }
    }
    return false;
}

static bool store_choice(const struct option_call *call, const char **out, struct error *err)
{
    const struct option_row *row = call->row;
    struct sv word = sv_from(call->value);
    struct sv found;
    if (find_choice(row->choices, word, &found)) {
        *out = arena_copy(call->arena, found).ptr;
        return true;
    }
    struct sv list = comma_list(call->arena, row->choices);
    struct sv near = option_near(row->choices, word);
    if (near.len == 0) {
        return error_set(err, E_USAGE, "'%s' is not one of " SV_FMT, call->value, SV_ARG(list));
    }
    return error_set(err, E_USAGE, "'%s' is not one of " SV_FMT "; did you mean '" SV_FMT "'?",
                     call->value, SV_ARG(list), SV_ARG(near));
}

static bool store_small(const struct option_call *call, struct error *err)
{
    if (call->row->kind == OPTION_INT) {
        int64_t value = 0;
        if (!store_signed(call, INT_MIN, INT_MAX, &value, err)) {
            return false;
        }
        *(int *)field(call) = (int)value;
        return true;
    }
    uint64_t value = 0;
    if (!store_unsigned(call, UINT_MAX, &value, err)) {
        return false;
    }
    *(unsigned *)field(call) = (unsigned)value;
    return true;
}

bool option_store(const struct option_call *call, struct error *err)
{
    switch (call->row->kind) {
    case OPTION_SWITCH:
    case OPTION_SWITCH_OFF:
        *(bool *)field(call) = call->row->kind == OPTION_SWITCH;
        return true;
    case OPTION_INT:
    case OPTION_UINT:
        return store_small(call, err);
    case OPTION_U64:
        return store_unsigned(call, (double)UINT64_MAX, field(call), err);
    case OPTION_I64:
        return store_signed(call, (double)INT64_MIN, (double)INT64_MAX, field(call), err);
    case OPTION_DOUBLE:
        return store_double(call, field(call), err);
    case OPTION_DURATION_S:
        return store_duration(call, 1e9, field(call), err);
    case OPTION_DURATION_MS:
        return store_duration(call, 1e6, field(call), err);
    case OPTION_STRING:
        *(const char **)field(call) = arena_strdup(call->arena, call->value);
        return true;
    case OPTION_CHOICE:
        return store_choice(call, field(call), err);
    case OPTION_CALLBACK:
        return call->row->set(call, err);
    case OPTION_KIND_COUNT:
        break;
    }
    return error_set(err, E_USAGE, "internal: option without a kind");
}
