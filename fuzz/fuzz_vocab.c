/* The tokenizer loader and what it loads: whatever a file says, loading ends with a tokenizer or a message; a loaded one
 * encodes and decodes any bytes to valid UTF-8, the same each time.
 * Input: tokenizer.json (or, as a whole, a file of another format), NUL, tokenizer_config.json, NUL,
 * a text; the last two may be missing. */
#include "tokenizer/chat_template.h"
#include "tokenizer/load.h"
#include "tokenizer/utf8.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void use(const struct tokenizer *t, struct sv text)
{
    struct token_ids ids = {0};
    struct token_ids again = {0};
    struct buf out = {0};
    struct error err = {0};
    if (tokenizer_encode(t, text, true, &ids, &err)) {
        check(tokenizer_encode(t, text, true, &again, &err));
        check(ids.count == again.count);
        for (size_t i = 0; i < ids.count; i++)
            check(ids.items[i] == again.items[i]);
        check(tokenizer_decode(t, ids.items, ids.count, false, &out, &err));
        check(out.len == 0 || utf8_valid(buf_sv(&out)));
    } else {
        check(err.message[0] != '\0');
    }
    buf_done(&out);
    token_ids_done(&ids);
    token_ids_done(&again);
}

/* The same bytes as each of the other formats. */
static void try_formats(struct sv file, struct sv text)
{
    typedef struct tokenizer *parse_fn(const struct tokenizer_files *files, struct error *err);
    static parse_fn *const formats[] = {tiktoken_parse, tekken_parse, sentencepiece_parse,
                                        vocab_merges_parse};
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        struct error err = {0};
        struct tokenizer_files files = {.name = "fuzz", .tokenizer_json = file, .merges = text};
        files.python[0] = text;
        struct tokenizer *t = formats[i](&files, &err);
        check(t != NULL || err.message[0] != '\0');
        if (t != NULL)
            use(t, text);
        tokenizer_free(t);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sv rest = sv_make((const char *)data, size);
    struct tokenizer_files files = {.name = "fuzz"};
    struct sv text = SV_LIT("a <s>b12 \xFF");
    struct error err = {0};
    bool present = false;
    sv_split(&rest, '\0', &files.tokenizer_json);
    if (sv_split(&rest, '\0', &files.config_json))
        sv_split(&rest, '\0', &text);
    try_formats(sv_make((const char *)data, size), text);
    struct tokenizer *t = tokenizer_parse(&files, &err);
    check(t != NULL || err.message[0] != '\0');
    if (t == NULL)
        return 0;
    use(t, text);
    struct chat_template *c = chat_template_of(t, &present, &err);
    if (c != NULL) {
        struct buf out = {0};
        chat_template_render(c, SV_LIT("user"), text, true, &out);
        buf_done(&out);
    }
    chat_template_free(c);
    tokenizer_free(t);
    return 0;
}
