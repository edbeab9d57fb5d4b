/* The encodings inside the program.  Their data has the tokens in sorted order and says of each which two tokens make it
 * (layout: tools/gen_encodings.py), so that loading only has to fill tables. */
#include "base/alloc.h"
#include "tokenizer/load.h"
#include "tokenizer/tokenizer_priv.h"
#include "tokenizer/utf8.h"

#include <stdlib.h>

extern const unsigned char builtin_cl100k[];
extern const unsigned char builtin_o200k[];
extern const unsigned char builtin_p50k[];

enum { RESERVE_BYTES = 1 << 15 }; /* of special tokens */

struct special {
    const char *name;
    uint32_t id;
};

static const struct special cl100k_specials[] = {
    {"<|endoftext|>", 100257},  {"<|fim_prefix|>", 100258},  {"<|fim_middle|>", 100259},
    {"<|fim_suffix|>", 100260}, {"<|endofprompt|>", 100276}, {NULL, 0},
};
static const struct special o200k_specials[] = {
    {"<|endoftext|>", 199999},
    {"<|endofprompt|>", 200018},
    {NULL, 0},
};
static const struct special harmony_specials[] = {
    {"<|startoftext|>", 199998}, {"<|endoftext|>", 199999},
    {"<|return|>", 200002},      {"<|constrain|>", 200003},
    {"<|channel|>", 200005},     {"<|start|>", 200006},
    {"<|end|>", 200007},         {"<|message|>", 200008},
    {"<|call|>", 200012},        {NULL, 0},
};
static const struct special p50k_specials[] = {
    {"<|endoftext|>", 50256},
    {NULL, 0},
};
static const struct special edit_specials[] = {
    {"<|endoftext|>", 50256},
    {"<|fim_prefix|>", 50281},
    {"<|fim_middle|>", 50282},
    {"<|fim_suffix|>", 50283},
    {NULL, 0},
};

#define R50K_PATTERN                                                                               \
    "'(?:[sdmt]|ll|ve|re)| ?\\p{L}++| ?\\p{N}++| ?[^\\s\\p{L}\\p{N}]++|\\s++$|\\s+(?!\\S)|\\s"
#define CL100K_PATTERN                                                                             \
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]++"    \
    "[\\r\\n]*+|\\s++$|\\s*[\\r\\n]|\\s+(?!\\S)|\\s"
#define UPPER  "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER  "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define SHORTS "(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
#define O200K_PATTERN                                                                              \
    UPPER "*" LOWER "+" SHORTS UPPER "+" LOWER "*" SHORTS                                          \
          "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

static const struct encoding {
    const char *name;
    const unsigned char *data;
    const char *pattern;
    const struct special *specials;
    uint32_t below;      /* ids of the data that belong to it */
    uint32_t vocab_size; /* HUB_AND_TOKENIZERS 3 */
    uint32_t reserved;   /* first and last of <|reserved_N|>; 0: none */
    uint32_t reserved_end;
} encodings[] = {
    {"o200k_base", builtin_o200k, O200K_PATTERN, o200k_specials, UINT32_MAX, 200275, 0, 0},
    {"o200k_harmony", builtin_o200k, O200K_PATTERN, harmony_specials, UINT32_MAX, 201088, 200000,
     201088},
    {"cl100k_base", builtin_cl100k, CL100K_PATTERN, cl100k_specials, UINT32_MAX, 100277, 0, 0},
    {"p50k_base", builtin_p50k, R50K_PATTERN, p50k_specials, UINT32_MAX, 50281, 0, 0},
    {"p50k_edit", builtin_p50k, R50K_PATTERN, edit_specials, UINT32_MAX, 50281, 0, 0},
    {"r50k_base", builtin_p50k, R50K_PATTERN, p50k_specials, 50256, 50257, 0, 0},
    {"gpt2", builtin_p50k, R50K_PATTERN, p50k_specials, 50256, 50257, 0, 0},
};

struct columns {
    uint32_t count;
    const unsigned char *shared;
    const unsigned char *suffix_len;
    const unsigned char *left_len;
    const unsigned char *id;
    const unsigned char *right;
    const unsigned char *suffixes;
};

static uint32_t read_u24(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;
}

static uint32_t read_u32(const unsigned char *at)
{
    return read_u24(at) | (uint32_t)at[3] << 24;
}

static struct columns columns_of(const unsigned char *data)
{
    struct columns c = {.count = read_u32(data + 8)};
    c.shared = data + 24;
    c.suffix_len = c.shared + c.count;
    c.left_len = c.suffix_len + c.count;
    c.id = c.left_len + c.count;
    c.right = c.id + (size_t)c.count * 3;
    c.suffixes = c.right + (size_t)c.count * 3;
    return c;
}

/* Tokens into the vocabulary, merges; texts share one block. */
static size_t fill(struct tokenizer *t, const struct columns *c, uint32_t below)
{
    const unsigned char *suffix = c->suffixes;
    const char *before = NULL;
    uint32_t ids[257] = {0}; /* of the token's beginnings, by length */
    size_t kept = 0;
    size_t bytes = 0;
    for (uint32_t i = 0; i < c->count; i++)
        bytes += (size_t)c->shared[i] + c->suffix_len[i];
    char *block = buf_reserve(&t->vocab.block, bytes + RESERVE_BYTES);
    for (uint32_t i = 0; i < c->count; i++) {
        size_t shared = c->shared[i];
        size_t len = shared + c->suffix_len[i];
        uint32_t id = read_u24(c->id + (size_t)i * 3);
        if (shared > 0)
            memcpy(block, before, shared);
        memcpy(block + shared, suffix, c->suffix_len[i]);
        suffix += c->suffix_len[i];
        before = block;
        ids[len] = id;
        block += len;
        if (id >= below)
            continue;
        unsigned flags = TOKEN_HERE | (utf8_valid(sv_make(before, len)) ? 0 : TOKEN_BROKEN);
        t->vocab.tokens[id] =
            (struct token){(uint32_t)(before - t->vocab.block.ptr), (uint16_t)len, (uint8_t)flags};
        kept++;
        if (c->left_len[i] > 0)
            bpe_add_merge(&t->model.bpe, ids[c->left_len[i]], read_u24(c->right + (size_t)i * 3),
                          id, id);
    }
    t->vocab.block.len = bytes;
    return kept;
}

static void add_special(struct tokenizer *t, uint32_t id, struct sv name)
{
    struct error unused;
    if (!vocab_has(&t->vocab, id) && vocab_add(&t->vocab, id, name, &unused))
        vocab_mark(&t->vocab, id, TOKEN_SPECIAL | TOKEN_ADDED);
    /* Two names of one id are both found in a text. */
    added_add(&t->added_raw,
              (struct added_token){.content = arena_copy(&t->arena, name), .id = id});
}

static void add_specials(struct tokenizer *t, const struct encoding *e)
{
    for (const struct special *s = e->specials; s->name != NULL; s++)
        add_special(t, s->id, sv_from(s->name));
    for (uint32_t id = e->reserved; id < e->reserved_end; id++)
        if (id >= 200013 || !vocab_has(&t->vocab, id))
            add_special(t, id, arena_fmt(&t->arena, "<|reserved_%u|>", id));
    if (e->reserved > 0) /* a name of o200k_base for an id that is reserved as well */
        add_special(t, 200018, SV_LIT("<|endofprompt|>"));
    added_sort(&t->added_raw);
}

static struct tokenizer *load(const struct encoding *e)
{
    struct tokenizer *t = tokenizer_blank();
    struct columns c = columns_of(e->data);
    struct error unused;
    struct bpe_options o = {.bytes = true, .ignore_merges = true, .unk_id = VOCAB_NONE};
    t->vocab.raw_bytes = true;
    t->vocab.cap = read_u32(e->data + 12) + 2048;
    t->vocab.tokens = mem_array(t->vocab.cap, sizeof(*t->vocab.tokens));
    t->vocab.limit = e->below < t->vocab.cap - 2048 ? e->below : t->vocab.cap - 2048;
    t->model.kind = MODEL_BPE;
    bpe_init(&t->model.bpe, &t->vocab, &o);
    bpe_reserve(&t->model.bpe, c.count);
    size_t kept = fill(t, &c, e->below);
    for (uint32_t id = 0; id < t->vocab.limit; id++) /* the 256 bytes are the only names needed */
        if (t->vocab.tokens[id].len == 1)
            t->model.bpe.byte_id[(unsigned char)*vocab_bytes(&t->vocab, id).ptr] = id;
    t->model.bpe.all_bytes = true;
    bpe_finish_proven(&t->model.bpe);
    t->vocab.count = (uint32_t)kept;
    decoder_add(&t->decoder, "ByteLevel");
    pretok_add_pattern(&t->pretok, sv_from(e->pattern), &t->arena, &unused);
    add_specials(t, e);
    decoder_settle(&t->decoder, &t->vocab);
    t->model_size = e->vocab_size;
    t->splitter = pretok_whole_splitter(&t->pretok);
    t->description =
        arena_fmt(&t->arena, "built-in encoding %s, vocabulary of %u", e->name, e->vocab_size);
    return t;
}

struct tokenizer *builtin_load(const char *name)
{
    for (size_t i = 0; i < sizeof(encodings) / sizeof(encodings[0]); i++)
        if (strcmp(name, encodings[i].name) == 0)
            return load(&encodings[i]);
    return NULL;
}
