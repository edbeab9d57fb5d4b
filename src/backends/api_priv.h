/* api_priv.h - what the files of the single APIs give to the table and to each other.
 * Use: inside src/backends only.  Threads: pure functions.  Errors: see backend.h. */
#ifndef VB_BACKENDS_API_PRIV_H
#define VB_BACKENDS_API_PRIV_H

#include "backends/backend.h"
#include "json/scan.h"

/* 128 random bits, so that no recording holds it. */
#define AUDIO_BOUNDARY     "----vllm-bench-5b1d8f7c02e94a36a8f3d16e90b7c4d2"
#define AUDIO_CONTENT_TYPE "multipart/form-data; boundary=" AUDIO_BOUNDARY

/* As `body_parts` of struct backend. */
typedef bool body_parts_fn(const struct config *config, struct body_template *t, struct error *err);
/* As `scan` of struct backend. */
typedef enum scan_result scan_fn(struct sv name, struct sv data, struct reply_event *event);

body_parts_fn completions_body_parts;
scan_fn completions_scan;

body_parts_fn chat_body_parts;
scan_fn chat_scan;
/* A reply_choice_fn: the delta of a choice of chat/completions. */
bool chat_read_choice(struct js_scan *s, struct reply_event *event);

body_parts_fn responses_body_parts;
scan_fn responses_scan;

body_parts_fn audio_body_parts;
scan_fn audio_scan;

body_parts_fn embeddings_body_parts;
body_parts_fn embeddings_chat_body_parts;
body_parts_fn embeddings_clip_body_parts;
body_parts_fn embeddings_vlm2vec_body_parts;
body_parts_fn pooling_body_parts;
body_parts_fn rerank_body_parts;
body_parts_fn infinity_body_parts;
body_parts_fn infinity_clip_body_parts;
/* The whole reply of any of these. */
scan_fn pooled_scan;

#endif
