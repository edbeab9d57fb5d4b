/* figures.h - single figures out of finished result objects, for everything that sets runs side by side.
 * Threads: read-only.  Errors: a figure that is not there, or is no number, is answered with false. */
#ifndef VB_OUTPUT_FIGURES_H
#define VB_OUTPUT_FIGURES_H

#include "base/buf.h"
#include "json/tree.h"

/* A member by its name; dots lead into objects: "steady_state.request_throughput".  NULL when there is none. */
const struct js_value *figure_find(const struct js_value *result, struct sv key);
bool figure_get(const struct js_value *result, const char *key, double *out);

/* "0", whole numbers without decimals, all others with two. */
void figure_text(char *out, size_t cap, double value);

/* Calls back for every number at the top level from "duration" on, and of steady_state: what was measured, not what was
 * set.  `key` is dotted. */
typedef void figure_each_fn(void *user, const char *key, double value);
void figure_each(const struct js_value *result, figure_each_fn *each, void *user);

/* The list of all such keys of several results (NULL ones are passed over), in order of appearance; heap. */
struct figure_keys {
    char **items;
    size_t count;
    size_t cap;
};
void figure_keys_make(struct figure_keys *keys, const struct js_value *const *results,
                      size_t count);
void figure_keys_done(struct figure_keys *keys);

/* One CSV field; quoted where needed. */
void figure_csv(struct buf *out, struct sv text);

#endif
