/* Writing JSON: the writer only remembers whether a comma is due. */
#include "json/writer.h"

#include "base/num.h"
#include "json/text_priv.h"

#include <assert.h>
#include <math.h>

void js_writer_init(struct js_writer *w, struct buf *out)
{
    *w = (struct js_writer){.out = out};
}

static void before_value(struct js_writer *w)
{
    if (w->comma)
        buf_add_char(w->out, ',');
    w->comma = true;
}

static void begin(struct js_writer *w, char bracket)
{
    before_value(w);
    buf_add_char(w->out, bracket);
    w->comma = false;
    w->depth++;
}

static void end(struct js_writer *w, char bracket)
{
    assert(w->depth > 0);
    buf_add_char(w->out, bracket);
    w->comma = true;
    w->depth--;
}

void js_begin_object(struct js_writer *w)
{
    begin(w, '{');
}

void js_end_object(struct js_writer *w)
{
    end(w, '}');
}

void js_begin_array(struct js_writer *w)
{
    begin(w, '[');
}

void js_end_array(struct js_writer *w)
{
    end(w, ']');
}

void js_key_sv(struct js_writer *w, struct sv name)
{
    assert(w->depth > 0);
    js_string(w, name);
    buf_add_char(w->out, ':');
    w->comma = false;
}

void js_key(struct js_writer *w, const char *name)
{
    js_key_sv(w, sv_from(name));
}

void js_string(struct js_writer *w, struct sv text)
{
    before_value(w);
    buf_add_char(w->out, '"');
    js_escape(w->out, text);
    buf_add_char(w->out, '"');
}

void js_cstring(struct js_writer *w, const char *text)
{
    if (text != NULL)
        js_string(w, sv_from(text));
    else
        js_null(w);
}

void js_uint(struct js_writer *w, uint64_t value)
{
    char text[NUM_TEXT_MAX];
    js_raw(w, sv_make(text, num_format_u64(text, value)));
}

void js_int(struct js_writer *w, int64_t value)
{
    before_value(w);
    char text[NUM_TEXT_MAX];
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    if (value < 0)
        buf_add_char(w->out, '-');
    buf_add(w->out, sv_make(text, num_format_u64(text, size)));
}

void js_double(struct js_writer *w, double value)
{
    char text[NUM_TEXT_MAX];
    if (isnan(value))
        js_null(w);
    else if (isinf(value))
        js_cstring(w, value > 0 ? "inf" : "-inf");
    else
        js_raw(w, sv_make(text, num_format_double(text, value)));
}

void js_bool(struct js_writer *w, bool value)
{
    js_raw(w, value ? SV_LIT("true") : SV_LIT("false"));
}

void js_null(struct js_writer *w)
{
    js_raw(w, SV_LIT("null"));
}

void js_raw(struct js_writer *w, struct sv json)
{
    before_value(w);
    buf_add(w->out, json);
}

/* Bytes of the UTF-8 sequence that the lead byte `c` begins, and the range of its second byte, which is what keeps
 * overlong forms, surrogates and numbers past U+10FFFF out (Unicode 15, table 3-7); 0 when no sequence begins so. */
static int sequence_length(unsigned char c, unsigned char *low, unsigned char *high)
{
    *low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    *high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    if (c >= 0xc2 && c <= 0xdf)
        return 2;
    if (c >= 0xe0 && c <= 0xef)
        return 3;
    return c >= 0xf0 && c <= 0xf4 ? 4 : 0;
}

/* `at` stands on a byte >= 0x80.  Returns how many bytes belong together; *valid says whether they are a character.
 * Of a broken one these are the bytes that could still have become one, which U+FFFD replaces together, as Python's
 * errors="replace" does: E2 82 41 is one U+FFFD and 'A'. */
static int next_character(const char *at, const char *end, bool *valid)
{
    unsigned char low, high;
    int want = sequence_length((unsigned char)*at, &low, &high);
    int got = 1;
    while (got < want && end - at > got) {
        unsigned char c = (unsigned char)at[got];
        if (c < low || c > high)
            break;
        low = 0x80;
        high = 0xbf;
        got++;
    }
    *valid = got == want;
    return got;
}

static void add_escaped_char(struct buf *out, unsigned char c)
{
    static const char letters[128] = {
        ['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
        ['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't',
    };
    if (letters[c] != '\0') {
        char pair[2] = {'\\', letters[c]};
        buf_add(out, sv_make(pair, 2));
    } else {
        const char *digits = "0123456789abcdef";
        char unit[6] = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]};
        buf_add(out, sv_make(unit, 6));
    }
}

void js_escape(struct buf *out, struct sv text)
{
    if (text.len == 0)
        return;
    const char *kept = text.ptr; /* start of what is copied as it is */
    const char *at = text.ptr;
    const char *stop = text.ptr + text.len;
    for (;;) {
        at = js_plain_end(at, stop, JS_STOP_HIGH);
        if (at == stop)
            break;
        unsigned char c = (unsigned char)*at;
        bool valid = false;
        int len = c >= 0x80 ? next_character(at, stop, &valid) : 1;
        if (!valid) {
            buf_add(out, sv_make(kept, (size_t)(at - kept)));
            if (c >= 0x80)
                buf_add(out, SV_LIT("\xef\xbf\xbd"));
            else
                add_escaped_char(out, c);
            kept = at + len;
        }
        at += len;
    }
    buf_add(out, sv_make(kept, (size_t)(stop - kept)));
}
