/* The rules are those of transformers 5.20.2, which vLLM 0.33.0 asks for (5.16.1 to below 5.21): AutoTokenizer picks a class
 * from tokenizer_config.json and the model type of config.json; LlamaTokenizer and GPT2Tokenizer then rebuild the pipeline.
 * The other classes' pipelines are those of the files that name them, so they are read as they stand. */
#include "tokenizer/class_rules.h"

#include "json/tree.h"

#include <stdlib.h>

#define META "\xE2\x96\x81" /* U+2581, for a space */

/* Model types whose files are read as they stand, whatever class the configuration names.  Sorted. */
static const char *const plain_types[] = {
    "EvollaModel",
    "arctic",
    "aria",
    "beam",
    "bigbird_pegasus",
    "camembertv2-base",
    "canary",
    "chameleon",
    "chatlm",
    "cohere_asr",
    "deepseek_ocr",
    "deepseek_ocr2",
    "deepseek_v2",
    "deepseek_v3",
    "deepseek_v32",
    "deepseek_v4",
    "deepseek_vl",
    "deepseek_vl_hybrid",
    "deepseek_vl_v2",
    "ernie4_5",
    "ernie4_5_moe",
    "flex_olmo",
    "fuyu",
    "glm",
    "glm4",
    "glm4_moe",
    "glm4_moe_lite",
    "glm4v",
    "glm4v_moe",
    "glm_image",
    "glmasr",
    "got_ocr2",
    "gpt_bigcode",
    "granite",
    "granitemoe",
    "granitemoehybrid",
    "granitemoeshared",
    "h2ovl_chat",
    "hyperclovax",
    "hyperclovax_vlm",
    "internlm2",
    "jamba",
    "janus",
    "kimi_k25",
    "kimi_linear",
    "kosmos-2",
    "llava",
    "llava_next",
    "mimo_v2_flash",
    "minicpm3",
    "minicpmv",
    "minicpmv4_6",
    "minicpmv4_7",
    "minimax_m2",
    "ministral",
    "ministral3",
    "mistral",
    "mistral3",
    "mixtral",
    "modernbert",
    "modernbert-decoder",
    "molmo",
    "molmo2",
    "nemotron",
    "nvfp4",
    "nystromformer",
    "olmo2",
    "olmo3",
    "olmo_hybrid",
    "opencua",
    "openvla",
    "paddleocr_vl",
    "pegasus_x",
    "persimmon",
    "phi3",
    "phi3_v",
    "phimoe",
    "pix2struct",
    "pixtral",
    "qwen2",
    "qwen3_5",
    "qwen3_5_moe",
    "qwen3_5_moe_text",
    "qwen4_exp",
    "siglip2",
    "smolvlm",
    "stablelm",
    "step3_vl",
    "step3p5",
    "umt5",
    "unlimited_ocr",
    "vipllava",
    "voxtral",
    "voxtral_realtime",
    "xlm-roberta-xl",
};

/* Names on the hub, in lower case, for which the same holds; they begin so. */
static const char *const plain_names[] = {"deepseek-ai/deepseek-r1-distill-llama-",
                                          "deepseek-ai/deepseek-coder-"};

static int compare_names(const void *key, const void *item)
{
    return strcmp(key, *(const char *const *)item);
}

static bool is_plain(const struct tokenizer_files *files, struct sv model_type)
{
    char type[64];
    for (size_t i = 0; i < sizeof(plain_names) / sizeof(plain_names[0]); i++)
        if (strncasecmp(files->name, plain_names[i], strlen(plain_names[i])) == 0)
            return true;
    if (model_type.len == 0 || model_type.len >= sizeof(type))
        return false;
    memcpy(type, model_type.ptr, model_type.len);
    type[model_type.len] = '\0';
    return bsearch(type, plain_types, sizeof(plain_types) / sizeof(plain_types[0]),
                   sizeof(plain_types[0]), compare_names) != NULL;
}

/* A space is U+2581 and the text is one word; bytes outside the vocabulary are its <0xNN> entries, or nothing. */
static void add_llama(const struct js_value *config, struct buf *out)
{
    bool prefix = true;
    bool legacy = false;
    js_as_bool(js_get(config, "add_prefix_space"), &prefix);
    js_as_bool(js_get(config, "legacy"), &legacy);
    buf_add_fmt(
        out,
        ",\"normalizer\":null,\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"" META
        "\",\"prepend_scheme\":\"%s\",\"split\":false}",
        !prefix  ? "never"
        : legacy ? "always"
                 : "first");
    buf_add_fmt(
        out,
        ",\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":"
        "{\"String\":\"" META "\"},\"content\":\" \"},{\"type\":\"ByteFallback\"},"
        "{\"type\":\"Fuse\"}%s]}",
        prefix ? ",{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":0}" : "");
    buf_add_str(out, ",\"model\":{\"type\":\"BPE\",\"fuse_unk\":true,\"byte_fallback\":true}}");
}

static void add_gpt2(const struct js_value *config, struct buf *out)
{
    bool prefix = false;
    js_as_bool(js_get(config, "add_prefix_space"), &prefix);
    buf_add_fmt(out,
                ",\"normalizer\":null,\"pre_tokenizer\":{\"type\":\"ByteLevel\","
                "\"add_prefix_space\":%s,\"trim_offsets\":true,\"use_regex\":true}",
                prefix ? "true" : "false");
    buf_add_str(out, ",\"decoder\":{\"type\":\"ByteLevel\"},"
                     "\"model\":{\"type\":\"BPE\",\"continuing_subword_prefix\":\"\","
                     "\"end_of_word_suffix\":\"\",\"fuse_unk\":false}}");
}

static const struct class_rule {
    const char *name; /* without "Fast" */
    void (*add)(const struct js_value *config, struct buf *out);
} rules[] = {{"LlamaTokenizer", add_llama}, {"GPT2Tokenizer", add_gpt2}};

static const struct class_rule *rule_of(struct sv class)
{
    if (sv_ends(class, SV_LIT("Fast")))
        class.len -= 4;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (sv_eq(class, sv_from(rules[i].name)))
            return &rules[i];
    return NULL;
}

/* A remote class is code, which is not run. */
static bool has_own_code(const struct js_value *config)
{
    return js_get(config, "auto_map") != NULL;
}

static bool is_bpe(const struct buf *small, struct arena *arena)
{
    struct error ignored;
    struct sv type;
    const struct js_value *root = js_parse(arena, buf_sv(small), "tokenizer.json", &ignored);
    return js_as_sv(js_get(js_get(root, "model"), "type"), &type) && sv_eq(type, SV_LIT("BPE"));
}

bool class_rules_add(const struct tokenizer_files *files, struct buf *small)
{
    struct arena arena = {0};
    struct error ignored;
    struct sv class = {0};
    struct sv model_type = {0};
    const struct js_value *config = NULL;
    const struct js_value *model = NULL;
    if (files->file_only || small->len == 0 || files->config_json.ptr == NULL)
        return false;
    config = js_parse(&arena, files->config_json, "tokenizer_config.json", &ignored);
    if (files->model_config_json.ptr != NULL)
        model = js_parse(&arena, files->model_config_json, "config.json", &ignored);
    if (!js_as_sv(js_get(config, "tokenizer_class"), &class))
        js_as_sv(js_get(model, "tokenizer_class"), &class);
    js_as_sv(js_get(model, "model_type"), &model_type);
    const struct class_rule *rule = rule_of(class);
    bool holds = rule != NULL && !has_own_code(config) && !is_plain(files, model_type) &&
                 is_bpe(small, &arena);
    if (holds) {
        small->len--; /* the closing brace */
        rule->add(config, small);
    }
    arena_done(&arena);
    return holds;
}
