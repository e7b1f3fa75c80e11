"""What `zlib` does: the documentation of Python 3.14."""

def adler32(data, value) -> int: ...

crc32 = adler32

def compress(data, level, wbits) -> bytes: ...

decompress = compress
