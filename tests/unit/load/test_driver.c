/* The order of conversations and what stands in their messages, without a network: the test plays the load engine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "load/multi_turn.h"

struct fixture {
    struct turn turns[5];
    struct conversation conversations[2]; /* of 3 and 2 turns */
    struct multi_turn_data data;
    struct workload workload;
    struct driver driver;
};

static void start(struct fixture *f, uint64_t delay_ns, bool no_history)
{
    static const char *const texts[] = {"\"a0\"", "\"a1\"", "\"a2\"", "\"b0\"", "\"b1\""};
    *f = (struct fixture){.conversations = {{0, 3}, {3, 2}}};
    for (size_t i = 0; i < 5; i++)
        f->turns[i] = (struct turn){sv_from(texts[i]), 10, 4};
    f->data = (struct multi_turn_data){.turns = f->turns,
                                       .turn_count = 5,
                                       .conversations = f->conversations,
                                       .count = 2,
                                       .most_turns = 3,
                                       .no_history = no_history};
    driver_init(&f->driver, &f->data, &f->workload, "p-", delay_ns, true);
    f->driver.feed.begin(&f->driver, 1000);
}

static void end(struct fixture *f)
{
    free(f->driver.due_ns);
    driver_done(&f->driver);
    workload_done(&f->workload);
}

static size_t take(struct fixture *f, uint64_t now_ns)
{
    size_t item;
    uint64_t when;
    assert_int_equal(f->driver.feed.next(&f->driver, now_ns, &item, &when), LOAD_FEED_ITEM);
    return item;
}

static void answer(struct fixture *f, size_t item, uint64_t now_ns, const char *text, bool ok)
{
    struct record r;
    record_init(&r);
    r.sent = r.done = true;
    r.end_ns = now_ns;
    r.failure = ok ? FAILURE_NONE : FAILURE_HTTP_STATUS;
    r.usage_completion_tokens = 4;
    r.text = sv_from(text);
    f->driver.feed.ended(&f->driver, item, &r);
}

static void test_conversations_take_turns_and_keep_their_history(void **state)
{
    (void)state;
    struct fixture f;
    char head[200];
    start(&f, 0, false);
    assert_int_equal(take(&f, 1000), 0);
    answer(&f, 0, 1100, "x\"y", true);
    assert_int_equal(take(&f, 1100), 3); /* the other one was ready before */
    answer(&f, 3, 1200, "z", true);
    assert_int_equal(take(&f, 1200), 1);
    const struct request *r = &f.workload.requests[1];
    assert_int_equal(r->prompt_len, 10 + 4 + 10);
    assert_int_equal(r->output_len, 4);
    struct sv want =
        SV_LIT("[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a0\"}]},"
               "{\"role\":\"assistant\",\"content\":\"x\\\"y\"},"
               "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a1\"}]}]");
    assert_true(sv_eq(r->prompt.json, want));
    assert_true(sv_eq(r->extra, SV_LIT("\"min_tokens\":4")));
    head[f.driver.feed.head(&f.driver, 1, head, sizeof(head))] = '\0';
    assert_string_equal(head, "x-request-id: p-conv-0-turn1\r\nX-Session-ID: p-conv-0\r\n");
    end(&f);
}

static void test_the_end_comes_when_all_have_ended(void **state)
{
    (void)state;
    struct fixture f;
    size_t item;
    uint64_t when;
    start(&f, 0, false);
    take(&f, 1000);
    take(&f, 1000);
    assert_int_equal(f.driver.feed.next(&f.driver, 1000, &item, &when), LOAD_FEED_WAIT);
    assert_true(when == UINT64_MAX);
    answer(&f, 0, 1100, "x", false); /* ends its conversation */
    answer(&f, 3, 1100, "x", true);
    assert_int_equal(take(&f, 1100), 4);
    answer(&f, 4, 1200, "x", true);
    assert_int_equal(f.driver.feed.next(&f.driver, 1200, &item, &when), LOAD_FEED_END);
    assert_true(f.driver.states[0].failed && !f.driver.states[0].finished);
    assert_true(f.driver.states[1].finished);
    assert_int_equal(f.driver.states[0].attempted, 1);
    assert_int_equal(f.driver.states[1].attempted, 2);
    end(&f);
}

static void test_a_pause_is_waited_for(void **state)
{
    (void)state;
    struct fixture f;
    size_t item;
    uint64_t when;
    start(&f, 500, false);
    take(&f, 1000);
    take(&f, 1000);
    answer(&f, 0, 2000, "x", true);
    assert_int_equal(f.driver.feed.next(&f.driver, 2100, &item, &when), LOAD_FEED_WAIT);
    assert_true(when == 2500);
    assert_int_equal(take(&f, 2500), 1);
    assert_true(f.driver.due_ns[1] == 1500); /* since the start */
    end(&f);
}

static void test_without_history_a_turn_stands_alone(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, 0, true);
    take(&f, 1000);
    answer(&f, 0, 1100, "x", true);
    take(&f, 1100);
    assert_int_equal(take(&f, 1100), 1);
    assert_true(
        sv_eq(f.workload.requests[1].prompt.json,
              SV_LIT("[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a1\"}]}]")));
    assert_int_equal(f.workload.requests[1].prompt_len, 10);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conversations_take_turns_and_keep_their_history),
        cmocka_unit_test(test_the_end_comes_when_all_have_ended),
        cmocka_unit_test(test_a_pause_is_waited_for),
        cmocka_unit_test(test_without_history_a_turn_stands_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
