/* The operations that programs are compiled to. */
#ifndef EMBERSCOPE_OPS_H
#define EMBERSCOPE_OPS_H

/* Those of compressed integers come first: an array of nothing else takes the short way. */
enum {
    KEEP_VARINT64,
    KEEP_VARINT32,
    KEEP_VARINT16,
    SKIP_VARINTS,
    KEEP_BYTE,
    KEEP_FIXED16,
    KEEP_FIXED32,
    KEEP_FIXED64,
    SKIP_BYTES,
    KEEP_STRING,
    SKIP_STRING,
    EACH,
};

#endif
