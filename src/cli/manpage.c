/* The man page, in the macros of man(7): everything about flags comes out of the option table, every flag with an
 * example. */
#include "cli/command.h"
#include "cli/generate.h"
#include "config/config.h"
#include "config/options.h"

#include <string.h>

/* A text line: what roff would take for its own is escaped, and dashes stay dashes that can be copied. */
static void roff(struct buf *out, struct sv text)
{
    if (text.len > 0 && (text.ptr[0] == '.' || text.ptr[0] == '\'')) {
        buf_add_str(out, "\\&");
    }
    for (size_t i = 0; i < text.len; i++) {
        switch (text.ptr[i]) {
        case '\\':
            buf_add_str(out, "\\e");
            break;
        case '-':
            buf_add_str(out, "\\-");
            break;
        case '\'':
            buf_add_str(out, "\\(aq");
            break;
        case '"':
            buf_add_str(out, "\\(dq");
            break;
        case '^':
            buf_add_str(out, "\\(ha");
            break;
        case '~':
            buf_add_str(out, "\\(ti");
            break;
        case '`':
            buf_add_str(out, "\\(ga");
            break;
        default:
            buf_add_char(out, text.ptr[i]);
            break;
        }
    }
}

static void roff_str(struct buf *out, const char *text)
{
    roff(out, sv_from(text));
}

static bool is_switch(const struct option_row *row)
{
    return row->kind == OPTION_SWITCH || row->kind == OPTION_SWITCH_OFF;
}

static void names(struct buf *out, const struct option_row *row)
{
    buf_add_str(out, "\\fB\\-\\-");
    roff_str(out, row->name);
    buf_add_str(out, "\\fR");
    struct sv rest = sv_from(row->aliases);
    struct sv alias;
    while (sv_split(&rest, ' ', &alias)) {
        if (alias.len > 0) {
            buf_add_str(out, ", \\fB\\-\\-");
            roff(out, alias);
            buf_add_str(out, "\\fR");
        }
    }
    if (!is_switch(row)) {
        buf_add_str(out, " \\fI");
        roff_str(out, row->value != NULL ? row->value : "NAME");
        buf_add_str(out, "\\fR");
    }
    buf_add_str(out, (row->flags & OPTION_MULTI) != 0 ? " ...\n" : "\n");
}

static void choices(struct buf *out, const struct option_row *row)
{
    struct sv rest = sv_from(row->choices);
    struct sv name;
    const char *before = "\nOne of ";
    while (sv_split(&rest, ' ', &name)) {
        if (name.len > 0) {
            buf_add_str(out, before);
            roff(out, name);
            before = ", ";
        }
    }
    buf_add_str(out, row->choices != NULL ? "." : "");
}

/* What the shell would take apart stands in quotes. */
static void example_value(struct buf *out, const struct option_row *row)
{
    struct sv first = sv_from(row->choices);
    struct sv rest = first;
    const char *text = row->example != NULL ? row->example : row->default_text;
    if (text == NULL && row->choices != NULL && sv_split(&rest, ' ', &first)) {
        roff(out, first);
        return;
    }
    bool quote = row->example == NULL && text != NULL && strpbrk(text, "{}()\"*?$ ;|&<>") != NULL;
    buf_add_str(out, quote ? "\\(aq" : "");
    roff_str(out, text != NULL ? text : "1");
    buf_add_str(out, quote ? "\\(aq" : "");
}

static void option(struct buf *out, const struct option_row *row)
{
    buf_add_str(out, ".TP\n");
    names(out, row);
    roff_str(out, row->help);
    choices(out, row);
    if (row->default_text != NULL) {
        buf_add_str(out, "\nDefault: ");
        roff_str(out, row->default_text);
        buf_add_str(out, ".");
    }
    if ((row->flags & OPTION_NO_EFFECT) != 0) {
        buf_add_str(out, "\nAccepted with a warning, without effect: ");
        roff_str(out, row->note != NULL ? row->note : "this program does not need it");
        buf_add_str(out, ".");
    }
    if ((row->flags & OPTION_JSON) != 0) {
        buf_add_str(out, "\nOne member: \\fB\\-\\-");
        roff_str(out, row->name);
        buf_add_str(out, ".\\fIkey value\\fR.");
    }
    buf_add_str(out, "\n.br\nExample: \\fB\\-\\-");
    roff_str(out, row->name);
    if (!is_switch(row)) {
        buf_add_char(out, ' ');
        example_value(out, row);
    }
    buf_add_str(out, "\\fR\n");
}

/* The rows by their groups. */
static void grouped(struct buf *out, const struct option_row *rows, size_t count)
{
    const char *group = "";
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].group, group) != 0) {
            group = rows[i].group;
            buf_add_str(out, ".SS ");
            roff_str(out, group);
            buf_add_char(out, '\n');
        }
        option(out, &rows[i]);
    }
}

static void others_options(struct buf *out, const struct command_flags *others)
{
    for (const struct command_flags *c = others; c->name != NULL; c++) {
        buf_add_str(out, ".SH OPTIONS OF ");
        for (const char *s = c->name; *s != '\0'; s++) {
            buf_add_char(out, *s >= 'a' && *s <= 'z' ? (char)(*s - 'a' + 'A') : *s);
        }
        buf_add_char(out, '\n');
        grouped(out, c->rows, c->count);
    }
}

static void options(struct buf *out)
{
    size_t count;
    const struct option_row *rows = config_options(&count);
    buf_add_str(out,
                ".SH OPTIONS OF SERVE\n"
                "Dashes and underscores in names are alike;\n"
                "\\fB\\-\\-name value\\fR and \\fB\\-\\-name=value\\fR are.\n"
                "\\fB\\-\\-no\\-\\fIname\\fR turns a switch off that a file or the environment "
                "turned on.\n");
    grouped(out, rows, count);
}

static void head(struct buf *out)
{
    buf_add_str(out,
                ".\\\" Made from the option table of vllm-bench.\n"
                ".TH VLLM\\-BENCH 1 \"\" \"vllm\\-bench " VB_VERSION "\" \"User Commands\"\n"
                ".SH NAME\nvllm\\-bench \\- measure servers of large language models\n"
                ".SH SYNOPSIS\n"
                "\\fBvllm\\-bench\\fR [\\fBserve\\fR] [\\fIflag\\fR ...]\n.br\n"
                "\\fBvllm\\-bench\\fR \\fIcommand\\fR [\\fIflag\\fR ...]\n"
                ".SH DESCRIPTION\n"
                "Sends requests to a server with an OpenAI\\-compatible interface, measures when\n"
                "tokens arrive, and prints throughput and latencies as the command\n"
                "\\fBvllm bench serve\\fR does, whose flags it takes.\n"
                "\\fBvllm\\-bench bench serve\\fR is the same as \\fBvllm\\-bench serve\\fR, so\n"
                "that the program can stand where \\fBvllm\\fR starts its native one.\n"
                ".SH COMMANDS\n");
    for (const struct command_info *c = command_list(); c->name != NULL; c++) {
        buf_add_str(out, ".TP\n\\fB");
        roff_str(out, c->name);
        buf_add_str(out, "\\fR\n");
        roff_str(out, c->help);
        buf_add_str(out, ".\n");
    }
}

static void entry(struct buf *out, const char *name, const char *text)
{
    buf_add_str(out, ".TP\n\\fB");
    roff_str(out, name);
    buf_add_str(out, "\\fR\n");
    roff_str(out, text);
    buf_add_char(out, '\n');
}

static void environment(struct buf *out)
{
    buf_add_str(
        out, ".SH FILES OF SETTINGS\n"
             "\\fB\\-\\-config\\fR reads a YAML file with one flag a line, without dashes:\n"
             ".PP\n.nf\n.RS 4\nbase\\-url: http://127.0.0.1:8000\nnum\\-prompts: 200\n"
             "ignore\\-eos: true\ngoodput: [ttft:200, tpot:50]\n"
             "extra\\-body: {min_tokens: 16}\n.RE\n.fi\n.PP\n"
             "The command line is stronger than the file, the file than the environment.\n"
             "\\fB\\-\\-save\\-config\\fR writes such a file, \\fB\\-\\-dump\\-config\\fR shows\n"
             "every setting and where it came from.\n"
             ".SH ENVIRONMENT\n");
    entry(out, "OPENAI_API_KEY", "Sent as a bearer token; never shown or saved.");
    entry(
        out, "VLLM_BENCH_NAME",
        "A flag by its name in capitals with underscores, as VLLM_BENCH_NUM_PROMPTS=200; switches "
        "take true or false, flags with several values one a line.");
    entry(out, "HF_ENDPOINT, HF_DATASETS_SERVER",
          "The hub for tokenizers and data sets, and the datasets server beside it.");
    entry(out, "HF_TOKEN, HUGGING_FACE_HUB_TOKEN, HF_TOKEN_PATH",
          "The token for private and gated repositories, or the file with it; never shown.");
    entry(out, "HF_HOME, HF_HUB_CACHE, XDG_CACHE_HOME",
          "Where files of the hub are kept, as Python's library keeps them.");
    entry(out, "HF_HUB_OFFLINE", "1: the hub is never asked, only its cache is used.");
    entry(out, "HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY",
          "Proxies, for hosts that are not this machine; --no-proxy ignores them.");
    entry(out, "SAVE_TO_PYTORCH_BENCHMARK_FORMAT",
          "When not empty, results are also written in that form, beside the result file.");
    entry(out, "COLUMNS", "Width of the help.");
}

static void tail(struct buf *out)
{
    buf_add_str(out, ".SH EXIT STATUS\n");
    entry(out, "0", "Done.");
    entry(out, "1", "Failed, or no request completed.");
    entry(out, "2", "The command line, or a file of settings, is wrong; nothing was sent.");
    entry(out, "3", "A gate that was asked for is not met.");
    entry(out, "130", "Interrupted; what was measured is saved.");
    buf_add_str(
        out,
        ".SH EXAMPLES\nA first look, without a server:\n.PP\n.RS 4\n"
        "vllm\\-bench \\-\\-mock \\-\\-num\\-prompts 100 \\-\\-max\\-concurrency 8\n.RE\n"
        ".PP\nIs the server fit to be measured from here?\n.PP\n.RS 4\n"
        "vllm\\-bench doctor \\-\\-base\\-url http://127.0.0.1:8000\n.RE\n"
        ".PP\nTwo hundred prompts of 512 tokens, 32 at once, saved to a file:\n"
        ".PP\n.RS 4\n"
        "vllm\\-bench serve \\-\\-base\\-url http://127.0.0.1:8000 \\-\\-num\\-prompts 200\n"
        "\\-\\-max\\-concurrency 32 \\-\\-random\\-input\\-len 512 \\-\\-save\\-result\n.RE\n");
}

void generate_man(const struct command_flags *others, struct buf *out)
{
    head(out);
    options(out);
    others_options(out, others);
    environment(out);
    tail(out);
}
