/* Rounds behind an anchor and the cache of runs give what whole rounds give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "dataset_fixture.h"
#include "datasets/places.h"
#include "datasets/run_cache.h"

#include <stdlib.h>

static uint32_t pad(void *user)
{
    return random_pad(user);
}

static void load(struct fixture *f, struct random_source *source)
{
    struct dataset_context context = {.config = &f->config};
    fixture_init(f, "random");
    f->tokenizer = tokenizer_load(TEST_DATA "/tok-mini", &f->err);
    assert_non_null(f->tokenizer);
    context.tokenizer = f->tokenizer;
    assert_true(
        random_source_init(source, &context, "random", BAR_NAMED, &f->workload.arena, &f->err));
}

static void same_fit(const struct length_fit *a, const struct length_fit *b)
{
    assert_true(sv_eq(buf_sv(&a->text), buf_sv(&b->text)));
    assert_int_equal(a->ids.count, b->ids.count);
    assert_memory_equal(a->ids.items, b->ids.items, a->ids.count * sizeof(uint32_t));
}

/* Starts at each 37th id; lengths around what encoding gives, so that some are cut and some are padded. */
static void test_anchors_and_cache_change_nothing(void **state)
{
    struct fixture f;
    struct random_source source;
    struct length_target whole;
    struct length_target anchored;
    struct length_fit a = {0};
    struct length_fit b = {0};
    struct token_ids none = {0};
    size_t cached = 0;
    size_t with_anchor = 0;
    (void)state;
    load(&f, &source);
    length_target_init(&whole, f.tokenizer, false);
    length_target_init(&anchored, f.tokenizer, true);
    assert_int_equal(anchored.anchor, ANCHOR_SPACE_KEPT);
    whole.pad = anchored.pad = pad;
    whole.user = anchored.user = &source;
    struct run_cache *cache = run_cache_new(&anchored, &source, 400);
    assert_non_null(cache);
    assert_true(run_cache_set_prefix(cache, &none, &f.err));
    for (uint64_t start = 0; start < source.allowed_count; start += 37) {
        bool done = false;
        struct pcg64 before = source.g;
        size_t target = 400 - start % 5 * 20;
        length_fit_reset(&a, target);
        random_run(&source, start, 400 - start % 3 * 30, &a.ids);
        assert_true(length_fit_start(&whole, &a, &f.err) && length_fit_go_on(&whole, &a, &f.err));
        struct pcg64 after = source.g;
        source.g = before;
        length_fit_reset(&b, target);
        assert_true(run_cache_start(cache, start, 400 - start % 3 * 30, &b, &done, &f.err));
        if (done) {
            cached++;
            assert_true(length_fit_resume(&anchored, &b, &f.err));
        } else {
            random_run(&source, start, 400 - start % 3 * 30, &b.ids);
            assert_true(length_fit_start(&anchored, &b, &f.err));
        }
        assert_true(length_fit_go_on(&anchored, &b, &f.err));
        with_anchor += b.anchored;
        same_fit(&a, &b);
        assert_memory_equal(&source.g.state, &after.state, sizeof(after.state));
    }
    assert_true(cached > 100);
    assert_true(with_anchor > 100);
    run_cache_free(cache);
    length_fit_done(&a);
    length_fit_done(&b);
    length_target_done(&whole);
    length_target_done(&anchored);
    fixture_done(&f);
}

static void test_places_stand_behind_letters(void **state)
{
    struct fixture f;
    struct random_source source;
    (void)state;
    load(&f, &source);
    struct places *p = places_new(f.tokenizer);
    assert_int_equal(places_find(p, SV_LIT("ab cd")), 2);
    assert_int_equal(places_find(p, SV_LIT(" ab")), 3);
    assert_int_equal(places_find(p, SV_LIT("it's so")), 4); /* not at the apostrophe */
    assert_int_equal(places_find(p, SV_LIT("1 2 3")), 5);
    assert_int_equal(places_find(p, SV_LIT("\xC3\xA9 a")), 2); /* e with an acute accent */
    assert_true(places_starts(p, SV_LIT(" a")) && places_starts(p, SV_LIT(" 1")));
    places_words_only(p);
    assert_true(places_starts(p, SV_LIT(" a")));
    assert_false(places_starts(p, SV_LIT(" 1")) || places_starts(p, SV_LIT("\n")));
    places_free(p);
    fixture_done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_anchors_and_cache_change_nothing),
        cmocka_unit_test(test_places_stand_behind_letters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
