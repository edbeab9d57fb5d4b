/* Completions for bash, zsh and fish: names of flags, choices, files.  Each is complete by itself and needs no helper
 * package, so that `vllm-bench generate bash` can be sourced where nothing was installed. */
#include "cli/command.h"
#include "cli/generate.h"
#include "config/config.h"
#include "config/options.h"

#include <string.h>

enum value_type { VALUE_NONE, VALUE_CHOICE, VALUE_FILE, VALUE_FOLDER, VALUE_OTHER };

static bool is_switch(const struct option_row *row)
{
    return row->kind == OPTION_SWITCH || row->kind == OPTION_SWITCH_OFF;
}

static enum value_type value_type(const struct option_row *row)
{
    if (is_switch(row)) {
        return VALUE_NONE;
    }
    if (row->choices != NULL) {
        return VALUE_CHOICE;
    }
    if (row->value == NULL || strcmp(row->name, "endpoint") == 0) {
        return VALUE_OTHER;
    }
    return strcmp(row->value, "DIR") == 0                                       ? VALUE_FOLDER
           : strcmp(row->value, "FILE") == 0 || strcmp(row->value, "PATH") == 0 ? VALUE_FILE
                                                                                : VALUE_OTHER;
}

/* The first sentence, without its full stop. */
static struct sv summary(const struct option_row *row)
{
    struct sv text = sv_from(row->help);
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '.' && (i + 1 == text.len || text.ptr[i + 1] == ' ')) {
            return sv_make(text.ptr, i);
        }
    }
    return text;
}

static struct command_flags serve_flags(void)
{
    struct command_flags serve = {.name = "serve"};
    serve.rows = config_options(&serve.count);
    return serve;
}

static void bash_case(struct buf *out, const struct command_flags *c, enum value_type type,
                      const char *action)
{
    const char *before = "    ";
    for (size_t i = 0; i < c->count; i++) {
        if (value_type(&c->rows[i]) == type) {
            buf_add_fmt(out, "%s--%s", before, c->rows[i].name);
            before = "|";
        }
    }
    if (before[0] == '|') {
        buf_add_fmt(out, ")\n%s      return ;;\n", action);
    }
}

/* Of the command's function: names of functions have no '-' in every shell. */
static const char *shell_name(const struct command_flags *c)
{
    return strcmp(c->name, "mock-server") == 0 ? "mock_server" : c->name;
}

/* A function a command: what may stand after a flag, else the flags. */
static void bash_command(struct buf *out, const struct command_flags *c)
{
    buf_add_fmt(out, "_vllm_bench_%s() {\n  case ${prev//_/-} in\n", shell_name(c));
    for (size_t i = 0; i < c->count; i++) {
        if (value_type(&c->rows[i]) == VALUE_CHOICE) {
            buf_add_fmt(
                out,
                "    --%s)\n      COMPREPLY=($(compgen -W '%s' -- \"$cur\"))\n      return ;;\n",
                c->rows[i].name, c->rows[i].choices);
        }
    }
    bash_case(out, c, VALUE_FILE,
              "      compopt -o filenames 2>/dev/null\n"
              "      COMPREPLY=($(compgen -f -- \"$cur\"))\n");
    bash_case(out, c, VALUE_FOLDER,
              "      compopt -o filenames 2>/dev/null\n"
              "      COMPREPLY=($(compgen -d -- \"$cur\"))\n");
    bash_case(out, c, VALUE_OTHER, "");
    buf_add_str(out, "  esac\n  if [[ $cur == -* ]]; then\n"
                     "    COMPREPLY=($(compgen -W '--help --version");
    for (size_t i = 0; i < c->count; i++) {
        buf_add_fmt(out, " --%s", c->rows[i].name);
    }
    buf_add_str(out, "' -- \"${cur//_/-}\"))\n");
    if (c->takes_files) {
        buf_add_str(out, "  else\n    compopt -o filenames 2>/dev/null\n"
                         "    COMPREPLY=($(compgen -f -- \"$cur\"))\n");
    }
    buf_add_str(out, "  fi\n}\n");
}

void generate_bash(const struct command_flags *others, struct buf *out)
{
    const struct command_flags serve = serve_flags();
    buf_add_str(out, "# bash completion of vllm-bench; made from its option tables\n");
    bash_command(out, &serve);
    for (const struct command_flags *c = others; c->name != NULL; c++) {
        bash_command(out, c);
    }
    buf_add_str(out, "_vllm_bench() {\n"
                     "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
                     "  COMPREPLY=()\n"
                     "  if [[ $cur == = ]]; then\n"
                     "    cur=\n"
                     "  elif [[ $prev == = ]]; then\n"
                     "    prev=${COMP_WORDS[COMP_CWORD-2]}\n"
                     "  fi\n"
                     "  [[ $prev == --* ]] || prev=\n"
                     "  if ((COMP_CWORD == 1)) && [[ $cur != -* ]]; then\n"
                     "    COMPREPLY=($(compgen -W '");
    for (const struct command_info *c = command_list(); c->name != NULL; c++) {
        buf_add_fmt(out, "%s%s", c == command_list() ? "" : " ", c->name);
    }
    buf_add_str(out, "' -- \"$cur\"))\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n");
    for (const struct command_flags *c = others; c->name != NULL; c++) {
        buf_add_fmt(out, "    %s) _vllm_bench_%s ;;\n", c->name, shell_name(c));
    }
    buf_add_str(out, "    compare)\n      if [[ $cur == -* ]]; then\n"
                     "        COMPREPLY=($(compgen -W '--help");
    for (size_t i = 0; i < serve.count; i++) {
        if (strncmp(serve.rows[i].name, "compare-", strlen("compare-")) == 0) {
            buf_add_fmt(out, " --%s", serve.rows[i].name);
        }
    }
    buf_add_str(out, "' -- \"${cur//_/-}\"))\n"
                     "      else\n        compopt -o filenames 2>/dev/null\n"
                     "        COMPREPLY=($(compgen -f -- \"$cur\"))\n      fi ;;\n"
                     "    *) _vllm_bench_serve ;;\n  esac\n}\n"
                     "complete -F _vllm_bench vllm-bench\n");
}

/* Inside '[...]' of an _arguments specification between single quotes. */
static void zsh_escape(struct buf *out, struct sv text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '\'') {
            buf_add_str(out, "'\\''");
            continue;
        }
        if (strchr("\\[]:$`", c) != NULL) {
            buf_add_char(out, '\\');
        }
        buf_add_char(out, c);
    }
}

static void zsh_value(struct buf *out, const struct option_row *row)
{
    buf_add_fmt(out, ":%s:", row->value != NULL ? row->value : "NAME");
    switch (value_type(row)) {
    case VALUE_CHOICE:
        buf_add_fmt(out, "(%s)", row->choices);
        break;
    case VALUE_FILE:
        buf_add_str(out, "_files");
        break;
    case VALUE_FOLDER:
        buf_add_str(out, "_files -/");
        break;
    case VALUE_OTHER:
        buf_add_char(out, ' ');
        break;
    case VALUE_NONE:
        break;
    }
}

static void zsh_flags(struct buf *out, const struct command_flags *c)
{
    buf_add_str(out, "  _arguments -S \\\n");
    for (size_t i = 0; i < c->count; i++) {
        const struct option_row *row = &c->rows[i];
        buf_add_fmt(out, "    '%s--%s%s[", (row->flags & OPTION_MULTI) != 0 ? "*" : "", row->name,
                    is_switch(row) ? "" : "=");
        zsh_escape(out, summary(row));
        buf_add_char(out, ']');
        if (!is_switch(row)) {
            zsh_value(out, row);
        }
        buf_add_str(out, "' \\\n");
    }
    buf_add_str(out, "    '-h[the flags most used]' \\\n"
                     "    '--help=-[all flags, or those of a group or with a word]::GROUP: ' \\\n"
                     "    '--version[the version]' \\\n");
}

void generate_zsh(const struct command_flags *others, struct buf *out)
{
    const struct command_flags serve = serve_flags();
    buf_add_str(out, "#compdef vllm-bench\n# made from the option tables of vllm-bench\n"
                     "case $words[2] in\n");
    for (const struct command_flags *c = others; c->name != NULL; c++) {
        buf_add_fmt(out, "%s)\n", c->name);
        zsh_flags(out, c);
        buf_add_fmt(out, "    '1:command:(%s)'%s\n  ;;\n", c->name,
                    c->takes_files ? " '*:file:_files'" : "");
    }
    buf_add_str(out, "*)\n");
    zsh_flags(out, &serve);
    buf_add_str(out, "    '1::command:((");
    for (const struct command_info *c = command_list(); c->name != NULL; c++) {
        buf_add_fmt(out, "%s%s\\:\"%s\"", c == command_list() ? "" : " ", c->name, c->help);
    }
    buf_add_str(out, "))' \\\n    '*:file:_files'\n  ;;\nesac\n");
}

static void fish_escape(struct buf *out, struct sv text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\'' || text.ptr[i] == '\\') {
            buf_add_char(out, '\\');
        }
        buf_add_char(out, text.ptr[i]);
    }
}

/* `condition` says for which command the flags are offered. */
static void fish_flags(struct buf *out, const struct command_flags *c, const char *condition)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct option_row *row = &c->rows[i];
        buf_add_fmt(out, "complete -c vllm-bench -n '%s' -l %s", condition, row->name);
        enum value_type type = value_type(row);
        if (type == VALUE_CHOICE) {
            buf_add_fmt(out, " -x -a '%s'", row->choices);
        } else if (type == VALUE_FILE) {
            buf_add_str(out, " -r -F");
        } else if (type == VALUE_FOLDER) {
            buf_add_str(out, " -x -a '(__fish_complete_directories)'");
        } else if (type == VALUE_OTHER) {
            buf_add_str(out, " -x");
        }
        buf_add_str(out, " -d '");
        fish_escape(out, summary(row));
        buf_add_str(out, "'\n");
    }
}

void generate_fish(const struct command_flags *others, struct buf *out)
{
    const struct command_flags serve = serve_flags();
    struct buf condition = {0};
    buf_add_str(out, "# fish completion of vllm-bench; made from its option tables\n"
                     "complete -c vllm-bench -f\n");
    for (const struct command_info *c = command_list(); c->name != NULL; c++) {
        buf_add_fmt(out, "complete -c vllm-bench -n __fish_use_subcommand -a %s -d '%s'\n", c->name,
                    c->help);
    }
    buf_add_str(out, "complete -c vllm-bench -s h -d 'The flags most used'\n"
                     "complete -c vllm-bench -l help -d 'All flags'\n"
                     "complete -c vllm-bench -l version -d 'The version'\n"
                     "complete -c vllm-bench -n '__fish_seen_subcommand_from compare' -F\n");
    buf_add_str(&condition, "not __fish_seen_subcommand_from");
    for (const struct command_flags *c = others; c->name != NULL; c++) {
        buf_add_fmt(&condition, " %s", c->name);
    }
    fish_flags(out, &serve, buf_cstr(&condition));
    for (const struct command_flags *c = others; c->name != NULL; c++) {
        buf_reset(&condition);
        buf_add_fmt(&condition, "__fish_seen_subcommand_from %s", c->name);
        if (c->takes_files) {
            buf_add_fmt(out, "complete -c vllm-bench -n '%s' -F\n", buf_cstr(&condition));
        }
        fish_flags(out, c, buf_cstr(&condition));
    }
    buf_done(&condition);
}
