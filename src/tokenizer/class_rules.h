/* class_rules.h - a tokenizer.json as the class that tokenizer_config.json names builds it in transformers 5.
 * Some classes take nothing but vocabulary, merges and post-processor from the file and put their own normalizer,
 * pre-tokenizer and decoder around them.  For the files they were made for this changes nothing; others read differently
 * then, most of all DeepSeek-V3's byte-level file named LlamaTokenizerFast, unless config.json tells its model type.
 * Use: class_rules_add before the file's small parts are parsed.  Threads: pure.  Errors: none; a side file that is no JSON
 * object names no class. */
#ifndef VB_TOKENIZER_CLASS_RULES_H
#define VB_TOKENIZER_CLASS_RULES_H

#include "base/buf.h"
#include "tokenizer/load.h"

/* `small` is the text of a tokenizer.json without vocabulary and merges; members that the class replaces are added to it, a
 * later member being the one that counts.  True when it did. */
bool class_rules_add(const struct tokenizer_files *files, struct buf *small);

#endif
