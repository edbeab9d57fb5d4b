/* decoder.h - token texts back to one text: ByteLevel (bytes joined, then read as UTF-8 with repairs) or none (texts
 * joined by single spaces).
 * Use: decoder_load; decoder_run.  Threads: read-only after loading.  Errors: struct error; an unknown kind is named. */
#ifndef VB_TOKENIZER_DECODER_H
#define VB_TOKENIZER_DECODER_H

#include "base/error.h"
#include "tokenizer/vocab.h"
#include "json/tree.h"

enum decoder_kind { DECODER_NONE, DECODER_BYTE_LEVEL };

bool decoder_load(enum decoder_kind *kind, const struct js_value *value, struct error *err);

/* Appends valid UTF-8.  Ids without a token are dropped, special ones too with skip_special. */
void decoder_run(enum decoder_kind kind, const struct vocab *vocab, const uint32_t *ids,
                 size_t count, bool skip_special, struct buf *out);

#endif
