/* Columns of whole microseconds; timeline.js says how they are read.  Times are rounded from the request's start, not
 * from token to token, so that a thousand of them do not add up a thousand roundings.
 *
 * Example: tokens 1.4, 2.8 and 4.2 us after the start are at 1, 3 and 4 us: intervals of 2 and 1. */
#include "report/timeline_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "base/num.h"
#include "config/secrets.h"
#include "json/writer.h"

enum { ERROR_BYTES = 400, ERRORS_MAX = 100, ESCAPE = 0xffff };

enum row_state row_state(const struct record *r)
{
    if (record_ok(r))
        return ROW_OK;
    return !r->done || record_unfinished(r) || r->failure == FAILURE_INTERRUPTED ? ROW_OPEN
                                                                                 : ROW_FAILED;
}

uint64_t row_end_ns(const struct record *r)
{
    uint64_t end = r->end_ns > r->last_ns ? r->end_ns : r->last_ns;
    return end > r->start_ns ? end : r->start_ns;
}

bool row_has_token(const struct timeline *t, const struct record *r)
{
    return !t->report->pooling && r->first_ns > 0 && r->first_ns >= r->start_ns;
}

uint64_t row_longest_ns(const struct record *r)
{
    struct record_cursor cursor;
    uint64_t gap_ns;
    uint64_t longest = 0;
    record_gaps_begin(r, &cursor);
    while (record_gaps_next(&cursor, &gap_ns))
        longest = gap_ns > longest ? gap_ns : longest;
    return longest;
}

void colour_name(const struct timeline *t, enum timeline_colour colour, char out[100])
{
    char first[NUM_TEXT_MAX];
    char second[NUM_TEXT_MAX];
    num_format_short(first, t->report->config->itl_thresholds_ms[0]);
    num_format_short(second, t->report->config->itl_thresholds_ms[1]);
    if (colour == BELOW_FIRST)
        snprintf(out, 100, "ITL < %s ms", first);
    else if (colour == BETWEEN)
        snprintf(out, 100, "%s ms \xe2\x89\xa4 ITL < %s ms", first, second);
    else
        snprintf(out, 100, "ITL \xe2\x89\xa5 %s ms", second);
}

void row_outcome(const struct timeline *t, const struct record *r, struct buf *out)
{
    struct buf text = {0};
    if (r->error.len > 0)
        config_redact(t->report->config, r->error, &text);
    else
        buf_add_str(&text, failure_name(r->done ? r->failure : FAILURE_INTERRUPTED));
    size_t len = text.len;
    if (len > ERROR_BYTES) {
        /* not inside a character of UTF-8 */
        for (len = ERROR_BYTES; len > 0 && ((unsigned char)text.ptr[len] & 0xc0) == 0x80;)
            len--;
    }
    buf_add(out, sv_make(text.ptr, len));
    if (len < text.len)
        buf_add_str(out, " \xe2\x80\xa6");
    buf_done(&text);
}

/* ---- which and how many ------------------------------------------------------------------------------------------- */

static void count_row(struct timeline *t, const struct record *r)
{
    const double *limits = t->report->config->itl_thresholds_ms;
    struct record_cursor cursor;
    uint64_t gap_ns;
    enum row_state state = row_state(r);
    t->with_token += row_has_token(t, r);
    t->failed += state == ROW_FAILED;
    t->unfinished += state == ROW_OPEN;
    record_gaps_begin(r, &cursor);
    while (record_gaps_next(&cursor, &gap_ns)) {
        double ms = (double)gap_ns / 1e6;
        t->intervals[ms < limits[0] ? BELOW_FIRST : ms < limits[1] ? BETWEEN : FROM_SECOND]++;
    }
}

static size_t numbers_needed(const struct timeline *t, size_t group)
{
    size_t needed = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct record *r = &t->report->records[t->rows[i]];
        size_t gaps = r->events > 0 ? r->events - 1 : 0;
        needed += group == 1 ? gaps : 2 * ((gaps + group - 1) / group);
    }
    return needed;
}

void timeline_make(const struct run_report *report, const struct timeline_talks *talks, size_t rows,
                   size_t numbers, struct timeline *t)
{
    *t = (struct timeline){.report = report, .talks = talks, .every = 1, .group = 1};
    uint64_t end_ns = 0;
    for (size_t i = 0; i < report->count; i++) {
        const struct record *r = &report->records[i];
        if (!r->sent)
            continue;
        if (t->sent == 0 || r->start_ns < t->start_ns)
            t->start_ns = r->start_ns;
        uint64_t end = row_end_ns(r);
        end_ns = end > end_ns ? end : end_ns;
        count_row(t, r);
        t->sent++;
    }
    t->span_us = t->sent > 0 ? (end_ns - t->start_ns + 999) / 1000 : 0;
    if (t->sent > rows)
        t->every = (t->sent + rows - 1) / rows;
    t->rows = mem_array(t->sent / t->every + 1, sizeof(*t->rows));
    for (size_t i = 0, at = 0; i < report->count; i++)
        if (report->records[i].sent && at++ % t->every == 0)
            t->rows[t->count++] = i;
    /* Groups of two or three would hold no fewer numbers than single tokens; 2^24 is longer than any request. */
    if (numbers_needed(t, 1) > numbers)
        t->group = 4;
    while (t->group > 1 && t->group < 1u << 24 && numbers_needed(t, t->group) > numbers)
        t->group += t->group / 2;
}

void timeline_done(struct timeline *t)
{
    free(t->rows);
    *t = (struct timeline){0};
}

/* ---- tokens ------------------------------------------------------------------------------------------------------- */

static void add_word(struct buf *out, uint32_t word)
{
    buf_add_char(out, (char)(word & 0xff));
    buf_add_char(out, (char)(word >> 8 & 0xff));
}

static void add_number(struct buf *out, uint64_t value)
{
    if (value < ESCAPE) {
        add_word(out, (uint32_t)value);
        return;
    }
    uint32_t low = value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
    add_word(out, ESCAPE);
    add_word(out, low);
    add_word(out, low >> 16);
}

static uint64_t us_of(uint64_t ns)
{
    return (ns + 500) / 1000;
}

static void pack_tokens(const struct timeline *t, const struct record *r, struct buf *out)
{
    struct record_cursor cursor;
    uint64_t gap_ns;
    uint64_t at_ns = r->first_ns - r->start_ns;
    uint64_t shown_us = us_of(at_ns);
    uint64_t longest_ns = 0;
    size_t pending = 0;
    record_gaps_begin(r, &cursor);
    bool more = record_gaps_next(&cursor, &gap_ns);
    while (more) {
        at_ns += gap_ns;
        longest_ns = gap_ns > longest_ns ? gap_ns : longest_ns;
        more = record_gaps_next(&cursor, &gap_ns);
        if (++pending < t->group && more)
            continue;
        add_number(out, us_of(at_ns) - shown_us);
        if (t->group > 1)
            add_number(out, us_of(longest_ns));
        shown_us = us_of(at_ns);
        longest_ns = 0;
        pending = 0;
    }
}

/* ---- columns ------------------------------------------------------------------------------------------------------ */

enum column { NUMBER, OWNER, TURN, START, FIRST, END, PROMPT, OUTPUT, STATE, COLUMN_COUNT };

static int64_t value_of(const struct timeline *t, enum column column, size_t index)
{
    const struct record *r = &t->report->records[index];
    const struct timeline_talks *talks = t->talks;
    switch (column) {
    case NUMBER:
        return (int64_t)index;
    case OWNER:
        return (int64_t)talks->owner[index];
    case TURN:
        return (int64_t)(index - talks->first_item[talks->owner[index]]) + 1;
    case START:
        return (int64_t)us_of(r->start_ns - t->start_ns);
    case FIRST:
        return row_has_token(t, r) ? (int64_t)us_of(r->first_ns - r->start_ns) : -1;
    case END:
        return (int64_t)us_of(row_end_ns(r) - r->start_ns);
    case PROMPT:
        return (int64_t)record_input_tokens(r);
    case OUTPUT:
        return t->report->pooling ? 0 : (int64_t)record_output_tokens(r, t->report->has_tokenizer);
    case STATE:
        return row_state(r);
    case COLUMN_COUNT:
        break;
    }
    return 0;
}

static void write_columns(const struct timeline *t, struct js_writer *w)
{
    static const char *const NAMES[COLUMN_COUNT] = {
        [NUMBER] = "number", [OWNER] = "owner",   [TURN] = "turn",
        [START] = "start",   [FIRST] = "first",   [END] = "end",
        [PROMPT] = "prompt", [OUTPUT] = "output", [STATE] = "state"};
    for (enum column column = 0; column < COLUMN_COUNT; column++) {
        if ((column == OWNER || column == TURN) && t->talks == NULL)
            continue;
        js_key(w, NAMES[column]);
        js_begin_array(w);
        for (size_t i = 0; i < t->count; i++)
            js_int(w, value_of(t, column, t->rows[i]));
        js_end_array(w);
    }
}

/* Requests of a run fail for a few reasons: each is written once. */
static void write_outcomes(const struct timeline *t, struct js_writer *w)
{
    struct buf texts[ERRORS_MAX] = {{0}};
    struct buf text = {0};
    size_t known = 0;
    js_key(w, "error");
    js_begin_array(w);
    for (size_t i = 0; i < t->count; i++) {
        const struct record *r = &t->report->records[t->rows[i]];
        size_t at = 0;
        if (row_state(r) == ROW_OK) {
            js_int(w, -1);
            continue;
        }
        buf_reset(&text);
        row_outcome(t, r, &text);
        while (at < known && !sv_eq(buf_sv(&texts[at]), buf_sv(&text)))
            at++;
        if (at == known && known < ERRORS_MAX)
            buf_add(&texts[known++], buf_sv(&text));
        js_uint(w, at);
    }
    js_end_array(w);
    js_key(w, "errors");
    js_begin_array(w);
    for (size_t i = 0; i < known; i++) {
        js_string(w, buf_sv(&texts[i]));
        buf_done(&texts[i]);
    }
    if (known == ERRORS_MAX)
        js_cstring(w, "one of many different errors; the detailed result has them all");
    js_end_array(w);
    buf_done(&text);
}

static void write_tokens(const struct timeline *t, struct js_writer *w)
{
    struct buf packed = {0};
    js_key(w, "tokens");
    js_begin_array(w);
    for (size_t i = 0; i < t->count; i++) {
        struct buf text = {0};
        const struct record *r = &t->report->records[t->rows[i]];
        buf_reset(&packed);
        if (row_has_token(t, r))
            pack_tokens(t, r, &packed);
        buf_add_char(&text, '"');
        base64_add(&text, buf_sv(&packed));
        buf_add_char(&text, '"');
        js_raw(w, buf_sv(&text));
        buf_done(&text);
    }
    js_end_array(w);
    buf_done(&packed);
}

/* "\u003c" for every '<': no text can end the script element. */
static void add_without_angles(struct buf *out, struct sv json)
{
    while (json.len > 0) {
        const char *angle = memchr(json.ptr, '<', json.len);
        size_t len = angle != NULL ? (size_t)(angle - json.ptr) : json.len;
        buf_add(out, sv_make(json.ptr, len));
        if (angle != NULL)
            buf_add_str(out, "\\u003c");
        json = sv_skip(json, angle != NULL ? len + 1 : len);
    }
}

void timeline_data(const struct timeline *t, struct buf *out)
{
    struct buf json = {0};
    struct js_writer w;
    js_writer_init(&w, &json);
    js_begin_object(&w);
    js_key(&w, "limits");
    js_begin_array(&w);
    for (int i = 0; i < 2; i++)
        js_double(&w, t->report->config->itl_thresholds_ms[i] * 1e3);
    js_end_array(&w);
    js_key(&w, "types");
    js_begin_array(&w);
    for (enum timeline_colour colour = 0; colour < COLOUR_COUNT; colour++) {
        char name[100];
        colour_name(t, colour, name);
        js_cstring(&w, name);
    }
    js_end_array(&w);
    js_key(&w, "pooling");
    js_bool(&w, t->report->pooling);
    js_key(&w, "span");
    js_uint(&w, t->span_us);
    js_key(&w, "group");
    js_uint(&w, t->group);
    write_columns(t, &w);
    write_outcomes(t, &w);
    write_tokens(t, &w);
    js_end_object(&w);
    add_without_angles(out, buf_sv(&json));
    buf_done(&json);
}
