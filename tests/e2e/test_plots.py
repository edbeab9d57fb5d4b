"""--plot-timeline and --plot-dataset-stats against the mock server: the figures in the files, their names, their failures."""
import base64
import json
import os
import re
import struct
import zlib

import harness
from harness import Folder, Mock, holds, near, same

TOKENIZER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "tok-mini")
LENGTH = ["--custom-output-len", "1"]


def page_data(text):
    """What the page draws: the object in its script element."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    holds(found, "no data in the page", text[:300])
    return json.loads(found.group(1))


def tokens_us(data, row):
    """The intervals of one request, microseconds."""
    packed = base64.b64decode(data["tokens"][row])
    words = list(struct.unpack("<%dH" % (len(packed) // 2), packed))
    out = []
    while words:
        value = words.pop(0)
        if value == 65535:
            value = words.pop(0) + words.pop(0) * 65536
        out.append(value)
    return out


def pages(folder, *inside):
    return [name for name in folder.names(*inside) if name.endswith(".html")]


def unfiltered(kind, line, above):
    """A row of three bytes a pixel, W3C PNG 9.2."""
    if kind == 0:
        return line
    if kind == 2:
        return bytes(a + b & 255 for a, b in zip(above, line))
    row = bytearray(3)
    corner = bytes(3) + above
    for i, (x, up, slant) in enumerate(zip(line, above, corner)):
        left = row[i]
        paeth = min((left, up, slant), key=lambda v: abs(left + up - slant - v))
        row.append(x + {1: left, 3: (left + up) // 2, 4: paeth}[kind] & 255)
    return bytes(row[3:])


def png(path):
    """Width, height and a function that gives the colour of a pixel."""
    with open(path, "rb") as f:
        data = f.read()
    same(data[:8], b"\x89PNG\r\n\x1a\n", "signature")
    at, packed, size = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        same(zlib.crc32(kind + body), struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0], "CRC of a chunk")
        if kind == b"IHDR":
            size = struct.unpack(">IIBB", body[:10])
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    width, height, depth, colour = size
    same((depth, colour), (8, 2), "depth and colour type")
    raw, rows, above = zlib.decompress(packed), [], bytes(3 * width)
    for y in range(height):
        line = raw[y * (3 * width + 1) + 1:(y + 1) * (3 * width + 1)]
        above = unfiltered(raw[y * (3 * width + 1)], line, above)
        rows.append(above)
    return width, height, lambda x, y: tuple(rows[y][3 * x:3 * x + 3])


def test_the_timeline_has_the_times_of_the_result():
    """First token after 80 ms, then 30 ms a token: between the limits of 25 and 50 ms."""
    with Folder() as folder, Mock("--ttft", "80", "--itl", "30", "--tokens", "5") as mock:
        run = harness.run(*folder.custom(mock.port, 4), *LENGTH, "--max-concurrency", "2", "--plot-timeline", "--save-result",
                          "--save-detailed", "--result-dir", folder("out"), "--result-filename", "r.json")
        same(run.status, 0, "exit", run)
        same(folder.names("out"), ["r.json", "r.timeline.html"], "files")
        holds("Timeline saved to %s" % folder("out", "r.timeline.html") in run.err, "where it is", run)
        result, text = folder.json("out", "r.json"), folder.read("out", "r.timeline.html")
        data = page_data(text)
        first = min(result["start_times"])
        for i in range(4):
            near(data["start"][i], (result["start_times"][i] - first) * 1e6, 1, "start of %d" % i)
            near(data["first"][i], result["ttfts"][i] * 1e6, 1, "first token of %d" % i)
            itls = tokens_us(data, i)
            same(len(itls), 4, "intervals of %d" % i)
            for shown, itl in zip(itls, result["itls"][i]):
                near(shown, itl * 1e6, 1.5, "an interval of %d" % i)
                near(shown, 30e3, 15e3, "the server's interval")
            near(data["end"][i], result["latencies"][i] * 1e6, 20e3, "end of %d" % i)
            near(data["first"][i], 80e3, 40e3, "the server's first token")
        same(data["prompt"], result["input_lens"], "prompt tokens")
        same(data["output"], result["output_lens"], "output tokens")
        same(data["state"], [0] * 4, "states")
        holds(re.search(r"25 ms ≤ ITL &lt; 50 ms <span>1[0-6] \(", text), "most intervals are between the limits",
              re.findall(r"ITL.*", text)[:4])
        same(len(re.findall(r"<tr><td>Req \d</td>", text)), 4, "rows of the table")
        holds("://" not in text, "an address of something outside")


def test_failed_requests_are_shown_with_their_words():
    with Folder() as folder, Mock("--ttft", "5", "--fail-first", "2", "--tokens", "3") as mock:
        run = harness.run(*folder.custom(mock.port, 4), *LENGTH, "--max-concurrency", "1", "--plot-timeline",
                          "--ready-check-timeout-sec", "0", "--result-dir", folder("out"), "--result-filename", "r")
        same(run.status, 0, "exit", run)
        same(folder.names("out"), ["r.timeline.html"], "files: nothing else is saved")
        text = folder.read("out", "r.timeline.html")
        data = page_data(text)
        same(data["state"], [1, 1, 0, 0], "states")
        same(data["first"][:2], [-1, -1], "first tokens of the failed")
        holds("503" in data["errors"][data["error"][0]], "their words", data["errors"])
        holds("Failed <span>2" in text and "failed: " in text, "legend and table")


def test_automatic_names_without_saving():
    with Folder() as folder, Mock("--ttft", "1", "--itl", "1") as mock:
        run = harness.run(*folder.custom(mock.port, 2), *LENGTH, "--plot-timeline", "--plot-dataset-stats", cwd=folder.path)
        same(run.status, 0, "exit", run)
        names = folder.names()
        holds(len(names) == 2 and re.match(r"openai-infqps-mock-model-\d{8}-\d{6}\.dataset_stats\.png$", names[0]) and
              re.match(r"openai-infqps-mock-model-\d{8}-\d{6}\.timeline\.html$", names[1]), "names", names)


def test_every_run_of_a_sweep_and_of_repeats_has_files_of_its_own():
    with Folder() as folder, Mock("--ttft", "1", "--itl", "1") as mock:
        flags = [*folder.custom(mock.port, 2), *LENGTH, "--plot-timeline", "--result-filename", "s.json"]
        run = harness.run(*flags, "--result-dir", folder("sweep"), "--sweep-max-concurrency", "1,2", "--save-result")
        same(run.status, 0, "exit", run)
        same(pages(folder, "sweep"), ["s-concurrency1.timeline.html", "s-concurrency2.timeline.html"],
             "pages of the sweep")
        run = harness.run(*flags, "--result-dir", folder("runs"), "--num-runs", "2", "--append-result")
        same(run.status, 0, "exit", run)
        same(pages(folder, "runs"), ["s-run1.timeline.html", "s-run2.timeline.html"],
             "pages of runs that share a result file")
        run = harness.run(*flags, "--result-dir", folder("bare"), "--num-runs", "2")
        same(folder.names("bare"), ["s-run1.timeline.html", "s-run2.timeline.html"], "without results")


def test_turns_are_rows():
    with Folder() as folder, Mock("--ttft", "5", "--itl", "2") as mock:
        run = harness.run("serve", "--backend", "openai-chat", "--endpoint", "/v1/chat/completions", "--model", "mock-model", "--host",
                          "127.0.0.1", "--port", str(mock.port), "--tokenizer", TOKENIZER, "--multi-turn",
                          "--num-prompts", "2", "--multi-turn-min-turns", "2", "--multi-turn-max-turns", "2", "--random-input-len", "8", "--random-output-len", "4",
                          "--disable-tqdm", "--plot-timeline", "--plot-dataset-stats", "--result-dir", folder("out"),
                          "--result-filename", "m.json")
        same(run.status, 0, "exit", run)
        same(folder.names("out"), ["m.dataset_stats.png", "m.timeline.html"], "files")
        data = page_data(folder.read("out", "m.timeline.html"))
        same((data["owner"], data["turn"]), ([0, 0, 1, 1], [1, 2, 1, 2]), "conversations and turns")
        for first, second in ((0, 1), (2, 3)):
            holds(data["start"][second] >= data["start"][first] + data["end"][first], "turns one after the other", data["start"])


def test_pooling_requests_are_one_bar():
    with Folder() as folder, Mock("--ttft", "20") as mock:
        flags = folder.custom(mock.port, 2)
        at = flags.index("--temperature")
        del flags[at:at + 2]
        run = harness.run(*flags, "--backend", "openai-embeddings", "--endpoint", "/v1/embeddings",
                          "--plot-timeline", "--plot-dataset-stats", "--result-dir", folder("out"), "--result-filename", "p.json")
        same(run.status, 0, "exit", run)
        text = folder.read("out", "p.timeline.html")
        data = page_data(text)
        same((data["pooling"], data["first"], data["tokens"]), (True, [-1, -1], ["", ""]), "no tokens")
        holds("Request <span>2" in text and "TTFT" not in re.search(r'legend">(.*?)</ul>', text, re.S).group(1), "legend")
        same(folder.names("out"), ["p.dataset_stats.png", "p.timeline.html"], "files")


def test_the_picture_shows_the_lengths():
    """Prompts of the same length and outputs of the same length: one bar each, in the middle (numpy widens by a half)."""
    with Folder() as folder, Mock("--ttft", "1", "--itl", "1", "--tokens", "4") as mock:
        run = harness.run(*folder.custom(mock.port, 3), *LENGTH, "--plot-dataset-stats", "--result-dir", folder("out"),
                          "--result-filename", "d.json")
        same(run.status, 0, "exit", run)
        width, height, at = png(folder("out", "d.dataset_stats.png"))
        same((width, height), (2100, 1500), "size")
        for panel, x in ((0, 150), (1, 1190)):
            colours = {at(x + dx, 225 + 440) for dx in range(20, 850)}
            filled = [c for c in colours if max(c) - min(c) > 60]
            holds(filled, "panel %d has a bar" % panel, sorted(colours)[:5])
            middle = at(x + 435 + 8, 225 + 440)
            holds(max(middle) - min(middle) > 60, "the bar stands right of the middle", middle)


def test_failures_warn_and_nothing_else():
    with Folder() as folder, Mock("--ttft", "1", "--itl", "1") as mock:
        open(folder("file"), "w").close()
        run = harness.run(*folder.custom(mock.port, 1), *LENGTH, "--plot-timeline", "--result-dir", folder("file"))
        same(run.status, 0, "exit", run)
        holds("warning: Timeline not saved: " in run.err and "/file" in run.err, "a warning", run)


def test_wrong_limits_are_refused_before_anything_is_sent():
    for value in ("25", "1,2,3", "a,b", "50,25", "0,1", ""):
        run = harness.run("serve", "--model", "m", "--port", "1", "--timeline-itl-thresholds", value)
        same(run.status, 2, "exit for '%s'" % value, run)
        holds("--timeline-itl-thresholds" in run.err, "the flag is named", run)


if __name__ == "__main__":
    harness.main(globals())
