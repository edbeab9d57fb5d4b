/* fields.h - the top-level keys of a result object, with --metadata in Python's place and by Python's rules: metadata
 * overwrites a key that came before it where that key stands, and is overwritten, at its own place, by a key that
 * comes after it (an assignment to a Python dict keeps the first position).
 * Use: fields_begin; fields_key and one value by fields.w, for every key; fields_metadata at its place; fields_end.
 * Threads: one owner.  Errors: none. */
#ifndef VB_OUTPUT_FIELDS_H
#define VB_OUTPUT_FIELDS_H

#include "config/config.h"
#include "json/writer.h"

struct field_slot;

struct fields {
    struct js_writer w;       /* values are written with this */
    struct field_slot *slots; /* one a metadata key */
    size_t slot_count;
    bool placed;         /* fields_metadata was called */
    size_t moved;        /* slot whose value is being written out of place; slot_count: none */
    size_t moved_key_at; /* where that key and its value begin */
    size_t moved_value_at;
};

/* The pairs are borrowed until fields_end. */
void fields_begin(struct fields *f, struct buf *out, const struct config_pairs *metadata);
/* True: write the value now.  False: metadata took the key, write nothing. */
bool fields_key(struct fields *f, const char *name);
void fields_metadata(struct fields *f);
/* A key with its value; NULL writes null. */
void fields_text(struct fields *f, const char *name, const char *text);
void fields_uint(struct fields *f, const char *name, uint64_t value);
void fields_double(struct fields *f, const char *name, double value);
void fields_end(struct fields *f);

#endif
