/* vocab.json with merges.txt, as GPT-2's first files were: put together into the text of a tokenizer.json and read as one.
 * added_tokens.json gives the added tokens; all of them are special there. */
#include "base/alloc.h"
#include "json/tree.h"
#include "json/writer.h"
#include "tokenizer/load.h"

static bool write_added(struct js_writer *w, struct sv added, struct error *err)
{
    struct arena tree = {0};
    js_key(w, "added_tokens");
    js_begin_array(w);
    const struct js_value *root =
        added.ptr != NULL ? js_parse(&tree, added, "added_tokens.json", err) : NULL;
    bool ok = added.ptr == NULL || (root != NULL && root->type == JS_OBJECT);
    if (!ok && root != NULL)
        error_set(err, E_PARSE, "added_tokens.json holds no object");
    for (const struct js_value *item = ok && root != NULL ? root->first : NULL; item != NULL;
         item = item->next) {
        int64_t id;
        ok = ok && js_as_i64(item, &id);
        js_begin_object(w);
        js_key(w, "id");
        js_int(w, ok ? id : -1);
        js_key(w, "content");
        js_string(w, item->key);
        js_key(w, "special");
        js_bool(w, true);
        js_end_object(w);
    }
    js_end_array(w);
    arena_done(&tree);
    return ok;
}

static void write_merges(struct js_writer *w, struct sv merges)
{
    struct sv line;
    bool first = true;
    js_key(w, "merges");
    js_begin_array(w);
    for (; sv_split(&merges, '\n', &line); first = false) {
        if (line.len > 0 && line.ptr[line.len - 1] == '\r')
            line.len--;
        if (line.len == 0 || (first && sv_starts(line, SV_LIT("#version"))))
            continue;
        js_string(w, line);
    }
    js_end_array(w);
}

struct tokenizer *vocab_merges_parse(const struct tokenizer_files *files, struct error *err)
{
    static const char byte_level[] =
        "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true}";
    struct buf text = {0};
    struct js_writer w;
    if (files->merges.ptr == NULL) {
        error_set(err, E_IO, "tokenizer '%s': vocab.json has no merges.txt beside it", files->name);
        return NULL;
    }
    js_writer_init(&w, &text);
    js_begin_object(&w);
    bool ok = write_added(&w, files->added_json, err);
    js_key(&w, "pre_tokenizer");
    js_raw(&w, sv_from(byte_level));
    js_key(&w, "decoder");
    js_raw(&w, sv_from(byte_level));
    js_key(&w, "model");
    js_begin_object(&w);
    js_key(&w, "type");
    js_cstring(&w, "BPE");
    js_key(&w, "vocab");
    js_raw(&w, files->tokenizer_json);
    write_merges(&w, files->merges);
    js_end_object(&w);
    js_end_object(&w);
    struct tokenizer_files made = *files;
    made.tokenizer_json = buf_sv(&text);
    struct tokenizer *t = ok ? tokenizer_parse(&made, err) : NULL;
    buf_done(&text);
    return t;
}
