/* multi_turn.h - conversations for --multi-turn: what the user says in each turn (DATASETS 14).
 * Use: multi_turn_build; multi_turn_done.
 * Threads: one.  Errors: struct error. */
#ifndef VB_DATASETS_MULTI_TURN_H
#define VB_DATASETS_MULTI_TURN_H

#include "datasets/dataset.h"

struct turn {
    struct sv text; /* JSON string */
    uint32_t user_len;
    uint32_t output_len;
};

struct conversation {
    size_t first; /* of its turns, in data->turns */
    size_t count;
};

struct multi_turn_data {
    struct arena arena;
    struct turn *turns; /* conversation after conversation */
    size_t turn_count;
    size_t turn_cap;
    struct conversation *conversations;
    size_t count;
    size_t most_turns; /* of a conversation */
    bool no_history;   /* every turn stands by itself: prefixes are shared */
};

bool multi_turn_build(const struct dataset_context *context, struct multi_turn_data *data,
                      struct error *err);
void multi_turn_done(struct multi_turn_data *data);

#endif
