#!/usr/bin/env python3
"""Checks the rules of style that neither the compiler nor clang-format checks.

  tools/check_style.py [-v] [FILE...]     -v shows warnings too; no FILE: every .c and .h

The rules are listed in docs/development.md.  An exception is a line of tools/style_allow.txt:
`path name reason`, where name is what the fault names in brackets; one that is no longer needed is
a fault itself.  Prints file:line for every fault; exit status 1 when there is one.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "tests", "fuzz", "bench")

BANNED = """
    strcpy strcat strncpy strncat stpcpy sprintf vsprintf gets strtok strtok_r atoi atol atoll atof
    strtol strtoll strtoul strtoull strtod strtof strtold sscanf vsscanf gmtime localtime ctime
    asctime rand srand random srandom drand48 signal setlocale system popen alloca
""".split()
PRINTS = "printf vprintf puts putchar perror exit _exit abort".split()
PRINTING_ROOMS = {"main", "cli", "modes", "output"}

LINE_CODE, LINE_LOOSE = 100, 125
FILE_LINES = 1000
FUNCTION_WARN, FUNCTION_REFUSE = 60, 100
COMPLEXITY_WARN, COMPLEXITY_REFUSE = 15, 25
PARAMETERS, NESTING = 6, 4

TOKEN = re.compile(r"""
    (?P<comment>/\*.*?\*/|//[^\n]*)
  | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
""", re.S | re.X)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.M)
ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)")
BANNED_CALL = re.compile(r"(?<![\w.>])(" + "|".join(BANNED) + r")\s*\(")
PRINT_CALL = re.compile(r"(?<![\w.>])(" + "|".join(PRINTS) + r")\s*\(|\b(stdout|stderr)\b")
TODO = re.compile(r"\b(TODO|FIXME|XXX)\b")
TODO_ISSUE = re.compile(r"\bTODO\b.*?(#|issue )\d+")


def blank(text):
    """The same length, with nothing left but line ends."""
    return re.sub(r"[^\n]", " ", text)


class File:
    """One source file: its text, and the text without comments, strings and directives."""

    def __init__(self, path):
        self.path = path
        self.name = path.relative_to(ROOT).as_posix()
        parts = path.relative_to(ROOT).parts
        self.folder = parts[0]
        self.room = parts[1] if len(parts) > 2 else path.stem
        self.text = path.read_bytes().decode("utf-8", errors="replace")
        self.lines = self.text.split("\n")
        self.comments = []
        self.code = TOKEN.sub(self._token, self.text)
        self.plain = DIRECTIVE.sub(lambda match: blank(match.group()), self.code)
        self.faults = []
        self.warnings = []

    def _token(self, match):
        if match.group("comment") is not None:
            self.comments.append((match.start(), match.group()))
            return blank(match.group())
        inner = match.group()
        return inner[0] + "_" * (len(inner) - 2) + inner[-1]

    def line_of(self, offset):
        return self.text.count("\n", 0, offset) + 1

    def fault(self, line, name, message):
        self.faults.append((line, name, message))

    def warn(self, line, name, message):
        self.warnings.append((line, name, message))


def check_lines(file):
    # Comments, and tables that the formatter leaves alone, may be wider.
    loose, table_from = set(), None
    for start, text in file.comments:
        first = file.line_of(start)
        loose.update(range(first, first + text.count("\n") + 1))
        if "clang-format off" in text:
            table_from = first
        elif "clang-format on" in text and table_from is not None:
            loose.update(range(table_from, first))
            table_from = None
    for number, line in enumerate(file.lines, 1):
        limit = LINE_LOOSE if number in loose else LINE_CODE
        if len(line) > limit:
            file.fault(number, "line-length", f"{len(line)} columns, at most {limit}")
        if "\t" in line:
            file.fault(number, "tab", "a tab; indent with spaces, write \\t in strings")
        if line.endswith((" ", "\r")):
            file.fault(number, "line-end", "white space at the end of the line")
    count = len(file.lines) - 1
    if count > FILE_LINES:
        file.fault(count, "file-length", f"{count} lines, at most {FILE_LINES}: split it by idea")
    if not file.text.endswith("\n"):
        file.fault(len(file.lines), "line-end", "the last line has no end")


def check_comments(file):
    if not file.text.startswith("/*"):
        file.fault(1, "head-comment", "a file opens with a comment on its idea")
    elif file.path.suffix == ".h" and not file.text.startswith(f"/* {file.path.name} - "):
        file.fault(1, "head-comment", f"a header opens with '/* {file.path.name} - what it is for'")
    for start, text in file.comments:
        if text.startswith("//"):
            file.fault(file.line_of(start), "comment", "comments are written /* so */")
        for match in TODO.finditer(text):
            line = text[match.start():].split("\n")[0]
            if not TODO_ISSUE.search(line):
                file.fault(file.line_of(start + match.start()), "todo",
                           "write 'TODO(#12): ...' with the issue's number")


def check_guard(file):
    if file.path.suffix != ".h":
        return
    if file.folder == "src":
        parts = file.path.relative_to(ROOT / "src").with_suffix("").parts
        names = {"_".join(("VB",) + parts).upper() + "_H",
                 "_".join(("VB", parts[0], parts[-1])).upper() + "_H"}
    else:
        names = {f"VB_{file.folder}_{file.path.stem}_H".upper()}
    match = re.search(r"^#ifndef (\w+)\n#define (\w+)\n", file.code, re.M)
    guard = match.group(1) if match and match.group(1) == match.group(2) else ""
    ending = f"_{file.path.stem}_H".upper()
    loose = file.folder != "src" and guard.startswith("VB_") and guard.endswith(ending)
    if guard not in names and not loose:
        file.fault(1, "guard", f"the include guard must be {' or '.join(sorted(names))}")


def check_words(file):
    """Banned functions and words.  Most of it is for src: tests may be rougher."""
    for match in re.finditer(r"\btypedef\b([^;{]*)[;{]", file.plain):
        if "(" not in ATTRIBUTE.sub("", match.group(1)):
            file.fault(file.line_of(match.start()), "typedef", "typedef is for function types only")
    if file.folder != "src":
        return
    # In directives too: a macro must not smuggle one in.
    for match in BANNED_CALL.finditer(file.code):
        file.fault(file.line_of(match.start()), match.group(1), "banned function")
    for match in re.finditer(r"\bfloat\b", file.code):
        file.fault(file.line_of(match.start()), "float", "no float: use double")
    for match in re.finditer(r"\bwhile\s*\(\s*(1|true)\s*\)", file.plain):
        file.fault(file.line_of(match.start()), "endless", "an endless loop is written for (;;)")
    if file.room not in PRINTING_ROOMS:
        for match in PRINT_CALL.finditer(file.plain):
            word = match.group(1) or match.group(2)
            file.fault(file.line_of(match.start()), word,
                       "only main, cli, modes and output print or end the program")


def is_const(declaration):
    """Whether the declared object itself is const: `const int x`, `const char *const x[]`."""
    star = declaration.rfind("*")
    return re.search(r"\bconst\b", declaration[star + 1:]) is not None


def object_name(declaration):
    match = re.search(r"\(\s*\*\s*(?:const\s+)?(\w+)", declaration)
    if match:
        return match.group(1)
    words = re.findall(r"\w+", re.sub(r"\[.*", "", declaration, flags=re.S))
    return words[-1] if words else "?"


def check_declaration(file, offset, text, local):
    """A statement at file level, or one that begins with static in a function."""
    declaration = ATTRIBUTE.sub(" ", text).split("=")[0].strip()
    words = re.findall(r"\w+", declaration)
    if not words or words[0] in ("typedef", "extern", "_Static_assert", "static_assert"):
        return
    pointer = re.search(r"\(\s*\*", declaration)
    if "(" in declaration and not pointer:
        return  # a prototype, or a macro's call
    if len(words) == 2 and words[0] in ("struct", "union", "enum"):
        return  # a forward declaration
    if len(words) < 2:
        return
    if not is_const(declaration):
        name = object_name(declaration)
        where = "static in a function" if local else "at file level"
        file.fault(file.line_of(offset), name, f"mutable variable {where}")


class Scanner:
    """Walks the braces of a file: functions, and declarations at file level."""

    def __init__(self, file):
        self.file = file
        self.code = file.plain

    def close(self, start):
        """Offset just after the brace that closes the one at `start`."""
        depth = 0
        for match in re.compile(r"[{}]").finditer(self.code, start):
            depth += 1 if match.group() == "{" else -1
            if depth == 0:
                return match.end()
        return len(self.code)

    def run(self):
        mark = re.compile(r"[{};]")
        at, start, statement = 0, 0, ""
        while (match := mark.search(self.code, at)) is not None:
            piece = self.code[at:match.start()]
            if not statement.strip():
                start = at + len(piece) - len(piece.lstrip())
            statement += piece
            at = match.end()
            if match.group() == "{":
                at = self.close(match.start())
                head = ATTRIBUTE.sub(" ", statement).strip()
                if "=" in head or not head.endswith(")"):
                    # A type's body or an initialiser: left out, the statement goes on to its ";".
                    statement += " "
                    continue
                self.function(start, head, match.start(), at)
            elif match.group() == ";":
                check_declaration(self.file, start, statement, False)
            statement = ""

    def function(self, start, head, open_brace, end):
        file = self.file
        name_match = re.search(r"(\w+)\s*\(", head)
        name = name_match.group(1) if name_match else "?"
        first, last = file.line_of(start), file.line_of(end - 1)
        length = last - first + 1
        body = self.code[open_brace:end]
        if length > FUNCTION_REFUSE:
            file.fault(first, name, f"function of {length} lines, at most {FUNCTION_REFUSE}")
        elif length > FUNCTION_WARN:
            file.warn(first, name, f"function of {length} lines, aim below {FUNCTION_WARN}")
        complexity = 1 + len(re.findall(r"\b(?:if|for|while|switch)\b|&&|\|\||\?", body))
        if complexity > COMPLEXITY_REFUSE:
            file.fault(first, name, f"complexity {complexity}, at most {COMPLEXITY_REFUSE}")
        elif complexity > COMPLEXITY_WARN:
            file.warn(first, name, f"complexity {complexity}, aim below {COMPLEXITY_WARN}")
        count = self.parameters(head)
        if count > PARAMETERS:
            file.warn(first, name, f"{count} parameters, aim at {PARAMETERS} or fewer")
        depth = self.nesting(body)
        if depth > NESTING:
            file.warn(first, name, f"blocks nested {depth} deep, aim at {NESTING} or fewer")
        if re.match(r"(json|SSL|curl)_", name) and not head.startswith("static"):
            file.fault(first, name, "this prefix belongs to another library")
        for match in re.finditer(r"(?<=[;{}])\s*(static\b[^;{]*)", body):
            check_declaration(file, open_brace + match.start(1), match.group(1), True)

    @staticmethod
    def parameters(head):
        inner, depth, count = head[head.find("(") + 1:-1], 0, 1
        for char in inner:
            depth += (char == "(") - (char == ")")
            count += char == "," and depth == 0
        return count

    @staticmethod
    def nesting(body):
        """Depth of blocks; the braces of initialisers and compound literals do not count."""
        stack, deepest = [], 0
        for match in re.finditer(r"[{}]", body):
            if match.group() == "}":
                if stack:
                    stack.pop()
                continue
            before = body[:match.start()].rstrip()
            block = before.endswith((";", "{", "}", ":")) or re.search(r"\b(else|do)$", before)
            if before.endswith(")"):
                depth = 0
                for at in range(len(before) - 1, -1, -1):
                    depth += (before[at] == ")") - (before[at] == "(")
                    if depth == 0:
                        block = re.search(r"\b\w+\s*$", before[:at]) and not re.search(
                            r"\b(return|sizeof)\s*$", before[:at])
                        break
            stack.append(bool(block))
            deepest = max(deepest, sum(stack))
        return deepest


def read_allowed(path):
    """(path, name) -> line number of tools/style_allow.txt, and the faults of the list itself."""
    allowed, faults = {}, []
    if not path.exists():
        return allowed, faults
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split(None, 2)
        if len(words) < 3:
            faults.append(f"tools/style_allow.txt:{number}: needs: path name reason")
            continue
        allowed[(words[0], words[1])] = number
    return allowed, faults


def check_file(path):
    file = File(path)
    check_lines(file)
    check_comments(file)
    check_guard(file)
    check_words(file)
    if file.folder == "src":
        Scanner(file).run()
    else:
        # Tests keep their state where cmocka's functions can reach it.
        scanner = Scanner(file)
        scanner.run()
        file.faults = [fault for fault in file.faults if not fault[2].startswith("mutable")]
    return file


def main(arguments):
    verbose = "-v" in arguments
    named = [pathlib.Path(name).resolve() for name in arguments if name != "-v"]
    paths = named or sorted(
        path for folder in FOLDERS for path in (ROOT / folder).rglob("*")
        if path.suffix in (".c", ".h") and "corpus" not in path.parts
        and path.relative_to(ROOT).parts[:2] != ("tests", "data"))
    allowed, messages = read_allowed(ROOT / "tools" / "style_allow.txt")
    used, warnings = set(), 0
    for path in paths:
        file = check_file(path)
        for line, name, message in sorted(set(file.faults)):
            if (file.name, name) in allowed:
                used.add((file.name, name))
            else:
                messages.append(f"{file.name}:{line}: {message} [{name}]")
        warnings += len(file.warnings)
        if verbose:
            for line, name, message in sorted(file.warnings):
                print(f"{file.name}:{line}: warning: {message} [{name}]")
    if not named:
        for key in sorted(set(allowed) - used):
            messages.append(f"tools/style_allow.txt:{allowed[key]}: not needed any more: "
                            f"{key[0]} {key[1]}")
    for message in messages:
        print(message)
    print(f"style: {len(paths)} files, {len(messages)} faults, {warnings} warnings"
          + ("" if verbose or not warnings else " (tools/check_style.py -v shows them)"))
    return 1 if messages or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
