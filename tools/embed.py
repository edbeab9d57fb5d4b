#!/usr/bin/env python3
"""Makes a C file out of a data file: embed.py INPUT OUTPUT HEADER FUNCTION.

The C file defines FUNCTION, declared in HEADER, which returns the bytes as a view."""
import sys


def main():
    source, target, header, function = sys.argv[1:]
    with open(source, "rb") as file:
        data = file.read()
    lines = [", ".join(str(b) for b in data[i:i + 24]) + "," for i in range(0, len(data), 24)]
    with open(target, "w", encoding="ascii") as file:
        file.write(f'/* Made by tools/embed.py. */\n#include "{header}"\n\n')
        file.write("static const unsigned char bytes[] = {\n" + "\n".join(lines) + "\n};\n\n")
        file.write(f"struct sv {function}(void)\n{{\n")
        file.write("    return sv_make((const char *)bytes, sizeof(bytes));\n}\n")


main()
