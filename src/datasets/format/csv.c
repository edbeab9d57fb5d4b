/* See csv.h. */
#include "datasets/format/csv.h"

#include "datasets/format/position.h"

bool csv_init(struct csv *c, const char *name, struct sv text, struct error *err)
{
    *c = (struct csv){.name = name, .text = text, .next_line = 1};
    return position_check_text(name, &c->text, err);
}

static bool at_end_of_line(const struct csv *c)
{
    if (c->at == c->text.len || c->text.ptr[c->at] == '\n')
        return true;
    return c->text.ptr[c->at] == '\r' &&
           (c->at + 1 == c->text.len || c->text.ptr[c->at + 1] == '\n');
}

static void skip_end_of_line(struct csv *c)
{
    if (c->at < c->text.len && c->text.ptr[c->at] == '\r')
        c->at++;
    if (c->at < c->text.len)
        c->at++;
    c->next_line++;
}

/* Behind an opening quote.  The field is a view when it has no doubled quotes; else it is put together, and since the
 * buffer may move, the view is an offset until the record is complete. */
static bool quoted_field(struct csv *c, struct sv *field, struct error *err)
{
    size_t open = c->at++;
    size_t start = c->unquoted.len;
    for (; c->at < c->text.len; c->at++) {
        char ch = c->text.ptr[c->at];
        if (ch == '"') {
            if (c->at + 1 == c->text.len || c->text.ptr[c->at + 1] != '"')
                break;
            c->at++;
        }
        c->next_line += ch == '\n';
        buf_add_char(&c->unquoted, ch);
    }
    if (c->at == c->text.len)
        return position_error(c->name, c->text, open, err, "a quoted field is not closed");
    c->at++;
    if (!at_end_of_line(c) && c->text.ptr[c->at] != ',')
        return position_error(c->name, c->text, c->at, err,
                              "a comma or the end of the line is expected behind a quoted field");
    *field = (struct sv){NULL, c->unquoted.len - start};
    return true;
}

static void plain_field(struct csv *c, struct sv *field)
{
    size_t start = c->at;
    while (!at_end_of_line(c) && c->text.ptr[c->at] != ',')
        c->at++;
    *field = sv_make(c->text.ptr + start, c->at - start);
}

static bool read_record(struct csv *c, struct error *err)
{
    c->count = 0;
    buf_reset(&c->unquoted);
    for (;;) {
        if (c->count == CSV_MAX_FIELDS)
            return position_error(c->name, c->text, c->at, err, "more than %d fields",
                                  CSV_MAX_FIELDS);
        struct sv *field = &c->fields[c->count++];
        if (c->at < c->text.len && c->text.ptr[c->at] == '"') {
            if (!quoted_field(c, field, err))
                return false;
        } else {
            plain_field(c, field);
        }
        if (at_end_of_line(c))
            break;
        c->at++; /* the comma */
    }
    skip_end_of_line(c);
    size_t used = 0;
    for (size_t i = 0; i < c->count; i++) {
        if (c->fields[i].ptr != NULL)
            continue;
        c->fields[i].ptr = c->unquoted.ptr != NULL ? c->unquoted.ptr + used : "";
        used += c->fields[i].len;
    }
    return true;
}

enum csv_result csv_next(struct csv *c, struct error *err)
{
    while (c->at < c->text.len) {
        c->line = c->next_line;
        if (at_end_of_line(c)) {
            skip_end_of_line(c);
            continue;
        }
        return read_record(c, err) ? CSV_RECORD : CSV_FAILED;
    }
    return CSV_END;
}

bool csv_find(const struct csv *c, const char *name, size_t *index)
{
    for (size_t i = 0; i < c->count; i++) {
        if (sv_eq(sv_trim(c->fields[i]), sv_from(name))) {
            *index = i;
            return true;
        }
    }
    return false;
}

void csv_done(struct csv *c)
{
    buf_done(&c->unquoted);
    *c = (struct csv){0};
}
