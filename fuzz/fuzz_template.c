/* Chat templates: any bytes are rendered or refused with a sentence, in bounded time and memory.  Input: the template, a
 * NUL, messages as JSON, a NUL, further arguments as JSON; the last two may be missing. */
#include "tokenizer/chat_template.h"

#include <stdlib.h>

static const struct js_value *parse(struct arena *arena, struct sv text, enum js_type type)
{
    struct error err;
    const struct js_value *tree = js_parse(arena, text, "input", &err);
    return tree != NULL && tree->type == type ? tree : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct chat_name names[] = {{SV_LIT("bos_token"), SV_LIT("<s>")}};
    struct sv rest = sv_make((const char *)data, size);
    struct sv source = SV_LIT("");
    struct sv messages = SV_LIT("");
    struct sv kwargs = SV_LIT("");
    struct arena arena = {0};
    struct error err = {0};
    sv_split(&rest, '\0', &source);
    sv_split(&rest, '\0', &messages);
    sv_split(&rest, '\0', &kwargs);
    struct chat_template *c =
        chat_template_compile(source, names, 1, parse(&arena, kwargs, JS_OBJECT), &err);
    bool ok = c != NULL && chat_template_try(c, &err);
    if (c == NULL || !ok) {
        if (err.message[0] == '\0')
            abort();
    }
    const struct js_value *list = parse(&arena, messages, JS_ARRAY);
    if (c != NULL && list != NULL) {
        struct buf out = {0};
        if (!chat_template_render_json(c, list, false, &out, &err) && out.len > 0)
            abort();
        buf_done(&out);
    }
    chat_template_free(c);
    arena_done(&arena);
    return 0;
}
