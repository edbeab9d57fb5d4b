/* tokenizer_priv.h - the body of struct tokenizer, for the files of this room.
 * A local tokenizer has the pipeline's parts; one that asks the server has only `remote`.
 * Threads: read-only after loading.  Errors: none. */
#ifndef VB_TOKENIZER_TOKENIZER_PRIV_H
#define VB_TOKENIZER_TOKENIZER_PRIV_H

#include "base/arena.h"
#include "json/scan.h"
#include "tokenizer/added.h"
#include "tokenizer/chat_template.h"
#include "tokenizer/decoder.h"
#include "tokenizer/load.h"
#include "tokenizer/model.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/postprocessor.h"
#include "tokenizer/pretokenizer.h"
#include "tokenizer/sentencepiece.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/vocab.h"

struct remote; /* remote.c */
struct late;   /* late.c */

struct tokenizer {
    struct arena arena;
    struct vocab vocab;
    uint32_t model_size;               /* entries of the model alone */
    struct added_set added_raw;        /* searched in the text as it is */
    struct added_set added_normalized; /* searched after normalizing */
    struct normalizer normalizer;
    struct pretok_chain pretok;
    const struct splitter *splitter; /* does all the cutting; NULL: the chain does */
    struct model model;
    struct post_processor post;
    struct decoder decoder;
    const struct sentencepiece *sentencepiece; /* decodes instead; NULL */
    struct scratch_pool *pool;                 /* changes while the rest is only read */

    struct late *late; /* merges that wait for the first text; NULL: none */

    bool *named_special;          /* by id: bos, eos, pad ... of the configuration; NULL: none */
    struct sv chat_template;      /* Jinja source; ptr NULL: none */
    struct chat_name *chat_names; /* bos_token and the like, for the template */
    size_t chat_name_count;

    struct remote *remote;
    struct sv description;
};

/* load*.c: the steps of loading, for the loaders of the other formats as well. */
struct tokenizer *tokenizer_blank(void);
bool load_model(struct tokenizer *t, const struct js_value *model, struct sv vocab,
                struct sv merges, bool late, struct error *err);
bool load_merges(struct tokenizer *t, struct sv raw, struct error *err);
/* One string of a file, its escapes resolved into *out if there are any. */
bool load_scan_text(struct js_scan *s, struct buf *out, struct sv *text);
bool load_added(struct tokenizer *t, const struct js_value *list, struct error *err);
bool load_config(struct tokenizer *t, const struct tokenizer_files *files, struct error *err);
/* The object's text without one of its members, whose text is *value. */
bool tokenizer_json_without(struct sv text, const char *name, struct buf *out, struct sv *value,
                            struct error *err);
/* The last step: t, or NULL (and t freed, the message completed) when not ok. */
struct tokenizer *tokenizer_ready(struct tokenizer *t, bool ok, const char *name, const char *kind,
                                  struct error *err);

/* Gives memory back that was only needed for loading and lies free. */
void load_trim(void);

/* late.c: keeps a copy of the merges' text; late_ready reads them when that has not been done. */
struct late *late_new(struct tokenizer *t, struct sv merges);
bool late_ready(struct late *late, struct error *err);
void late_free(struct late *late);

/* remote.c: one question to the server each, unless the answer is known; from any thread. */
bool remote_encode(struct remote *r, struct sv text, bool add_special, struct token_ids *ids,
                   struct error *err);
bool remote_decode(struct remote *r, const uint32_t *ids, size_t count, struct buf *out,
                   struct error *err);
uint32_t remote_vocab_size(const struct remote *r);
void remote_free(struct remote *r);

#endif
