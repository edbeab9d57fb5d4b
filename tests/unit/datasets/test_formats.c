/* CSV, times of traces, WAV and the positions of faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "datasets/audio.h"
#include "datasets/format/csv.h"
#include "datasets/format/position.h"
#include "datasets/trace_time.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Records joined as "a|b;c|d;", or the message. */
static void csv_text(const char *text, struct buf *out)
{
    struct csv *c = mem_new(struct csv);
    struct error err;
    enum csv_result result = CSV_FAILED;
    if (csv_init(c, "f.csv", sv_from(text), &err)) {
        while ((result = csv_next(c, &err)) == CSV_RECORD) {
            for (size_t i = 0; i < c->count; i++) {
                buf_add_str(out, i > 0 ? "|" : "");
                buf_add(out, c->fields[i]);
            }
            buf_add_char(out, ';');
        }
    }
    if (result == CSV_FAILED)
        buf_add_str(out, err.message);
    csv_done(c);
    free(c);
}

static void test_csv_follows_rfc_4180(void **state)
{
    static const char *const cases[][2] = {
        {"a,b\n1,2\n", "a|b;1|2;"},
        {"\xEF\xBB\xBF"
         "a,b\r\n1,2\r\n",
         "a|b;1|2;"},
        {"a,b\n\n\n1,2", "a|b;1|2;"},
        {"\"x,y\",\"he said \"\"no\"\"\"\n", "x,y|he said \"no\";"},
        {"\"two\nlines\",z\n", "two\nlines|z;"},
        {",\n", "|;"},
        {"a,\n", "a|;"},
        {"\"\"\n", ";"},
        {"", ""},
        {"a\n\"open\n", "a;'f.csv': line 2, column 1: a quoted field is not closed"},
        {"\"a\"b\n", "'f.csv': line 1, column 4: a comma or the end of the line is expected "
                     "behind a quoted field"},
        {"a\n\xFF\n", "'f.csv': line 2, column 1: not valid UTF-8"},
        {"\xFF\xFE"
         "a",
         "'f.csv' is UTF-16; save it as UTF-8"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct buf got = {0};
        csv_text(cases[i][0], &got);
        assert_string_equal(buf_cstr(&got), cases[i][1]);
        buf_done(&got);
    }
}

static void test_times_keep_seven_decimals(void **state)
{
    static const struct {
        const char *text;
        int64_t ns;
    } cases[] = {
        {"1970-01-01 00:00:00", 0},
        /* date -u -d @1700158623 */
        {"2023-11-16 18:17:03.9799600", INT64_C(1700158623979960000)},
        {"2023-11-16T18:17:03.9799600Z", INT64_C(1700158623979960000)},
        {"2024-02-29 00:00:00.0000001", INT64_C(1709164800000000100)},
        {"2000-03-01 00:00:00.1234567891", INT64_C(951868800123456789)},
    };
    static const char *const bad[] = {"",
                                      "2023-11-16",
                                      "2023-13-16 18:17:03",
                                      "2023-11-16 25:00:00",
                                      "2023-11-16 18:17:03,5",
                                      "2023/11/16 18:17:03",
                                      "x"};
    int64_t ns;
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_true(trace_time_parse(sv_from(cases[i].text), &ns));
        assert_int_equal(ns, cases[i].ns);
    }
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(trace_time_parse(sv_from(bad[i]), &ns));
}

static void test_samples_become_a_wav_of_their_length(void **state)
{
    struct arena arena = {0};
    struct error err;
    struct buf wav = {0};
    double seconds = -1.0;
    const struct js_value *list = js_parse(&arena, SV_LIT("[0, 1, -1, 0.5, 2]"), "list", &err);
    (void)state;
    assert_true(audio_from_samples(list, 10, &wav));
    assert_int_equal(wav.len, 44 + 10);
    assert_memory_equal(wav.ptr + 44, "\x00\x00\xff\x7f\x01\x80", 6);
    assert_memory_equal(wav.ptr + 52, "\xff\x7f", 2); /* held at 1 */
    assert_true(audio_measure(buf_sv(&wav), &seconds, &err));
    assert_true(seconds == 0.5);
    assert_false(audio_measure(SV_LIT("RIFF"), &seconds, &err));
    buf_done(&wav);
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv_follows_rfc_4180),
        cmocka_unit_test(test_times_keep_seven_decimals),
        cmocka_unit_test(test_samples_become_a_wav_of_their_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
