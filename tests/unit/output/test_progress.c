/* The live view and the lines beside the result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "output/notes.h"
#include "output/progress.h"

/* Everything that a test wrote to its stream. */
static const char *read_back(FILE *file)
{
    static char text[4096];
    rewind(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    return text;
}

static const struct progress_snapshot HALF = {
    .done = 50, .total = 200, .in_flight = 8, .failed = 1, .elapsed_s = 25.0, .tokens = 5000};

static void test_line_tells_rate_in_flight_failures_and_time_left(void **state)
{
    (void)state;
    char line[256];
    size_t len = progress_format(line, sizeof(line), &HALF);
    /* 150 left at 2 a second: 75 s */
    assert_string_equal(line,
                        "50/200 (25%), 2.00 req/s, 8 in flight, 1 failed, 200 tok/s, ETA 0:01:15");
    assert_int_equal(len, strlen(line));
    static const struct progress_snapshot begin = {.total = 200};
    progress_format(line, sizeof(line), &begin);
    assert_string_equal(line, "0/200 (0%), 0.00 req/s, 0 in flight, 0 failed, ETA -");
    char narrow[10];
    assert_true(progress_format(narrow, sizeof(narrow), &HALF) < sizeof(narrow));
}

static void test_plain_stream_gets_a_line_every_ten_seconds(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    struct progress p;
    uint64_t t = 77 * NS_PER_S;
    progress_begin(&p, file, PROGRESS_LINES, t);
    for (int tenth = 0; tenth <= 255; tenth++)
        progress_update(&p, &HALF, t + (uint64_t)tenth * (NS_PER_S / 10));
    const char *text = read_back(file);
    size_t lines = 0;
    for (const char *c = text; *c != '\0'; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 2); /* at 10 and 20 s */
    assert_null(strchr(text, '\r'));
}

static void test_terminal_line_is_redrawn_at_most_ten_times_a_second(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    struct progress p;
    progress_begin(&p, file, PROGRESS_TERMINAL, 0);
    for (uint64_t ms = 0; ms < 1000; ms++)
        progress_update(&p, &HALF, ms * NS_PER_MS);
    static const struct progress_snapshot small = {.done = 2, .total = 2, .elapsed_s = 1};
    progress_end(&p, &small, NS_PER_S);
    const char *text = read_back(file);
    size_t redrawn = 0;
    for (const char *c = text; *c != '\0'; c++)
        redrawn += *c == '\r';
    assert_int_equal(redrawn, 10); /* nine in the second, and the end */
    /* The last, shorter line wipes out what it does not cover. */
    const char *last = strrchr(text, '\r') + 1;
    assert_int_equal(strlen(last), strlen("50/200 (25%), 2.00 req/s, 8 in flight, 1 failed, "
                                          "200 tok/s, ETA 0:01:15") +
                                       1);
    assert_int_equal(last[strlen(last) - 1], '\n');
}

static void test_switched_off_writes_nothing(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    struct progress p;
    assert_int_equal(progress_mode_for(file, true), PROGRESS_OFF);
    assert_int_equal(progress_mode_for(file, false), PROGRESS_LINES);
    progress_begin(&p, file, PROGRESS_OFF, 0);
    progress_update(&p, &HALF, 60 * NS_PER_S);
    progress_end(&p, &HALF, 61 * NS_PER_S);
    assert_string_equal(read_back(file), "");
}

static void test_traffic_lines_are_pythons(void **state)
{
    (void)state;
    struct config config;
    config_init(&config);
    FILE *file = tmpfile();
    note_traffic(file, &config);
    config.request_rate = 50;
    config.burstiness = 0.5;
    config.max_concurrency = 2;
    note_traffic(file, &config);
    config.ramp_up_strategy = RAMP_UP_LINEAR;
    config.ramp_up_start_rps = 5;
    config.ramp_up_end_rps = 40;
    note_traffic(file, &config);
    assert_string_equal(read_back(file),
                        "Traffic request rate: inf\n"
                        "Burstiness factor: 1.0 (Poisson process)\n"
                        "Maximum request concurrency: None\n"
                        "Traffic request rate: 50.0\n"
                        "Burstiness factor: 0.5 (Gamma distribution)\n"
                        "Maximum request concurrency: 2\n"
                        "Traffic ramp-up strategy: linear.\n"
                        "Will increase RPS from 5 to 40 RPS over the duration of the benchmark.\n"
                        "Burstiness factor: 0.5 (Gamma distribution)\n"
                        "Maximum request concurrency: 2\n");
    config_done(&config);
}

static void test_dry_run_lines_are_the_rust_tools(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    static const struct dry_run_stats stats = {4, 112, 24};
    note_dry_run(file, &stats);
    assert_string_equal(read_back(file), "Dry run stats:\n"
                                         "  Total prompts: 4\n"
                                         "  Total input tokens: 112\n"
                                         "  Total expected output tokens: 24\n"
                                         "  Avg input tokens: 28.0\n"
                                         "  Avg output tokens: 6.0\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_tells_rate_in_flight_failures_and_time_left),
        cmocka_unit_test(test_plain_stream_gets_a_line_every_ten_seconds),
        cmocka_unit_test(test_terminal_line_is_redrawn_at_most_ten_times_a_second),
        cmocka_unit_test(test_switched_off_writes_nothing),
        cmocka_unit_test(test_traffic_lines_are_pythons),
        cmocka_unit_test(test_dry_run_lines_are_the_rust_tools),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
