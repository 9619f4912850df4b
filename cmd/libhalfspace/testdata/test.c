/* What a program in C relies on. It prints what is wrong and returns how much that is. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "halfspace.h"

static int wrong;

#define WANT(what) \
	do { \
		if (!(what)) { \
			wrong++; \
			fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #what, halfspace_error()); \
		} \
	} while (0)

/* refused: the call failed, and its error has the text. */
static int refused(int64_t got, const char *text) {
	return (got == -1 || got == 0) && strstr(halfspace_error(), text) != NULL;
}

enum { N = 200, DIM = 8 };
static float dense[N * DIM];
static double wide[N * DIM];
static int32_t labels[N];

static void fill(void) {
	for (int i = 0; i < N; i++) {
		double sum = 0;
		for (int j = 0; j < DIM; j++) {
			dense[i * DIM + j] = wide[i * DIM + j] = (float)(rand() % 2001 - 1000) / 1000;
			sum += (j + 1) * wide[i * DIM + j];
		}
		labels[i] = sum > 0;
	}
}

static void learns_and_scores(void) {
	halfspace_rows rows = {.n = N, .dim = DIM, .f32 = dense, .labels = labels};
	halfspace_model m = halfspace_new("{\"learner\": \"obpm\", \"seed\": 7}");
	double score[N], again[N], w[DIM], bias;
	WANT(m != 0);
	int64_t first = halfspace_learn(m, &rows, NULL, 0), second = halfspace_learn(m, &rows, NULL, 0);
	WANT(first > 0 && second >= 0 && second < first);
	WANT(halfspace_outputs(m) == 1);
	WANT(halfspace_score(m, &rows, score, N) == 0);
	int right = 0;
	for (int i = 0; i < N; i++)
		right += (score[i] > 0) == labels[i];
	WANT(right > N * 9 / 10);

	/* the same in double, and as sparse rows that leave nothing out */
	halfspace_rows as_wide = {.n = N, .dim = DIM, .f64 = wide};
	WANT(halfspace_score(m, &as_wide, again, N) == 0 && memcmp(score, again, sizeof score) == 0);
	int64_t ptr[N + 1];
	int32_t idx[N * DIM];
	for (int i = 0; i <= N; i++)
		ptr[i] = i * DIM;
	for (int i = 0; i < N * DIM; i++)
		idx[i] = i % DIM;
	halfspace_rows sparse = {.n = N, .dim = DIM, .ptr = ptr, .idx = idx, .f32 = dense};
	WANT(halfspace_score(m, &sparse, again, N) == 0);
	for (int i = 0; i < N; i++)
		WANT(fabs(score[i] - again[i]) < 1e-4);

	WANT(halfspace_weights(m, 0, w, DIM, &bias) == 0 && bias == 0 && w[DIM - 1] > w[0]);
	WANT(refused(halfspace_weights(m, 1, w, DIM, &bias), "output 1 of 1"));
	WANT(halfspace_proba(m, &rows, again, N) == 0);
	for (int i = 0; i < N; i++)
		WANT(again[i] >= 0 && again[i] <= 1);

	char text[4096], names[64];
	WANT(halfspace_describe(m, text, sizeof text) > 0 && strstr(text, "\"learner\":\"obpm\""));
	WANT(strstr(text, "\"threshold\":0,") || strstr(text, "\"threshold\":0}"));
	WANT(halfspace_classes(m, names, sizeof names) == 6 && !strcmp(names, "-1") &&
		!strcmp(names + 3, "+1"));

	/* a snapshot stays as it is, and the bytes make the model again */
	halfspace_model before = halfspace_snapshot(m);
	int64_t size = halfspace_encode(m, NULL, 0);
	void *bytes = malloc(size);
	WANT(halfspace_encode(m, bytes, size) == size);
	halfspace_model copy = halfspace_decode(bytes, size);
	WANT(halfspace_learn(m, &rows, NULL, 0) >= 0);
	WANT(halfspace_score(before, &rows, again, N) == 0 && !memcmp(score, again, sizeof score));
	WANT(halfspace_score(copy, &rows, again, N) == 0 && !memcmp(score, again, sizeof score));
	WANT(halfspace_learn(copy, &rows, NULL, 0) >= 0);
	WANT(halfspace_encode(copy, bytes, size) == size);
	void *others = malloc(size);
	WANT(halfspace_encode(m, others, size) == size && !memcmp(bytes, others, size));
	WANT(refused(halfspace_learn(before, &rows, NULL, 0), "snapshot"));

	WANT(halfspace_save(m, "c.model") == 0);
	halfspace_model loaded = halfspace_load("c.model");
	WANT(loaded != 0 && halfspace_encode(loaded, others, size) == size &&
		!memcmp(bytes, others, size));
	((char *)bytes)[size - 1] ^= 1;
	WANT(refused(halfspace_decode(bytes, size), "damaged"));
	free(bytes);
	free(others);
	WANT(!halfspace_free(m) && !halfspace_free(copy) && !halfspace_free(before) &&
		!halfspace_free(loaded) && !halfspace_free(0));
	WANT(refused(halfspace_score(m, &rows, score, N), "not a model"));
	WANT(refused(halfspace_free(m), "not a model"));
}

static void classes(void) {
	const char *names[] = {"a", "b", "c"};
	int32_t three[N];
	for (int i = 0; i < N; i++)
		three[i] = labels[i] + (dense[i * DIM] > .5);
	halfspace_rows rows = {.n = N, .dim = DIM, .f32 = dense, .labels = three};
	halfspace_model m = halfspace_train("{\"learner\": \"perceptron\", \"epochs\": 3, "
		"\"shuffle\": true, \"classes\": [\"a\", \"b\", \"c\"]}", &rows, names, 3);
	double score[3 * N];
	WANT(m != 0 && halfspace_outputs(m) == 3);
	WANT(halfspace_score(m, &rows, score, 3 * N) == 0);
	WANT(refused(halfspace_score(m, &rows, score, N), "places"));
	WANT(halfspace_learn(m, &rows, names, 3) >= 0);
	WANT(!halfspace_free(m));
}

static void errors(void) {
	float row[] = {1, 2};
	int32_t label[] = {1};
	double proba;
	halfspace_rows rows = {.n = 1, .dim = 2, .f32 = row, .labels = label};
	WANT(refused(halfspace_new("{\"learner\": \"none\"}"), "none"));
	WANT(refused(halfspace_new("{\"learner\": \"obpm\", \"tau\": 1}"), "tau"));
	WANT(refused(halfspace_new("no JSON"), "options"));
	WANT(refused(halfspace_new(NULL), "NULL"));
	WANT(refused(halfspace_load("nowhere"), "nowhere"));
	WANT(refused(halfspace_decode("text", 4), "not a halfspace model"));
	WANT(refused(halfspace_decode(NULL, 4), "NULL"));
	WANT(refused(halfspace_train("{\"learner\": \"svm\"}", &rows, NULL, 2), "NULL"));
	halfspace_model m = halfspace_new("{\"learner\": \"perceptron\"}");
	WANT(refused(halfspace_learn(m, NULL, NULL, 0), "NULL"));
	WANT(refused(halfspace_proba(m, &rows, &proba, 1), "no probabilities"));
	label[0] = 2;
	WANT(refused(halfspace_learn(m, &rows, NULL, 0), "label 2"));
	label[0] = 1, row[1] = NAN;
	WANT(refused(halfspace_learn(m, &rows, NULL, 0), "value 1"));
	rows.n = -1;
	WANT(refused(halfspace_learn(m, &rows, NULL, 0), "-1 rows"));
	rows.n = 1, rows.f32 = NULL;
	WANT(refused(halfspace_learn(m, &rows, NULL, 0), "values"));
	WANT(refused(halfspace_score(12345, &rows, NULL, 0), "not a model"));
	WANT(halfspace_free(m) == 0 && *halfspace_error() == 0);
}

static halfspace_model shared;

static void *asks(void *unused) {
	halfspace_rows rows = {.n = N, .dim = DIM, .f32 = dense, .labels = labels};
	double score[N];
	for (int i = 0; i < 300; i++) {
		if (i % 3 == 0 ? halfspace_learn(shared, &rows, NULL, 0) < 0
			       : halfspace_score(shared, &rows, score, N) != 0)
			wrong++;
	}
	return unused;
}

static void threads(void) {
	pthread_t t[8];
	shared = halfspace_new("{\"learner\": \"pa\"}");
	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, asks, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	WANT(!halfspace_free(shared));
}

static long resident(void) {
	long pages = 0, all;
	FILE *f = fopen("/proc/self/statm", "r");
	if (f && fscanf(f, "%ld %ld", &all, &pages) != 2)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) >> 10);
}

/* Models that were freed take no memory. */
static void frees(long count) {
	long before = 0;
	for (long i = 0; i < count; i++) {
		halfspace_model m = halfspace_new("{\"learner\": \"perceptron\"}");
		if (!m || halfspace_free(m))
			wrong++;
		if (i == count / 10)
			before = resident();
	}
	long grown = resident() - before;
	printf("%ld models made and freed: %ld KiB more at the end than after a tenth\n", count, grown);
	WANT(grown < 16 << 10);
}

int main(int argc, char **argv) {
	WANT(halfspace_abi() == HALFSPACE_ABI);
	fill();
	learns_and_scores();
	classes();
	errors();
	threads();
	frees(argc > 1 ? atol(argv[1]) : 10000);
	return wrong;
}
