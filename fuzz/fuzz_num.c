/* Numbers: every double must read back from its own text, bit for bit; every accepted text must give a double whose
 * text gives the same double again; integers must agree with each other and with their own text. */
#include "base/num.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_double(double value)
{
    char text[NUM_TEXT_MAX];
    char brief[NUM_TEXT_MAX];
    double back;
    size_t len = num_format_double(text, value);
    if (len >= NUM_TEXT_MAX || strlen(text) != len)
        abort();
    if (!num_parse_double(sv_make(text, len), &back))
        abort();
    if (isnan(value) ? !isnan(back) : memcmp(&back, &value, sizeof(back)) != 0)
        abort();
    len = num_format_short(brief, value);
    if (!num_parse_double(sv_make(brief, len), &back) || (back != value && !isnan(value)))
        abort();
}

static void check_integers(struct sv text)
{
    uint64_t u;
    int64_t i;
    double d;
    bool is_u = num_parse_u64(text, &u);
    bool is_i = num_parse_i64(text, &i);
    if ((is_u || is_i) && !num_parse_double(text, &d))
        abort();
    if (is_u && ((is_i && (uint64_t)i != u) || d != (double)u))
        abort();
    if (is_i && d != (double)i)
        abort();
    if (is_u) {
        char out[NUM_TEXT_MAX];
        uint64_t again;
        if (!num_parse_u64(sv_make(out, num_format_u64(out, u)), &again) || again != u)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sv text = sv_make((const char *)data, size);
    double value;
    if (num_parse_double(text, &value))
        check_double(value);
    check_integers(text);
    for (size_t at = 0; at + sizeof(value) <= size; at += sizeof(value)) {
        memcpy(&value, data + at, sizeof(value));
        check_double(value);
    }
    return 0;
}
