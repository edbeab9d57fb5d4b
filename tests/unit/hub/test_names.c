/* Names of repositories and files, URLs, and what the environment decides.  Rules for names are those of Python's
 * library (huggingface_hub 2.4, validate_repo_id). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hub/hub_priv.h"

static void names_of_repositories(void **state)
{
    (void)state;
    const char *const good[] = {"gpt2", "bert-base-uncased", "meta-llama/Llama-3.1-8B", "a/b",
                                "a_b/c.d"};
    const char *const bad[] = {"",     "/",   "a/",    "/a",     "a/b/c", "a b",
                               "a//b", "..",  "a/..b", "a..b/c", "a--b",  "./a",
                               "a\nb", "a%b", "ä/b",   "~/a",    "a:b/c"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_true(hub_is_id(good[i]));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(hub_is_id(bad[i]));
}

static void paths_inside_a_repository(void **state)
{
    (void)state;
    const char *const good[] = {"a", "a/b.json", "default/train/0000.parquet", "...", "a b", "ä"};
    const char *const bad[] = {"", "/a", "a/", "a//b", ".", "..", "a/../b", "./a", "a/.", "a\nb"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_true(hub_is_path(sv_from(good[i])));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(hub_is_path(sv_from(bad[i])));
    assert_false(hub_is_path(sv_make("a\0b", 3)));
}

static void escapes_in_urls(void **state)
{
    (void)state;
    struct buf out = {0};
    hub_add_escaped(&out, SV_LIT("refs/convert/parquet"), false);
    assert_string_equal(buf_cstr(&out), "refs%2Fconvert%2Fparquet");
    buf_reset(&out);
    hub_add_escaped(&out, SV_LIT("a b/\xC3\xA4?#%+&.~"), true);
    assert_string_equal(buf_cstr(&out), "a%20b/%C3%A4%3F%23%25%2B%26.~");
    buf_done(&out);
}

static void shown_urls_have_no_secrets(void **state)
{
    (void)state;
    const char *const rows[][2] = {
        {"https://hub/a/b?Signature=secret#x", "https://hub/a/b"},
        {"https://user:secret@hub:8080/a@b", "https://hub:8080/a@b"},
        {"http://a@b@hub/x", "http://hub/x"},
        {"hub", "hub"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct buf out = {0};
        hub_shown_url(rows[i][0], &out);
        assert_string_equal(buf_cstr(&out), rows[i][1]);
        buf_done(&out);
    }
}

/* ---- the environment ---------------------------------------------------------------------------------------------- */

static const char *const known[] = {"HF_ENDPOINT",
                                    "HF_DATASETS_SERVER",
                                    "HF_TOKEN",
                                    "HUGGING_FACE_HUB_TOKEN",
                                    "HF_TOKEN_PATH",
                                    "HF_HOME",
                                    "HF_HUB_CACHE",
                                    "HUGGINGFACE_HUB_CACHE",
                                    "XDG_CACHE_HOME",
                                    "HF_HUB_OFFLINE",
                                    "TRANSFORMERS_OFFLINE",
                                    "HF_HUB_DISABLE_IMPLICIT_TOKEN",
                                    "HOME"};

/* Pairs of name and value; all others are unset. */
static void open_with(struct hub_context *hub, const char *const *pairs)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        unsetenv(known[i]);
    for (; *pairs != NULL; pairs += 2)
        setenv(pairs[0], pairs[1], 1);
    hub_init(hub);
}

#define OPEN(hub, ...) open_with(hub, (const char *const[]){__VA_ARGS__, NULL})

static void without_variables_it_is_the_public_hub(void **state)
{
    (void)state;
    struct hub_context hub;
    OPEN(&hub, "HOME", "/home/u");
    assert_string_equal(hub.endpoint, "https://huggingface.co");
    assert_true(hub_is_public(&hub));
    assert_string_equal(hub.datasets_server, "https://datasets-server.huggingface.co");
    assert_string_equal(hub.cache, "/home/u/.cache/huggingface/hub");
    assert_string_equal(hub.own_cache, "/home/u/.cache/vllm-bench");
    assert_null(hub.token);
    assert_false(hub.offline);
    hub_done(&hub);
}

static void another_hub(void **state)
{
    (void)state;
    const char *const rows[][2] = {
        {"https://hub.example/", "https://datasets-server.hub.example"},
        {"https://hub.example:8443/x", "https://datasets-server.hub.example:8443/x"},
        {"http://127.0.0.1:80", "http://127.0.0.1:80"},
        {"http://localhost:9", "http://localhost:9"},
        {"http://[::1]:9", "http://[::1]:9"},
        {"https://user:pass@hub.example", "https://user:pass@hub.example"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hub_context hub;
        OPEN(&hub, "HF_ENDPOINT", rows[i][0]);
        assert_string_equal(hub.datasets_server, rows[i][1]);
        assert_false(hub_is_public(&hub));
        hub_done(&hub);
    }
    struct hub_context hub;
    OPEN(&hub, "HF_ENDPOINT", "https://a.example", "HF_DATASETS_SERVER", "https://b.example//");
    assert_string_equal(hub.datasets_server, "https://b.example");
    hub_done(&hub);
}

static void words_for_offline(void **state)
{
    (void)state;
    const char *const yes[] = {"1", "true", "TRUE", "Yes", "on"};
    const char *const no[] = {"0", "", "false", "2", "no"};
    for (size_t i = 0; i < 5; i++) {
        struct hub_context hub;
        OPEN(&hub, "HF_HUB_OFFLINE", yes[i]);
        assert_true(hub.offline);
        hub_done(&hub);
        OPEN(&hub, "HF_HUB_OFFLINE", no[i]);
        assert_false(hub.offline);
        hub_done(&hub);
    }
}

static void tokens(void **state)
{
    (void)state;
    struct hub_context hub;
    OPEN(&hub, "HF_TOKEN", " hf_a \n", "HUGGING_FACE_HUB_TOKEN", "hf_b");
    assert_string_equal(hub.token, "hf_a");
    hub_done(&hub);
    OPEN(&hub, "HF_TOKEN", "  ", "HUGGING_FACE_HUB_TOKEN", "hf_b");
    assert_string_equal(hub.token, "hf_b");
    hub_done(&hub);
    OPEN(&hub, "HF_TOKEN", "hf_a", "HF_HUB_DISABLE_IMPLICIT_TOKEN", "1");
    assert_null(hub.token);
    hub_done(&hub);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_repositories),
        cmocka_unit_test(paths_inside_a_repository),
        cmocka_unit_test(escapes_in_urls),
        cmocka_unit_test(shown_urls_have_no_secrets),
        cmocka_unit_test(without_variables_it_is_the_public_hub),
        cmocka_unit_test(another_hub),
        cmocka_unit_test(words_for_offline),
        cmocka_unit_test(tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
