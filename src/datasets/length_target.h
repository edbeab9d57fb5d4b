/* length_target.h - gives a token sequence a length that survives decoding and encoding.
 * Loop A of the specification (DATASETS 0.11): decode, encode, then append drawn ids or cut, at most 10 times, exactly as
 * Python does; what is still too long afterwards is cut once more, which may not help: a broken character at the end
 * comes back as three tokens whatever is cut.
 *
 * Only the end of a sequence changes from one round to the next.  Left of a place (places.h) text is encoded alike
 * whatever follows; so rounds after the first work behind the last place (the anchor) only.  length_target_init finds out
 * whether the tokenizer is of that kind; length_fit_verify encodes the whole text again to prove it.  Where spaces are
 * put before texts, special tokens in a text collect one more with every round: no anchor is set behind them.
 *
 * Use: length_target_init (length_target_done frees); for each sequence put the ids into a zeroed struct length_fit
 * with its target, then length_fit_start, and length_fit_go_on, which draws.  The first needs no draws and may run in
 * any order, on many threads; length_fit_done frees.
 * Threads: a length_fit has one owner; the length_target is only read.  Errors: struct error (only a server's tokenizer
 * can fail). */
#ifndef VB_DATASETS_LENGTH_TARGET_H
#define VB_DATASETS_LENGTH_TARGET_H

#include "datasets/places.h"

/* One id for padding, drawn from [0, vocabulary). */
typedef uint32_t length_pad_fn(void *user);

enum length_anchor {
    ANCHOR_NONE,
    ANCHOR_SPACE_KEPT,    /* byte-level: " word" by itself is encoded as behind other text */
    ANCHOR_SPACE_DROPPED, /* a space is put before any text: "word" by itself is */
};

struct length_target {
    const struct tokenizer *tokenizer;
    length_pad_fn *pad;
    void *user;
    enum length_anchor anchor;
    struct places *places; /* unless ANCHOR_NONE */
    bool *special;         /* ANCHOR_SPACE_DROPPED: by id, below the vocabulary's size */
    uint32_t vocab_size;
};

struct length_fit {
    struct token_ids ids; /* in: the wished sequence; out: what encoding `text` gives */
    struct buf text;
    size_t target;
    bool finished;
    bool anchored; /* some round looked at the end only */
    bool steady;   /* `text` is what `ids` say, so far as no round has changed them */
    int tries_left;
    size_t anchor_ids; /* ids and bytes before the anchor */
    size_t anchor_bytes;
    struct token_ids tmp_ids;
    struct buf tmp_text;
    struct buf tmp_head;
};

/* `find_anchor`: look whether anchors are safe, which walks over the vocabulary once. */
void length_target_init(struct length_target *lt, const struct tokenizer *tokenizer,
                        bool find_anchor);

void length_target_done(struct length_target *lt);

/* Ready for another sequence; memory is kept. */
void length_fit_reset(struct length_fit *fit, size_t target);
/* Rounds up to the first that must draw. */
bool length_fit_start(const struct length_target *lt, struct length_fit *fit, struct error *err);
/* The same when `ids` and `text` are already what the first round gives (run_cache.h). */
bool length_fit_resume(const struct length_target *lt, struct length_fit *fit, struct error *err);
/* The rest. */
bool length_fit_go_on(const struct length_target *lt, struct length_fit *fit, struct error *err);
/* Does the whole text give these ids? */
bool length_fit_verify(const struct length_target *lt, struct length_fit *fit, bool *same,
                       struct error *err);
void length_fit_done(struct length_fit *fit);

#endif
