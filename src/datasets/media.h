/* media.h - images, videos and sounds as content parts of a request.
 * Use: media_add_part for each file or address; media_set_prompt once for the request.
 * Threads: pure but for reading files.  Errors: struct error with the file's name. */
#ifndef VB_DATASETS_MEDIA_H
#define VB_DATASETS_MEDIA_H

#include "datasets/dataset.h"

enum media_kind { MEDIA_IMAGE, MEDIA_VIDEO };

/* Appends the JSON of a part (after a comma when `out` is not empty).  `source`: an address or a path, which becomes a
 * file:// address; with `embed` the file's content goes into the part. */
bool media_add_part(enum media_kind kind, struct sv source, bool embed, struct buf *out,
                    struct error *err);
/* The prompt, its text given plainly, with parts beside it (`media`, as in struct request); with
 * --enable-multimodal-chat the messages are made here. */
void media_set_prompt(const struct config *config, struct workload *workload,
                      struct request *request, struct sv text, struct sv media, struct buf *tmp);
/* The same with the text as a JSON string literal. */
void media_set_prompt_json(const struct config *config, struct workload *workload,
                           struct request *request, struct sv literal, struct sv media,
                           struct buf *tmp);

#endif
