/* SPDX-License-Identifier: Apache-2.0 */
/* fields.h — the fields of XSpace's messages, with the numbers of
 * tsl/profiler/protobuf/xplane.proto.
 *
 * A name is VV_, the message's name as one word, and the field's own name: XEvent.metadata_id is
 * VV_XEVENT_METADATA_ID, and XEventMetadata.id is VV_XEVENTMETADATA_ID.
 * tests/live/test_tensorflow.py compares them with TensorFlow's own descriptors. */
#ifndef VV_IMPORT_XSPACE_FIELDS_H
#define VV_IMPORT_XSPACE_FIELDS_H

enum { /* XSpace */
    VV_XSPACE_PLANES = 1,
    VV_XSPACE_ERRORS = 2,
    VV_XSPACE_WARNINGS = 3,
    VV_XSPACE_HOSTNAMES = 4
};

enum { /* XPlane */
    VV_XPLANE_ID = 1,
    VV_XPLANE_NAME = 2,
    VV_XPLANE_LINES = 3,
    VV_XPLANE_EVENT_METADATA = 4,
    VV_XPLANE_STAT_METADATA = 5,
    VV_XPLANE_STATS = 6
};

/* The entries of both maps of a plane have these fields. */
enum { /* XPlane.EventMetadataEntry */
    VV_EVENTMETADATAENTRY_KEY = 1,
    VV_EVENTMETADATAENTRY_VALUE = 2
};

enum { /* XLine */
    VV_XLINE_ID = 1,
    VV_XLINE_NAME = 2,
    VV_XLINE_TIMESTAMP_NS = 3,
    VV_XLINE_EVENTS = 4,
    VV_XLINE_DURATION_PS = 9,
    VV_XLINE_DISPLAY_ID = 10,
    VV_XLINE_DISPLAY_NAME = 11
};

enum { /* XEvent */
    VV_XEVENT_METADATA_ID = 1,
    VV_XEVENT_OFFSET_PS = 2,
    VV_XEVENT_DURATION_PS = 3,
    VV_XEVENT_STATS = 4,
    VV_XEVENT_NUM_OCCURRENCES = 5
};

enum { /* XStat */
    VV_XSTAT_METADATA_ID = 1,
    VV_XSTAT_DOUBLE_VALUE = 2,
    VV_XSTAT_UINT64_VALUE = 3,
    VV_XSTAT_INT64_VALUE = 4,
    VV_XSTAT_STR_VALUE = 5,
    VV_XSTAT_BYTES_VALUE = 6,
    VV_XSTAT_REF_VALUE = 7,
    VV_XSTAT_COMPRESSED_STR_VALUE = 8
};

enum { /* XEventMetadata */
    VV_XEVENTMETADATA_ID = 1,
    VV_XEVENTMETADATA_NAME = 2,
    VV_XEVENTMETADATA_METADATA = 3,
    VV_XEVENTMETADATA_DISPLAY_NAME = 4,
    VV_XEVENTMETADATA_STATS = 5,
    VV_XEVENTMETADATA_CHILD_ID = 6
};

enum { /* XStatMetadata */
    VV_XSTATMETADATA_ID = 1,
    VV_XSTATMETADATA_NAME = 2,
    VV_XSTATMETADATA_DESCRIPTION = 3
};

#endif
