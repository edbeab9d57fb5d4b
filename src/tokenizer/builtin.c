/* The encodings inside the program.  Their data says of each token which two of the tokens before make it (layout:
 * tools/gen_encodings.py), so that loading only has to fill tables. */
#include "base/alloc.h"
#include "tokenizer/load.h"
#include "tokenizer/tokenizer_priv.h"
#include "tokenizer/utf8.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern const unsigned char builtin_cl100k[];
extern const unsigned char builtin_o200k[];
extern const unsigned char builtin_p50k[];
extern const unsigned char builtin_p50k_end[]; /* the last one */

enum {
    RESERVE_BYTES = 1 << 15, /* of special tokens */
    SOME = 32,               /* merges that are taken together */
    AHEAD = 16,              /* tokens */
};

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

enum { LITERAL = 0xFFFFFF, NO_TOKEN = 0xFFFFFE, COLUMN = 3 /* bytes of a number */ };

struct columns {
    uint32_t ids;
    uint32_t tokens;
    uint32_t bytes; /* of all tokens */
    uint32_t literals;
    const unsigned char *left;
    const unsigned char *right;
    const unsigned char *literal_len;
    const char *literal; /* the next one: they stand in the order of ids */
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
    assert(memcmp(data, "VBENC2", 6) == 0);
    struct columns c = {.ids = read_u32(data + 8),
                        .tokens = read_u32(data + 12),
                        .bytes = read_u32(data + 16),
                        .literals = read_u32(data + 20)};
    c.left = data + 24;
    c.right = c.left + (size_t)c.ids * COLUMN;
    c.literal_len = c.right + (size_t)c.ids * COLUMN;
    c.literal = (const char *)c.literal_len + c.literals;
    return c;
}

/* Copies a token's bytes, and whatever follows them up to VOCAB_SLACK bytes: there is room, and most are short.  The block's
 * last tokens may lie where the slack goes. */
static void copy_token(char *to, const char *from, size_t len)
{
    if (len <= VOCAB_SLACK)
        memmove(to, from, VOCAB_SLACK);
    else
        memcpy(to, from, len);
}

/* The bytes of one token behind the block. */
static struct token token_of(const struct vocab *v, struct columns *c, uint32_t left,
                             uint32_t right)
{
    struct token token = {(uint32_t)v->block.len, 0, TOKEN_HERE};
    char *to = v->block.ptr + v->block.len;
    bool whole = false; /* of parts that are UTF-8 */
    if (left == LITERAL) {
        token.len = c->literal_len[right];
        memcpy(to, c->literal, token.len);
        c->literal += token.len;
    } else {
        struct token a = v->tokens[left];
        struct token b = v->tokens[right];
        copy_token(to, v->block.ptr + a.at, a.len);
        copy_token(to + a.len, v->block.ptr + b.at, b.len);
        token.len = (uint16_t)(a.len + b.len);
        whole = ((a.flags | b.flags) & TOKEN_BROKEN) == 0;
    }
    if (!whole && !utf8_valid(sv_make(to, token.len)))
        token.flags |= TOKEN_BROKEN;
    return token;
}

/* Pages of memory that is about to be written, all at once instead of one by one. */
static void bring(void *memory, size_t bytes)
{
#ifdef MADV_POPULATE_WRITE
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = ((uintptr_t)memory + page - 1) & ~(page - 1);
    uintptr_t last = ((uintptr_t)memory + bytes) & ~(page - 1);
    if (first < last)
        (void)madvise((void *)first, last - first, MADV_POPULATE_WRITE);
#else
    (void)memory;
    (void)bytes;
#endif
}

/* Asks for the records of the two tokens that make one; numbers beyond all ids ask for nothing. */
static void fetch_parts(const struct vocab *v, const struct columns *c, uint32_t id)
{
    __builtin_prefetch(&v->tokens[read_u24(c->left + (size_t)id * COLUMN)]);
    __builtin_prefetch(&v->tokens[read_u24(c->right + (size_t)id * COLUMN)]);
}

/* Tokens of ids below `below` into the vocabulary. */
static void fill(struct tokenizer *t, struct columns *c, uint32_t below)
{
    struct vocab *v = &t->vocab;
    v->limit = below < c->ids ? below : c->ids;
    buf_reserve(&v->block, (size_t)c->bytes + RESERVE_BYTES);
    bring(v->block.ptr, c->bytes);
    bring(v->tokens, v->limit * sizeof(*v->tokens));
    for (uint32_t id = 0; id < v->limit; id++) {
        uint32_t left = read_u24(c->left + (size_t)id * COLUMN);
        uint32_t right = read_u24(c->right + (size_t)id * COLUMN);
        if (id + AHEAD < v->limit)
            fetch_parts(v, c, id + AHEAD);
        if (left == NO_TOKEN)
            continue;
        v->tokens[id] = token_of(v, c, left, right);
        v->block.len += v->tokens[id].len;
        v->count++;
    }
}

/* The same once more for the merges. */
static void take_merges(struct bpe *bpe, const struct columns *c, uint32_t limit)
{
    struct bpe_merge some[SOME];
    size_t count = 0;
    for (uint32_t id = 0; id < limit; id++) {
        uint32_t left = read_u24(c->left + (size_t)id * COLUMN);
        uint32_t right = read_u24(c->right + (size_t)id * COLUMN);
        if (left != NO_TOKEN && left != LITERAL)
            some[count++] = (struct bpe_merge){left, right, id, id};
        if (count == SOME) {
            bpe_take_proven(bpe, some, count);
            count = 0;
        }
    }
    bpe_take_proven(bpe, some, count);
}

/* The pages of the program that were read for loading alone can be read again.  All encodings, as the system may have
 * brought the others along. */
static void let_go(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = ((uintptr_t)builtin_cl100k + page - 1) & ~(page - 1);
    uintptr_t last = (uintptr_t)builtin_p50k_end & ~(page - 1);
    if (first < last)
        (void)madvise((void *)first, last - first, MADV_DONTNEED);
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
    t->vocab.cap = c.ids + 2048;
    t->vocab.tokens = mem_array(t->vocab.cap, sizeof(*t->vocab.tokens));
    t->model.kind = MODEL_BPE;
    bpe_init(&t->model.bpe, &t->vocab, &o);
    fill(t, &c, e->below);
    for (uint32_t id = 0; id < t->vocab.limit; id++) /* the 256 bytes are the only names needed */
        if (t->vocab.tokens[id].len == 1)
            t->model.bpe.byte_id[(unsigned char)*vocab_bytes(&t->vocab, id).ptr] = id;
    t->model.bpe.all_bytes = true;
    bpe_start_proven(&t->model.bpe);
    take_merges(&t->model.bpe, &c, t->vocab.limit);
    bpe_finish_proven(&t->model.bpe);
    let_go();
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
