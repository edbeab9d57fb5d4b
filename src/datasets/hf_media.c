/* Pictures and recordings in the rows of hub data sets.
 * A picture is an object with `bytes` (or the path of a local file), or a text: an address or a path.  A recording is an
 * object with `bytes` or `path`, or a path.  As Python does it, pictures go out as JPEG of its library's quality, and
 * recordings that lie in the row as WAV of 16 bits, while files are sent as they are. */
#include "base/file.h"
#include "datasets/audio.h"
#include "datasets/format/image.h"
#include "datasets/hf_priv.h"
#include "datasets/media.h"
#include "json/writer.h"

#include <stdlib.h>
#include <unistd.h>

static bool add_picture_bytes(struct sv bytes, struct hf_item *item, struct error *err)
{
    struct js_writer w;
    buf_reset(&item->tmp);
    if (!image_add_jpeg_url(bytes, &item->tmp, err))
        return false;
    if (item->media.len > 0)
        buf_add_char(&item->media, ',');
    js_writer_init(&w, &item->media);
    js_begin_object(&w);
    js_key(&w, "type");
    js_cstring(&w, "image_url");
    js_key(&w, "image_url");
    js_begin_object(&w);
    js_key(&w, "url");
    js_string(&w, buf_sv(&item->tmp));
    js_end_object(&w);
    js_end_object(&w);
    return true;
}

bool hf_add_image(const struct js_value *image, struct hf_item *item, struct error *err)
{
    struct sv text;
    if (js_as_sv(js_get(image, "bytes"), &text))
        return add_picture_bytes(text, item, err);
    if (js_as_sv(js_get(image, "path"), &text)) {
        struct buf name = {0};
        struct buf bytes = {0};
        buf_add(&name, text);
        bool ok =
            file_read(buf_cstr(&name), &bytes, err) &&
            (add_picture_bytes(buf_sv(&bytes), item, err) || error_context(err, "'%s'", name.ptr));
        buf_done(&name);
        buf_done(&bytes);
        return ok;
    }
    if (js_as_sv(image, &text))
        return image_is_known(text) ? add_picture_bytes(text, item, err)
                                    : media_add_part(MEDIA_IMAGE, text, false, &item->media, err);
    return error_set(err, E_PARSE,
                     "the row has no picture: neither an object with 'bytes' nor an "
                     "address or a path");
}

/* ---- recordings --------------------------------------------------------------------------------------------------- */

static void keep_base_name(struct sv path, struct hf_item *item)
{
    size_t at = path.len;
    while (at > 0 && path.ptr[at - 1] != '/')
        at--;
    buf_add(&item->file_name, sv_skip(path, at));
}

static bool take_file(struct sv path, struct hf_item *item, struct error *err)
{
    struct buf name = {0};
    buf_add(&name, path);
    bool ok = file_read(buf_cstr(&name), &item->file, err) &&
              (audio_measure(buf_sv(&item->file), &item->file_s, err) ||
               error_context(err, "'%s'", name.ptr));
    keep_base_name(path, item);
    buf_done(&name);
    return ok;
}

bool hf_extract_speech(const struct hf_build *b, const struct js_value *row, struct hf_item *item,
                       struct error *err)
{
    const struct config *config = b->context->config;
    const struct js_value *audio = js_get(row, "audio");
    struct sv text;
    bool ok;
    if (item->local.len > 0)
        ok = take_file(buf_sv(&item->local), item, err);
    else if (js_as_sv(js_get(audio, "bytes"), &text))
        ok = audio_to_wav(text, true, &item->file, &item->file_s, err);
    else if (js_as_sv(audio, &text) || js_as_sv(js_get(audio, "path"), &text))
        ok = take_file(text, item, err);
    else
        ok = hf_need(row, "audio", JS_OBJECT, &audio, err) &&
             error_set(err, E_PARSE, "'audio' has neither 'bytes' nor a path");
    item->skip =
        item->file_s < config->asr_min_audio_len_s || item->file_s > config->asr_max_audio_len_s;
    buf_add_str(&item->text, b->decoder_prefix);
    return ok;
}

static bool holds_nocase(const char *text, const char *word)
{
    struct sv rest = sv_from(text);
    struct sv wanted = sv_from(word);
    for (; rest.len >= wanted.len; rest = sv_skip(rest, 1))
        if (sv_eq_nocase(sv_make(rest.ptr, wanted.len), wanted))
            return true;
    return false;
}

const char *hf_decoder_prefix(const struct config *config)
{
    const char *name = config->tokenizer != NULL ? config->tokenizer : config->model;
    if (name != NULL && strstr(name, "openai") != NULL)
        return "<|startoftranscript|><|en|><|transcribe|><|notimestamps|>";
    if (name != NULL && holds_nocase(name, "cohere"))
        return "<|startofcontext|><|startoftranscript|><|emo:undefined|><|en|><|en|><|pnc|>"
               "<|noitn|><|notimestamp|><|nodiarize|>";
    return "";
}

/* ---- files beside the table --------------------------------------------------------------------------------------- */

static void make_absolute(struct buf *path)
{
    char *here = path->len > 0 && path->ptr[0] != '/' ? getcwd(NULL, 0) : NULL;
    if (here == NULL)
        return;
    struct buf whole = {0};
    buf_add_fmt(&whole, "%s/" SV_FMT, here, SV_ARG(buf_sv(path)));
    buf_done(path);
    *path = whole;
    free(here);
}

bool hf_localize(struct hf_build *b, struct hf_item *item, struct error *err)
{
    struct sv name;
    struct buf root = {0};
    buf_reset(&item->local);
    if (b->kind->columns == NULL || (b->kind->traits & (HF_SPEECH | HF_PICTURES)) == 0)
        return true;
    if ((b->kind->traits & HF_WHOLE) != 0) {
        if (!hf_need_text(item->row.value, "url", &name, err))
            return false;
    } else {
        if (!js_as_sv(js_get(item->row.value, "video"), &name))
            return true;
        buf_add_fmt(&root, "https://huggingface.co/datasets/%s/resolve/main/", b->id);
        bool inside = sv_starts(name, buf_sv(&root));
        name = sv_skip(name, root.len);
        buf_done(&root);
        if (!inside)
            return true;
    }
    if (!hf_source_fetch_of(b->source, b->id, name, &item->local, err))
        return false;
    make_absolute(&item->local);
    return true;
}
