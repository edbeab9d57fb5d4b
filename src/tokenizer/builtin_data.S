/* The compact data of data/ *.enc as read-only bytes of the program (VBENC2, made by tools/gen_encodings.py). */
    .section .rodata
    .macro encoding name, file
    .global \name
    .hidden \name
    .balign 16
\name:
    .incbin "\file"
    .global \name\()_end
    .hidden \name\()_end
\name\()_end:
    .byte 0
    .endm

    encoding builtin_cl100k, VB_DATA_CL100K
    encoding builtin_o200k, VB_DATA_O200K
    encoding builtin_p50k, VB_DATA_P50K
    .section .note.GNU-stack,"",@progbits
