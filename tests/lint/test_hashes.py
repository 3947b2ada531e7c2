# SPDX-License-Identifier: Apache-2.0
"""Hash tables over what a file says use base/hash.h, whose key each process draws: keys cannot be
chosen to fall in one place."""
import re

import sources

MIXERS = re.compile(
    r"0x(?:9e3779b97f4a7c15|bf58476d1ce4e5b9|94d049bb133111eb|ff51afd7ed558ccd|c4ceb9fe1a85ec53|100000001b3|c2b2ae3d27d4eb4f)",
    re.IGNORECASE)
# A constant multiplier there, and why no chain grows by it.
ALLOWED = {
    "src/base/hash.c": "where the system gives no random numbers",
    "src/import/rows/list_cache.c": "one place for each hash, the last comer stays",
    "src/import/chrome/text.h": "four places for each hash, then one of them is taken",
    "src/cache/cache.c": "a checksum",
    "src/import/chrome/flows.c": "a number for an id that is a text; sorted, not looked up",
    "src/import/perfetto/legacy.c": "a number for a track; looked up in a key_map",
    "src/import/perfetto/track.c": "a number for a track; looked up in a key_map",
    "src/import/xspace/flow.c": "buckets are sorted",
    "src/ctf/pack/block.c": "contexts of the packed form, which a reader must compute alike",
    "src/model/steps/anchors.c":
        "a set of 64 bits, which is no table and must be the same each time",
    "src/analyse/diff/interval.c": "random numbers that must be the same each time",
}
READERS = ("src/base/", "src/settings/", "src/sheet/", "src/ctf/", "src/import/", "src/cache/",
           "src/model/", "src/numbers/", "src/meaning/", "src/derive/", "src/analyse/",
           "src/validate/")


def test_no_table_of_a_reader_has_a_hash_that_everybody_knows():
    found = {str(path.relative_to(sources.ROOT)) for path in sources.tracked()
             if MIXERS.search(sources.text_of(path) or "")}
    found = {name for name in found if name.startswith(READERS)}
    assert found == set(ALLOWED)
