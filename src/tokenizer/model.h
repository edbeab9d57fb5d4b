/* model.h - the part of a tokenizer that turns one word into ids: BPE, Unigram, WordPiece or WordLevel.
 * Use: set `kind` and fill the member of that kind; model_encode; model_done.
 * Threads: read-only after loading.  Errors: none. */
#ifndef VB_TOKENIZER_MODEL_H
#define VB_TOKENIZER_MODEL_H

#include "tokenizer/bpe.h"
#include "tokenizer/scratch.h"
#include "tokenizer/unigram.h"
#include "tokenizer/wordpiece.h"

enum model_kind { MODEL_BPE, MODEL_UNIGRAM, MODEL_WORDPIECE, MODEL_WORDLEVEL, MODEL_KIND_COUNT };

struct model {
    enum model_kind kind;
    struct bpe bpe;
    struct unigram unigram;
    struct wordpiece wordpiece; /* WordLevel too */
};

static inline void model_encode(const struct model *m, struct sv word, struct scratch *scratch,
                                struct token_ids *ids)
{
    switch (m->kind) {
    case MODEL_UNIGRAM:
        unigram_encode(&m->unigram, word, &scratch->unigram, ids);
        break;
    case MODEL_WORDPIECE:
        wordpiece_encode(&m->wordpiece, word, ids);
        break;
    case MODEL_WORDLEVEL:
        wordlevel_encode(&m->wordpiece, word, ids);
        break;
    case MODEL_BPE:
    case MODEL_KIND_COUNT:
    default:
        bpe_encode(&m->bpe, word, &scratch->bpe, ids);
        break;
    }
}

static inline void model_done(struct model *m)
{
    bpe_done(&m->bpe);
    unigram_done(&m->unigram);
    wordpiece_done(&m->wordpiece);
}

#endif
