/* options.h - command-line options from a table: parsing, conversion, help.  Every command has its own table.
 * Use: fill a struct option_parser (table, target struct, arena, command name), option_parse once with the words after
 * the command; then look at parser->help and parser->version before the target.  option_help_* write help text.
 *
 *     static const struct option_row rows[] = {
 *         {.name = "port", .kind = OPTION_INT, .max = 65535, .group = "server", .value = "PORT",
 *          .default_text = "8000", .help = "Port to listen on.", .offset = offsetof(struct thing, port)},
 *     };
 *     struct option_parser p = {.command = "vllm-bench thing", .rows = rows, .row_count = 1,
 *                               .target = &thing, .arena = &thing.arena};
 *     if (!option_parse(&p, argc, argv, err)) ...
 *
 * Rules: '-' and '_' are alike in a name up to its first '.'; --name=value and --name value; a word that looks like a
 * negative number is a value; the last of several wins with a warning; no abbreviations; positional words only for a
 * command that takes operands (`operands`), and everything behind a bare "--" is one;
 * --no-NAME turns a switch off; --name.key.key value puts one member into the JSON object of an OPTION_JSON row.
 * option_give afterwards gives rows from weaker sources (a file, the environment): what was given already stays.
 * `--help`, `--help=TOPIC`, `--help TOPIC`, `-h` and `--version` are known to every table without a row.
 * The defaults of a target are its own business: rows not given leave their field alone.
 * Strings are copied to the arena.  Threads: one parser belongs to one thread.  Errors: struct error, code E_USAGE,
 * one sentence that names flag and value. */
#ifndef VB_CONFIG_OPTIONS_H
#define VB_CONFIG_OPTIONS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

/* With the type of the field at `offset`. */
enum option_kind {
    OPTION_SWITCH,      /* bool: becomes true; takes no value */
    OPTION_SWITCH_OFF,  /* bool: becomes false; takes no value */
    OPTION_INT,         /* int */
    OPTION_UINT,        /* unsigned */
    OPTION_U64,         /* uint64_t */
    OPTION_I64,         /* int64_t */
    OPTION_DOUBLE,      /* double; "inf" unless `max` forbids it, never "nan" */
    OPTION_DURATION_S,  /* uint64_t, ns; a bare number is seconds; ns us ms s m h may follow */
    OPTION_DURATION_MS, /* uint64_t, ns; a bare number is milliseconds */
    OPTION_STRING,      /* const char * */
    OPTION_CHOICE,      /* const char *: the canonical spelling out of `choices` */
    OPTION_CALLBACK,    /* `set` does the work */
    OPTION_KIND_COUNT
};

enum option_flag {
    /* Takes every following word up to the next flag, at least one; accumulates. */
    OPTION_MULTI = 1u << 0,
    /* Shown by -h. */
    OPTION_SHORT = 1u << 1,
    /* Accepted with a warning that gives `note`; a callback is still called, to check. */
    OPTION_NO_EFFECT = 1u << 2,
    /* No peer has it. */
    OPTION_OWN = 1u << 3,
    /* The value is a JSON object, or may be one: members may be given singly, --name.key value. */
    OPTION_JSON = 1u << 4,
    /* The value holds a secret: a dump of the settings leaves it out. */
    OPTION_SECRET = 1u << 5,
};

/* Where the value of a row came from, the strongest first but for the default. */
enum option_origin { OPTION_DEFAULT, OPTION_COMMAND_LINE, OPTION_FILE, OPTION_ENVIRONMENT };

/* How a row was given: its words in order, none for a switch. */
struct option_trace {
    enum option_origin origin;
    size_t line;        /* in the file, 0: none */
    bool off;           /* a switch that was turned off */
    const char **words; /* in the arena */
    size_t count;
    size_t cap;
};

struct option_row;

/* What a callback gets: the word as written and where its result goes.  For OPTION_MULTI once a word. */
struct option_call {
    const struct option_row *row;
    void *target;
    struct arena *arena;
    const char *value;
    size_t nth; /* of OPTION_MULTI: how many words the row has had, this one counted */
};

/* False with *err filled: without the flag's name, which the parser puts before it. */
typedef bool option_set_fn(const struct option_call *call, struct error *err);

struct option_row {
    const char *name;    /* words joined by '-', without the leading dashes */
    const char *aliases; /* further names, separated by blanks; NULL none */
    enum option_kind kind;
    unsigned flags;           /* enum option_flag */
    const char *group;        /* heading in the help; rows of a group stand together */
    const char *value;        /* how the help calls the value, "SECONDS"; NULL: NAME */
    const char *choices;      /* OPTION_CHOICE: names separated by blanks */
    const char *default_text; /* shown in the help; NULL none */
    const char *example;      /* a right value for messages; NULL: default_text */
    const char *help;         /* one sentence or more */
    const char *note;         /* OPTION_NO_EFFECT: the reason, said in the warning */
    size_t offset;            /* of the field in the target */
    option_set_fn *set;       /* OPTION_CALLBACK */
    /* Bounds of numbers, themselves allowed; both 0: only the type's; max 0 with min > 0, or max HUGE_VAL: no
     * upper bound. */
    double min;
    double max;
};

struct option_parser {
    /* filled in by the caller */
    const char *command; /* "vllm-bench serve", for messages; compulsory */
    const struct option_row *rows;
    size_t row_count;
    void *target;
    struct arena *arena;
    void (*warn)(void *target, const char *sentence); /* NULL: warnings are dropped */
    const char *
        *operands; /* room for argc words, which get the positional ones; NULL: they are refused */
    size_t operand_count;
    /* filled in by option_parse */
    enum option_help {
        OPTION_HELP_NONE,
        OPTION_HELP_SHORT,
        OPTION_HELP_FULL,
        OPTION_HELP_TOPIC
    } help;
    const char *help_topic; /* OPTION_HELP_TOPIC: a group or a keyword */
    bool version;
    unsigned *given;             /* how often each row was given; in the arena */
    struct option_trace *traces; /* how each row was given; in the arena */
};

/* argv: the words after the command.  Stops at the first error. */
bool option_parse(struct option_parser *p, int argc, char **argv, struct error *err);

/* A row given by a source other than the command line, after option_parse.  Nothing when a stronger source gave the row,
 * or a switch for the same field. */
struct option_gift {
    const struct option_row *row;
    enum option_origin origin;
    size_t line;
    bool off;                 /* a switch: false */
    const char *const *words; /* none for a switch */
    size_t count;
};
bool option_give(struct option_parser *p, const struct option_gift *gift, struct error *err);

/* The row as though it had never been given; its field is the caller's business. */
void option_forget(struct option_parser *p, const struct option_row *row);

/* Fills *err for a name that no row has, with the nearest; `dashes` is put before the name. */
bool option_fail_unknown(const struct option_parser *p, const char *dashes, struct sv name,
                         struct error *err);

/* The row of a name or alias ('-' and '_' alike); NULL when there is none. */
const struct option_row *option_find(const struct option_row *rows, size_t count, struct sv name);
/* How often the row of that name was given in the last option_parse. */
unsigned option_given(const struct option_parser *p, const char *name);

/* The nearest of `names` (blank-separated) by edit distance or as an abbreviation; empty when none is near.  The view
 * points into `names`. */
struct sv option_near(const char *names, struct sv word);

/* Help text, wrapped to `width` columns: every row by groups; the rows of -h; the rows of the group or with the
 * keyword `topic` (false, with nothing written, when no row has it). */
void option_help_full(struct buf *out, const struct option_row *rows, size_t count, unsigned width);
void option_help_short(struct buf *out, const struct option_row *rows, size_t count,
                       unsigned width);
bool option_help_topic(struct buf *out, const struct option_row *rows, size_t count, unsigned width,
                       const char *topic);
/* Columns to wrap to: COLUMNS, else the terminal behind stdout, else 80; between 40 and 120. */
unsigned option_help_width(void);

#endif
