/* See hf_table.h.  JSON is mapped, and a row's tree is made when the row is asked for. */
#include "datasets/hf_table.h"

#include "base/alloc.h"
#include "base/file.h"
#include "datasets/format/jsonl.h"
#include "datasets/format/parquet.h"
#include "datasets/format/position.h"
#include "json/scan.h"

#include <stdlib.h>

enum form { FORM_PARQUET, FORM_LINES, FORM_ARRAY };

enum { MAX_COLUMNS = 32 };

struct hf_table {
    enum form form;
    struct sv name;
    size_t number; /* of the row given out last */
    struct parquet *parquet;
    struct file_map map;
    struct sv text; /* of the array, or the whole file */
    struct buf path;
    struct jsonl lines;
    struct js_scan scan;
    bool first;
};

static bool is_parquet(struct sv name)
{
    return name.len > 8 && sv_eq_nocase(sv_skip(name, name.len - 8), SV_LIT(".parquet"));
}

static bool open_parquet(struct hf_table *t, const char *const *columns, const char *const *maybe,
                         struct error *err)
{
    const char *names[MAX_COLUMNS];
    size_t count = 0;
    struct parquet_options options = {.raw_bytes = true};
    t->form = FORM_PARQUET;
    t->parquet = parquet_open(t->path.ptr, &options, err);
    if (t->parquet == NULL)
        return false;
    if (columns == NULL)
        return true;
    for (; *columns != NULL && count < MAX_COLUMNS; columns++)
        names[count++] = *columns;
    for (; maybe != NULL && *maybe != NULL && count < MAX_COLUMNS; maybe++)
        if (parquet_has_column(t->parquet, *maybe))
            names[count++] = *maybe;
    return parquet_select(t->parquet, names, count, err);
}

/* Lists of messages are columns of a row; a list of objects under any other single name is the list of the rows. */
static bool is_message_list(struct sv key)
{
    return js_key_is(key, SV_LIT("conversations")) || js_key_is(key, SV_LIT("conversation")) ||
           js_key_is(key, SV_LIT("messages")) || js_key_is(key, SV_LIT("turns"));
}

static bool is_list_of_objects(struct sv raw)
{
    struct js_scan s;
    bool first = true;
    js_scan_init(&s, raw);
    return js_scan_peek(&s) == JS_ARRAY && js_scan_array(&s) && js_scan_element(&s, &first) &&
           js_scan_peek(&s) == JS_OBJECT;
}

/* A text that is one object with just one list of objects: that list becomes the table. */
static void look_into_object(struct hf_table *t)
{
    struct js_scan s;
    struct sv key;
    struct sv raw;
    struct sv list = {0};
    size_t lists = 0;
    bool first = true;
    js_scan_init(&s, t->text);
    if (js_scan_peek(&s) != JS_OBJECT || !js_scan_object(&s))
        return;
    while (js_scan_member(&s, &first, &key) && js_scan_skip(&s, &raw)) {
        if (is_list_of_objects(raw) && !is_message_list(key)) {
            list = raw;
            lists++;
        }
    }
    if (!js_scan_end(&s) || lists != 1)
        return;
    t->form = FORM_ARRAY;
    js_scan_init(&t->scan, t->text);
    t->scan.at = list.ptr;
}

static bool open_json(struct hf_table *t, struct error *err)
{
    if (!file_map_open(t->path.ptr, &t->map, err))
        return false;
    t->text = t->map.view;
    t->form = FORM_LINES;
    t->first = true;
    if (sv_starts(t->text, SV_LIT("\xEF\xBB\xBF")))
        t->text = sv_skip(t->text, 3);
    js_scan_init(&t->scan, t->text);
    if (js_scan_peek(&t->scan) == JS_ARRAY)
        t->form = FORM_ARRAY;
    else
        look_into_object(t);
    if (t->form == FORM_LINES)
        return jsonl_init(&t->lines, t->path.ptr, t->text, err);
    if (!position_check_text(t->path.ptr, &t->text, err))
        return false;
    js_scan_array(&t->scan);
    return true;
}

struct hf_table *hf_table_open(const char *path, struct sv name, const char *const *columns,
                               const char *const *maybe, struct error *err)
{
    struct hf_table *t = mem_new(struct hf_table);
    t->name = name;
    buf_add_str(&t->path, path);
    buf_cstr(&t->path);
    if (is_parquet(name) ? open_parquet(t, columns, maybe, err) : open_json(t, err))
        return t;
    hf_table_close(t);
    return NULL;
}

void hf_table_close(struct hf_table *t)
{
    if (t == NULL)
        return;
    parquet_free(t->parquet);
    file_map_close(&t->map);
    buf_done(&t->path);
    free(t);
}

/* Texts of a list stand for {"text": ...}, as in Python. */
static const struct js_value *parse_row(struct arena *arena, struct sv raw, struct error *err)
{
    const struct js_value *value = js_parse(arena, raw, "row", err);
    if (value == NULL || value->type != JS_STRING)
        return value;
    struct js_value *member = arena_array(arena, 1, sizeof(*member));
    struct js_value *object = arena_array(arena, 1, sizeof(*object));
    *member = *value;
    member->key = SV_LIT("text");
    member->next = NULL;
    *object = (struct js_value){.type = JS_OBJECT, .count = 1, .first = member};
    return object;
}

/* The next row's JSON; false at the end and on errors. */
static bool next_raw(struct hf_table *t, struct sv *raw, bool *failed, struct error *err)
{
    if (t->form == FORM_LINES) {
        enum jsonl_result result = jsonl_next(&t->lines, err);
        *failed = result == JSONL_FAILED;
        *raw = t->lines.line;
        return result == JSONL_LINE;
    }
    if (js_scan_element(&t->scan, &t->first) && js_scan_skip(&t->scan, raw))
        return true;
    *failed = t->scan.bad;
    if (t->scan.bad)
        position_malformed(t->path.ptr, t->text, js_scan_offset(&t->scan), err);
    return false;
}

static enum hf_rows_result next_json(struct hf_table *t, struct arena *arena, struct hf_row *row,
                                     struct error *err)
{
    struct sv raw;
    bool failed = false;
    if (!next_raw(t, &raw, &failed, err))
        return failed ? HF_ROWS_FAILED : HF_ROWS_END;
    t->number++;
    row->value = parse_row(arena, raw, err);
    if (row->value == NULL) {
        struct js_scan s;
        js_scan_init(&s, raw);
        if (t->form == FORM_LINES && (!js_scan_skip(&s, NULL) || !js_scan_end(&s)))
            jsonl_malformed(&t->lines, js_scan_offset(&s), err);
        else
            error_context(err, "'%s': row %zu", t->path.ptr, t->number);
        return HF_ROWS_FAILED;
    }
    if (row->value->type == JS_OBJECT)
        return HF_ROWS_ROW;
    error_set(err, E_PARSE, "'%s': row %zu is neither an object nor a text", t->path.ptr,
              t->number);
    return HF_ROWS_FAILED;
}

static enum hf_rows_result next_parquet(struct hf_table *t, struct arena *arena, struct hf_row *row,
                                        struct error *err)
{
    enum parquet_result result = parquet_next(t->parquet, arena, &row->value, err);
    t->number += result == PARQUET_ROW;
    return result == PARQUET_ROW   ? HF_ROWS_ROW
           : result == PARQUET_END ? HF_ROWS_END
                                   : HF_ROWS_FAILED;
}

enum hf_rows_result hf_table_next(struct hf_table *t, struct arena *shared, struct hf_row *row,
                                  struct error *err)
{
    struct arena *own = shared == NULL ? mem_new(struct arena) : NULL;
    struct arena *arena = own != NULL ? own : shared;
    *row = (struct hf_row){.arena = own, .file = t->name};
    enum hf_rows_result result =
        t->form == FORM_PARQUET ? next_parquet(t, arena, row, err) : next_json(t, arena, row, err);
    row->number = t->number;
    if (result != HF_ROWS_ROW)
        hf_row_done(row);
    return result;
}

bool hf_table_is_array(const char *path, struct sv name, bool *array, struct error *err)
{
    struct file_map map;
    *array = false;
    if (is_parquet(name))
        return true;
    if (!file_map_open(path, &map, err))
        return false;
    struct sv text = sv_starts(map.view, SV_LIT("\xEF\xBB\xBF")) ? sv_skip(map.view, 3) : map.view;
    *array = sv_starts(text, SV_LIT("["));
    file_map_close(&map);
    return true;
}
