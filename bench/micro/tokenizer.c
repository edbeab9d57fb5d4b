/* Encoding and decoding with the built-in encodings, one thread.  Prompts of random tokens are this program's main work: no
 * word comes twice, so no cache helps.  The floor is the scanner alone: the same walk over the text without any merging;
 * for decoding it is a copy of the text. */
#include "bench/micro/micro.h"

#include "base/rng.h"
#include "tokenizer/splitter.h"
#include "tokenizer/tokenizer.h"

#include <stdlib.h>
#include <string.h>

enum { PROMPTS = 16, PROMPT_TOKENS = 4096 };

struct texts {
    const char *name;
    struct tokenizer *tokenizer;
    const struct splitter *scanner;
    struct buf prompts[PROMPTS];
    struct token_ids ids[PROMPTS];
    struct token_ids work;
    struct buf text;
    size_t tokens;
    size_t bytes;
};

static uint64_t run_encode(void *context, size_t rounds)
{
    struct texts *t = context;
    struct error err;
    uint64_t sum = 0;
    while (rounds-- > 0)
        for (size_t i = 0; i < PROMPTS; i++) {
            t->work.count = 0;
            tokenizer_encode(t->tokenizer, buf_sv(&t->prompts[i]), false, &t->work, &err);
            sum += t->work.count;
        }
    return sum;
}

static uint64_t floor_encode(void *context, size_t rounds)
{
    struct texts *t = context;
    uint64_t sum = 0;
    while (rounds-- > 0)
        for (size_t i = 0; i < PROMPTS; i++) {
            struct sv text = buf_sv(&t->prompts[i]);
            for (size_t at = 0; at < text.len; sum++)
                at = t->scanner->next(t->scanner, text, at);
        }
    return sum;
}

static uint64_t run_decode(void *context, size_t rounds)
{
    struct texts *t = context;
    struct error err;
    uint64_t sum = 0;
    while (rounds-- > 0)
        for (size_t i = 0; i < PROMPTS; i++) {
            buf_reset(&t->text);
            tokenizer_decode(t->tokenizer, t->ids[i].items, t->ids[i].count, false, &t->text, &err);
            sum += t->text.len;
        }
    return sum;
}

static uint64_t floor_decode(void *context, size_t rounds)
{
    struct texts *t = context;
    uint64_t sum = 0;
    while (rounds-- > 0)
        for (size_t i = 0; i < PROMPTS; i++) {
            buf_reset(&t->text);
            buf_add(&t->text, buf_sv(&t->prompts[i]));
            micro_keep(t->text.ptr);
            sum += t->text.len;
        }
    return sum;
}

static const struct splitter *scanner_by_name(const char *name)
{
    struct sv pattern;
    for (size_t i = 0; i < splitter_count(); i++)
        if (strcmp(splitter_at(i, &pattern)->name, name) == 0)
            return splitter_at(i, &pattern);
    return NULL;
}

static void fill(struct texts *t, const char *encoding, const char *scanner, uint32_t ids)
{
    struct mt19937 g;
    struct error err;
    t->tokenizer = tokenizer_resolve(encoding, TOKENIZER_PLAIN, NULL, &err);
    t->scanner = scanner_by_name(scanner);
    py_seed(&g, 99);
    for (size_t i = 0; i < PROMPTS; i++) {
        static uint32_t drawn[PROMPT_TOKENS];
        for (size_t k = 0; k < PROMPT_TOKENS; k++)
            drawn[k] = (uint32_t)py_below(&g, ids);
        tokenizer_decode(t->tokenizer, drawn, PROMPT_TOKENS, false, &t->prompts[i], &err);
        tokenizer_encode(t->tokenizer, buf_sv(&t->prompts[i]), false, &t->ids[i], &err);
        t->tokens += t->ids[i].count;
        t->bytes += t->prompts[i].len;
    }
}

const struct micro_case *micro_tokenizer_cases(void)
{
    static struct texts cl100k;
    static struct texts o200k;
    static struct micro_case cases[5];
    fill(&cl100k, "cl100k_base", "cl100k possessive", 100256);
    fill(&o200k, "o200k_base", "o200k", 199998);
    cases[0] = (struct micro_case){"encode cl100k, random tokens",
                                   "scanner alone",
                                   cl100k.tokens,
                                   cl100k.bytes,
                                   run_encode,
                                   floor_encode,
                                   &cl100k};
    cases[1] = (struct micro_case){"encode o200k, random tokens",
                                   "scanner alone",
                                   o200k.tokens,
                                   o200k.bytes,
                                   run_encode,
                                   floor_encode,
                                   &o200k};
    cases[2] = (struct micro_case){"decode cl100k", "copy",       cl100k.tokens, cl100k.bytes,
                                   run_decode,      floor_decode, &cl100k};
    cases[3] = (struct micro_case){"decode o200k", "copy",       o200k.tokens, o200k.bytes,
                                   run_decode,     floor_decode, &o200k};
    return cases;
}
