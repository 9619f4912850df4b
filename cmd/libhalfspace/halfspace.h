/* halfspace: linear and kernel classifiers with a large margin, learned one example after another.
 *
 * A library of 64-bit systems. Build it by
 *
 *     go build -buildmode=c-shared -o libhalfspace.so .
 *
 * All memory handed in stays the caller's: it is read during the call, and kept by none. All that
 * is handed out is copied into the caller's memory. A function that fails returns 0 where it returns
 * a model and -1 else, and halfspace_error() says why; no call ends the process.
 *
 * Threads: any number may use a model at once; learning and saving wait until they have it for
 * themselves. To score while a model learns, score with a snapshot of it. The library starts threads
 * of its own: a process that forks must load it after the fork.
 *
 * halfspace_arrow.h has rows by Arrow's C data interface.
 */
#ifndef HALFSPACE_H
#define HALFSPACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The number of this interface. It rises where a program of an older header would go wrong. */
#define HALFSPACE_ABI 1

/* A model, or a snapshot of one. 0 is none. */
typedef uint64_t halfspace_model;

/* Examples, a row each: sparse by rows (CSR) with ptr, else dense. Features count from 0, values are
 * finite; of a sparse row the indices ascend. Set what isn't needed to 0. */
typedef struct halfspace_rows {
	int64_t n;             /* rows */
	int64_t dim;           /* features: indices are below */
	const int64_t *ptr;    /* n+1 offsets into idx and the values; NULL: dense */
	const int32_t *idx;    /* indices */
	int64_t stride;        /* dense: values from one row to the next; 0: dim */
	const float *f32;      /* the values, one of the two */
	const double *f64;
	const int32_t *labels; /* to learn: each row's label, a number of a name, from 0 */
	const double *weights; /* one a row, 0 or more; NULL: all are 1 */
} halfspace_rows;

#ifndef HALFSPACE_NO_FUNCTIONS

/* HALFSPACE_ABI as the library has it. */
int32_t halfspace_abi(void);

/* Why the last call of this thread failed, "" if none did: good until its next call. */
const char *halfspace_error(void);

/* A model that has learned nothing. options is a JSON object:
 *
 *     {"learner": "obpm", "config": {"members": 50, "tau": 0.3}, "classes": ["ham", "spam"],
 *      "precision": "f32", "seed": 1, "bias": "append", "normalize": "unit",
 *      "scale": "std"}
 *
 * of which only the learner must be there; `halfspace train --help` says what there is. The labels
 * are "-1" and "+1", or "positive" and all others, or "classes". */
halfspace_model halfspace_new(const char *options);

/* A model that is trained as `halfspace train` does it: with "epochs", "shuffle", "until_converged",
 * "calibrate", "threads", ... of the options, too. names are those of the labels. The model is that
 * of a file with the same numbers, to the byte. */
halfspace_model halfspace_train(const char *options, const halfspace_rows *rows,
	const char *const *names, int32_t n_names);

/* halfspace_train that another thread can stop: it fails within about 0.1 s after *stop becomes other
 * than 0. */
halfspace_model halfspace_train_until(const char *options, const halfspace_rows *rows,
	const char *const *names, int32_t n_names, const int32_t *stop);

/* Learns the rows in their order; returns how many were mistakes before they were learned. names
 * NULL: labels are numbers of halfspace_classes. All rows are checked before the first is learned:
 * if it fails, none was. */
int64_t halfspace_learn(halfspace_model m, const halfspace_rows *rows, const char *const *names,
	int32_t n_names);

/* How many scores a row has: 1 of two labels (from the threshold of halfspace_describe on, 0 as a
 * rule, it is the second one), else one a class. */
int32_t halfspace_outputs(halfspace_model m);

/* The names of the classes, each with a 0 behind it, in the order of scores; of two labels the
 * negative one, then the positive one. It returns how many bytes they take, and writes no more than
 * size. */
int64_t halfspace_classes(halfspace_model m, char *to, int64_t size);

/* What there is to say of the model, as JSON, in the same way: learner, config, features (so far),
 * presented, threshold (a score of two labels), and whether it has proba and weights and is a
 * snapshot. A model also has options, those of halfspace_new without labels; names of the features,
 * in their order, null for none; calibrated, whether training fitted its probabilities. One that was
 * trained here has examples, errors (of the first pass, before an example was learned), converged,
 * and warnings. */
int64_t halfspace_describe(halfspace_model m, char *to, int64_t size);

/* Scores and probabilities of rows: places is at least n times the outputs. */
int32_t halfspace_score(halfspace_model m, const halfspace_rows *rows, double *to, int64_t places);
int32_t halfspace_proba(halfspace_model m, const halfspace_rows *rows, double *to, int64_t places);

/* The label of each row, as halfspace predict has it: its number in halfspace_classes, -1 where a
 * score is not a number. places is at least n. */
int32_t halfspace_predict(halfspace_model m, const halfspace_rows *rows, int32_t *to,
	int64_t places);

/* Of rows by the names of their columns, texts and missing values included: a JSON object each, one
 * behind another, as {"age": 31, "job": "clerk", "city": null}. what: HALFSPACE_SCORES and
 * HALFSPACE_PROBABILITIES, the outputs of each row, or HALFSPACE_LABELS, the number of its label,
 * as above. It returns the number of rows; where they need more places than there are, none is
 * written. */
#define HALFSPACE_SCORES 0
#define HALFSPACE_PROBABILITIES 1
#define HALFSPACE_LABELS 2
int64_t halfspace_ask_json(halfspace_model m, const char *rows, int32_t what, double *to,
	int64_t places);

/* What brings features to the learner's scale: (x - shift) factor, dim of each; places beyond the
 * model's features are 0 and 1. With "normalize": "unit" rows are divided by their length then. */
int32_t halfspace_scales(halfspace_model m, double *shift, double *factor, int64_t dim);

/* The weights of an output, dim of them, and what is added to their sum; places beyond the model's
 * features are 0. They belong to scaled features. It fails for models that have none: kernels,
 * votes. */
int32_t halfspace_weights(halfspace_model m, int32_t output, double *to, int64_t dim, double *bias);

/* What the model knows now, for scores only; learning on changes it no more. */
halfspace_model halfspace_snapshot(halfspace_model m);

/* The bytes of the model file: how many there are; they are written if size is enough. */
int64_t halfspace_encode(halfspace_model m, void *to, int64_t size);
halfspace_model halfspace_decode(const void *data, int64_t size);

/* A text that halfspace_save and halfspace_encode put into the model file, for the program's own
 * use; halfspace_note returns its length with the 0 behind it, and writes no more than size. */
int32_t halfspace_set_note(halfspace_model m, const char *note);
int64_t halfspace_note(halfspace_model m, char *to, int64_t size);

/* The model file, which `halfspace` reads and writes. It appears whole or not at all. */
int32_t halfspace_save(halfspace_model m, const char *path);
halfspace_model halfspace_load(const char *path);

/* Frees the model; 0 is nothing to free. It must not be used any more. */
int32_t halfspace_free(halfspace_model m);

#endif /* HALFSPACE_NO_FUNCTIONS */

#ifdef __cplusplus
}
#endif

#endif
