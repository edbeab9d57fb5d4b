/* workload.h - what will be sent: a list of requests as views into one arena.
 * Use: dataset_build (datasets/dataset.h) fills a workload; the load engine and backends only read it.
 * A prompt is stored in its wire form, once: JSON text (with quotes, escapes made), or token ids, or a rule that
 * yields token ids.  Threads: read-only after building.  Errors: none here. */
#ifndef VB_DATASETS_WORKLOAD_H
#define VB_DATASETS_WORKLOAD_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/rng.h"
#include "base/sv.h"

#include <stdint.h>

enum prompt_kind {
    PROMPT_JSON, /* `json` is a JSON string literal, quotes included (or any JSON value) */
    PROMPT_IDS,  /* `ids`: token ids, written on the fly as a JSON array */
    PROMPT_ID_RUN, /* the workload's shared prefix ids, then allowed[(start + j) mod allowed_count], j < run_len */
    PROMPT_MESSAGES, /* `json` is a JSON array of chat messages: the whole value of `messages` */
    /* Ids drawn from the allowed ones, chunk_size at a time, by the chunks' `hashes`; id_count in all: equal leading
     * hashes give equal leading ids. */
    PROMPT_ID_CHUNKS,
};

struct prompt {
    enum prompt_kind kind;
    struct sv json;
    union {
        const uint32_t *ids;    /* PROMPT_IDS */
        const uint64_t *hashes; /* PROMPT_ID_CHUNKS */
    };
    uint32_t id_count;
    uint64_t run_start;
    uint32_t run_len;
    uint32_t prefix_len; /* PROMPT_ID_RUN: this many of workload->prefix_ids come first */
    uint32_t json_bytes; /* length of the wire form, any kind */
    uint32_t
        first_bytes; /* PROMPT_JSON that is a list of strings: length of the first literal in it; else 0 */
};

/* A file that goes up with the request (audio). */
struct request_file {
    struct sv bytes;
    struct sv name;  /* base name; empty: audio.wav */
    double length_s; /* how long the recording is */
};

struct request {
    struct prompt prompt;
    uint32_t prompt_len;    /* tokens, the client's own count */
    uint32_t output_len;    /* expected tokens, 0 when unknown */
    uint64_t due_offset_ns; /* from a trace; UINT64_MAX when the schedule decides */
    uint32_t sequences;     /* strings in a prompt that is a list; 0 means 1 */
    /* JSON text of the content parts beside the text, separated by commas, without brackets:
     * {"type":"image_url","image_url":{"url":"..."}},{...}.  Empty: none.  Not beside PROMPT_MESSAGES. */
    struct sv media;
    /* Further members of the body, JSON text without braces: "tools":[...].  They are sent last, so that they win over
     * --extra-body.  Empty: none. */
    struct sv extra;
    const struct request_file *file; /* NULL: none */
};

struct workload {
    struct arena arena;
    struct request *requests;
    size_t count;
    const uint32_t *prefix_ids;
    size_t prefix_count;
    const uint32_t *allowed; /* NULL: identity, allowed[k] = k */
    size_t allowed_count;
    size_t chunk_size; /* of PROMPT_ID_CHUNKS */
    bool without_ids;  /* requests carry no x-request-id: Python gives none in this data set */
};

/* Walks over the ids of a prompt of any id kind, a stretch at a time. */
struct id_walk {
    const struct workload *workload;
    const struct prompt *prompt;
    size_t at; /* ids given out */
    struct pcg64 g;
    size_t chunk_left;
    uint32_t drawn[256];
};

/* `count` ids in memory, or counted up from `first` when `ids` is NULL. */
struct id_stretch {
    const uint32_t *ids;
    uint32_t first;
    size_t count;
};

/* From id `at` on, which is in a prompt of hashes the start of a chunk. */
void id_walk_from(struct id_walk *walk, const struct workload *w, const struct prompt *p,
                  size_t at);
/* False at the end.  The stretch dies at the next call. */
bool id_walk_next(struct id_walk *walk, struct id_stretch *stretch);

void workload_done(struct workload *w);

/* A prompt that is a list of texts (batched inputs; of a rerank the query, then the documents); the request's
 * `sequences` is their count.  `tmp` is scratch. */
struct prompt workload_list_prompt(struct workload *w, const struct sv *texts, size_t count,
                                   struct buf *tmp);

/* Appends the wire form of a prompt (json_bytes bytes) to out. */
void workload_prompt_write(const struct workload *w, const struct prompt *p, struct buf *out);
/* Computes prompt->json_bytes of an id prompt from its ids. */
uint32_t workload_prompt_measure(const struct workload *w, const struct prompt *p);

#endif
