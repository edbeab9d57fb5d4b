/* postprocessor.h - the special tokens that are put around a single text: null, ByteLevel (changes nothing here),
 * TemplateProcessing, RobertaProcessing, BertProcessing, and Sequences of these.
 * Use: post_load; then before ids, text ids, after ids; post_done.
 * Threads: read-only after loading.  Errors: struct error; an unknown kind is named. */
#ifndef VB_TOKENIZER_POSTPROCESSOR_H
#define VB_TOKENIZER_POSTPROCESSOR_H

#include "base/error.h"
#include "json/tree.h"
#include "tokenizer/tokenizer.h"

struct post_processor {
    struct token_ids before;
    struct token_ids after;
};

bool post_load(struct post_processor *post, const struct js_value *value, struct error *err);
void post_done(struct post_processor *post);

#endif
