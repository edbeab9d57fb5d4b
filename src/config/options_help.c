/* Help text out of an option table: two columns on a wide terminal, one under the other on a narrow one. */
#include "base/num.h"
#include "config/options_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { HELP_COLUMN = 34, HELP_NARROW = 70, HELP_INDENT = 8 };

unsigned option_help_width(void)
{
    uint64_t columns = 0;
    const char *text = getenv("COLUMNS");
    if (text == NULL || !num_parse_u64(sv_from(text), &columns)) {
        struct winsize size;
        columns = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    }
    if (columns == 0) {
        return 80;
    }
    return columns < 40 ? 40 : columns > 120 ? 120 : (unsigned)columns;
}

static void pad(struct buf *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        buf_add_char(out, ' ');
    }
}

/* Words of `text` from column `at` on, further lines indented; a word longer than the line stands alone. */
static void wrap(struct buf *out, struct sv text, size_t at, size_t indent, size_t width)
{
    struct sv word;
    bool fresh = true;
    while (option_next_name(&text, &word)) {
        if (!fresh && at + 1 + word.len > width) {
            buf_add_char(out, '\n');
            pad(out, indent);
            at = indent;
            fresh = true;
        }
        if (!fresh) {
            buf_add_char(out, ' ');
            at++;
        }
        buf_add(out, word);
        at += word.len;
        fresh = false;
    }
    buf_add_char(out, '\n');
}

/* "--header KEY=VALUE ..." */
static void left_column(struct buf *out, const struct option_row *row)
{
    buf_add_fmt(out, "  --%s", row->name);
    struct sv rest = sv_from(row->aliases);
    struct sv alias;
    while (option_next_name(&rest, &alias)) {
        buf_add_fmt(out, ", --" SV_FMT, SV_ARG(alias));
    }
    if (!option_is_switch(row)) {
        buf_add_fmt(out, " %s", row->value != NULL ? row->value : "NAME");
    }
    if ((row->flags & OPTION_MULTI) != 0) {
        buf_add_str(out, " ...");
    }
}

static void right_column(struct buf *out, const struct option_row *row)
{
    buf_add_str(out, row->help);
    if (row->choices != NULL) {
        buf_add_str(out, " One of:");
        struct sv rest = sv_from(row->choices);
        struct sv name;
        const char *before = " ";
        while (option_next_name(&rest, &name)) {
            buf_add_fmt(out, "%s" SV_FMT, before, SV_ARG(name));
            before = ", ";
        }
        buf_add_char(out, '.');
    }
    if (row->default_text != NULL) {
        buf_add_fmt(out, " [%s]", row->default_text);
    }
    if ((row->flags & OPTION_NO_EFFECT) != 0) {
        buf_add_str(out, " (accepted, no effect)");
    }
}

static void print_row(struct buf *out, const struct option_row *row, unsigned width)
{
    struct buf text = {0};
    size_t start = out->len;
    left_column(out, row);
    right_column(&text, row);
    size_t used = out->len - start;
    size_t indent = width < HELP_NARROW ? HELP_INDENT : HELP_COLUMN;
    if (used + 2 > indent) {
        buf_add_char(out, '\n');
        used = 0;
    }
    pad(out, indent - used);
    wrap(out, buf_sv(&text), indent, indent, width);
    buf_done(&text);
}

static void print_heading(struct buf *out, const char *group)
{
    buf_add_char(out, '\n');
    buf_add_fmt(out, "%s:\n", group);
}

void option_help_full(struct buf *out, const struct option_row *rows, size_t count, unsigned width)
{
    const char *group = "";
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].group, group) != 0) {
            group = rows[i].group;
            print_heading(out, group);
        }
        print_row(out, &rows[i], width);
    }
}

void option_help_short(struct buf *out, const struct option_row *rows, size_t count, unsigned width)
{
    for (size_t i = 0; i < count; i++) {
        if ((rows[i].flags & OPTION_SHORT) != 0) {
            print_row(out, &rows[i], width);
        }
    }
}

/* ASCII case and '-', '_', ' ' alike. */
static char fold(char c)
{
    if (c == '_' || c == ' ') {
        return '-';
    }
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool matches_at(const char *text, const char *part, bool to_the_end)
{
    size_t i = 0;
    while (part[i] != '\0') {
        if (fold(text[i]) != fold(part[i])) {
            return false;
        }
        i++;
    }
    return !to_the_end || text[i] == '\0';
}

static bool contains(const char *text, const char *part)
{
    for (; text != NULL && *text != '\0'; text++) {
        if (matches_at(text, part, false)) {
            return true;
        }
    }
    return false;
}

bool option_help_topic(struct buf *out, const struct option_row *rows, size_t count, unsigned width,
                       const char *topic)
{
    while (*topic == '-') {
        topic++;
    }
    bool whole_group = false;
    for (size_t i = 0; i < count; i++) {
        whole_group = whole_group || matches_at(rows[i].group, topic, true);
    }
    bool any = false;
    const char *group = "";
    for (size_t i = 0; i < count && *topic != '\0'; i++) {
        const struct option_row *row = &rows[i];
        bool wanted = whole_group ? matches_at(row->group, topic, true)
                                  : contains(row->name, topic) || contains(row->aliases, topic) ||
                                        contains(row->help, topic);
        if (!wanted) {
            continue;
        }
        if (strcmp(row->group, group) != 0) {
            group = row->group;
            print_heading(out, group);
        }
        print_row(out, row, width);
        any = true;
    }
    return any;
}
