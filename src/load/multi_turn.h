/* multi_turn.h - drives conversations through the load engine: a turn is sent when the one before has been answered, with
 * what the server really said in its history (ORCHESTRATION 12).
 * All conversations begin together; requests wait in the order in which they became ready, so that with a limit the
 * conversations take turns.  A pause between turns holds no slot.  A failed turn ends its conversation.
 * Use: driver_init over finished data, which fills an empty workload; this, due_ns and feed go into the plan; after the
 * run read the states; driver_done.
 * Threads: one at a time.  Errors: none. */
#ifndef VB_LOAD_MULTI_TURN_H
#define VB_LOAD_MULTI_TURN_H

#include "datasets/multi_turn.h"
#include "load/load.h"

struct driver_state { /* of a conversation */
    size_t next;      /* turn to come */
    size_t attempted;
    bool failed;
    bool finished;    /* all turns succeeded */
    uint64_t running; /* tokens of the history */
    uint64_t end_ns;  /* of its last request */
    struct buf messages;
};

struct driver_entry {
    size_t conversation;
    uint64_t when_ns;
};

struct driver {
    const struct multi_turn_data *data;
    const char *id_prefix;
    uint64_t delay_ns;
    struct workload *workload; /* one request a turn; item is the index */
    size_t *first_item;        /* of each conversation */
    size_t *owner;             /* conversation of each item */
    uint64_t *due_ns;          /* heap; the caller's, who frees it */
    struct driver_state *states;
    struct driver_entry *queue; /* ring of those ready or pausing, by time */
    size_t queue_first, queue_count;
    size_t in_flight;
    uint64_t start_ns;
    struct load_feed feed;
};

/* `min_tokens`: each request asks for its whole output length. */
void driver_init(struct driver *d, const struct multi_turn_data *data, struct workload *workload,
                 const char *id_prefix, uint64_t delay_ns, bool min_tokens);
void driver_done(struct driver *d);

#endif
