/* Fills the template timeline.html: {{names}} in it are replaced by what is made here.  All text that comes from outside
 * is escaped.  What is said without scripts (facts, legend with counts, the slowest requests) is written as HTML. */
#include "report/timeline.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/num.h"
#include "report/page_files.h"
#include "report/timeline_priv.h"

enum { SLOWEST = 10 };

static void add_escaped(struct buf *out, struct sv text)
{
    for (size_t i = 0; i < text.len; i++) {
        switch (text.ptr[i]) {
        case '&':
            buf_add_str(out, "&amp;");
            break;
        case '<':
            buf_add_str(out, "&lt;");
            break;
        case '>':
            buf_add_str(out, "&gt;");
            break;
        case '"':
            buf_add_str(out, "&quot;");
            break;
        default:
            buf_add_char(out, text.ptr[i]);
        }
    }
}

static void add_title(const struct timeline *t, struct buf *out)
{
    buf_add_str(out, "Timeline of ");
    add_escaped(out, sv_from(t->report->model_id != NULL ? t->report->model_id : "a run"));
}

/* ---- facts -------------------------------------------------------------------------------------------------------- */

static void add_fact(struct buf *out, const char *name, const char *value)
{
    buf_add_fmt(out, "<div><dt>%s</dt><dd>", name);
    add_escaped(out, sv_from(value));
    buf_add_str(out, "</dd></div>\n");
}

static const char *text_of(struct buf *text, double value, const char *unit)
{
    char number[NUM_TEXT_MAX];
    buf_reset(text);
    num_format_short(number, value);
    buf_add_fmt(text, "%s%s", number, unit);
    return buf_cstr(text);
}

static void add_facts(const struct timeline *t, struct buf *out)
{
    const struct run_report *report = t->report;
    const struct config *config = report->config;
    struct buf text = {0};
    char date[40];
    struct tm local = {0};
    localtime_r(&report->date, &local);
    if (strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &local) == 0)
        date[0] = '\0';
    add_fact(out, "Date", date);
    add_fact(out, "Backend", config->backend);
    if (config->label != NULL && config->label[0] != '\0')
        add_fact(out, "Label", config->label);
    if (config->ramp_up_strategy == RAMP_UP_NONE)
        add_fact(out, "Request rate", text_of(&text, config->request_rate, ""));
    if (config->max_concurrency > 0)
        add_fact(out, "Max concurrency", text_of(&text, (double)config->max_concurrency, ""));
    buf_reset(&text);
    buf_add_fmt(&text, "%zu", t->sent);
    if (t->sent < report->count)
        buf_add_fmt(&text, " of %zu, the others were not sent", report->count);
    add_fact(out, "Requests", buf_cstr(&text));
    buf_reset(&text);
    buf_add_fmt(&text, "%.3f s", (double)t->span_us / 1e6);
    add_fact(out, "First start to last end", buf_cstr(&text));
    add_fact(out, "Made by", "vllm-bench " VB_VERSION);
    buf_done(&text);
}

/* ---- legend and notes --------------------------------------------------------------------------------------------- */

static void add_legend_row(struct buf *out, const char *class, const char *name, uint64_t count,
                           uint64_t of)
{
    buf_add_fmt(out, "<li><i class=\"%s\"></i>", class);
    add_escaped(out, sv_from(name));
    buf_add_fmt(out, " <span>%llu", (unsigned long long)count);
    if (of > 0)
        buf_add_fmt(out, " (%.1f %%)", 100.0 * (double)count / (double)of);
    buf_add_str(out, "</span></li>\n");
}

static void add_legend(const struct timeline *t, struct buf *out)
{
    static const char *const CLASSES[COLOUR_COUNT] = {"below", "between", "above"};
    uint64_t all = 0;
    for (enum timeline_colour colour = 0; colour < COLOUR_COUNT; colour++)
        all += t->intervals[colour];
    if (t->report->pooling)
        add_legend_row(out, "first", "Request", t->sent - t->failed - t->unfinished, 0);
    else
        add_legend_row(out, "first", "TTFT", t->with_token, 0);
    for (enum timeline_colour colour = 0; colour < COLOUR_COUNT && !t->report->pooling; colour++) {
        char name[100];
        colour_name(t, colour, name);
        add_legend_row(out, CLASSES[colour], name, t->intervals[colour], all);
    }
    if (t->failed > 0)
        add_legend_row(out, "fail", "Failed", t->failed, 0);
    if (t->unfinished > 0)
        add_legend_row(out, "open", "Not finished", t->unfinished, 0);
}

static void add_notes(const struct timeline *t, struct buf *out)
{
    if (t->every > 1)
        buf_add_fmt(out,
                    "<p class=\"note thinned\">One request of %zu is drawn: %zu of %zu. The counts "
                    "above and the table below cover all of them.</p>\n",
                    t->every, t->count, t->sent);
    if (t->group > 1)
        buf_add_fmt(
            out,
            "<p class=\"note thinned\">There are too many tokens to draw each: a bar stands "
            "for up to %zu in a row and has the colour of the longest interval among them. "
            "The counts above are of single intervals.</p>\n",
            t->group);
}

/* ---- the table of the slowest ------------------------------------------------------------------------------------- */

static uint64_t length_ns(const struct record *r)
{
    return row_end_ns(r) - r->start_ns;
}

/* Indices of the slowest, the slowest first; returns how many. */
static size_t find_slowest(const struct timeline *t, size_t found[SLOWEST])
{
    const struct record *records = t->report->records;
    size_t count = 0;
    for (size_t i = 0; i < t->report->count; i++) {
        size_t at = count;
        if (!records[i].sent)
            continue;
        while (at > 0 && length_ns(&records[found[at - 1]]) < length_ns(&records[i]))
            at--;
        if (at == SLOWEST)
            continue;
        count += count < SLOWEST;
        memmove(found + at + 1, found + at, (count - at - 1) * sizeof(*found));
        found[at] = i;
    }
    return count;
}

static void add_seconds(struct buf *out, uint64_t ns)
{
    buf_add_fmt(out, "<td>%.3f s</td>", (double)ns / 1e9);
}

static void add_ms(struct buf *out, uint64_t ns)
{
    if (ns == 0)
        buf_add_str(out, "<td>\xe2\x80\x93</td>");
    else
        buf_add_fmt(out, "<td>%.3f ms</td>", (double)ns / 1e6);
}

static void add_row(const struct timeline *t, size_t index, struct buf *out)
{
    const struct record *r = &t->report->records[index];
    const struct timeline_talks *talks = t->talks;
    if (talks != NULL)
        buf_add_fmt(out, "<tr><td>Conv %zu, turn %zu</td>", talks->owner[index],
                    index - talks->first_item[talks->owner[index]] + 1);
    else
        buf_add_fmt(out, "<tr><td>Req %zu</td>", index);
    add_seconds(out, r->start_ns - t->start_ns);
    add_ms(out, row_has_token(t, r) ? r->first_ns - r->start_ns : 0);
    add_seconds(out, length_ns(r));
    add_ms(out, row_longest_ns(r));
    buf_add_fmt(out, "<td>%llu</td>", (unsigned long long)record_input_tokens(r));
    if (t->report->pooling)
        buf_add_str(out, "<td>\xe2\x80\x93</td>");
    else
        buf_add_fmt(out, "<td>%llu</td>",
                    (unsigned long long)record_output_tokens(r, t->report->has_tokenizer));
    buf_add_str(out, "<td class=\"text\">");
    if (row_state(r) == ROW_OK) {
        buf_add_str(out, "ok");
    } else {
        struct buf text = {0};
        row_outcome(t, r, &text);
        buf_add_str(out, row_state(r) == ROW_FAILED ? "failed: " : "not finished: ");
        add_escaped(out, buf_sv(&text));
        buf_done(&text);
    }
    buf_add_str(out, "</td></tr>\n");
}

static void add_table(const struct timeline *t, struct buf *out)
{
    size_t slowest[SLOWEST];
    size_t count = find_slowest(t, slowest);
    for (size_t i = 0; i < count; i++)
        add_row(t, slowest[i], out);
    if (count == 0)
        buf_add_str(out, "<tr><td>No request was sent.</td></tr>\n");
}

/* ---- the page ----------------------------------------------------------------------------------------------------- */

static void add_style(const struct timeline *t, struct buf *out)
{
    (void)t;
    buf_add(out, page_style());
}

static void add_script(const struct timeline *t, struct buf *out)
{
    (void)t;
    buf_add(out, page_script());
}

static const struct {
    const char *name;
    void (*add)(const struct timeline *t, struct buf *out);
} PARTS[] = {
    {"title", add_title}, {"style", add_style}, {"facts", add_facts},    {"legend", add_legend},
    {"notes", add_notes}, {"table", add_table}, {"data", timeline_data}, {"script", add_script},
};

static void add_part(const struct timeline *t, struct sv name, struct buf *out)
{
    for (size_t i = 0; i < sizeof(PARTS) / sizeof(PARTS[0]); i++)
        if (sv_eq(name, sv_from(PARTS[i].name)))
            PARTS[i].add(t, out);
}

void timeline_page(const struct timeline *t, struct buf *out)
{
    struct sv rest = page_template();
    const char *open;
    while ((open = memmem(rest.ptr, rest.len, "{{", 2)) != NULL) {
        buf_add(out, sv_make(rest.ptr, (size_t)(open - rest.ptr)));
        rest = sv_skip(rest, (size_t)(open - rest.ptr) + 2);
        const char *close = memmem(rest.ptr, rest.len, "}}", 2);
        size_t len = close != NULL ? (size_t)(close - rest.ptr) : rest.len;
        add_part(t, sv_make(rest.ptr, len), out);
        rest = sv_skip(rest, close != NULL ? len + 2 : len);
    }
    buf_add(out, rest);
}
