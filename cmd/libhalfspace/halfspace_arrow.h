/* Rows by Arrow's C data interface, from any library that exports record batches by it: pyarrow,
 * polars, DuckDB, nanoarrow, arrow-go, ...
 *
 * A batch is a struct array (format "+s") whose children are the columns: int8 to int64, uint8 to
 * uint64, float32 and float64 ("c", "C", "s", "S", "i", "I", "l", "L", "f", "g") are features, in
 * their order, from 0. The column of the labels is utf8 ("u", "U") or of whole numbers. Nulls,
 * dictionaries and other types are refused, by the column's name. Values are copied once, by rows.
 *
 * Ownership: both structures are handed over. Each one's release callback is called exactly once
 * before the function returns, also where it fails; a structure whose release is NULL, as one that
 * was handed over before, is an error, and nothing is called. The structures themselves stay the
 * caller's memory. */
#ifndef HALFSPACE_ARROW_H
#define HALFSPACE_ARROW_H

#include "halfspace.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
	const char *format;
	const char *name;
	const char *metadata;
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

#ifndef HALFSPACE_NO_FUNCTIONS

/* Learns the rows of a batch in their order, as halfspace_learn does; label names the column of the
 * labels. Returns how many were mistakes before they were learned, -1 where it fails. */
int64_t halfspace_learn_arrow(halfspace_model m, struct ArrowSchema *schema,
	struct ArrowArray *batch, const char *label);

/* Scores the rows of a batch, as halfspace_score does; a column called label, which may be NULL, is
 * left out. */
int32_t halfspace_score_arrow(halfspace_model m, struct ArrowSchema *schema,
	struct ArrowArray *batch, const char *label, double *to, int64_t places);

#endif /* HALFSPACE_NO_FUNCTIONS */

#ifdef __cplusplus
}
#endif

#endif
