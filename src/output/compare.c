/* See compare.h.  The first table is the Rust tool's to the letter (ORCHESTRATION 16). */
#include "output/compare.h"

#include <math.h>
#include <stdio.h>

#include "base/num.h"
#include "output/figures.h"
#include "output/table.h"

enum { WIDTH = 90, STEADY_WIDTH = 70 };

static const struct {
    const char *label;
    const char *key;
    bool lower_is_better;
    bool gated;
} table[COMPARE_ROWS] = {
    {"Request throughput (req/s)", "request_throughput", false, true},
    {"Output throughput (tok/s)", "output_throughput", false, true},
    {"Total token throughput (tok/s)", "total_token_throughput", false, true},
    {"Peak output tokens/s", "max_output_tokens_per_s", false, false},
    {"Peak concurrent requests", "max_concurrent_requests", false, false},
    {"Mean TTFT (ms)", "mean_ttft_ms", true, true},
    {"Median TTFT (ms)", "median_ttft_ms", true, true},
    {"P99 TTFT (ms)", "p99_ttft_ms", true, true},
    {"Mean TPOT (ms)", "mean_tpot_ms", true, true},
    {"Median TPOT (ms)", "median_tpot_ms", true, true},
    {"P99 TPOT (ms)", "p99_tpot_ms", true, true},
    {"Mean ITL (ms)", "mean_itl_ms", true, true},
    {"Median ITL (ms)", "median_itl_ms", true, true},
    {"P99 ITL (ms)", "p99_itl_ms", true, true},
    {"Mean E2EL (ms)", "mean_e2el_ms", true, true},
    {"Median E2EL (ms)", "median_e2el_ms", true, true},
    {"P99 E2EL (ms)", "p99_e2el_ms", true, true},
    {"Completed requests", "completed", false, true},
    {"Failed requests", "failed", true, true},
    {"Duration (s)", "duration", true, false},
};

static const struct {
    const char *label;
    const char *key;
    bool lower_is_better;
} steady_table[COMPARE_STEADY_ROWS] = {
    {"SS Request throughput (req/s)", "steady_state.request_throughput", false},
    {"SS Output throughput (tok/s)", "steady_state.output_throughput", false},
    {"SS Input throughput (tok/s)", "steady_state.input_throughput", false},
    {"SS Total token throughput (tok/s)", "steady_state.total_token_throughput", false},
    {"SS Mean TTFT (ms)", "steady_state.mean_ttft_ms", true},
    {"SS Median TTFT (ms)", "steady_state.median_ttft_ms", true},
    {"SS Mean TPOT (ms)", "steady_state.mean_tpot_ms", true},
    {"SS Median TPOT (ms)", "steady_state.median_tpot_ms", true},
    {"SS P90 TPOT (ms)", "steady_state.p90_tpot_ms", true},
    {"SS P99 TPOT (ms)", "steady_state.p99_tpot_ms", true},
};

static void fill(struct compare_report *r, struct compare_row *row)
{
    row->has_both = figure_get(r->a, row->key, &row->a) && figure_get(r->b, row->key, &row->b);
    row->verdict = COMPARE_UNTESTED;
}

void compare_rows_make(struct compare_report *r)
{
    for (size_t i = 0; i < COMPARE_ROWS; i++) {
        r->rows[i] = (struct compare_row){.label = table[i].label,
                                          .key = table[i].key,
                                          .lower_is_better = table[i].lower_is_better,
                                          .gated = table[i].gated};
        fill(r, &r->rows[i]);
    }
    for (size_t i = 0; i < COMPARE_STEADY_ROWS; i++) {
        r->steady[i] = (struct compare_row){.label = steady_table[i].label,
                                            .key = steady_table[i].key,
                                            .lower_is_better = steady_table[i].lower_is_better};
        fill(r, &r->steady[i]);
        r->has_steady = r->has_steady || r->steady[i].has_both;
    }
}

double compare_percent(double a, double b)
{
    if (fabs(a) > 1e-10)
        return 100.0 * (b - a) / a;
    return fabs(b) > 1e-10 ? HUGE_VAL : 0.0;
}

const char *compare_word(const struct compare_row *row)
{
    switch (row->verdict) {
    case COMPARE_UNTESTED:
        return "not tested";
    case COMPARE_INCONCLUSIVE:
        return row->test.available ? "inconclusive" : "not available";
    case COMPARE_SAME:
        return "same";
    case COMPARE_HIGHER:
        return row->lower_is_better ? "worse" : "better";
    case COMPARE_LOWER:
        return row->lower_is_better ? "better" : "worse";
    }
    return "";
}

size_t compare_regressions(const struct compare_report *r)
{
    size_t n = 0;
    for (size_t i = 0; i < COMPARE_ROWS; i++)
        n += r->rows[i].regression;
    return n;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void value_text(char *out, size_t cap, double value)
{
    bool whole = fabs(value) < 1e12 && value == floor(value);
    num_format_fixed(out, cap, value, whole ? 0 : 2);
}

static void change_text(char *out, size_t cap, double percent)
{
    if (isinf(percent))
        snprintf(out, cap, "inf%%");
    else
        snprintf(out, cap, "%+.1f%%", percent);
}

static void add_row(const struct compare_row *row, struct buf *out)
{
    char a[400];
    char b[400];
    char delta[400];
    char change[40];
    double d = row->b - row->a;
    char marker = ' ';
    value_text(a, sizeof(a), row->a);
    value_text(b, sizeof(b), row->b);
    value_text(delta, sizeof(delta), d);
    change_text(change, sizeof(change), compare_percent(row->a, row->b));
    if (fabs(d) >= 1e-10)
        marker = (d < 0.0) == row->lower_is_better ? '+' : '-';
    char signed_delta[402];
    snprintf(signed_delta, sizeof(signed_delta), "%s%s", d >= 0.0 ? "+" : "", delta);
    buf_add_fmt(out, "%-35s %12s %12s %10s %7s%c\n", row->label, a, b, signed_delta, change,
                marker);
}

static void add_file(struct buf *out, char name, const char *file, const struct js_value *result)
{
    struct sv model = SV_LIT("?");
    struct sv date = SV_LIT("?");
    js_as_sv(js_get(result, "model_id"), &model);
    js_as_sv(js_get(result, "date"), &date);
    buf_add_fmt(out, "  %c: %s (model: " SV_FMT ", date: " SV_FMT ")\n", name, file, SV_ARG(model),
                SV_ARG(date));
}

static void add_steady(const struct compare_report *r, struct buf *out)
{
    buf_add_char(out, '\n');
    table_title(out, " Steady-State Comparison ", '=', STEADY_WIDTH);
    if (!r->has_steady) {
        buf_add_str(out, "N/A \xe2\x80\x94 one or both runs have no steady-state window\n");
        return;
    }
    for (size_t i = 0; i < COMPARE_STEADY_ROWS; i++) {
        if (r->steady[i].has_both)
            add_row(&r->steady[i], out);
        else
            buf_add_fmt(out, "%-35s N/A\n", r->steady[i].label);
    }
}

/* Why nothing can be said, and what would help. */
static void add_reason(const struct compare_report *r, const struct compare_row *row,
                       struct buf *out)
{
    if (!row->test.available)
        buf_add_fmt(out, ": %s", row->test.reason);
    else if (row->needed > 0)
        buf_add_fmt(out, ": about %zu %s a side would show a change of %.3g%%", row->needed,
                    r->unit, 100.0 * r->shift);
}

static void interval_text(const struct compare_row *row, char *out, size_t cap)
{
    snprintf(out, cap, "[%+.1f%%, %+.1f%%]", 100.0 * row->test.low, 100.0 * row->test.high);
}

static void add_test(const struct compare_report *r, const struct compare_row *row, struct buf *out)
{
    char interval[80] = "-";
    char change[40] = "-";
    char p[40] = "-";
    if (row->test.available) {
        change_text(change, sizeof(change), 100.0 * row->test.change);
        interval_text(row, interval, sizeof(interval));
        snprintf(p, sizeof(p), "%.4f", row->test.p);
    }
    buf_add_fmt(out, "%-30s %8s %18s %7s  %s", row->label, change, interval, p, compare_word(row));
    if (row->verdict == COMPARE_INCONCLUSIVE)
        add_reason(r, row, out);
    buf_add_char(out, '\n');
}

static void add_tests(const struct compare_report *r, struct buf *out)
{
    char text[80];
    if (r->unit == NULL) {
        buf_add_str(out, "\nNo significance test: that takes detailed data in both files "
                         "(--save-detailed), or the summaries of --num-runs.\n");
        return;
    }
    buf_add_char(out, '\n');
    snprintf(text, sizeof(text), " Significance (by %s) ", r->unit);
    table_title(out, text, '=', WIDTH);
    buf_add_fmt(out, "%-30s %8s %18s %7s  %s\n", "Metric", "Change", "95% interval", "p",
                "Verdict");
    for (size_t i = 0; i < COMPARE_ROWS; i++)
        if (r->rows[i].verdict != COMPARE_UNTESTED)
            add_test(r, &r->rows[i], out);
    table_title(out, "", '=', WIDTH);
}

static void add_gate(const struct compare_report *r, struct buf *out)
{
    if (isnan(r->threshold))
        return;
    size_t n = compare_regressions(r);
    buf_add_fmt(out, "Threshold %.3g%%: %s", 100.0 * r->threshold,
                n == 0   ? "no regression"
                : n == 1 ? "1 regression"
                         : "");
    if (n > 1)
        buf_add_fmt(out, "%zu regressions", n);
    const char *join = ": ";
    for (size_t i = 0; i < COMPARE_ROWS; i++) {
        if (!r->rows[i].regression)
            continue;
        char change[40];
        change_text(change, sizeof(change), compare_percent(r->rows[i].a, r->rows[i].b));
        buf_add_fmt(out, "%s%s %s", join, r->rows[i].label, change);
        join = ", ";
    }
    buf_add_char(out, '\n');
}

static void add_warnings(const struct compare_report *r, const char *before, struct buf *out)
{
    struct sv rest = buf_sv(&r->warnings);
    struct sv line;
    while (rest.len > 0 && sv_split(&rest, '\n', &line))
        if (line.len > 0)
            buf_add_fmt(out, "%s" SV_FMT "\n", before, SV_ARG(line));
}

void compare_text(const struct compare_report *r, struct buf *out)
{
    static const char dashes[] = "-----------------------------------";
    buf_add_char(out, '\n');
    table_title(out, " Benchmark Comparison ", '=', WIDTH);
    add_file(out, 'A', r->file_a, r->a);
    add_file(out, 'B', r->file_b, r->b);
    buf_add_char(out, '\n');
    buf_add_fmt(out, "%-35s %12s %12s %10s %8s\n", "Metric", "A", "B", "Delta", "Change");
    buf_add_fmt(out, "%.35s %.12s %.12s %.10s %.8s\n", dashes, dashes, dashes, dashes, dashes);
    for (size_t i = 0; i < COMPARE_ROWS; i++)
        if (r->rows[i].has_both)
            add_row(&r->rows[i], out);
    add_steady(r, out);
    table_title(out, "", '=', WIDTH);
    buf_add_str(out, "\nLegend: + = improvement, - = regression (relative to A \xe2\x86\x92 B)\n");
    add_tests(r, out);
    add_warnings(r, "warning: ", out);
    add_gate(r, out);
}

/* ---- Markdown and JUnit ------------------------------------------------------------------------------------------ */

/* A file name must not end a cell. */
static void add_cell(struct buf *out, struct sv text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '|')
            buf_add_char(out, '\\');
        buf_add_char(out, text.ptr[i] == '\n' ? ' ' : text.ptr[i]);
    }
}

static void markdown_row(const struct compare_report *r, const struct compare_row *row,
                         struct buf *out)
{
    char a[400];
    char b[400];
    char change[40];
    char interval[80] = "";
    value_text(a, sizeof(a), row->a);
    value_text(b, sizeof(b), row->b);
    change_text(change, sizeof(change), compare_percent(row->a, row->b));
    if (row->test.available)
        interval_text(row, interval, sizeof(interval));
    buf_add_fmt(out, "| %s | %s | %s | %s | %s | %s%s", row->label, a, b, change, interval,
                row->regression ? "**regression**, " : "", compare_word(row));
    if (row->verdict == COMPARE_INCONCLUSIVE)
        add_reason(r, row, out);
    buf_add_str(out, " |\n");
}

void compare_markdown(const struct compare_report *r, struct buf *out)
{
    buf_add_str(out, "### Benchmark comparison\n\nA: ");
    add_cell(out, sv_from(r->file_a));
    buf_add_str(out, "  \nB: ");
    add_cell(out, sv_from(r->file_b));
    buf_add_str(out, "\n\n| Metric | A | B | Change | 95 % interval | Verdict |\n"
                     "|---|---:|---:|---:|---:|---|\n");
    for (size_t i = 0; i < COMPARE_ROWS; i++)
        if (r->rows[i].has_both)
            markdown_row(r, &r->rows[i], out);
    for (size_t i = 0; i < COMPARE_STEADY_ROWS; i++)
        if (r->steady[i].has_both)
            markdown_row(r, &r->steady[i], out);
    buf_add_char(out, '\n');
    add_warnings(r, "> **warning:** ", out);
    add_gate(r, out);
    buf_add_char(out, '\n');
}

static void add_xml(struct buf *out, struct sv text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c == '&')
            buf_add_str(out, "&amp;");
        else if (c == '<')
            buf_add_str(out, "&lt;");
        else if (c == '>')
            buf_add_str(out, "&gt;");
        else if (c == '"')
            buf_add_str(out, "&quot;");
        else
            buf_add_char(out, c < 0x20 ? ' ' : (char)c);
    }
}

static bool is_skipped(const struct compare_row *row)
{
    return !row->regression && row->verdict == COMPARE_INCONCLUSIVE;
}

static void junit_case(const struct compare_report *r, const struct compare_row *row,
                       struct buf *out)
{
    char change[40];
    char a[400];
    char b[400];
    struct buf text = {0};
    value_text(a, sizeof(a), row->a);
    value_text(b, sizeof(b), row->b);
    change_text(change, sizeof(change), compare_percent(row->a, row->b));
    buf_add_fmt(&text, "%s -> %s (%s), %s", a, b, change, compare_word(row));
    if (row->verdict == COMPARE_INCONCLUSIVE)
        add_reason(r, row, &text);
    buf_add_fmt(out, "    <testcase classname=\"compare\" name=\"%s\">", row->key);
    if (row->regression || is_skipped(row)) {
        buf_add_fmt(out, "<%s message=\"", row->regression ? "failure" : "skipped");
        add_xml(out, buf_sv(&text));
        buf_add_str(out, "\"/>");
    } else {
        buf_add_str(out, "<system-out>");
        add_xml(out, buf_sv(&text));
        buf_add_str(out, "</system-out>");
    }
    buf_add_str(out, "</testcase>\n");
    buf_done(&text);
}

void compare_junit_suite(const struct compare_report *r, struct buf *out)
{
    size_t tests = 0;
    size_t skipped = 0;
    for (size_t i = 0; i < COMPARE_ROWS; i++) {
        tests += r->rows[i].has_both;
        skipped += r->rows[i].has_both && is_skipped(&r->rows[i]);
    }
    buf_add_str(out, "  <testsuite name=\"");
    add_xml(out, sv_from(r->file_a));
    buf_add_str(out, " vs ");
    add_xml(out, sv_from(r->file_b));
    buf_add_fmt(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n", tests,
                compare_regressions(r), skipped);
    for (size_t i = 0; i < COMPARE_ROWS; i++)
        if (r->rows[i].has_both)
            junit_case(r, &r->rows[i], out);
    buf_add_str(out, "  </testsuite>\n");
}
