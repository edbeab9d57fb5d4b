/* api_priv.h - what the files of the single APIs give to the table and to each other.
 * Use: inside src/backends only.  Threads: pure functions.  Errors: see backend.h. */
#ifndef VB_BACKENDS_API_PRIV_H
#define VB_BACKENDS_API_PRIV_H

#include "backends/backend.h"
#include "json/scan.h"

/* 128 random bits, so that no recording holds it. */
#define AUDIO_BOUNDARY     "----vllm-bench-5b1d8f7c02e94a36a8f3d16e90b7c4d2"
#define AUDIO_CONTENT_TYPE "multipart/form-data; boundary=" AUDIO_BOUNDARY

/* X_body_parts and X_scan: as the members of struct backend. */

bool completions_body_parts(const struct config *config, struct body_template *t,
                            struct error *err);
enum scan_result completions_scan(struct sv name, struct sv data, struct reply_event *event);

bool chat_body_parts(const struct config *config, struct body_template *t, struct error *err);
enum scan_result chat_scan(struct sv name, struct sv data, struct reply_event *event);
/* A reply_choice_fn: the delta of a choice of chat/completions. */
bool chat_read_choice(struct js_scan *s, struct reply_event *event);

bool responses_body_parts(const struct config *config, struct body_template *t, struct error *err);
enum scan_result responses_scan(struct sv name, struct sv data, struct reply_event *event);

bool audio_body_parts(const struct config *config, struct body_template *t, struct error *err);
enum scan_result audio_scan(struct sv name, struct sv data, struct reply_event *event);

bool embeddings_body_parts(const struct config *config, struct body_template *t, struct error *err);
bool embeddings_chat_body_parts(const struct config *config, struct body_template *t,
                                struct error *err);
bool embeddings_clip_body_parts(const struct config *config, struct body_template *t,
                                struct error *err);
bool embeddings_vlm2vec_body_parts(const struct config *config, struct body_template *t,
                                   struct error *err);
bool pooling_body_parts(const struct config *config, struct body_template *t, struct error *err);
bool rerank_body_parts(const struct config *config, struct body_template *t, struct error *err);
bool infinity_body_parts(const struct config *config, struct body_template *t, struct error *err);
bool infinity_clip_body_parts(const struct config *config, struct body_template *t,
                              struct error *err);
/* The whole reply of any of these. */
enum scan_result pooled_scan(struct sv name, struct sv data, struct reply_event *event);

#endif
