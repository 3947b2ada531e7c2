# SPDX-License-Identifier: Apache-2.0
"""packed_stream.py: packed stream files, written and read straight from doc/format.md §10.

It shares nothing with `varve pack` but zstd itself. decode(data) is the plain file; build(…) makes
a packed file from columns, right ones or wrong ones, in the layout of either magic; column_bytes(…)
makes a column of numbers.
"""
import ctypes
import struct

BLOCK_BYTES = 4 << 20
COLUMNS = ["runs", "raw", "ids", "ticks", "fields", "lengths", "addresses"]
MAGICS = {1: b"VARVEPK1", 2: b"VARVEPK2"}
COLUMNS_OF = {1: COLUMNS[:5], 2: COLUMNS}
RECENT = 256
ZERO, RAW, WORDS = 0, 1, 2
MIX, MASK44, MASK64 = 0x9E3779B97F4A7C15, (1 << 44) - 1, (1 << 64) - 1
WORDS_AFTER = {2: 1, 3: 4, 4: 2, 5: 1, 6: 1, 7: 1, 8: 5, 9: 1, 11: 3, 12: 2, 13: 1, 14: 3, 15: 2,
               16: 1}
# the word whose low half says how many members follow, each with its own count
LISTED = {8: 4, 14: 2}


def library():
    """libzstd; OSError where it is not there."""
    zstd = ctypes.CDLL("libzstd.so.1")
    for name, kinds in (("ZSTD_compressBound", "n"), ("ZSTD_compress2", "ppnpn"),
                        ("ZSTD_decompress", "pnpn"), ("ZSTD_getFrameContentSize", "pn"),
                        ("ZSTD_isError", "n"), ("ZSTD_createCCtx", ""), ("ZSTD_freeCCtx", "p"),
                        ("ZSTD_CCtx_setParameter", "pii")):
        function = getattr(zstd, name)
        function.argtypes = [{"n": ctypes.c_size_t, "p": ctypes.c_void_p, "i": ctypes.c_int}[kind]
                             for kind in kinds]
        function.restype = ctypes.c_void_p if name == "ZSTD_createCCtx" else ctypes.c_size_t
    return zstd


def compress(data, checksum=True):
    zstd = library()
    context = zstd.ZSTD_createCCtx()
    zstd.ZSTD_CCtx_setParameter(context, 201, int(checksum))
    room = zstd.ZSTD_compressBound(len(data))
    out = ctypes.create_string_buffer(room)
    got = zstd.ZSTD_compress2(context, out, room, bytes(data), len(data))
    zstd.ZSTD_freeCCtx(context)
    return out.raw[:got]


def decompress(frame):
    zstd = library()
    size = zstd.ZSTD_getFrameContentSize(frame, len(frame))
    assert size < 1 << 32 and frame[4] & 4, "a frame has content size and checksum"
    out = ctypes.create_string_buffer(size + 1)
    got = zstd.ZSTD_decompress(out, size, frame, len(frame))
    assert not zstd.ZSTD_isError(got) and got == size
    return out.raw[:size]


# ---- numbers
# ----------------------------------------------------------------------------------------

def column_bytes(numbers):
    out = bytearray()
    for number in numbers:
        while number > 0x7F:
            out.append(number & 0x7F | 0x80)
            number >>= 7
        out.append(number)
    return bytes(out)


def numbers_of(column):
    number = shift = 0
    for byte in column:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield number & MASK64
            number = shift = 0
    assert shift == 0, "the last number ends"


def unfold(number):
    return number >> 1 if number % 2 == 0 else -(number + 1 >> 1)


# ---- reading
# ----------------------------------------------------------------------------------------

class Words:
    """The words of one block's records, from its columns; of the first layout."""

    def __init__(self, columns):
        self.ids, self.ticks = list(numbers_of(columns["ids"])), columns["ticks"]
        self.fields = numbers_of(columns["fields"])
        self.previous = self.second = self.at = 0
        self.former, self.heads = {}, []  # heads: [word, context]

    def records(self, count):
        """The next `count` words, clocks left out; a first word is an item of self.heads."""
        out = []
        while len(out) < count:
            class_id = self.ids[self.at]
            self.at += 1
            context = ((self.previous << 20 | class_id) * MIX
                       & MASK64) >> 58 << 6 | (self.second * MIX & MASK64) >> 58
            self.previous = class_id
            self.heads.append([class_id, context])
            out.append(self.heads[-1])
            self.payload(class_id, out, count)
        return out

    def field(self, class_id, j):
        word = ((self.former.get((class_id % 256, j), 0) if j < 8 else 0)
                + unfold(next(self.fields))) & MASK64
        return self.keep(class_id, j, word)

    def keep(self, class_id, j, word):
        self.former[class_id % 256, j] = word
        if j == 1:
            self.second = word
        return word

    def payload(self, class_id, out, count):
        wanted = WORDS_AFTER.get(class_id, 0) if class_id < 64 else int(class_id % 8 >= 3)
        j = members = 0
        while j < wanted and len(out) < count:
            word = self.field(class_id, j)
            out.append(word)
            if class_id == 2 and j == 0:
                wanted += ((word >> 32) + 7) // 8
            elif j == LISTED.get(class_id):
                members = word % (1 << 32)
                wanted += members > 0
            elif members and j + 1 == wanted:
                members -= 1
                wanted += (word >> 32) + (members > 0)
            j += 1

    def is_used_up(self):
        return self.at == len(self.ids) and next(self.fields, None) is None

    def set_clocks(self):
        count = len(self.heads)
        assert len(self.ticks) == 6 * count and self.is_used_up()
        order = sorted(range(count), key=lambda i: self.heads[i][1])  # stable
        stored = [0] * count
        for place, i in enumerate(order):
            stored[i] = sum(self.ticks[plane * count + place] << 8 * plane for plane in range(6))
        clock, least = 0, {}
        for head, number in zip(self.heads, stored):
            context = head[1]
            advance = (least.get(context, 0) + unfold(number)) & MASK44
            if not least.get(context) or advance < least[context]:
                least[context] = advance
            clock = (clock + advance) & MASK44
            head[0] |= clock << 20


class WordsWithLengths(Words):
    """The same of the second layout."""

    def __init__(self, columns):
        super().__init__(columns)
        self.lengths, self.addresses = (numbers_of(columns[name]) for name in COLUMNS[5:])
        self.recent = []

    def address(self):
        number = next(self.addresses)
        if number > 0:
            word = self.recent.pop(number - 1)
        else:
            word = ((self.recent or [0])[0] + unfold(next(self.addresses))) & MASK64
        self.recent.insert(0, word)
        del self.recent[RECENT:]
        return word

    def payload(self, class_id, out, count):
        length = next(self.lengths)
        assert length <= count - len(out)
        # the word that is an address, and the first word of the next tensor
        at = {11: 0, 12: 0, 50: 1}.get(class_id)
        tensor, identity = {38: (5, 2), 51: (1, 1)}.get(class_id, (None, 0))
        for j in range(length):
            word = self.keep(class_id, j, self.address()) if j == at else self.field(class_id, j)
            out.append(word)
            if j == tensor:
                at = j + identity
                tensor = at + 1 + (word >> 32)
            elif class_id == 50 and j == at:
                at += 1

    def is_used_up(self):
        return (super().is_used_up() and next(self.lengths, None) is None
                and next(self.addresses, None) is None)


def decode_block(columns, size):
    raw, at, parts = columns["raw"], 0, []
    words = (WordsWithLengths if "lengths" in columns else Words)(columns)
    for number in numbers_of(columns["runs"]):
        length, kind = number >> 2, number & 3
        if kind == RAW:
            parts.append(raw[at:at + length])
            at += length
        else:
            parts.append(words.records(length // 8) if kind == WORDS else bytes(length))
    assert at == len(raw)
    words.set_clocks()
    plain = b"".join(part if isinstance(part, bytes) else
                     b"".join(struct.pack("<Q", word[0] if isinstance(word, list) else word)
                              for word in part)
                     for part in parts)
    assert len(plain) == size
    return plain


def blocks(data):
    """[(plain bytes, {column: frame})] of a packed file."""
    magic, size = struct.unpack_from("<8sQ", data)
    names = next(COLUMNS_OF[layout] for layout, known in MAGICS.items() if known == magic)
    at, found = 16, []
    for begin in range(0, size, BLOCK_BYTES):
        sizes = struct.unpack_from(f"<{len(names)}I", data, at)
        at += 4 * len(names)
        frames = {}
        for name, length in zip(names, sizes):
            frames[name] = data[at:at + length]
            at += length
        found.append((min(BLOCK_BYTES, size - begin), frames))
    assert at == len(data)
    return found


def decode(data):
    return b"".join(decode_block({name: decompress(frame) if frame else b""
                                  for name, frame in frames.items()}, size)
                    for size, frames in blocks(data))


# ---- writing
# ----------------------------------------------------------------------------------------

def build(plain_size, *all_columns, layout=2):
    """A packed file of blocks, each a dict of columns; a column that is missing is empty."""
    out = struct.pack("<8sQ", MAGICS[layout], plain_size)
    for columns in all_columns:
        frames = [compress(columns[name]) if columns.get(name) else b""
                  for name in COLUMNS_OF[layout]]
        out += struct.pack(f"<{len(frames)}I", *map(len, frames)) + b"".join(frames)
    return out
