/* hf_priv.h - what the files of the data set "hf" share: the table of known data sets and a row on its way to a request.
 * Threads: a hf_item belongs to one thread at a time; extract functions run on several, on items of their own.
 * Errors: struct error. */
#ifndef VB_DATASETS_HF_PRIV_H
#define VB_DATASETS_HF_PRIV_H

#include "datasets/dataset_priv.h"
#include "datasets/hf_rows.h"
#include "datasets/hf_source.h"
#include "tokenizer/chat_template.h"

/* What becomes of a row.  All buffers are reused from row to row. */
struct hf_item {
    struct hf_row row;
    bool skip;         /* the row is not wanted */
    struct buf system; /* HF_MESSAGES: the system's message */
    struct buf text;   /* the prompt, before any chat template */
    struct buf answer; /* its tokens are the output length, where nothing else says it */
    bool has_answer;
    struct buf media; /* content parts, as in struct request */
    struct buf file;  /* a recording to be sent up */
    struct buf file_name;
    double file_s; /* its length; < 0: none */
    struct buf
        local; /* place on this machine of the file that the row names; empty: as the row says */

    struct buf rendered;
    struct buf tmp;
    struct token_ids ids;
    uint32_t prompt_len;
    uint32_t answer_len;
    bool ok;
    struct error err;
};

struct hf_build;

/* Fills in item->text and what else there is, or sets item->skip; false: the row cannot be used at all. */
typedef bool hf_extract_fn(const struct hf_build *b, const struct js_value *row,
                           struct hf_item *item, struct error *err);

enum hf_trait {
    HF_TEMPLATE = 1u << 0,      /* rendered with the chat template, unless --skip-chat-template */
    HF_MESSAGES = 1u << 1,      /* always rendered, with the system's message */
    HF_PICTURES = 1u << 2,      /* pictures or videos: chat and embedding backends only */
    HF_SPEECH = 1u << 3,        /* recordings: openai-audio only */
    HF_TOOLS = 1u << 4,         /* openai-chat only */
    HF_CHAT_PARTS = 1u << 5,    /* understands --enable-multimodal-chat */
    HF_NO_SUBSET = 1u << 6,     /* --hf-subset is not used */
    HF_SPLIT_NEEDED = 1u << 7,  /* no default split */
    HF_OWN_LENGTH = 1u << 8,    /* --hf-output-len is not used */
    HF_WHOLE = 1u << 9,         /* never a stream */
    HF_PLAIN_ANSWER = 1u << 10, /* the answer's tokens count without special ones */
    HF_FILTER = 1u << 11,       /* by length, where the output length is the answer's */
    HF_FILTER_ALWAYS = 1u << 12,
};

struct hf_kind {
    const char *ids[9]; /* names on the hub, ends with NULL */
    const char *split;
    const char *subset;
    unsigned traits;     /* enum hf_trait */
    uint32_t output_len; /* 0: the answer's */
    uint32_t max_prompt; /* of the filter */
    uint32_t max_total;
    const char *const *columns; /* NULL: all; ends with NULL */
    const char *const *maybe;
    hf_extract_fn *extract;
    const char *reason; /* what `skip` means: "shorter or longer than ..."; NULL: it is never set */
};

/* Columns of a data set that is not known, found by their names in its first row. */
struct hf_columns {
    struct sv prompt; /* empty: `context` and `input` */
    bool chat;        /* a list of messages, which holds the answer, too */
    bool turns;       /* a list of texts: the first one */
    struct sv answer; /* empty: none */
};

struct hf_build {
    const struct dataset_context *context;
    struct workload *workload;
    const struct hf_kind *kind;
    const char *id; /* the data set's name on the hub, or its path */
    struct hf_source *source;
    struct chat_template *template; /* NULL: prompts are not rendered */
    struct hf_columns columns;      /* of hf_generic */
    int64_t output_len;             /* -1: the answer's */
    const char *decoder_prefix;     /* of speech */
    /* Counts for messages. */
    size_t rows, skipped, tiny, by_length, no_answer;
};

extern const struct hf_kind hf_generic;
/* NULL: not known by name. */
const struct hf_kind *hf_kind_find(const char *id);
size_t hf_kind_count(void);
const struct hf_kind *hf_kind_at(size_t index);

/* The text of a column; false: there is none, and *err lists the columns. */
bool hf_need_text(const struct js_value *row, const char *column, struct sv *text,
                  struct error *err);
bool hf_need(const struct js_value *row, const char *column, enum js_type type,
             const struct js_value **value, struct error *err);
/* Appends a value as Python's str() of it: texts as they are, None, True, numbers. */
bool hf_add_str(const struct js_value *row, const char *column, struct buf *out, struct error *err);

/* hf_media.c */
bool hf_add_image(const struct js_value *image, struct hf_item *item, struct error *err);
bool hf_extract_speech(const struct hf_build *b, const struct js_value *row, struct hf_item *item,
                       struct error *err);
const char *hf_decoder_prefix(const struct config *config);
/* Makes a path of the column `url` or `video` one of this machine; called for every row before extract. */
bool hf_localize(struct hf_build *b, struct hf_item *item, struct error *err);

/* hf_generic.c */
bool hf_extract_generic(const struct hf_build *b, const struct js_value *row, struct hf_item *item,
                        struct error *err);
/* Looks at the first row. */
bool hf_find_columns(struct hf_build *b, const struct js_value *row, struct error *err);

/* hf_requests.c */
bool hf_requests_build(struct hf_build *b, struct hf_rows *rows, struct error *err);

/* hf_bfcl.c */
bool hf_bfcl_build(struct hf_build *b, struct error *err);

#endif
