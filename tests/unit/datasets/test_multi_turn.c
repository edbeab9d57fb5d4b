/* Conversations: lengths, shares, bounds, ShareGPT's pairs, and what --max-model-len leaves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dataset_fixture.h"
#include "datasets/multi_turn.h"

struct talk {
    struct fixture f;
    struct multi_turn_data data;
    char path[64];
};

static void begin(struct talk *t, const char *dataset, uint64_t conversations)
{
    *t = (struct talk){0};
    fixture_init(&t->f, dataset);
    t->f.tokenizer = tokenizer_load(TEST_DATA "/tok-mini", &t->f.err);
    assert_non_null(t->f.tokenizer);
    t->f.config.num_prompts = conversations;
    t->f.config.sharegpt_output_len = -1;
    t->f.config.disable_shuffle = true;
    t->f.config.multi_turn = (struct config_multi_turn){.on = true, .num_turns = 3};
    t->f.config.multi_turn.min_turns = t->f.config.multi_turn.max_turns = 3;
}

static bool build(struct talk *t)
{
    struct dataset_context context = {.config = &t->f.config,
                                      .tokenizer = t->f.tokenizer,
                                      .py = &t->f.py,
                                      .npl = &t->f.npl,
                                      .notice = fixture_notice,
                                      .user = &t->f.notices};
    py_seed(&t->f.py, 0);
    npl_seed(&t->f.npl, 0);
    return multi_turn_build(&context, &t->data, &t->f.err);
}

static void end(struct talk *t)
{
    multi_turn_done(&t->data);
    fixture_done(&t->f);
    if (t->path[0] != '\0')
        unlink(t->path);
}

static const struct turn *turn_at(const struct talk *t, size_t conversation, size_t turn)
{
    return &t->data.turns[t->data.conversations[conversation].first + turn];
}

static void test_made_turns_have_their_lengths(void **state)
{
    (void)state;
    struct talk t;
    begin(&t, "random", 4);
    t.f.config.multi_turn.turn_input_len = 10;
    assert_true(build(&t));
    assert_int_equal(t.data.count, 4);
    assert_int_equal(t.data.most_turns, 3);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(t.data.conversations[i].count, 3);
        for (size_t k = 0; k < 3; k++) {
            assert_int_equal(turn_at(&t, i, k)->user_len, k == 0 ? 24 : 10);
            assert_int_equal(turn_at(&t, i, k)->output_len, 8);
        }
    }
    assert_false(sv_eq(turn_at(&t, 0, 0)->text, turn_at(&t, 1, 0)->text));
    assert_false(t.data.no_history);
    end(&t);
}

static void test_a_share_too_large_for_later_turns_is_refused(void **state)
{
    (void)state;
    struct talk t;
    begin(&t, "random", 2);
    t.f.config.multi_turn.global_ratio = 0.5;
    t.f.config.multi_turn.turn_input_len = 12; /* 24 * 0.5 = 12 leaves nothing */
    assert_false(build(&t));
    assert_non_null(strstr(t.f.err.message, "--per-turn-input-len"));
    end(&t);
}

/* Histories: 24+8, +24+8, +24+8 = 32, 64, 96. */
static void test_conversations_are_cut_to_the_models_length(void **state)
{
    (void)state;
    struct talk t;
    begin(&t, "random", 2);
    t.f.config.max_model_len = 64;
    assert_true(build(&t));
    assert_int_equal(t.data.conversations[0].count, 2);
    end(&t);
    begin(&t, "random", 2);
    t.f.config.max_model_len = 63;
    assert_false(build(&t));
    assert_non_null(strstr(t.f.err.message, "--max-model-len"));
    end(&t);
}

static void write_file(struct talk *t, const char *text)
{
    snprintf(t->path, sizeof(t->path), "/tmp/vb-talk-%d.json", (int)getpid());
    FILE *f = fopen(t->path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    t->f.config.dataset_path = t->path;
    t->f.config.multi_turn.min_turns = t->f.config.multi_turn.max_turns = 0;
}

static const char *const recorded =
    "[{\"conversations\":[{\"from\":\"human\",\"value\":\"one\"},{\"from\":\"gpt\",\"value\":\"a\"}"
    "]},"
    "{\"conversations\":[{\"from\":\"system\",\"value\":\"s\"},{\"from\":\"human\",\"value\":"
    "\"first\"},"
    "{\"from\":\"gpt\",\"value\":\"answer one\"},{\"from\":\"human\",\"value\":\"\"},"
    "{\"from\":\"human\",\"value\":\"second \\\"q\\\"\"},{\"value\":\"answer\",\"from\":\"gpt\"},"
    "{\"from\":\"human\",\"value\":\"third\"},{\"from\":\"gpt\",\"value\":\"last\"}]}]";

static void test_pairs_of_a_recorded_conversation_become_turns(void **state)
{
    (void)state;
    struct talk t;
    begin(&t, "sharegpt", 3);
    write_file(&t, recorded);
    assert_true(build(&t));
    assert_int_equal(t.data.count, 3); /* the only one of two turns, three times */
    assert_int_equal(t.data.conversations[0].count, 3);
    assert_true(sv_eq(turn_at(&t, 0, 0)->text, SV_LIT("\"first\"")));
    assert_true(sv_eq(turn_at(&t, 2, 1)->text, SV_LIT("\"second \\\"q\\\"\"")));
    end(&t);
    begin(&t, "sharegpt", 3);
    write_file(&t, recorded);
    t.f.config.multi_turn.max_turns = 2;
    t.f.config.no_oversample = true;
    t.f.config.sharegpt_output_len = 7;
    assert_true(build(&t));
    assert_int_equal(t.data.count, 1);
    assert_int_equal(t.data.conversations[0].count, 2);
    assert_int_equal(turn_at(&t, 0, 1)->output_len, 7);
    end(&t);
}

static void test_files_that_are_none_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "{}", "[1]", "[{\"conversations\":[{}]}", "[]"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct talk t;
        begin(&t, "sharegpt", 1);
        write_file(&t, texts[i]);
        assert_false(build(&t));
        assert_true(t.f.err.message[0] != '\0');
        end(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made_turns_have_their_lengths),
        cmocka_unit_test(test_a_share_too_large_for_later_turns_is_refused),
        cmocka_unit_test(test_conversations_are_cut_to_the_models_length),
        cmocka_unit_test(test_pairs_of_a_recorded_conversation_become_turns),
        cmocka_unit_test(test_files_that_are_none_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
