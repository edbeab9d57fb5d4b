/* align.h - makes the server count each synthetic prompt as long as it was meant to be.
 * The prompts of `random` are built with the client's tokenizer; a server that tokenizes otherwise would get longer or
 * shorter ones.  The first prompts are probed with /tokenize; when one differs, all are repaired through /tokenize and
 * /detokenize (ORCHESTRATION 5): cut, or padded with their own ids, until the server's count is the target; a surplus
 * that stays the same twice (special tokens that the server adds) is taken off the target.
 * Use: align_prompts after the ready check.  Never fatal: what cannot be done is said in `report`.
 * Threads: starts up to 16 of its own and joins them.  Errors: none. */
#ifndef VB_LOAD_ALIGN_H
#define VB_LOAD_ALIGN_H

#include "datasets/workload.h"
#include "load/server.h"

struct align_report {
    bool available;     /* the server answered /tokenize */
    char problem[1000]; /* why not */
    size_t probed;
    size_t mismatched; /* of the probed ones */
    size_t repaired;   /* all prompts that were changed */
    size_t left_over;  /* prompts whose count still differs */
};

void align_prompts(const struct server *server, const char *model, struct workload *workload,
                   struct align_report *report);

#endif
