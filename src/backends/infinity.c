/* The /embeddings of the infinity server: a text, or the URL of a picture with its kind beside it.  Its CLIP form sends
 * no text when there is a picture. */
#include "backends/api_priv.h"
#include "backends/body_priv.h"

static bool infinity_body(const struct body_piece *input, const struct body_piece *modality,
                          const struct config *config, struct body_template *t, struct error *err)
{
    struct body b = {0};
    body_add_model(&b);
    body_add_pieces(&b, "input", input, 1);
    body_add_optional(&b, "modality", modality);
    return body_finish(&b, config, t, err);
}

bool infinity_body_parts(const struct config *config, struct body_template *t, struct error *err)
{
    static const struct body_piece input = {PART_INPUT, NULL};
    static const struct body_piece modality = {PART_MODALITY, NULL};
    return infinity_body(&input, &modality, config, t, err);
}

bool infinity_clip_body_parts(const struct config *config, struct body_template *t,
                              struct error *err)
{
    static const struct body_piece input = {PART_INPUT_CLIP, NULL};
    static const struct body_piece modality = {PART_MODALITY_CLIP, NULL};
    return infinity_body(&input, &modality, config, t, err);
}
