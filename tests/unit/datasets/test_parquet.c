/* The Parquet reader against files of tests/data/parquet, whose rows are given as pyarrow reads them
 * (tools/gen_parquet_data.py), and its parts against the examples of the format's specification. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base64.h"
#include "base/file.h"
#include "datasets/format/parquet.h"
#include "datasets/format/parquet/bits.h"
#include "datasets/format/parquet/codec.h"
#include "datasets/format/parquet/scalar.h"
#include "datasets/format/parquet/thrift.h"
#include "json/writer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FOLDER       TEST_DATA "/parquet/"
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Rows as lines; a message instead where the file is refused. */
static bool read_all(struct parquet *p, struct buf *out, struct error *err)
{
    struct arena arena = {0};
    const struct js_value *row = NULL;
    enum parquet_result result;
    struct js_writer w;
    while ((result = parquet_next(p, &arena, &row, err)) == PARQUET_ROW) {
        js_writer_init(&w, out);
        js_write_value(&w, row);
        buf_add_char(out, '\n');
        arena_done(&arena);
    }
    arena_done(&arena);
    return result == PARQUET_END;
}

static bool read_bytes(struct sv bytes, struct buf *out, struct error *err)
{
    struct parquet *p = parquet_open_memory("f", bytes, NULL, err);
    bool ok = p != NULL && read_all(p, out, err);
    parquet_free(p);
    return ok;
}

/* The file of expected rows, written back by the same writer, so that only values count. */
static void read_expected(const char *path, struct buf *out)
{
    struct buf text = {0};
    struct error err;
    struct arena arena = {0};
    struct js_writer w;
    struct sv line;
    assert_true(file_read(path, &text, &err));
    struct sv rest = buf_sv(&text);
    while (sv_split(&rest, '\n', &line)) {
        if (line.len == 0)
            continue;
        const struct js_value *row = js_parse(&arena, line, path, &err);
        assert_non_null(row);
        js_writer_init(&w, out);
        js_write_value(&w, row);
        buf_add_char(out, '\n');
    }
    arena_done(&arena);
    buf_done(&text);
}

static void check_file(const char *name)
{
    char path[512];
    char expected[512];
    struct buf got = {0};
    struct buf want = {0};
    struct error err = {0};
    snprintf(path, sizeof(path), FOLDER "%s.parquet", name);
    snprintf(expected, sizeof(expected), FOLDER "%.*s.jsonl", (int)strcspn(name, "@"), name);
    struct parquet *p = parquet_open(path, NULL, &err);
    if (p == NULL || !read_all(p, &got, &err))
        fail_msg("%s: %s", name, err.message);
    read_expected(expected, &want);
    if (!sv_eq(buf_sv(&got), buf_sv(&want)))
        fail_msg("%s: got\n%.2000s\nnot\n%.2000s", name, buf_cstr(&got), buf_cstr(&want));
    parquet_free(p);
    buf_done(&got);
    buf_done(&want);
}

static void test_rows_are_those_of_pyarrow(void **state)
{
    static const char *const names[] = {
        "types@v1",
        "types@v2",
        "nested@v1",
        "nested@v2",
        "encodings@v1",
        "encodings@v2",
        "deltas@v1",
        "deltas@v2",
        "codecs@none-v1",
        "codecs@none-v2",
        "codecs@snappy-v1",
        "codecs@snappy-v2",
        "codecs@gzip-v1",
        "codecs@gzip-v2",
        "codecs@brotli-v1",
        "codecs@brotli-v2",
        "codecs@zstd-v1",
        "codecs@zstd-v2",
        "codecs@lz4-v1",
        "codecs@lz4-v2",
        "pages",
        "pages_v2",
        "int96",
        "dictionary_too_large",
        "no_rows",
        "decimals_in_integers",
        "lists_unnamed",
        "no_schema_kept",
        "version_1",
        "nulls_alone",
        "fastparquet@snappy",
        "fastparquet@gzip",
        "fastparquet@zstd",
        "fastparquet@lz4_raw",
        "fastparquet@brotli",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        check_file(names[i]);
}

static void test_what_old_writers_left_is_read_as_specified(void **state)
{
    (void)state;
    check_file("hand_lists");
    check_file("hand_maps");
    check_file("hand_types");
    check_file("hand_codecs");
    check_file("hand_levels");
}

static void test_faulty_files_are_refused_with_the_place_and_the_reason(void **state)
{
    static const struct {
        const char *name;
        enum error_code code;
        const char *message; /* after the file's name */
    } cases[] = {
        {"no_magic", E_PARSE, "not a Parquet file: it does not begin with 'PAR1'"},
        {"cut", E_PARSE, "not a whole Parquet file: it does not end with 'PAR1'; was it cut off?"},
        {"short", E_PARSE, "not a Parquet file: it has 4 bytes, the least is 12"},
        {"footer_size", E_PARSE, "malformed Parquet file: a footer of 106 bytes in a file of 106"},
        {"footer_cut", E_PARSE,
         "malformed Parquet footer: it breaks off or holds a value out of its range"},
        {"encrypted_footer", E_UNSUPPORTED, "encrypted Parquet files are not supported"},
        {"encrypted_column", E_UNSUPPORTED, "column 'a' is encrypted; not supported"},
        {"elsewhere", E_UNSUPPORTED, "column 'a' lies in another file; not supported"},
        {"rows_promised", E_PARSE,
         "malformed Parquet footer: it promises 3 rows, its row groups 2"},
        {"lzo", E_UNSUPPORTED,
         "column 'a', row group 0, page 0: compression by LZO (3) is not supported"},
        {"unknown_codec", E_UNSUPPORTED,
         "column 'a', row group 0, page 0: compression by an unknown codec (99) is not supported"},
        {"unpacked_size", E_PARSE,
         "column 'a', row group 0, page 0: 6 bytes cannot be unpacked by SNAPPY to the 8 bytes "
         "that are promised"},
        {"not_packed", E_PARSE,
         "column 'a', row group 0, page 0: 9 bytes cannot be unpacked by ZSTD to the 8 bytes that "
         "are promised"},
        {"checksum", E_PARSE,
         "column 'a', row group 0, page 0: the page's checksum is wrong: the file is damaged"},
        {"page_too_long", E_PARSE,
         "column 'a', row group 0, page 0: the page has 8 bytes, its column only 7 more"},
        {"page_too_full", E_PARSE,
         "column 'a', row group 0, page 0: the page has 3 values, its column only 2 more"},
        {"values_missing", E_PARSE,
         "column 'a', row group 0, page 1: the column ends with 1 values missing"},
        {"values_over", E_PARSE,
         "column 'a', row group 0, page 0: the column goes on after the last row of its row "
         "group"},
        {"page_short", E_PARSE,
         "column 'a', row group 0, page 0: the values end before their number is reached"},
        {"encoding", E_UNSUPPORTED,
         "column 'a', row group 0, page 0: values of type INT32 in encoding DELTA_BYTE_ARRAY are "
         "not supported"},
        {"unknown_encoding", E_UNSUPPORTED,
         "column 'a', row group 0, page 0: values in encoding 33 are not supported"},
        {"no_dictionary", E_PARSE,
         "column 'a', row group 0, page 0: its values are entries of a dictionary, but no "
         "dictionary page came before"},
        {"dictionary_entry", E_PARSE,
         "column 'a', row group 0, page 1: entry 1 of a dictionary that has 1"},
        {"dictionary_size", E_PARSE,
         "column 'a', row group 0, page 0: a dictionary of 9 entries in 4 bytes"},
        {"text", E_PARSE,
         "column 'a', row group 0, page 0: a text of 2 bytes is not valid UTF-8 at byte 1"},
        {"text_length", E_PARSE,
         "column 'a', row group 0, page 0: a value of 99 bytes, but the page has only 1 more"},
        {"level_high", E_PARSE, "column 'a', row group 0, page 0: malformed definition levels"},
        {"level_bytes", E_PARSE,
         "column 'a', row group 0, page 0: levels of 200 bytes, but the page has only 6 more"},
        {"time_of_day", E_PARSE, "column 'a', row group 0, page 0: 86400000 is no time of a day"},
        {"lists_of_two_lengths", E_PARSE,
         "column 'l.list.element.y', row group 0, page 0: a repetition level of 0 where 1 "
         "belongs"},
        {"nulls_of_two_levels", E_PARSE,
         "column 'l.list.element.y', row group 0, page 0: a definition level of 1 where 3 "
         "belongs"},
        {"children", E_PARSE,
         "malformed Parquet schema: an element has more children than there are elements"},
        {"childless", E_PARSE, "malformed Parquet schema: 'a' has neither a type nor children"},
        {"leftover", E_PARSE, "malformed Parquet schema: 1 elements belong to no group"},
        {"chunks", E_PARSE, "malformed Parquet footer: row group 0 has 1 columns, the schema 2"},
        {"type", E_PARSE, "column 'a', row group 0: its type is 1, in the schema 2"},
        {"deep", E_LIMIT, "columns are nested deeper than 100 levels"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char path[512];
        struct buf bytes = {0};
        struct buf rows = {0};
        struct error err = {0};
        snprintf(path, sizeof(path), FOLDER "faulty/%s.parquet", cases[i].name);
        assert_true(file_read(path, &bytes, &err));
        if (read_bytes(buf_sv(&bytes), &rows, &err))
            fail_msg("%s is accepted", cases[i].name);
        assert_true(strncmp(err.message, "'f': ", 5) == 0);
        assert_string_equal(err.message + 5, cases[i].message);
        assert_int_equal(err.code, cases[i].code);
        buf_done(&bytes);
        buf_done(&rows);
    }
}

static void test_a_failed_reader_keeps_failing(void **state)
{
    struct error err = {0};
    struct error again = {0};
    struct arena arena = {0};
    const struct js_value *row;
    struct parquet *p = parquet_open(FOLDER "faulty/page_short.parquet", NULL, &err);
    (void)state;
    assert_non_null(p);
    assert_int_equal(parquet_next(p, &arena, &row, &err), PARQUET_ROW);
    assert_int_equal(parquet_next(p, &arena, &row, &err), PARQUET_FAILED);
    assert_int_equal(parquet_next(p, &arena, &row, &again), PARQUET_FAILED);
    assert_string_equal(err.message, again.message);
    parquet_free(p);
    arena_done(&arena);
}

static void test_a_missing_file_is_named(void **state)
{
    struct error err = {0};
    (void)state;
    assert_null(parquet_open("/no/such.parquet", NULL, &err));
    assert_int_equal(err.code, E_IO);
    assert_non_null(strstr(err.message, "/no/such.parquet"));
}

static void test_only_selected_columns_are_read(void **state)
{
    static const char *const some[] = {"sure_int", "ints"}; /* given in the file's order */
    static const char *const none[] = {"ints", "nothing"};
    struct error err = {0};
    struct buf all = {0};
    struct buf rows = {0};
    (void)state;
    struct parquet *p = parquet_open(FOLDER "codecs@none-v1.parquet", NULL, &err);
    assert_non_null(p);
    assert_int_equal(parquet_row_count(p), 30);
    assert_int_equal(parquet_column_count(p), 5);
    assert_true(sv_eq(parquet_column_name(p, 2), SV_LIT("list_of_groups")));
    assert_true(parquet_has_column(p, "image"));
    assert_false(parquet_has_column(p, "bytes"));
    assert_true(read_all(p, &all, &err));

    assert_false(parquet_select(p, none, 2, &err));
    assert_string_equal(err.message, "'" FOLDER "codecs@none-v1.parquet': there is no column "
                                     "'nothing'; the columns are: ints, texts, list_of_groups, "
                                     "sure_int, image");
    assert_true(parquet_select(p, some, 2, &err));
    assert_true(read_all(p, &rows, &err));
    assert_true(sv_starts(buf_sv(&rows), SV_LIT("{\"ints\":")));
    assert_null(strstr(buf_cstr(&rows), "texts"));
    size_t lines = 0;
    for (size_t i = 0; i < rows.len; i++)
        lines += rows.ptr[i] == '\n';
    assert_int_equal(lines, 30);

    buf_reset(&rows); /* all again, from the first row on */
    assert_true(parquet_select(p, NULL, 0, &err));
    assert_true(read_all(p, &rows, &err));
    assert_true(sv_eq(buf_sv(&rows), buf_sv(&all)));
    parquet_free(p);
    buf_done(&all);
    buf_done(&rows);
}

static void test_raw_bytes_are_what_base64_stands_for(void **state)
{
    struct parquet_options options = {.raw_bytes = true};
    struct error err = {0};
    struct arena arena = {0};
    const struct js_value *text;
    const struct js_value *raw;
    size_t pictures = 0;
    (void)state;
    struct parquet *a = parquet_open(FOLDER "codecs@zstd-v2.parquet", NULL, &err);
    struct parquet *b = parquet_open(FOLDER "codecs@zstd-v2.parquet", &options, &err);
    while (parquet_next(a, &arena, &text, &err) == PARQUET_ROW) {
        struct buf decoded = {0};
        struct sv bytes;
        assert_int_equal(parquet_next(b, &arena, &raw, &err), PARQUET_ROW);
        text = js_get(js_get(text, "image"), "bytes");
        raw = js_get(js_get(raw, "image"), "bytes");
        if (js_as_sv(raw, &bytes)) {
            assert_true(base64_read(&decoded, text->text));
            assert_true(sv_eq(bytes, buf_sv(&decoded)));
            pictures++;
        }
        buf_done(&decoded);
    }
    assert_true(pictures > 10);
    parquet_free(a);
    parquet_free(b);
    arena_done(&arena);
}

static void test_limits_are_kept(void **state)
{
    struct parquet_options page = {.max_page_bytes = 50};
    struct parquet_options row = {.max_row_bytes = 300};
    struct error err = {0};
    struct buf rows = {0};
    (void)state;
    struct parquet *p = parquet_open(FOLDER "codecs@snappy-v1.parquet", &page, &err);
    assert_false(read_all(p, &rows, &err));
    assert_int_equal(err.code, E_LIMIT);
    assert_non_null(strstr(err.message, "bytes unpacked, the limit is 50"));
    parquet_free(p);
    p = parquet_open(FOLDER "codecs@snappy-v1.parquet", &row, &err);
    assert_false(read_all(p, &rows, &err));
    assert_int_equal(err.code, E_LIMIT);
    assert_non_null(strstr(err.message, "a row takes more than 300 bytes"));
    parquet_free(p);
    buf_done(&rows);
}

/* A file cut anywhere, or with any byte changed, gives rows or a message and nothing else; where pages have a checksum
 * a changed page is always found. */
static void test_damage_is_survived(void **state)
{
    static const char *const names[] = {"hand_lists", "hand_levels", "int96", "nulls_alone"};
    (void)state;
    for (size_t k = 0; k < COUNT(names); k++) {
        char path[512];
        struct buf bytes = {0};
        struct buf rows = {0};
        struct error err = {0};
        snprintf(path, sizeof(path), FOLDER "%s.parquet", names[k]);
        assert_true(file_read(path, &bytes, &err));
        for (size_t cut = 0; cut < bytes.len; cut++)
            assert_false(read_bytes(sv_make(bytes.ptr, cut), &rows, &err));
        for (size_t i = 0; i < bytes.len; i++) {
            for (unsigned bit = 0; bit < 8; bit++) {
                bytes.ptr[i] = (char)(bytes.ptr[i] ^ (1 << bit));
                err.message[0] = '\0';
                assert_true(read_bytes(buf_sv(&bytes), &rows, &err) || err.message[0] == '\'');
                bytes.ptr[i] = (char)(bytes.ptr[i] ^ (1 << bit));
            }
        }
        buf_done(&bytes);
        buf_done(&rows);
    }
}

/* ---- parts -------------------------------------------------------------------------------------------------------- */

static void test_packed_runs_follow_the_example(void **state)
{
    /* Encodings.md: 0 to 7 in 3 bits each, once the lowest bits first and once the highest. */
    static const char low[] = {0x03, (char)0x88, (char)0xC6, (char)0xFA};
    static const char high[] = {0x05, 0x39, 0x77};
    struct pq_runs r;
    uint32_t value;
    (void)state;
    pq_runs_start(&r, 3, sv_make(low, sizeof(low)));
    for (uint32_t i = 0; i < 8; i++)
        assert_true(pq_runs_next(&r, &value) && value == i);
    assert_false(pq_runs_next(&r, &value));
    pq_packed_start(&r, 3, sv_make(high, sizeof(high)));
    for (uint32_t i = 0; i < 8; i++)
        assert_true(pq_runs_next(&r, &value) && value == i);
    assert_false(pq_runs_next(&r, &value));
}

static void test_runs_of_one_value_are_not_stored(void **state)
{
    /* 2^31 - 1 times 300 in 9 bits, then the end. */
    static const char bytes[] = {(char)0xFE, (char)0xFF, (char)0xFF, (char)0xFF, 0x0F, 0x2C, 0x01};
    struct pq_runs r;
    uint32_t value;
    (void)state;
    pq_runs_start(&r, 9, sv_make(bytes, sizeof(bytes)));
    assert_true(pq_runs_next(&r, &value));
    assert_int_equal(value, 300);
    assert_true(r.left == INT32_MAX - 1);
}

static void test_deltas_follow_the_examples(void **state)
{
    /* Encodings.md: 1 to 5, and 7, 5, 3, 1, 2, 3, 4, 5 with deltas from -2 on in 2 bits. */
    static const char first[] = {(char)0x80, 0x01, 0x04, 0x05, 0x02, 0x02, 0, 0, 0, 0, 'x'};
    static const char second[] = {(char)0x80, 0x01, 0x04, 0x08, 0x0E, 0x03, 2, 0, 0,  0,
                                  (char)0xC0, 0x3F, 0,    0,    0,    0,    0, 0, 'x'};
    static const uint64_t values[] = {7, 5, 3, 1, 2, 3, 4, 5};
    struct pq_delta d;
    uint64_t value;
    const uint8_t *end;
    (void)state;
    assert_true(pq_delta_start(&d, sv_make(first, sizeof(first))));
    assert_true(pq_delta_find_end(&d, &end) && *end == 'x');
    for (uint64_t i = 1; i <= 5; i++)
        assert_true(pq_delta_next(&d, &value) && value == i);
    assert_false(pq_delta_next(&d, &value));
    assert_true(pq_delta_start(&d, sv_make(second, sizeof(second))));
    assert_true(pq_delta_find_end(&d, &end) && *end == 'x');
    for (size_t i = 0; i < 8; i++)
        assert_true(pq_delta_next(&d, &value) && value == values[i]);
}

/* Packs bit by bit what the reader unpacks by words: one miniblock of 32 deltas for every width. */
static void test_deltas_of_every_width(void **state)
{
    (void)state;
    for (unsigned width = 0; width <= 64; width++) {
        /* A block of 32 values in one miniblock, 33 values, the first 0; the least delta 0, the width. */
        uint8_t bytes[7 + 32 * 8] = {0x20, 1, 0x21, 0, 0, (uint8_t)width};
        uint64_t deltas[32];
        uint64_t sum = 0;
        uint64_t value;
        struct pq_delta d;
        size_t bit = 6 * 8;
        for (size_t i = 0; i < 32; i++) {
            deltas[i] = UINT64_C(0x9E3779B97F4A7C15) * (i + 1);
            deltas[i] = width == 0 ? 0 : deltas[i] >> (64 - width);
            for (unsigned k = 0; k < width; k++, bit++)
                bytes[bit / 8] |= (uint8_t)((deltas[i] >> k & 1) << (bit % 8));
        }
        assert_true(pq_delta_start(&d, sv_make((const char *)bytes, 6 + 4 * width)));
        assert_true(pq_delta_next(&d, &value) && value == 0);
        for (size_t i = 0; i < 32; i++) {
            sum += deltas[i];
            assert_true(pq_delta_next(&d, &value) && value == sum);
        }
        assert_false(pq_delta_next(&d, &value));
    }
}

static void test_thrift_values_and_their_ranges(void **state)
{
    /* Field 1: i32 -3; field 2: true; field 20: "ab"; field 21: list of two i32, 1 and -1; end. */
    static const char bytes[] = {0x15, 0x05, 0x11, 0x08, 0x28, 0x02, 'a', 'b', 0x19, 0x25, 2, 1, 0};
    struct thrift t = thrift_over(sv_make(bytes, sizeof(bytes)));
    struct thrift_field f = {0};
    (void)state;
    assert_true(thrift_next(&t, &f) && f.id == 1);
    assert_true(thrift_int(&t, &f, INT32_MIN, INT32_MAX) == -3);
    assert_true(thrift_next(&t, &f) && f.id == 2 && thrift_bool(&t, &f));
    assert_true(thrift_next(&t, &f) && f.id == 20);
    assert_true(sv_eq(thrift_binary(&t, &f), SV_LIT("ab")));
    assert_true(thrift_next(&t, &f) && f.id == 21);
    thrift_skip(&t, &f);
    assert_false(thrift_next(&t, &f));
    assert_false(t.bad);
    t = thrift_over(sv_make(bytes, sizeof(bytes)));
    f = (struct thrift_field){0};
    assert_true(thrift_next(&t, &f));
    assert_true(thrift_int(&t, &f, 0, INT32_MAX) == 0 && t.bad);
    assert_false(thrift_next(&t, &f));
}

static void test_short_floating_point_is_widened_exactly(void **state)
{
    (void)state;
    assert_true(pq_widen(0x3C00, 5, 10) == 1.0);
    assert_true(pq_widen(0xC000, 5, 10) == -2.0);
    assert_true(pq_widen(0x7BFF, 5, 10) == 65504.0);
    assert_true(pq_widen(0x0001, 5, 10) == 0x1p-24);
    assert_true(pq_widen(0x03FF, 5, 10) == 0x3FFp-24);
    assert_true(isinf(pq_widen(0x7C00, 5, 10)) && isnan(pq_widen(0x7E00, 5, 10)));
    assert_true(signbit(pq_widen(0x8000, 5, 10)) && pq_widen(0x8000, 5, 10) == 0);
    /* All exponents of 32 bits, as the compiler widens them. */
    for (uint32_t bits = 0; bits < 0xFF800000u; bits += 0x00012345) {
        float narrow;
        memcpy(&narrow, &bits, sizeof(narrow));
        double wide = narrow;
        double got = pq_widen(bits, 8, 23);
        assert_true(isnan(wide) ? isnan(got) : memcmp(&wide, &got, sizeof(got)) == 0);
    }
}

static void check_scalar(struct pq_element e, struct pq_value value, const char *want)
{
    struct arena arena = {0};
    struct js_value out = {0};
    struct error err = {0};
    assert_true(pq_scalar(&e, &value, false, &arena, &out, &err));
    assert_true(sv_eq(out.text, sv_from(want)));
    arena_done(&arena);
}

static void test_dates_far_away(void **state)
{
    /* date -u -d "@$((days * 86400))" +%Y-%m-%d of GNU coreutils 9.1 */
    static const struct {
        int32_t days;
        const char *text;
    } cases[] = {
        {0, "1970-01-01"},       {-1, "1969-12-31"},      {11016, "2000-02-29"},
        {-25509, "1900-02-28"},  {-25508, "1900-03-01"},  {-719162, "0001-01-01"},
        {-719163, "0000-12-31"}, {2932896, "9999-12-31"}, {2932897, "10000-01-01"},
        {47482, "2100-01-01"},
    };
    struct pq_element e = {.type = PQ_INT32, .meaning = PQ_DATE};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        check_scalar(e, (struct pq_value){.bits = (uint32_t)cases[i].days}, cases[i].text);
}

static void test_instants_at_the_ends_of_their_range(void **state)
{
    /* numpy.datetime64(value, unit) of numpy 2.4.6 */
    struct pq_element e = {.type = PQ_INT64, .meaning = PQ_TIMESTAMP, .fraction = 9};
    (void)state;
    check_scalar(e, (struct pq_value){.bits = (uint64_t)INT64_MAX},
                 "2262-04-11T23:47:16.854775807");
    check_scalar(e, (struct pq_value){.bits = (uint64_t)INT64_MIN + 1},
                 "1677-09-21T00:12:43.145224193");
    e.fraction = 6;
    check_scalar(e, (struct pq_value){.bits = (uint64_t)INT64_MIN + 1},
                 "-290308-12-21T19:59:05.224193");
    e.fraction = 3;
    e.utc = true;
    check_scalar(e, (struct pq_value){.bits = (uint64_t)INT64_MAX},
                 "292278994-08-17T07:12:55.807000+00:00");
}

static void test_decimals_keep_their_decimals(void **state)
{
    struct pq_element e = {.type = PQ_INT64, .meaning = PQ_DECIMAL, .scale = 3};
    (void)state;
    check_scalar(e, (struct pq_value){.bits = 5}, "0.005");
    check_scalar(e, (struct pq_value){.bits = (uint64_t)-1234567}, "-1234.567");
    check_scalar(e, (struct pq_value){.bits = (uint64_t)INT64_MIN}, "-9223372036854775.808");
    e.scale = 0;
    check_scalar(e, (struct pq_value){.bits = 0}, "0");
    e.type = PQ_BYTE_ARRAY;
    e.scale = 2;
    check_scalar(e, (struct pq_value){.bytes = SV_LIT("")}, "0.00");
    check_scalar(e, (struct pq_value){.bytes = SV_LIT("\x80")}, "-1.28");
    check_scalar(e, (struct pq_value){.bytes = SV_LIT("\x01\x00\x00\x00\x00\x00\x00\x00\x00")},
                 "184467440737095516.16");
}

static void test_bytes_after_the_packed_ones_are_refused(void **state)
{
    struct buf out = {0};
    struct error err = {0};
    (void)state;
    assert_false(pq_unpack(7,
                           SV_LIT("\x10"
                                  "axx"),
                           1, &out, &err)); /* LZ4_RAW of "a", two bytes too many */
    assert_true(pq_unpack(7,
                          SV_LIT("\x10"
                                 "a"),
                          1, &out, &err));
    assert_true(sv_eq(buf_sv(&out), SV_LIT("a")));
    buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_those_of_pyarrow),
        cmocka_unit_test(test_what_old_writers_left_is_read_as_specified),
        cmocka_unit_test(test_faulty_files_are_refused_with_the_place_and_the_reason),
        cmocka_unit_test(test_a_failed_reader_keeps_failing),
        cmocka_unit_test(test_a_missing_file_is_named),
        cmocka_unit_test(test_only_selected_columns_are_read),
        cmocka_unit_test(test_raw_bytes_are_what_base64_stands_for),
        cmocka_unit_test(test_limits_are_kept),
        cmocka_unit_test(test_damage_is_survived),
        cmocka_unit_test(test_packed_runs_follow_the_example),
        cmocka_unit_test(test_runs_of_one_value_are_not_stored),
        cmocka_unit_test(test_deltas_follow_the_examples),
        cmocka_unit_test(test_deltas_of_every_width),
        cmocka_unit_test(test_thrift_values_and_their_ranges),
        cmocka_unit_test(test_short_floating_point_is_widened_exactly),
        cmocka_unit_test(test_dates_far_away),
        cmocka_unit_test(test_instants_at_the_ends_of_their_range),
        cmocka_unit_test(test_decimals_keep_their_decimals),
        cmocka_unit_test(test_bytes_after_the_packed_ones_are_refused),
    };
    return cmocka_run_group_tests_name("parquet", tests, NULL, NULL);
}
