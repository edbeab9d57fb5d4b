/* multi_turn.h - the result of conversations: the Rust tool's block on the console and its result object (OUTPUT 4, 9.4),
 * with figures over all turns and for each turn by its place.
 * Threads: read-only.  Errors: none. */
#ifndef VB_OUTPUT_MULTI_TURN_H
#define VB_OUTPUT_MULTI_TURN_H

#include "base/buf.h"
#include "output/run_report.h"

struct multi_turn_report {
    const struct run_report *run; /* all turns; its summary is the overall one */
    const struct summary *turns;  /* by place; those without a sample are left out */
    size_t turn_count;
    uint64_t conversations;
    uint64_t completed;   /* all of their turns succeeded */
    uint64_t not_started; /* the run was interrupted before; not among the failed */
    double avg_turns;     /* attempted, by those that were started */
    double avg_duration_ms;
    uint64_t concurrency;
    bool no_history;
    const size_t *owner;      /* conversation of each record */
    const size_t *first_item; /* first record of each conversation */
};

void multi_turn_text(const struct multi_turn_report *m, struct buf *out);
void multi_turn_json(const struct multi_turn_report *m, struct buf *out);

#endif
