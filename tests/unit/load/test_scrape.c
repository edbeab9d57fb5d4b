/* Pages of counters as vLLM writes them, and lines that are no such thing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load/scrape.h"

static struct server_counters parse(const char *page)
{
    struct server_counters c;
    scrape_parse(sv_from(page), &c);
    return c;
}

/* The form of the Prometheus client of vLLM 0.33: help lines, _created beside every counter, other families. */
static void test_page_of_one_engine(void **state)
{
    (void)state;
    struct server_counters c =
        parse("# HELP vllm:num_requests_running Number of requests.\n"
              "# TYPE vllm:num_requests_running gauge\n"
              "vllm:num_requests_running{engine=\"0\",model_name=\"m\"} 3.0\n"
              "# TYPE vllm:spec_decode_num_drafts_total counter\n"
              "vllm:spec_decode_num_drafts_total{engine=\"0\",model_name=\"m\"} 110.0\n"
              "vllm:spec_decode_num_drafts_created{engine=\"0\",model_name=\"m\"} 1.7e9\n"
              "vllm:spec_decode_num_draft_tokens_total{engine=\"0\",model_name=\"m\"} 330.0\n"
              "vllm:spec_decode_num_accepted_tokens_total{engine=\"0\",model_name=\"m\"} 220.0\n"
              "vllm:spec_decode_num_accepted_tokens_per_pos_total{engine=\"0\",model_name=\"m\","
              "position=\"0\"} 100.0\n"
              "vllm:spec_decode_num_accepted_tokens_per_pos_total{engine=\"0\",model_name=\"m\","
              "position=\"1\"} 120.0\n"
              "vllm:diffusion_num_denoising_steps_total{engine=\"0\"} 55.0\n"
              "vllm:diffusion_num_canvas_positions_total{engine=\"0\"} 1760.0\n"
              "vllm:diffusion_num_committed_tokens_total{engine=\"0\"} 352.0\n");
    assert_true(c.has_speculation && c.has_diffusion);
    assert_int_equal(c.drafts, 110);
    assert_int_equal(c.draft_tokens, 330);
    assert_int_equal(c.accepted_tokens, 220);
    assert_int_equal(c.position_count, 2);
    assert_int_equal(c.positions[0].accepted, 100);
    assert_int_equal(c.positions[1].position, 1);
    assert_int_equal(c.positions[1].accepted, 120);
    assert_int_equal(c.denoising_steps, 55);
    assert_int_equal(c.canvas_positions, 1760);
    assert_int_equal(c.committed_tokens, 352);
}

static void test_engines_add_up(void **state)
{
    (void)state;
    struct server_counters c = parse(
        "vllm:spec_decode_num_drafts_total{engine=\"0\"} 10\n"
        "vllm:spec_decode_num_drafts_total{engine=\"1\"} 5.9\r\n"
        "vllm:spec_decode_num_accepted_tokens_per_pos_total{position=\"4\",engine=\"0\"} 2\n"
        "vllm:spec_decode_num_accepted_tokens_per_pos_total{engine=\"1\",position=\"4\",} 3\n");
    assert_int_equal(c.drafts, 15); /* each value is cut to a whole number */
    assert_int_equal(c.position_count, 1);
    assert_int_equal(c.positions[0].position, 4);
    assert_int_equal(c.positions[0].accepted, 5);
}

/* Label values may hold anything; a time stamp may follow the value; there may be no labels. */
static void test_labels_and_stamps_are_stepped_over(void **state)
{
    (void)state;
    struct server_counters c =
        parse("vllm:spec_decode_num_drafts_total{model_name=\"a } \\\" b 99\"} 7.0 1796025342000\n"
              "vllm:spec_decode_num_draft_tokens_total 1e3\n"
              "  vllm:spec_decode_num_accepted_tokens_total\t{ engine = \"0\" , x=\"\" }\t4e2\n");
    assert_int_equal(c.drafts, 7);
    assert_int_equal(c.draft_tokens, 1000);
    assert_int_equal(c.accepted_tokens, 400);
}

static void test_other_lines_say_nothing(void **state)
{
    (void)state;
    static const char *const PAGES[] = {
        "",
        "\n\n",
        "<html><body>404</body></html>",
        "# vllm:spec_decode_num_drafts_total 5\n",
        "vllm:spec_decode_num_drafts 5\n",
        "vllm:spec_decode_num_drafts_created{a=\"b\"} 5\n",
        "vllm:spec_decode_num_drafts_total\n",
        "vllm:spec_decode_num_drafts_total{\n",
        "vllm:spec_decode_num_drafts_total{a=\"b\n",
        "vllm:spec_decode_num_drafts_total{a=\"b\\\n",
        "vllm:spec_decode_num_drafts_total{a=\"b\"\n",
        "vllm:spec_decode_num_drafts_total{a} 5\n",
        "vllm:spec_decode_num_drafts_total{a=5} 5\n",
        "vllm:spec_decode_num_drafts_total{} NaN\n",
        "vllm:spec_decode_num_drafts_total{} +Inf\n",
        "vllm:spec_decode_num_drafts_total{} five\n",
        "vllm:spec_decode_num_accepted_tokens_per_pos_total{position=\"x\"} 5\n",
        "avllm:spec_decode_num_drafts_total 5\n",
    };
    for (size_t i = 0; i < sizeof(PAGES) / sizeof(PAGES[0]); i++) {
        struct server_counters c = parse(PAGES[i]);
        if (c.has_speculation || c.has_diffusion || c.drafts != 0 || c.position_count != 0)
            fail_msg("something was found in '%s'", PAGES[i]);
    }
}

static void test_sums_and_positions_have_bounds(void **state)
{
    (void)state;
    static char page[16384];
    size_t n = 0;
    for (int i = 0; i < SERVER_POSITIONS_MAX + 10; i++)
        n += (size_t)snprintf(
            page + n, sizeof(page) - n,
            "vllm:spec_decode_num_accepted_tokens_per_pos_total{position=\"%d\"} 1\n", i);
    struct server_counters c = parse(page);
    assert_int_equal(c.position_count, SERVER_POSITIONS_MAX);
    c = parse("vllm:spec_decode_num_drafts_total{e=\"0\"} 8e18\n"
              "vllm:spec_decode_num_drafts_total{e=\"1\"} 8e18\n"
              "vllm:spec_decode_num_draft_tokens_total 1e300\n");
    assert_true(c.drafts == INT64_C(8000000000000000000));
    assert_int_equal(c.draft_tokens, 0);
    c = parse("vllm:spec_decode_num_accepted_tokens_per_pos_total{position=\"-1\"} 1\n");
    assert_int_equal(c.position_count, 0);
}

/* A page may end anywhere: whatever its length, nothing is read past it. */
static void test_every_cut_of_a_page_is_read_within_its_bounds(void **state)
{
    (void)state;
    static const char PAGE[] =
        "vllm:spec_decode_num_drafts_total{a=\"b\\\"\",position=\"1\"} 10.0\n"
        "vllm:diffusion_num_committed_tokens_total{} 5";
    for (size_t n = 0; n < sizeof(PAGE); n++) {
        char *copy = strndup(PAGE, n);
        struct server_counters c;
        scrape_parse(sv_make(copy, n), &c);
        assert_true(c.drafts == 0 || c.drafts == 1 || c.drafts == 10);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_page_of_one_engine),
        cmocka_unit_test(test_engines_add_up),
        cmocka_unit_test(test_labels_and_stamps_are_stepped_over),
        cmocka_unit_test(test_other_lines_say_nothing),
        cmocka_unit_test(test_sums_and_positions_have_bounds),
        cmocka_unit_test(test_every_cut_of_a_page_is_read_within_its_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
