/* Tests of src/tokenizer/class_rules.  Expected ids and texts: transformers 5.20.2 (AutoTokenizer, as in vLLM 0.33.0) on the
 * same files in a folder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tokenizer/load.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SPACE        "\xC4\xA0" /* a space in byte-level vocabularies */

static const char file[] =
    "{\"added_tokens\":[{\"id\":5,\"content\":\"<s>\",\"special\":true}],\"normalizer\":null,"
    "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false},"
    "\"post_processor\":null,\"decoder\":{\"type\":\"ByteLevel\"},"
    "\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"" SPACE "\":2,\"" SPACE
    "b\":3,\"ab\":4},\"merges\":[\"" SPACE " b\",\"a b\"]}}";

#define LLAMA  "{\"tokenizer_class\":\"LlamaTokenizerFast\",\"bos_token\":\"<s>\"}"
#define LEGACY "{\"tokenizer_class\":\"LlamaTokenizer\",\"legacy\":true,\"bos_token\":\"<s>\"}"
#define GPT2   "{\"tokenizer_class\":\"GPT2Tokenizer\",\"add_prefix_space\":true}"

static const struct {
    const char *config;
    const char *model_config;
    const char *name;
    bool plain;
    const char *text;
    uint32_t ids[3];
    size_t count;
    const char *decoded; /* of 0 3 */
} rows[] = {
    /* One word in which the space is nothing that the vocabulary knows; ids are what their entries spell. */
    {LLAMA, NULL, "m", false, "a b", {4}, 1, "a" SPACE "b"},
    {LLAMA, NULL, "m", false, SPACE "b", {3}, 1, "a" SPACE "b"},
    {LLAMA, "{\"model_type\":\"llama\"}", "m", false, " b", {1}, 1, "a" SPACE "b"},
    {LEGACY, NULL, "m", false, "b<s>b", {1, 5, 1}, 3, "a" SPACE "b"},
    /* The model's type, its name or the wish for the file alone let the file stand. */
    {LLAMA, "{\"model_type\":\"deepseek_v3\"}", "m", false, "a b", {0, 3}, 2, "a b"},
    {LLAMA,
     "{\"model_type\":\"llama\"}",
     "deepseek-ai/DeepSeek-R1-Distill-Llama-8B",
     false,
     "a b",
     {0, 3},
     2,
     "a b"},
    {LLAMA, NULL, "m", true, "a b", {0, 3}, 2, "a b"},
    {"{\"tokenizer_class\":\"PreTrainedTokenizerFast\"}",
     NULL,
     "m",
     false,
     "a b",
     {0, 3},
     2,
     "a b"},
    {NULL, "{\"model_type\":\"llama\"}", "m", false, "a b", {0, 3}, 2, "a b"},
    {GPT2, NULL, "m", false, "b<s>b", {3, 5, 3}, 3, "a b"},
};

static void test_classes_build_as_in_transformers(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error err = {0};
        struct token_ids ids = {0};
        struct buf text = {0};
        struct tokenizer_files files = {
            .name = rows[i].name, .tokenizer_json = sv_from(file), .file_only = rows[i].plain};
        if (rows[i].config != NULL)
            files.config_json = sv_from(rows[i].config);
        if (rows[i].model_config != NULL)
            files.model_config_json = sv_from(rows[i].model_config);
        struct tokenizer *t = tokenizer_parse(&files, &err);
        if (t == NULL)
            fail_msg("row %zu: %s", i, err.message);
        assert_true(tokenizer_encode(t, sv_from(rows[i].text), false, &ids, &err));
        if (ids.count != rows[i].count)
            fail_msg("row %zu: %zu ids", i, ids.count);
        for (size_t k = 0; k < ids.count; k++)
            if (ids.items[k] != rows[i].ids[k])
                fail_msg("row %zu: id %zu is %u", i, k, ids.items[k]);
        assert_true(tokenizer_decode(t, (const uint32_t[]){0, 3}, 2, false, &text, &err));
        assert_string_equal(buf_cstr(&text), rows[i].decoded);
        token_ids_done(&ids);
        buf_done(&text);
        tokenizer_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_classes_build_as_in_transformers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
