/* Values go straight into the output, however large.  Only when a key after the metadata has a metadata key's name, its
 * text is cut out again and put into the metadata key's place at the end; that is rare, so the copy does not matter. */
#include "output/fields.h"

#include <stdlib.h>

#include "base/alloc.h"

struct field_slot {
    struct sv key;
    struct sv value;
    bool used;       /* replaced an earlier key */
    size_t value_at; /* its value in the output, when placed */
    size_t value_end;
    struct buf later; /* the value of a later key of that name */
};

/* One slot a key: the last value given wins, at the place of the first. */
static void add_slot(struct fields *f, const struct config_pair *pair)
{
    for (size_t i = 0; i < f->slot_count; i++) {
        if (sv_eq(f->slots[i].key, pair->key)) {
            f->slots[i].value = pair->value;
            return;
        }
    }
    f->slots[f->slot_count++] = (struct field_slot){.key = pair->key, .value = pair->value};
}

void fields_begin(struct fields *f, struct buf *out, const struct config_pairs *metadata)
{
    *f = (struct fields){0};
    js_writer_init(&f->w, out);
    f->slots = mem_array(metadata->count + 1, sizeof(*f->slots));
    for (size_t i = 0; i < metadata->count; i++)
        add_slot(f, &metadata->items[i]);
    f->moved = f->slot_count;
    js_begin_object(&f->w);
}

/* Cuts the value that was just written for a metadata key out of the output. */
static void settle(struct fields *f)
{
    if (f->moved == f->slot_count)
        return;
    struct buf *out = f->w.out;
    struct field_slot *slot = &f->slots[f->moved];
    buf_reset(&slot->later);
    buf_add(&slot->later, sv_make(out->ptr + f->moved_value_at, out->len - f->moved_value_at));
    out->len = f->moved_key_at;
    f->moved = f->slot_count;
}

bool fields_key(struct fields *f, const char *name)
{
    settle(f);
    size_t i = 0;
    while (i < f->slot_count && !sv_eq(f->slots[i].key, sv_from(name)))
        i++;
    size_t key_at = f->w.out->len;
    js_key(&f->w, name);
    if (i == f->slot_count)
        return true;
    struct field_slot *slot = &f->slots[i];
    if (!f->placed) {
        js_string(&f->w, slot->value);
        slot->used = true;
        return false;
    }
    if (slot->used)
        return true;
    f->moved = i;
    f->moved_key_at = key_at;
    f->moved_value_at = f->w.out->len;
    return true;
}

void fields_metadata(struct fields *f)
{
    for (size_t i = 0; i < f->slot_count; i++) {
        struct field_slot *slot = &f->slots[i];
        if (slot->used)
            continue;
        js_key_sv(&f->w, slot->key);
        slot->value_at = f->w.out->len;
        js_string(&f->w, slot->value);
        slot->value_end = f->w.out->len;
    }
    f->placed = true;
}

void fields_text(struct fields *f, const char *name, const char *text)
{
    if (fields_key(f, name))
        js_cstring(&f->w, text);
}

void fields_uint(struct fields *f, const char *name, uint64_t value)
{
    if (fields_key(f, name))
        js_uint(&f->w, value);
}

void fields_double(struct fields *f, const char *name, double value)
{
    if (fields_key(f, name))
        js_double(&f->w, value);
}

void fields_end(struct fields *f)
{
    settle(f);
    js_end_object(&f->w);
    struct buf *out = f->w.out;
    /* From the last to the first, so that the positions of those before stay right. */
    for (size_t i = f->slot_count; i-- > 0;) {
        struct field_slot *slot = &f->slots[i];
        if (slot->later.len > 0) {
            struct buf tail = {0};
            buf_add(&tail, sv_make(out->ptr + slot->value_end, out->len - slot->value_end));
            out->len = slot->value_at;
            buf_add(out, buf_sv(&slot->later));
            buf_add(out, buf_sv(&tail));
            buf_done(&tail);
        }
        buf_done(&slot->later);
    }
    free(f->slots);
    *f = (struct fields){0};
}
