/* Renderings of chat templates, as transformers 5.20.2 with jinja2 3.1.6 makes them (tests/data/chat/make_cases.py).
 * A line is {"template", "names", "messages", "kwargs", "generation", "want"}; "want" is null where Python raises.
 * With an argument: runs the lines of that file instead, and tells every difference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "tokenizer/chat_template.h"

#include <stdio.h>

enum { NAMES_MAX = 32 };

static const char *cases_path = TEST_DATA "/chat/cases.jsonl";

/* False when Python's result differs; `got` is ours, or the error's text. */
static bool renders(const struct js_value *line, struct buf *got)
{
    struct chat_name names[NAMES_MAX];
    size_t count = 0;
    struct sv source;
    struct sv want;
    struct error err = {0};
    bool generation = true;
    const struct js_value *list = js_get(line, "names");
    for (const struct js_value *n = list != NULL ? list->first : NULL; n != NULL; n = n->next)
        if (count < NAMES_MAX && js_as_sv(n, &names[count].value))
            names[count++].name = n->key;
    js_as_bool(js_get(line, "generation"), &generation);
    const struct js_value *kwargs = js_get(line, "kwargs");
    assert_true(js_as_sv(js_get(line, "template"), &source));
    bool wanted = js_as_sv(js_get(line, "want"), &want);
    struct chat_template *c = chat_template_compile(source, names, count, kwargs, &err);
    bool ok =
        c != NULL && chat_template_render_json(c, js_get(line, "messages"), generation, got, &err);
    chat_template_free(c);
    if (!ok) {
        buf_reset(got);
        buf_add_str(got, err.message);
    }
    return ok == wanted && (!ok || sv_eq(buf_sv(got), want));
}

static void test_every_line_renders_as_in_python(void **state)
{
    struct file_map map = {0};
    struct error err;
    struct sv line;
    size_t number = 0;
    size_t wrong = 0;
    (void)state;
    assert_true(file_map_open(cases_path, &map, &err));
    for (struct sv rest = map.view; sv_split(&rest, '\n', &line);) {
        struct arena arena = {0};
        struct buf got = {0};
        number++;
        if (line.len > 0) {
            const struct js_value *tree = js_parse(&arena, line, "line", &err);
            if (tree == NULL)
                fail_msg("line %zu: %s", number, err.message);
            if (!renders(tree, &got)) {
                wrong++;
                fprintf(stderr, "# line %zu gives %s\n", number, buf_cstr(&got));
            }
        }
        buf_done(&got);
        arena_done(&arena);
    }
    file_map_close(&map);
    assert_int_equal(wrong, 0);
    assert_true(number > 1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_line_renders_as_in_python),
    };
    if (argc > 1)
        cases_path = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
