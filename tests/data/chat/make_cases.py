#!/usr/bin/env python3
"""Writes cases.jsonl: templates and what transformers makes of them (5.20.2 with jinja2 3.1.6 and Python 3.11).

    pip install transformers==5.20.2 jinja2==3.1.6 && ./make_cases.py > cases.jsonl

A template stands for one kind of construct that chat templates have; the messages are of the kinds that data sets and
servers have.  "want" is null where Python raises.
"""
import copy
import json

from transformers.utils.chat_template_utils import render_jinja_template

NAMES = {"bos_token": "<s>", "eos_token": "</s>"}


def user(content):
    return {"role": "user", "content": content}


def assistant(content, **more):
    return {"role": "assistant", "content": content, **more}


SYSTEM = {"role": "system", "content": "  You are brief.\n"}
TOOL = {"type": "function", "function": {
    "name": "get_weather", "description": "Weather of a \"city\" <now> & é",
    "parameters": {"type": "object", "required": ["city"], "properties": {
        "city": {"type": "string", "description": "name"}, "days": {"type": "integer", "default": 3},
        "share": {"type": "number", "default": 0.5, "maximum": 1e20, "minimum": -1.5e-7},
        "unit": {"type": ["string", "null"], "enum": ["c", "f"]}, "items": {"a": True, "b": None}}}}}
CALL = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": {
    "city": "Zürich", "days": 2, "share": 1.5, "none": None, "yes": True, "list": ["a", 1]}}}
LISTS = {
    "one": [user("Hello, world")],
    "turns": [SYSTEM, user(" a "), assistant("b\n"), user("\nc\n\n")],
    "letters": [user("größe 日本 🚀 \u2028 x\u00a0y İ"), assistant("мир ĄŻ"), user("it's \"q\" \\ \t\r\n\x1f\u200b")],
    "empty": [user(""), assistant(""), user("")],
    "parts": [user([{"type": "text", "text": "one"}, {"type": "image"}, {"type": "text", "text": "two"}])],
    "calls": [user("weather?"), assistant(None, tool_calls=[CALL]),
              {"role": "tool", "content": "sunny", "tool_call_id": "c1", "name": "get_weather"}, assistant("Sunny."),
              user("<think>x</think> y <|im_end|>")],
    "none": [user("x"), assistant(None), user([])],
}

# (template, lists, further arguments)
ALL = list(LISTS)
CASES = [
    ("{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
     "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}", ALL, {}),
    ("{%- for m in messages -%}\n  {%- if m['content'] is string -%}\n{{ m['content'] | trim }}|\n"
     "  {%- elif m.content is iterable and m.content is not mapping %}\n"
     "    {%- for p in m.content if p.type == 'text' %}{{ loop.index }}/{{ loop.length }}{{ p.text }}{% endfor %}\n"
     "  {%- else -%}\n<{{ m.content }}>\n  {%- endif -%}\n{%- endfor -%}", ALL, {}),
    ("{{ bos_token }}{{ messages }}", ALL, {}),
    ("{{ messages | tojson }}{{ messages | tojson(indent=2) }}", ALL, {}),
    ("{{ messages | tojson(ensure_ascii=True) }}{{ messages | tojson(separators=(',', ':'), sort_keys=True) }}", ALL, {}),
    ("{{ messages[0].content | upper }}{{ messages[0].content | lower }}{{ messages[0].content | capitalize }}"
     "{{ messages[0].content | title }}{{ messages[-1]['content'].title() }}", ["one", "turns", "letters", "empty"], {}),
    ("{{ messages[-1].content.split() }}{{ messages[-1].content.splitlines() }}{{ messages[-1].content.split('x', 1) }}"
     "{{ messages[-1].content.rsplit(' ', 1) }}{{ messages[-1].content.split(None, 1) }}",
     ["one", "turns", "letters", "empty", "calls"], {}),
    ("{% set c = messages[-1].content %}{{ c.strip() }}|{{ c.lstrip('\\n') }}|{{ c.rstrip() }}|{{ c.startswith('H') }}"
     "{{ c.endswith(('d', 'y')) }}{{ c.replace('x', '--', 1) }}{{ c.count('l') }}{{ c.find('w') }}{{ c[1:-1] }}{{ c[::-1] }}"
     "{{ c | length }}{{ c | reverse }}{{ c | first }}{{ c | last }}", ["one", "turns", "letters", "empty", "calls"], {}),
    ("{% set c = messages[-1].content %}{% if '</think>' in c %}{{ c.split('</think>')[-1].lstrip('\\n') }}"
     "{% else %}{{ c }}{% endif %}", ["one", "calls"], {}),
    ("{% for m in messages %}{% if m.tool_calls %}{% for t in m.tool_calls %}{% set t = t.function %}"
     "{{ '{\"name\": \"' ~ t.name ~ '\", \"arguments\": ' }}{{ t.arguments | tojson }}}{% for k, v in t.arguments.items() %}"
     "<{{ k }}={{ v if v is string else v | tojson }}>{% endfor %}{{ t.arguments }}{% endfor %}{% endif %}{% endfor %}",
     ["one", "calls"], {}),
    ("{% for t in tools %}{{ t.function.description | safe }}{{ t | tojson(indent=4) }}{{ t.function.parameters.properties }}"
     "{% for k, v in t.function.parameters.properties | dictsort %}{{ k }}:{{ v.type }}:{{ v.default }};{% endfor %}{% endfor %}",
     ["one"], {"tools": [TOOL]}),
    ("{{ tools[0].function.parameters.properties['items'] }}{{ tools[0].items is defined }}{{ tools[0].absent is defined }}",
     ["one"], {"tools": [TOOL]}),
    ("{{ ('<b>' | safe) + '<i>' + \"'&\" }}{{ '<x>' + ('y' | safe) }}{{ ('<a>' | safe) ~ '<c>' }}{{ (' <q> ' | safe | trim) + '<' }}",
     ["one"], {}),
    ("{{ tools is none }}{{ documents is none }}{{ tools is defined }}{{ nothing is defined }}{{ nothing }}{{ strftime_now is defined }}",
     ["one"], {}),
    ("{{ enable_thinking }}{{ effort | default('high') }}{{ share }}{{ many }}{{ bos_token }}{{ list }}{{ big }}", ["one"],
     {"enable_thinking": False, "effort": None, "share": 0.1, "many": {"a": [1, 2.0, None]}, "bos_token": "<BOS>",
      "list": ["a'b", 'c"d', "e'\"f"], "big": 123456789012345678901234567890}),
    ("{% if enable_thinking is defined and enable_thinking is false %}off{% else %}on{% endif %}", ["one"], {"enable_thinking": False}),
    ("{% for d in documents %}[{{ loop.index0 }}{{ d.title }}{{ d['text'] }}]{% endfor %}", ["one"],
     {"documents": [{"title": "t", "text": "x"}, {"title": "u", "text": "y"}]}),
    ("first", ["one"], {"chat_template": "second {{ messages | length }}"}),
    ("{{ max_length }}{{ padding is defined }}", ["one"], {"max_length": 3, "padding": True, "return_dict": True}),
    ("x", ["one"], {"continue_final_message": True}),
    ("x", ["one"], {"add_generation_prompt": True}),
    ("x", ["one"], {"tokenize": False}),
    ("x", ["one"], {"documents": ["text"]}),
    ("{% set ns = namespace(found=false, n=0) %}{% for m in messages %}{% if not ns.found %}{% set ns.n = ns.n + 1 %}"
     "{% set ns.found = m.role == 'assistant' %}{% set lost = 1 %}{% endif %}{% endfor %}{{ ns.n }}{{ ns.found }}{{ lost is defined }}",
     ["one", "turns"], {}),
    ("{% for m in messages %}{% if loop.first %}F{% endif %}{% if loop.previtem is defined and loop.previtem.role == m.role %}"
     "={% endif %}{{ loop.index }}{{ loop.revindex0 }}{% if loop.nextitem is defined %}>{{ loop.nextitem.role }}{% endif %}"
     "{% if loop.last %}L{% endif %}{% endfor %}", ["one", "turns"], {}),
    ("{% macro show(m, end='!', more=none) -%}\n  [{{ m.role }}{{ end }}{{ more }}]\n{%- endmacro %}{% for m in messages %}"
     "{{ show(m) }}{{ show(m, more=1, end='?') }}{% endfor %}", ["one", "turns"], {}),
    ("{% filter trim | upper %}  {{ messages[0].content }}  {% endfilter %}{% set x | trim %} a {% endset %}{{ x }}|", ["one"], {}),
    ("{{ messages | map(attribute='role') | join(', ') }}{{ messages | selectattr('role', 'equalto', 'user') | list | length }}"
     "{{ messages | rejectattr('role', 'in', ['user', 'tool']) | map(attribute='content') | list }}"
     "{{ messages | selectattr('tool_calls', 'defined') | list | length }}{{ messages | map(attribute='role') | unique | list }}"
     "{{ messages | map(attribute='role') | sort | list }}{{ messages | map(attribute='role') | max }}", ["one", "turns", "calls"], {}),
    ("{{ messages | map(attribute='role') | map('upper') | select('ne', 'USER') | list }}{{ [3, 1, 2] | sort(reverse=true) }}"
     "{{ [1, 2, 3] | reject('odd') | list }}{{ ['b', 'A', 'a'] | sort }}{{ ['b', 'A', 'a'] | unique | list }}{{ [1, 2] | min }}",
     ["one", "turns"], {}),
    ("{{ none | selectattr('x') | list }}{{ [] | map('upper') | list }}{{ 0 | reject('odd') | list }}", ["one"], {}),
    ("{{ 1 + 2 * 3 - 4 // 3 }}{{ 7 / 2 }}{{ 4 / 2 }}{{ -7 // 2 }}{{ -7 % 3 }}{{ 1.5 + 1 }}{{ 1e3 }}{{ 2.5 // 1 }}{{ -2.5 % 2 }}{{ 1_000 }}",
     ["one"], {}),
    ("{{ 1 == 1.0 }}{{ 1 < 1.5 }}{{ 'a' < 'b' }}{{ [1] == [1] }}{{ (1, 2) == (1, 2) }}{{ true == 1 }}{{ 'B' < 'a' }}{{ none == false }}",
     ["one"], {}),
    ("{{ [1, 'a', none, true, 1.0, [2], {'k': 'v'}] }}{{ (1,) }}{{ (1, 2) }}{{ () }}{{ {'a': {1: 2}} }}{{ ['é', '\\u200b', '\\x07', '\\n'] }}",
     ["one"], {}),
    ("{{ {1: 'a', 'b': 2, none: 3} | tojson }}{{ {1: 'a'}[1] }}{{ {'x': 1}['y'] }}{{ {'x': 1}.get('y', 'z') }}{{ [1, 2][5] }}",
     ["one"], {}),
    ("{% for k, v in {0: 'a', 512: 'b'}.items() %}{{ k }}{{ v }}{% endfor %}{% for k in {'x': 1} %}{{ k }}{% endfor %}", ["one"], {}),
    ("{{ '3' | int + 1 }}{{ '3.7' | int }}{{ 'x' | int }}{{ 'x' | int(9) }}{{ '2' | float }}{{ -3 | abs }}{{ none | int }}", ["one"], {}),
    ("{{ 'a{}b{}'.format(1, 'x') }}{{ '{1}{0}'.format('a', 'b') }}{{ '{n}{{}}'.format(n=none) }}", ["one"], {}),
    ("{{ 'a\nb\n\nc' | indent }}{{ 'a\nb' | indent(2, true) }}{{ 'a\n\nb' | indent(1, blank=true) }}{{ 'a\nb' | indent('> ') }}", ["one"], {}),
    ("{{ 'ab' * 3 }}{{ 'a' ~ 1 ~ none ~ [1] }}{{ 'x' if nothing }}{{ 'x' if nothing else 'y' }}{{ nothing or 'z' }}{{ 1 and 0 }}",
     ["one"], {}),
    ("{{ 'PREfix'.removeprefix('PRE') }}{{ 'a.txt'.removesuffix('.txt') }}{{ ','.join(['a', 'b']) }}{{ ['a', 1] | join('-') }}", ["one"], {}),
    ("{{ 1 is number }}{{ 1.0 is float }}{{ 1 is integer }}{{ true is integer }}{{ 'a' is sequence }}{{ {} is mapping }}{{ 3 is divisibleby 3 }}"
     "{{ 2 is gt 1 }}{{ 'a' is in 'abc' }}{{ 4 is even }}{{ none is none }}{{ 1 is sameas 1 }}{{ not 1 is odd }}", ["one"], {}),
    ("{% for i in range(2, 9, 3) %}{{ i }}{% if i == 5 %}{% break %}{% endif %}{% endfor %}{% for i in [] %}{% else %}none{% endfor %}"
     "{% for i in range(4) %}{% if i is odd %}{% continue %}{% endif %}{{ i }}{% endfor %}", ["one"], {}),
    ("{% for a, b in [(1, 2), (3, 4)] %}{{ a }}{{ b }}{% endfor %}{% set a, b = 5, 6 %}{{ a }}{{ b }}{% set (c, d) = [7, 8] %}{{ c }}{{ d }}",
     ["one"], {}),
    ("{# a comment {{ x }} #}a\n{#- eaten -#}\n b {%- if true %} c{% endif -%}  d\n   {% if true %}\ne\n{% endif %}\n\n", ["one"], {}),
    ("{%+ if true %}a{% endif +%}\nb\n  {%+ if true -%}  c{% endif %}\n  {{- ' d' }}\r\ne\r\n", ["one"], {}),
    ("{% generation %}{{ messages[0].content }}{% endgeneration %}{{ '\\u00e9\\x41\\t\\'\\\"' }}{{ \"it's\" }}", ["one"], {}),
    ("{% if messages[0].role != 'system' %}{{ raise_exception('needs a system message') }}{% endif %}ok", ["one", "turns"], {}),
    ("{{ nothing.attribute }}", ["one"], {}), ("{{ none.attribute is defined }}", ["one"], {}),
    ("{{ nothing['item'] }}", ["one"], {}), ("{% for x in none %}{% endfor %}", ["one"], {}), ("{{ 1 + 'a' }}", ["one"], {}),
    ("{{ messages.append(1) }}", ["one"], {}), ("{{ 'a'.nothing() }}", ["one"], {}), ("{{ x | nothing }}", ["one"], {}),
    ("{{ x is nothing }}", ["one"], {}), ("{{ messages[0].content | tojson | nothing }}", ["one"], {}), ("{% if %}{% endif %}", ["one"], {}),
    ("{{ nothing | tojson }}", ["one"], {}), ("{{ 'a' < 1 }}", ["one"], {}), ("{{ 1 // 0 }}", ["one"], {}),
    ("{% set d = {'a': 1} %}{% set d.a = 2 %}{{ d.a }}", ["one"], {}), ("{{ '{}'.format() }}", ["one"], {}),
]
TAKEN = {"tokenize", "add_generation_prompt", "conversation", "messages"}


def render(template, messages, generation, arguments):
    """As tokenizer.apply_chat_template(messages, add_generation_prompt=..., tokenize=False, **arguments) does."""
    rest = dict(arguments)
    if TAKEN & set(rest) or (generation and rest.get("continue_final_message")):
        return None
    for name in ("max_length", "padding", "return_dict"):
        rest.pop(name, None)
    template = rest.pop("chat_template", None) or template
    try:
        return render_jinja_template(conversations=[copy.deepcopy(messages)], chat_template=template,
                                     add_generation_prompt=generation, **{**NAMES, **rest})[0][0]
    except Exception:
        return None


for source, lists, arguments in CASES:
    for name in lists:
        generation = name != "turns"
        print(json.dumps({"template": source, "names": NAMES, "messages": LISTS[name], "kwargs": arguments,
                          "generation": generation, "want": render(source, LISTS[name], generation, arguments)}))
