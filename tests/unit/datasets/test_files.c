/* Traces, saved workloads, statistics, sonnets, and what is said about files that cannot be used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "dataset_fixture.h"
#include "datasets/replay.h"
#include "datasets/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A temporary file of that content; its path is static. */
static const char *temporary(const char *content, const char *suffix)
{
    static char path[64];
    struct error err;
    snprintf(path, sizeof(path), "/tmp/vb-test-%ld%s", (long)getpid(), suffix);
    assert_true(file_write_atomic(path, sv_from(content), &err));
    return path;
}

static void load(struct fixture *f, const char *dataset, const char *path)
{
    fixture_init(f, dataset);
    f->tokenizer = tokenizer_load(TEST_DATA "/tok-mini", &f->err);
    assert_non_null(f->tokenizer);
    f->config.dataset_path = path;
    f->config.sharegpt_output_len = -1;
    f->config.spec_bench_output_len = 5;
    f->config.trace_chunk_size = 16;
    f->config.trace_sec_multiplier = 0.001;
    f->config.trace_timestamp = "timestamp";
    f->config.trace_input_length = "input_length";
    f->config.trace_output_length = "output_length";
    f->config.trace_hash_ids = "hash_ids";
}

static size_t ids_of(const struct workload *w, size_t index, uint32_t *ids)
{
    struct id_walk walk;
    struct id_stretch s;
    size_t count = 0;
    id_walk_from(&walk, w, &w->requests[index].prompt, 0);
    while (id_walk_next(&walk, &s))
        for (size_t i = 0; i < s.count; i++)
            ids[count++] = s.ids != NULL ? s.ids[i] : s.first + (uint32_t)i;
    return count;
}

/* trace.jsonl: rows 0 and 1 begin with hashes 1 and 2, that is 32 ids. */
static void test_equal_hashes_give_equal_ids(void **state)
{
    struct fixture f;
    uint32_t a[64];
    uint32_t b[64];
    struct buf wire = {0};
    (void)state;
    load(&f, "timed_trace", TEST_DATA "/datasets/trace.jsonl");
    f.config.num_prompts = 5;
    assert_true(fixture_build(&f));
    assert_int_equal(f.workload.count, 5);
    assert_int_equal(ids_of(&f.workload, 0, a), 40);
    assert_int_equal(ids_of(&f.workload, 1, b), 48);
    assert_memory_equal(a, b, 32 * sizeof(a[0]));
    assert_int_not_equal(a[32], b[32]);
    assert_int_equal(f.workload.requests[1].due_offset_ns, 60 * 1000 * 1000);
    assert_int_equal(f.workload.requests[1].output_len, 5);
    workload_prompt_write(&f.workload, &f.workload.requests[1].prompt, &wire);
    assert_int_equal(wire.len, f.workload.requests[1].prompt.json_bytes);
    buf_done(&wire);
    fixture_done(&f);
}

static void test_traces_in_csv_have_prompts_of_their_own(void **state)
{
    struct fixture f;
    uint32_t a[64];
    uint32_t b[64];
    (void)state;
    load(&f, "timed_trace",
         temporary("TIMESTAMP,ContextTokens,GeneratedTokens\n"
                   "2023-11-16 18:17:03.9799600,40,10\n2023-11-16 18:17:05.9799601,40,3\n",
                   ".csv"));
    f.config.trace_sec_multiplier = 1.0;
    assert_true(fixture_build(&f));
    assert_int_equal(f.workload.count, 2);
    assert_int_equal(f.workload.requests[0].due_offset_ns, 0);
    assert_int_equal(f.workload.requests[1].due_offset_ns, UINT64_C(2000000100));
    assert_int_equal(ids_of(&f.workload, 0, a), 40);
    assert_int_equal(ids_of(&f.workload, 1, b), 40);
    assert_memory_not_equal(a, b, 16 * sizeof(a[0]));
    unlink(f.config.dataset_path);
    fixture_done(&f);
}

static void expect_replay(struct fixture *f, const uint64_t *due_ns)
{
    struct fixture again;
    struct buf first = {0};
    struct buf second = {0};
    char path[64];
    char path2[80];
    snprintf(path, sizeof(path), "/tmp/vb-test-%ld.saved.jsonl", (long)getpid());
    snprintf(path2, sizeof(path2), "%s.2", path);
    assert_true(workload_save(&f->workload, due_ns, path, &f->err));
    fixture_init(&again, "workload");
    again.config.dataset_path = path;
    assert_true(fixture_build(&again));
    assert_int_equal(again.workload.count, f->workload.count);
    for (size_t i = 0; due_ns != NULL && i < f->workload.count; i++)
        assert_int_equal(again.workload.requests[i].due_offset_ns, due_ns[i]);
    assert_true(workload_save(&again.workload, NULL, path2, &f->err));
    assert_true(file_read(path, &first, &f->err) && file_read(path2, &second, &f->err));
    assert_true(sv_eq(buf_sv(&first), buf_sv(&second)));
    unlink(path);
    unlink(path2);
    buf_done(&first);
    buf_done(&second);
    fixture_done(&again);
}

static void test_a_saved_workload_comes_back_byte_for_byte(void **state)
{
    static const uint64_t due_ns[4] = {0, 5, 1000000007, UINT64_C(99999999999)};
    struct fixture f;
    (void)state;
    load(&f, "random", NULL);
    assert_true(fixture_build(&f));
    expect_replay(&f, due_ns);
    fixture_done(&f);
    load(&f, "random", NULL);
    f.config.random_batch_size = 3;
    assert_true(fixture_build(&f));
    assert_int_equal(f.workload.count, 2);
    expect_replay(&f, NULL);
    fixture_done(&f);
    load(&f, "timed_trace", TEST_DATA "/datasets/trace.jsonl");
    assert_true(fixture_build(&f));
    expect_replay(&f, NULL);
    fixture_done(&f);
}

/* Two prompts of 40 and 48 ids share 32; of the trace's first two rows 32 of 88 ids need not be computed twice. */
static void test_statistics_count_common_beginnings(void **state)
{
    struct fixture f;
    struct buf text = {0};
    (void)state;
    load(&f, "timed_trace", TEST_DATA "/datasets/trace.jsonl");
    f.config.num_prompts = 2;
    assert_true(fixture_build(&f));
    workload_stats_write(&f.workload, &text);
    assert_non_null(strstr(buf_cstr(&text), "36.4 % of the prompts (32 of 88 ids), 0 repeated"));
    assert_non_null(strstr(buf_cstr(&text), "Input lengths: 40 to 48 tokens"));
    assert_non_null(strstr(buf_cstr(&text), "Last request due after: 0.060 s"));
    buf_done(&text);
    fixture_done(&f);
}

static void test_sonnets_share_their_first_lines(void **state)
{
    static const char first[] = "\"Pick as many lines as you can from these poem lines:\\n"
                                "FROM fairest creatures we desire increase,\\n";
    struct fixture f;
    (void)state;
    load(&f, "sonnet", NULL);
    f.config.sonnet_input_len = 300;
    f.config.sonnet_prefix_len = 100;
    f.config.sonnet_output_len = 9;
    assert_true(fixture_build(&f));
    assert_int_equal(f.workload.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_true(sv_starts(f.workload.requests[i].prompt.json, sv_from(first)));
        assert_true(f.workload.requests[i].prompt_len <= 300);
        assert_true(f.workload.requests[i].prompt_len > 200);
        assert_int_equal(f.workload.requests[i].output_len, 9);
    }
    fixture_done(&f);
}

static void test_unusable_files_are_told_by_place_and_reason(void **state)
{
    static const char *const cases[][3] = {
        {"sharegpt", "", "line 1, column 1: a JSON list of conversations is expected"},
        {"sharegpt", "[]", "no conversation of at least two turns (0 shorter ones)"},
        {"sharegpt", "[{\"conversations\": []}]", "(1 shorter ones)"},
        {"sharegpt", "[\n{\"conversations\": [{\"value\": 3}]}]",
         "line 2, column 30: 'value' must be a string"},
        {"sharegpt", "[\n\n{\"conversations\": [}", "line 3, column 20: malformed JSON at '}'"},
        {"sharegpt", "[{\"conversations\": [{\"value\": \"a\"}, {\"value\": \"b\"}]}]",
         "of 1, 1 have a prompt below 4 tokens"},
        {"sharegpt", "[\xFF]", "line 1, column 2: not valid UTF-8"},
        {"spec_bench", "{\"turns\": [\"x\"], \"category\": \"a\"}\n{", "line 2, column 2"},
        {"spec_bench", "{\"turns\": []}\n", "of 1, 1 have no text"},
        {"burstgpt", "", "is empty"},
        {"burstgpt", "Model,Request tokens\n", "no column 'Response tokens'"},
        {"burstgpt", "Model,Request tokens,Response tokens\nGPT-4,x,3\n",
         "line 2: 'Request tokens' is 'x'"},
        {"burstgpt", "Model,Request tokens,Response tokens\nGPT-4,1,0\nChatGPT,1,1\n",
         "1 are not of model GPT-4, 1 got no answer"},
        {"timed_trace", "", "has no rows"},
        {"timed_trace", "{\"t\": 1, \"input_length\": 3}", "its keys are: t, input_length"},
        {"timed_trace", "{\"timestamp\": 1, \"input_length\": 3, \"output_length\": 1.5}",
         "'output_length' is 1.5"},
        {"timed_trace",
         "{\"timestamp\": 1, \"input_length\": 3, \"output_length\": 1, \"hash_ids\": [1.5]}",
         "no 64-bit whole number"},
        {"timed_trace", "a,b\n1,2\n", "neither TIMESTAMP"},
        {"workload", "{\"prompt_len\": 3}", "line 1: has neither 'prompt' nor 'messages'"},
        {"workload", "{\"prompt\": 5}", "line 1: 'prompt' is of the wrong type"},
        {"workload", "{\"prompt\": \"a\"}", "line 1: has no 'prompt_len'"},
        {"workload", "{\"prompt\": \"a\", \"prompt_len\": 1}", "line 1: has no 'output_len'"},
        {"workload", "{\"prompt\": \"a\", \"media\": 3}", "'media' is of the wrong type"},
        {"workload", "\n\n", "has no requests"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct fixture f;
        load(&f, cases[i][0], temporary(cases[i][1], ".bad"));
        assert_false(fixture_build(&f));
        if (strstr(f.err.message, cases[i][2]) == NULL)
            fail_msg("%s '%s': %s", cases[i][0], cases[i][1], f.err.message);
        unlink(f.config.dataset_path);
        fixture_done(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_hashes_give_equal_ids),
        cmocka_unit_test(test_traces_in_csv_have_prompts_of_their_own),
        cmocka_unit_test(test_a_saved_workload_comes_back_byte_for_byte),
        cmocka_unit_test(test_statistics_count_common_beginnings),
        cmocka_unit_test(test_sonnets_share_their_first_lines),
        cmocka_unit_test(test_unusable_files_are_told_by_place_and_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
