#!/usr/bin/env python3
"""Makes tests/data/parquet: small Parquet files, and their rows as pyarrow reads them.

  python3 -m venv V && V/bin/pip install pyarrow==26.0.1 pandas==3.1.1 fastparquet==2026.9.0
  V/bin/python tools/gen_parquet_data.py [FOLDER]

NAME.parquet is written by pyarrow, by fastparquet, or by hand where neither can write what older
writers left behind.  NAME.jsonl has one row a line: what pyarrow gives for the file (to the
specification where pyarrow departs from it, see BY_THE_SPECIFICATION), as the JSON that
src/datasets/format/parquet.h promises.  Files with equal rows share the .jsonl of the part of
their name before the '@'.  faulty/ has files that must be refused.
"""

import base64
import datetime
import decimal
import gzip
import json
import math
import pathlib
import random
import struct
import sys
import uuid
import zlib

import numpy
import pyarrow
import pyarrow.parquet

PA = pyarrow
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


# ---- what a value becomes -------------------------------------------------------------------------


def cut_fraction(text):
    """As isoformat: nothing, six or nine digits."""
    whole, _, fraction = text.partition(".")
    fraction = fraction.ljust(9, "0")
    if int(fraction or 0) == 0:
        return whole
    return whole + "." + (fraction if fraction[6:] != "000" else fraction[:6])


def instant_text(value, unit, zone):
    text = cut_fraction(str(numpy.datetime64(value, unit)))
    return text + ("+00:00" if zone else "")


def time_text(value, unit):
    return cut_fraction(str(numpy.datetime64(value, unit))).partition("T")[2]


def key_text(key):
    return key if isinstance(key, str) else json.dumps(key, separators=(",", ":"))


def plain(scalar, raw=False):
    """A pyarrow scalar as JSON has it."""
    kind = scalar.type
    if not scalar.is_valid:
        return None
    if isinstance(scalar, PA.ExtensionScalar):
        value = scalar.as_py()
        return str(value) if isinstance(value, uuid.UUID) else value
    if PA.types.is_dictionary(kind):
        return plain(scalar.value)
    if PA.types.is_struct(kind):
        return {kind.field(i).name: plain(scalar[i]) for i in range(kind.num_fields)}
    if PA.types.is_map(kind):
        return {key_text(plain(pair[0])): plain(pair[1]) for pair in scalar.values}
    if PA.types.is_list(kind) or PA.types.is_large_list(kind) or PA.types.is_fixed_size_list(kind):
        return [plain(item) for item in scalar.values]
    if PA.types.is_timestamp(kind):
        return instant_text(scalar.value, kind.unit, kind.tz)
    if PA.types.is_time(kind):
        return time_text(scalar.value, kind.unit)
    if PA.types.is_duration(kind):
        return scalar.value
    if PA.types.is_date(kind):
        return str(numpy.datetime64(scalar.value, "D" if kind == PA.date32() else "ms"))[:10]
    if PA.types.is_decimal(kind):
        return format(scalar.as_py(), "f")
    value = scalar.as_py()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, (float, numpy.floating)):
        return float(value) if math.isfinite(value) else None
    return value


def rows_of(table):
    columns = [table.column(i) for i in range(table.num_columns)]
    for row in range(table.num_rows):
        yield {name: plain(column[row]) for name, column in zip(table.column_names, columns)}


def write_rows(path, rows):
    with open(path, "w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")


# ---- files by pyarrow -----------------------------------------------------------------------------


def sprinkle(dice, values, nulls=0.2):
    return [None if dice.random() < nulls else value for value in values]


def all_types(dice, count):
    """A column for every type that pyarrow writes."""
    def ints(bits, signed=True):
        low = -(1 << (bits - 1)) if signed else 0
        high = (1 << (bits - (1 if signed else 0))) - 1
        edge = [low, high, 0, 1, max(low, -1)]
        return edge + [dice.randint(low, high) for _ in range(count - len(edge))]

    def texts():
        words = ["", "a", "naïve", "日本", "🙂", "quote\"back\\slash\n", "x" * 40]
        return [dice.choice(words) + str(i % 3) for i in range(count)]

    def floats(digits):
        edge = [0.0, -0.0, 1.5, float("nan"), float("inf"), float("-inf"), 0.1, 1e30, 5e-324, 1e-40]
        return edge + [round(dice.uniform(-1000, 1000), digits) for _ in range(count - len(edge))]

    def decimals(precision, scale):
        top = 10**precision - 1
        edge = [top, -top, 0, 1, -1]
        all_ = edge + [dice.randint(-top, top) for _ in range(count - len(edge))]
        return [decimal.Decimal(value).scaleb(-scale, decimal.Context(prec=100)) for value in all_]

    day = 86400
    instants = [0, -1, 1, -62135596800, 253402300799, 951782400, -day]
    instants += [dice.randint(-2**33, 2**33) for _ in range(count - len(instants))]
    blobs = [bytes(dice.randrange(256) for _ in range(i % 7)) for i in range(count)]
    columns = {
        "bool": PA.array(sprinkle(dice, [dice.random() < 0.5 for _ in range(count)])),
        "null": PA.nulls(count),
    }
    for bits in 8, 16, 32, 64:
        columns[f"int{bits}"] = PA.array(sprinkle(dice, ints(bits)), f"int{bits}")
        columns[f"uint{bits}"] = PA.array(sprinkle(dice, ints(bits, False)), f"uint{bits}")
    half = numpy.array(floats(2), numpy.float64).clip(-65504, 65504).astype(numpy.float16)
    half[:10] = numpy.array([0.0, -0.0, 1.5, "nan", "inf", "-inf", 0.1, 65504, 6e-8, 6.1e-5], "e")
    columns["half"] = PA.array(half)
    columns["single"] = PA.array(sprinkle(dice, floats(3)), PA.float32())
    columns["double"] = PA.array(sprinkle(dice, floats(9)), PA.float64())
    for precision, scale in (4, 2), (9, 0), (18, 18), (38, 10), (76, 30):
        kind = PA.decimal128(precision, scale) if precision < 39 else PA.decimal256(precision, scale)
        columns[f"decimal{precision}_{scale}"] = PA.array(sprinkle(dice, decimals(precision, scale)), kind)
    columns["text"] = PA.array(sprinkle(dice, texts()))
    columns["large_text"] = PA.array(sprinkle(dice, texts()), PA.large_string())
    columns["blob"] = PA.array(sprinkle(dice, blobs), PA.binary())
    columns["fixed"] = PA.array(sprinkle(dice, [bytes([i % 256, 0, 255]) for i in range(count)]), PA.binary(3))
    columns["uuid"] = PA.array(sprinkle(dice, [dice.randbytes(16) for _ in range(count)]), PA.uuid())
    columns["json"] = PA.array(sprinkle(dice, ['{"a":%d}' % i for i in range(count)]), PA.json_())
    columns["category"] = PA.array(sprinkle(dice, texts())).dictionary_encode()
    columns["date"] = PA.array(sprinkle(dice, [value // day for value in instants]), PA.date32())
    for unit in "ms", "us", "ns":
        factor = 10**9 // UNITS[unit]
        wide = [value * factor + dice.choice([0, 1, factor // 2]) for value in instants]
        if unit == "ns":
            wide = [value if abs(value) < 2**63 else value % 2**62 for value in wide]
        columns[f"instant_{unit}"] = PA.array(sprinkle(dice, wide), PA.timestamp(unit))
        columns[f"instant_{unit}_utc"] = PA.array(sprinkle(dice, wide), PA.timestamp(unit, "UTC"))
        times = [value % (day * factor) for value in wide]
        kind = PA.time32(unit) if unit == "ms" else PA.time64(unit)
        columns[f"time_{unit}"] = PA.array(sprinkle(dice, times), kind)
    return PA.table(columns)


def nested(dice, count):
    """Lists, maps and groups in each other, with nulls and nothing at every level."""
    kinds = {
        "ints": PA.list_(PA.int32()),
        "texts": PA.list_(PA.string()),
        "lists": PA.list_(PA.list_(PA.int64())),
        "deep": PA.list_(PA.list_(PA.list_(PA.string()))),
        "three": PA.list_(PA.float32(), 3),
        "group": PA.struct([("a", PA.int32()), ("b", PA.struct([("c", PA.string()), ("d", PA.bool_())]))]),
        "group_of_lists": PA.struct([("x", PA.list_(PA.int8())), ("y", PA.list_(PA.string()))]),
        "list_of_groups": PA.list_(PA.struct([("role", PA.string()), ("content", PA.string())])),
        "list_of_groups_of_lists": PA.list_(PA.struct([("n", PA.int32()), ("v", PA.list_(PA.int32()))])),
        "map": PA.map_(PA.string(), PA.int32()),
        "map_by_int": PA.map_(PA.int64(), PA.string()),
        "map_of_lists": PA.map_(PA.string(), PA.list_(PA.int32())),
        "list_of_maps": PA.list_(PA.map_(PA.string(), PA.string())),
        "image": PA.struct([("bytes", PA.binary()), ("path", PA.string())]),
        "needed": PA.struct([PA.field("a", PA.int32(), False), PA.field("b", PA.list_(
            PA.field("item", PA.int32(), False)), False)]),
    }
    fields = [PA.field(name, kind) for name, kind in kinds.items()]
    fields.append(PA.field("sure", PA.list_(PA.field("item", PA.string(), False)), False))
    fields.append(PA.field("sure_int", PA.int32(), False))
    return PA.table([PA.array([value_of(dice, f.type, f.nullable) for _ in range(count)], f.type)
                     for f in fields], PA.schema(fields))


def value_of(dice, kind, nullable=True, depth=0):
    if nullable and dice.random() < 0.2:
        return None
    if PA.types.is_map(kind):
        keys = {value_of(dice, kind.key_type, False, depth + 1) for _ in range(dice.randrange(4))}
        return [(key, value_of(dice, kind.item_type, kind.item_field.nullable, depth + 1)) for key in sorted(keys)]
    if PA.types.is_fixed_size_list(kind):
        return [value_of(dice, kind.value_type, True, depth + 1) for _ in range(kind.list_size)]
    if PA.types.is_list(kind) or PA.types.is_large_list(kind):
        return [value_of(dice, kind.value_type, kind.value_field.nullable, depth + 1)
                for _ in range(dice.choice([0, 0, 1, 1, 2, 3, 5]) if depth < 3 else dice.randrange(2))]
    if PA.types.is_struct(kind):
        return {kind.field(i).name: value_of(dice, kind.field(i).type, kind.field(i).nullable, depth + 1)
                for i in range(kind.num_fields)}
    if PA.types.is_boolean(kind):
        return dice.random() < 0.5
    if PA.types.is_integer(kind):
        bits = kind.bit_width
        wide = dice.randrange(1 << dice.choice([2, bits - 1]))
        return wide if PA.types.is_unsigned_integer(kind) else wide * dice.choice([1, -1])
    if PA.types.is_floating(kind):
        return float(numpy.float32(dice.choice([0.5, -1e9, 3.25, dice.random()])))
    if PA.types.is_binary(kind) or PA.types.is_large_binary(kind):
        return dice.randbytes(dice.choice([0, 1, 5, 30]))
    return dice.choice(["", "a", "bé", "user", "日本語", "word %d" % dice.randrange(100)])


def encodings(dice, count):
    """type -> the encodings that go with it, and a column for each pair."""
    integer = ["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT", "dictionary"]
    pairs = {
        "bool": (PA.bool_(), ["PLAIN", "RLE"]),
        "int32": (PA.int32(), integer),
        "int64": (PA.int64(), integer),
        "single": (PA.float32(), ["PLAIN", "BYTE_STREAM_SPLIT", "dictionary"]),
        "double": (PA.float64(), ["PLAIN", "BYTE_STREAM_SPLIT", "dictionary"]),
        "text": (PA.string(), ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", "dictionary"]),
        "fixed": (PA.binary(5), ["PLAIN", "DELTA_BYTE_ARRAY", "BYTE_STREAM_SPLIT", "dictionary"]),
    }
    columns, chosen, dictionary = {}, {}, []
    for name, (kind, list_) in pairs.items():
        for encoding in list_:
            if name == "fixed":
                values = [b"%05d" % (dice.randrange(30) * 7) for _ in range(count)]
            elif name == "text":
                values = ["/path/%d/%s" % (i // 10, "x" * dice.randrange(5)) for i in range(count)]
            elif name == "int64":
                values = [dice.choice([i, i * i, -(1 << 63), (1 << 63) - 1, 10**12 + i]) for i in range(count)]
            else:
                values = [value_of(dice, kind, False) for _ in range(count)]
            column = f"{name}_{encoding.lower()}"
            columns[column] = PA.array(sprinkle(dice, values), kind)
            if encoding == "dictionary":
                dictionary.append(column)
            else:
                chosen[column] = encoding
    return PA.table(columns), chosen, dictionary


def deltas(dice, count):
    """More values than a block of packed deltas has, with all widths."""
    wide = [dice.randrange(1 << (i % 63 + 1)) * (-1) ** i for i in range(count)]
    narrow = [(value & 0xFFFFFFFF) - (1 << 31) if i % 64 < 32 else i for i, value in enumerate(wide)]
    words = ["w" * (i % 5) + str(i // 7) for i in range(count)]
    return PA.table({"i": PA.array(narrow, PA.int32()), "l": PA.array(wide, PA.int64()),
                     "s": words, "t": sprinkle(dice, words)})


def write(folder, name, table, **options):
    options.setdefault("compression", "none")
    pyarrow.parquet.write_table(table, folder / f"{name}.parquet", **options)


def by_pyarrow(folder):
    dice = random.Random(13)
    for version in 1, 2:
        page = {"data_page_version": f"{version}.0"}
        types = all_types(random.Random(1), 30)
        write(folder, f"types@v{version}", types, compression="zstd", write_statistics=False, **page)
        table = nested(random.Random(2), 40)
        write(folder, f"nested@v{version}", table, compression="zstd", write_statistics=False, **page)
        table, chosen, dictionary = encodings(random.Random(3), 25)
        write(folder, f"encodings@v{version}", table, use_dictionary=dictionary, column_encoding=chosen,
              compression="zstd", write_statistics=False, data_page_size=60, write_batch_size=9, **page)
        write(folder, f"deltas@v{version}", deltas(random.Random(6), 300), use_dictionary=False, column_encoding={
            "i": "DELTA_BINARY_PACKED", "l": "DELTA_BINARY_PACKED", "s": "DELTA_BYTE_ARRAY",
            "t": "DELTA_LENGTH_BYTE_ARRAY"}, **page)
        small = nested(random.Random(4), 30).select(["ints", "texts", "list_of_groups", "sure_int", "image"])
        for codec in "none", "snappy", "gzip", "brotli", "zstd", "lz4":
            write(folder, f"codecs@{codec}-v{version}", small, compression=codec, **page)
    some = nested(dice, 60).select(["list_of_groups", "deep", "sure_int", "map"])
    write(folder, "pages", some, row_group_size=25, data_page_size=60, write_batch_size=4,
          write_page_checksum=True, write_page_index=True, compression="snappy")
    write(folder, "pages_v2", nested(dice, 60).select(["list_of_groups", "deep", "sure_int", "map"]),
          row_group_size=25, data_page_size=60, write_batch_size=4, data_page_version="2.0",
          write_page_checksum=True, compression="gzip")
    words = PA.table({"word": ["w%03d" % dice.randrange(200) for _ in range(300)]})
    write(folder, "dictionary_too_large", words, dictionary_pagesize_limit=100, data_page_size=200, write_batch_size=20)
    instants = PA.table({"t": PA.array([0, -1, 10**18 + 7, None], PA.timestamp("ns"))})
    write(folder, "int96", instants, use_deprecated_int96_timestamps=True, store_schema=False)
    decimals = all_types(random.Random(5), 20).select(["decimal4_2", "decimal9_0", "decimal18_18"])
    write(folder, "decimals_in_integers", decimals, store_decimal_as_integer=True)
    write(folder, "lists_unnamed", nested(dice, 20).select(["ints", "lists"]), use_compliant_nested_type=False)
    write(folder, "no_rows", nested(dice, 0).select(["ints", "map"]))
    write(folder, "no_schema_kept", all_types(dice, 12).select(["uint32", "uint64", "instant_ns", "time_ns", "text"]),
          store_schema=False)
    write(folder, "version_1", all_types(dice, 12).select(["uint8", "uint64", "instant_us_utc", "date", "time_us", "text"]),
          store_schema=False, version="1.0")
    write(folder, "nulls_alone", PA.table({"a": PA.nulls(9, PA.string()), "b": PA.nulls(9, PA.list_(PA.int32()))}),
          data_page_version="2.0", compression="snappy")


# ---- files by fastparquet -------------------------------------------------------------------------


def by_fastparquet(folder):
    import fastparquet
    import pandas
    frame = pandas.DataFrame({
        "i": numpy.arange(20, dtype="int64") * 3,
        "f": numpy.linspace(0, 1, 20),
        "b": [i % 3 == 0 for i in range(20)],
        "t": pandas.date_range("2024-02-28", periods=20, freq="7h"),
        "s": [None if i % 5 == 0 else "text %d" % i for i in range(20)],
        "c": pandas.Categorical(["red" if i % 2 else "blue" for i in range(20)]),
        "j": [{"k": [i, None]} for i in range(20)],
    })
    for codec in "SNAPPY", "GZIP", "ZSTD", "LZ4_RAW", "BROTLI":
        fastparquet.write(str(folder / f"fastparquet@{codec.lower()}.parquet"), frame, compression=codec,
                          object_encoding={"s": "utf8", "j": "json"}, row_group_offsets=[0, 12],
                          write_index=False)


# ---- files by hand --------------------------------------------------------------------------------


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def zigzag(value):
    return varint(value << 1 if value >= 0 else (-value << 1) - 1)


class Thrift:
    """Compact protocol: pack({1: ("i32", 5), 2: ("str", "x"), 3: ("list", "struct", [...])})."""

    CODES = {"i8": 3, "i16": 4, "i32": 5, "i64": 6, "str": 8, "list": 9, "struct": 12}

    @classmethod
    def value(cls, kind, *what):
        if kind in ("i16", "i32", "i64"):
            return zigzag(what[0])
        if kind == "i8":
            return struct.pack("b", what[0])
        if kind == "str":
            raw = what[0] if isinstance(what[0], bytes) else what[0].encode()
            return varint(len(raw)) + raw
        if kind == "struct":
            return cls.pack(what[0])
        element, items = what
        count = len(items)
        head = bytes([count << 4 | cls.CODES[element]]) if count < 15 else (
            bytes([0xF0 | cls.CODES[element]]) + varint(count))
        return head + b"".join(cls.value(element, item) for item in items)

    @classmethod
    def pack(cls, fields):
        out, last = bytearray(), 0
        for number, (kind, *what) in sorted(fields.items()):
            code = (1 if what[0] else 2) if kind == "bool" else cls.CODES[kind]
            out += bytes([number - last << 4 | code]) if number - last < 16 else bytes([code]) + zigzag(number)
            last = number
            if kind != "bool":
                out += cls.value(kind, *what)
        return bytes(out + b"\0")


TYPES = {"BOOLEAN": 0, "INT32": 1, "INT64": 2, "INT96": 3, "FLOAT": 4, "DOUBLE": 5, "BYTE_ARRAY": 6, "FIXED": 7}
REPETITIONS = {"required": 0, "optional": 1, "repeated": 2}
CONVERTED = {"UTF8": 0, "MAP": 1, "MAP_KEY_VALUE": 2, "LIST": 3, "ENUM": 4, "DECIMAL": 5, "TIME_MILLIS": 7,
             "TIMESTAMP_MILLIS": 9, "UINT_32": 13, "JSON": 19, "BSON": 20, "INTERVAL": 21}


def element(name, repetition="required", type_=None, children=None, converted=None, **more):
    fields = {4: ("str", name), 3: ("i32", REPETITIONS[repetition])}
    if type_:
        fields[1] = ("i32", TYPES[type_])
    if children:
        fields[5] = ("i32", children)
    if converted:
        fields[6] = ("i32", CONVERTED[converted])
    for key, number in ("width", 2), ("scale", 7), ("precision", 8):
        if key in more:
            fields[number] = ("i32", more[key])
    return fields


def data_page(values, data, packed=None, encoding=0, levels=(3, 3), crc=None):
    packed = data if packed is None else packed
    head = {1: ("i32", 0), 2: ("i32", len(data)), 3: ("i32", len(packed)), 5: ("struct", {
        1: ("i32", values), 2: ("i32", encoding), 3: ("i32", levels[0]), 4: ("i32", levels[1])})}
    if crc is not None:
        head[4] = ("i32", crc - (crc >> 31 << 32))
    return Thrift.pack(head) + packed


def dictionary_page(values, data):
    return Thrift.pack({1: ("i32", 2), 2: ("i32", len(data)), 3: ("i32", len(data)), 7: ("struct", {
        1: ("i32", values), 2: ("i32", 0)})}) + data


def index_page(data):
    return Thrift.pack({1: ("i32", 1), 2: ("i32", len(data)), 3: ("i32", len(data)), 6: ("struct", {})}) + data


def runs(levels, width=1):
    """Levels as runs of one value, with their length."""
    body = b"".join(varint(1 << 1) + bytes([level]) * ((width + 7) // 8) for level in levels)
    return struct.pack("<I", len(body)) + body


def packed_levels(levels, width):
    """The retired encoding: the first value in the highest bits."""
    bits = "".join(format(level, f"0{width}b") for level in levels)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))


def texts(*words):
    return b"".join(struct.pack("<I", len(w.encode())) + w.encode() for w in words)


def ints(*values):
    return struct.pack(f"<{len(values)}i", *values)


def file_of(schema, rows, columns, chunk=None, promised=None):
    """columns: (type, path, number of values, codec, pages); chunk: further fields of column chunks."""
    out, chunks = bytearray(b"PAR1"), []
    for type_, path, values, codec, pages in columns:
        start = len(out)
        out += pages
        chunks.append({**(chunk or {}), 2: ("i64", start), 3: ("struct", {
            1: ("i32", TYPES[type_]), 2: ("list", "i32", [0, 3]), 3: ("list", "str", path.split(".")),
            4: ("i32", codec), 5: ("i64", values), 6: ("i64", len(pages)), 7: ("i64", len(pages)),
            9: ("i64", start)})})
    footer = Thrift.pack({
        1: ("i32", 1), 2: ("list", "struct", schema), 3: ("i64", rows if promised is None else promised),
        4: ("list", "struct", [{1: ("list", "struct", chunks), 2: ("i64", len(out)), 3: ("i64", rows)}]),
        6: ("str", "by hand")})
    return bytes(out) + footer + struct.pack("<I", len(footer)) + b"PAR1"


def lists_of_two_levels():
    """LogicalTypes.md, "Backward-compatibility rules": one column for each rule."""
    schema = [
        element("root", children=6),
        element("rule1", "optional", children=1, converted="LIST"), element("element", "repeated", "INT32"),
        element("rule2", "optional", children=1, converted="LIST"), element("element", "repeated", children=2),
        element("str", "required", "BYTE_ARRAY", converted="UTF8"), element("num", "required", "INT32"),
        element("rule3", "optional", children=1, converted="LIST"), element("array", "repeated", children=1),
        element("str", "required", "BYTE_ARRAY", converted="UTF8"),
        element("rule3b", "optional", children=1, converted="LIST"),
        element("rule3b_tuple", "repeated", children=1), element("str", "required", "BYTE_ARRAY", converted="UTF8"),
        element("rule4", "optional", children=1, converted="LIST"), element("bag", "repeated", children=1),
        element("any", "optional", "INT32"),
        element("bare", "repeated", "INT32"),
    ]
    # Rows: [1, 2], null, []; of bare: [1, 2], [], [3].
    two = runs([0, 1, 0, 0]) + runs([2, 2, 0, 1], 2)
    three = runs([0, 1, 0, 0]) + runs([3, 2, 0, 1], 2)
    bare = runs([0, 1, 0, 0]) + runs([1, 1, 0, 1])
    columns = [
        ("INT32", "rule1.element", 4, 0, data_page(4, two + ints(1, 2))),
        ("BYTE_ARRAY", "rule2.element.str", 4, 0, data_page(4, two + texts("a", "b"))),
        ("INT32", "rule2.element.num", 4, 0, data_page(4, two + ints(1, 2))),
        ("BYTE_ARRAY", "rule3.array.str", 4, 0, data_page(4, two + texts("a", "b"))),
        ("BYTE_ARRAY", "rule3b.rule3b_tuple.str", 4, 0, data_page(4, two + texts("a", "b"))),
        ("INT32", "rule4.bag.any", 4, 0, data_page(4, three + ints(1))),
        ("INT32", "bare", 4, 0, data_page(4, bare + ints(1, 2, 3))),
    ]
    return file_of(schema, 3, columns)


def maps_of_old():
    """A map that bears the converted type of its pairs, and one whose pairs are named otherwise."""
    schema = [
        element("root", children=2),
        element("old", "optional", children=1, converted="MAP_KEY_VALUE"), element("map", "repeated", children=2),
        element("key", "required", "BYTE_ARRAY", converted="UTF8"), element("value", "optional", "INT32"),
        element("named", "required", children=1, converted="MAP"),
        element("entries", "repeated", children=2, converted="MAP_KEY_VALUE"),
        element("k", "required", "INT32"), element("v", "required", "BYTE_ARRAY", converted="UTF8"),
    ]
    columns = [
        ("BYTE_ARRAY", "old.map.key", 4, 0, data_page(4, runs([0, 1, 0, 0]) + runs([2, 2, 0, 1], 2) + texts("a", "b"))),
        ("INT32", "old.map.value", 4, 0, data_page(4, runs([0, 1, 0, 0]) + runs([3, 2, 0, 1], 2) + ints(7))),
        ("INT32", "named.entries.k", 3, 0, data_page(3, runs([0, 0, 0]) + runs([1, 0, 1]) + ints(-1, 5))),
        ("BYTE_ARRAY", "named.entries.v", 3, 0, data_page(3, runs([0, 0, 0]) + runs([1, 0, 1]) + texts("m", "n"))),
    ]
    return file_of(schema, 3, columns)


def converted_types():
    """Only converted types, and those that no writer of today gives."""
    schema = [
        element("root", children=8),
        element("enum", "required", "BYTE_ARRAY", converted="ENUM"),
        element("json", "required", "BYTE_ARRAY", converted="JSON"),
        element("bson", "required", "BYTE_ARRAY", converted="BSON"),
        element("plain", "required", "BYTE_ARRAY"),
        element("unsigned", "required", "INT32", converted="UINT_32"),
        element("decimal", "required", "BYTE_ARRAY", converted="DECIMAL", scale=2, precision=6),
        element("time", "required", "INT32", converted="TIME_MILLIS"),
        element("instant", "required", "INT64", converted="TIMESTAMP_MILLIS"),
    ]
    blobs = struct.pack("<I", 3) + b"\0\xff\1" + struct.pack("<I", 0)
    decimals = struct.pack("<I", 2) + b"\xff\x38" + struct.pack("<I", 3) + b"\1\xe2\x40"
    columns = [
        ("BYTE_ARRAY", "enum", 2, 0, data_page(2, texts("RED", "BLUE"))),
        ("BYTE_ARRAY", "json", 2, 0, data_page(2, texts("[1]", "{}"))),
        ("BYTE_ARRAY", "bson", 2, 0, data_page(2, blobs)),
        ("BYTE_ARRAY", "plain", 2, 0, data_page(2, blobs)),
        ("INT32", "unsigned", 2, 0, data_page(2, ints(-1, 1))),
        ("BYTE_ARRAY", "decimal", 2, 0, data_page(2, decimals)),
        ("INT32", "time", 2, 0, data_page(2, ints(86399999, 0))),
        ("INT64", "instant", 2, 0, data_page(2, struct.pack("<2q", -1, 1709208000000))),
    ]
    return file_of(schema, 2, columns)


def packed_by_codecs():
    """Hadoop's LZ4 in blocks, a bare LZ4 block under the same name, and gzip in two members."""
    raw = ints(*range(64))
    blocks = [raw[:100], raw[100:]]
    bare = [PA.Codec("lz4_raw").compress(block, asbytes=True) for block in blocks]
    hadoop = b"".join(struct.pack(">II", len(a), len(b)) + b for a, b in zip(blocks, bare))
    zipped = gzip.compress(raw, mtime=0)
    columns = [
        ("INT32", "hadoop", 64, 5, data_page(64, raw, hadoop)),
        ("INT32", "bare", 64, 5, data_page(64, raw, PA.Codec("lz4_raw").compress(raw, asbytes=True))),
        ("INT32", "zipped", 64, 2, data_page(64, raw, zipped)),
    ]
    return file_of([element("root", children=3)] + [element(c[1], "required", c[0]) for c in columns], 64, columns)


def retired_levels():
    """Levels in the encoding BIT_PACKED, of one and of two bits, and an index page between pages."""
    schema = [
        element("root", children=2), element("a", "optional", "INT32"),
        element("l", "optional", children=1, converted="LIST"), element("list", "repeated", children=1),
        element("element", "optional", "INT32"),
    ]
    first = data_page(9, packed_levels([1, 0, 1, 1, 0, 0, 0, 1, 1], 1) + ints(1, 2, 3, 4, 5), levels=(4, 4))
    second = data_page(2, packed_levels([0, 1], 1) + ints(6), levels=(4, 4))
    # Eleven rows: [1, null], null, [], then eight of one element.
    reps = [0, 1] + [0] * 10
    defs = [3, 2, 0, 1] + [3] * 8
    lists = data_page(12, packed_levels(reps, 1) + packed_levels(defs, 2) + ints(*range(1, 10)), levels=(4, 4))
    columns = [
        ("INT32", "a", 11, 0, first + index_page(b"ignored") + second),
        ("INT32", "l.list.element", 12, 0, lists),
    ]
    return file_of(schema, 11, columns)


# What pyarrow 26 reads otherwise than LogicalTypes.md and Encodings.md say: it gives enums as bytes and takes the
# lowest bits of retired levels first.
BY_THE_SPECIFICATION = {
    "hand_types": [
        {"enum": "RED", "json": "[1]", "bson": "AP8B", "plain": "AP8B", "unsigned": 4294967295, "decimal": "-2.00",
         "time": "23:59:59.999000", "instant": "1969-12-31T23:59:59.999000+00:00"},
        {"enum": "BLUE", "json": "{}", "bson": "", "plain": "", "unsigned": 1, "decimal": "1234.56",
         "time": "00:00:00", "instant": "2024-02-29T12:00:00+00:00"},
    ],
    "hand_levels": [
        {"a": a, "l": l} for a, l in zip(
            [1, None, 2, 3, None, None, None, 4, 5, None, 6],
            [[1, None], None, [], [2], [3], [4], [5], [6], [7], [8], [9]])
    ],
}


def by_hand(folder):
    makers = {
        "hand_lists": lists_of_two_levels, "hand_maps": maps_of_old, "hand_types": converted_types,
        "hand_codecs": packed_by_codecs, "hand_levels": retired_levels,
    }
    for name, make in makers.items():
        (folder / f"{name}.parquet").write_bytes(make())


def faulty():
    """name -> a file that must be refused; the messages are in tests/unit/datasets/test_parquet.c."""
    def one(pages, values=2, rows=2, codec=0, type_="INT32", repetition="required", **more):
        converted = {"converted": more.pop("converted")} if "converted" in more else {}
        width = {"width": more.pop("width")} if "width" in more else {}
        return file_of([element("root", children=1), element("a", repetition, type_, **converted, **width)], rows,
                       [(type_, "a", values, codec, pages)], **more)

    good = data_page(2, ints(1, 2))
    pair = [
        element("root", children=1), element("l", "optional", children=1, converted="LIST"),
        element("list", "repeated", children=1), element("element", "optional", children=2),
        element("x", "optional", "INT32"), element("y", "optional", "INT32"),
    ]
    two = data_page(2, runs([0, 1]) + runs([4, 4], 3) + ints(1, 2))
    lone = data_page(2, runs([0, 0]) + runs([4, 4], 3) + ints(1, 2))
    null = data_page(2, runs([0, 1]) + runs([4, 1], 3) + ints(1))
    whole = one(good)
    size = struct.unpack("<I", whole[-8:-4])[0]
    return {
        "no_magic": b"PK\3\4" + whole[4:],
        "cut": whole[:-1],
        "short": b"PAR1",
        "footer_size": whole[:-8] + struct.pack("<I", len(whole)) + b"PAR1",
        "footer_cut": whole[:4] + whole[len(whole) - 8 - size:][:20] + struct.pack("<I", 20) + b"PAR1",
        "encrypted_footer": b"PARE" + whole[4:-4] + b"PARE",
        "encrypted_column": one(good, chunk={8: ("struct", {1: ("struct", {})})}),
        "elsewhere": one(good, chunk={1: ("str", "other.parquet")}),
        "rows_promised": one(good, promised=3),
        "lzo": one(data_page(2, ints(1, 2), b"x"), codec=3),
        "unknown_codec": one(data_page(2, ints(1, 2), b"x"), codec=99),
        "unpacked_size": one(data_page(2, ints(1, 2), PA.Codec("snappy").compress(ints(1), asbytes=True)), codec=1),
        "not_packed": one(data_page(2, ints(1, 2), b"\xff" * 9), codec=6),
        "checksum": one(data_page(2, ints(1, 2), crc=zlib.crc32(b"other"))),
        "page_too_long": one(good[:-1]),
        "page_too_full": one(data_page(3, ints(1, 2, 3))),
        "values_missing": one(good, values=3, rows=3),
        "values_over": one(data_page(3, ints(1, 2, 3)), values=3),
        "page_short": one(data_page(2, ints(1))),
        "encoding": one(data_page(2, ints(1, 2), encoding=7)),
        "unknown_encoding": one(data_page(2, ints(1, 2), encoding=33)),
        "no_dictionary": one(data_page(2, b"\1\3\0", encoding=8)),
        "dictionary_entry": one(dictionary_page(1, ints(5)) + data_page(2, b"\1\3\2", encoding=8)),
        "dictionary_size": one(dictionary_page(9, ints(5)) + data_page(2, b"\1\3\2", encoding=8)),
        "text": one(data_page(2, struct.pack("<I", 2) + b"a\xff" + texts("b")), type_="BYTE_ARRAY", converted="UTF8"),
        "text_length": one(data_page(2, struct.pack("<I", 99) + b"a"), type_="BYTE_ARRAY"),
        "level_high": one(data_page(2, struct.pack("<I", 2) + b"\4\2" + ints(1)), repetition="optional"),
        "level_bytes": one(data_page(2, struct.pack("<I", 200) + b"\4\1" + ints(1)), repetition="optional"),
        "time_of_day": one(data_page(2, ints(1, 86400000)), converted="TIME_MILLIS"),
        "lists_of_two_lengths": file_of(pair, 1, [
            ("INT32", "l.list.element.x", 2, 0, two), ("INT32", "l.list.element.y", 2, 0, lone)]),
        "nulls_of_two_levels": file_of(pair, 1, [
            ("INT32", "l.list.element.x", 2, 0, two), ("INT32", "l.list.element.y", 2, 0, null)]),
        "children": file_of([element("root", children=9), element("a", type_="INT32")], 2,
                            [("INT32", "a", 2, 0, good)]),
        "childless": file_of([element("root", children=1), element("a")], 2, [("INT32", "a", 2, 0, good)]),
        "leftover": file_of([element("root", children=1), element("a", type_="INT32"), element("b", type_="INT32")], 2,
                            [("INT32", "a", 2, 0, good)]),
        "chunks": file_of([element("root", children=2), element("a", type_="INT32"), element("b", type_="INT32")], 2,
                          [("INT32", "a", 2, 0, good)]),
        "type": file_of([element("root", children=1), element("a", type_="INT64")], 2, [("INT32", "a", 2, 0, good)]),
        "deep": file_of([element("root", children=1)] + [element("g", children=1)] * 120 +
                        [element("a", type_="INT32")], 2, [("INT32", "a", 2, 0, good)]),
    }


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root / "tests/data/parquet"
    folder.mkdir(parents=True, exist_ok=True)
    by_pyarrow(folder)
    by_fastparquet(folder)
    by_hand(folder)
    (folder / "faulty").mkdir(exist_ok=True)
    for name, content in faulty().items():
        (folder / "faulty" / f"{name}.parquet").write_bytes(content)
    for path in sorted(folder.glob("*.parquet")):
        rows = BY_THE_SPECIFICATION.get(path.stem) or rows_of(pyarrow.parquet.read_table(path))
        write_rows(folder / (path.stem.partition("@")[0] + ".jsonl"), rows)
        if path.stat().st_size > 20000:
            print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
