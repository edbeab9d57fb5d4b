/* Every line is checked, also those that a run will not use: a broken file is better known before the run. */
#include "datasets/custom_rows.h"

#include "base/alloc.h"
#include "base/num.h"
#include "datasets/format/jsonl.h"
#include "json/scan.h"

#include <math.h>
#include <stdlib.h>

static const char *const type_names[] = {
    [JS_BAD] = "nothing",      [JS_NULL] = "null",       [JS_BOOL] = "a boolean",
    [JS_NUMBER] = "a number",  [JS_STRING] = "a string", [JS_ARRAY] = "a list",
    [JS_OBJECT] = "an object",
};

struct line_values {
    bool has_prompt;
    enum js_type prompt_type;
    struct sv prompt;
    bool has_output;
    enum js_type output_type;
    struct sv output;
};

/* A later key of the same name wins, as in Python. */
static bool scan_line(const struct jsonl *j, struct line_values *values, struct error *err)
{
    struct js_scan s;
    struct sv key;
    struct sv raw;
    bool first = true;
    *values = (struct line_values){0};
    js_scan_init(&s, j->line);
    enum js_type type = js_scan_peek(&s);
    if (type != JS_OBJECT && type != JS_BAD)
        return jsonl_error(j, err,
                           "holds %s, not an object; one {\"prompt\": ...} a line is "
                           "expected",
                           type_names[type]);
    js_scan_object(&s);
    while (js_scan_member(&s, &first, &key)) {
        type = js_scan_peek(&s);
        if (!js_scan_skip(&s, &raw))
            break;
        if (js_key_is(key, SV_LIT("prompt"))) {
            values->has_prompt = true;
            values->prompt_type = type;
            values->prompt = raw;
        } else if (js_key_is(key, SV_LIT("output_tokens"))) {
            values->has_output = true;
            values->output_type = type;
            values->output = raw;
        }
    }
    if (!js_scan_end(&s))
        return jsonl_malformed(j, js_scan_offset(&s), err);
    return true;
}

/* 5 and 5.0 are accepted, as Python's int() takes both. */
static bool read_output(const struct jsonl *j, const struct line_values *values, uint32_t *out,
                        struct error *err)
{
    double number = 0.0;
    if (!values->has_output || values->output_type == JS_NULL)
        return jsonl_error(j, err,
                           "has no 'output_tokens'; --custom-output-len -1 needs it on "
                           "every line");
    if (values->output_type != JS_NUMBER)
        return jsonl_error(j, err, "'output_tokens' is %s, not a number",
                           type_names[values->output_type]);
    if (!num_parse_double(values->output, &number) || number < 1.0 || number > INT32_MAX ||
        floor(number) != number)
        return jsonl_error(j, err, "'output_tokens' is " SV_FMT ", not a whole number from 1 on",
                           SV_ARG(values->output));
    *out = (uint32_t)number;
    return true;
}

static bool read_row(const struct jsonl *j, bool per_line, struct custom_row *row,
                     struct error *err)
{
    struct line_values values;
    struct buf text = {0};
    if (!scan_line(j, &values, err))
        return false;
    if (!values.has_prompt)
        return jsonl_error(j, err, "has no 'prompt'");
    if (values.prompt_type != JS_STRING)
        return jsonl_error(j, err, "'prompt' is %s, not a string", type_names[values.prompt_type]);
    *row = (struct custom_row){.raw_prompt = sv_make(values.prompt.ptr + 1, values.prompt.len - 2)};
    bool ok = js_unescape(row->raw_prompt, &text);
    buf_done(&text);
    if (!ok)
        return jsonl_error(j, err, "'prompt' holds a bad escape");
    return !per_line || read_output(j, &values, &row->output_tokens, err);
}

bool custom_rows_parse(struct sv text, const char *name, bool per_line, struct custom_rows *rows,
                       struct error *err)
{
    struct jsonl j;
    enum jsonl_result result;
    if (!jsonl_init(&j, name, text, err))
        return false;
    while ((result = jsonl_next(&j, err)) == JSONL_LINE) {
        MEM_GROW(rows->items, rows->count, rows->cap);
        if (!read_row(&j, per_line, &rows->items[rows->count], err))
            return false;
        rows->count++;
    }
    if (result == JSONL_FAILED)
        return false;
    if (rows->count == 0)
        return error_set(err, E_PARSE, "'%s' has no rows; one {\"prompt\": ...} a line is expected",
                         name);
    return true;
}

void custom_row_text(const struct custom_row *row, struct buf *out)
{
    js_unescape(row->raw_prompt, out);
}

void custom_rows_done(struct custom_rows *rows)
{
    free(rows->items);
    *rows = (struct custom_rows){0};
}
