/* A batch by Arrow's C data interface, learned and scored; releases are counted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "halfspace_arrow.h"

static int schemas, arrays;

static void release_schema(struct ArrowSchema *s) {
	schemas++;
	s->release = NULL;
}
static void release_array(struct ArrowArray *a) {
	free(a->private_data); /* a second call would be found by the sanitizer */
	arrays++;
	a->release = NULL;
}

enum { rows = 4 };
static const float x[rows + 2] = {9, 9, 2, 0, 1, 0};
static const int64_t k[rows + 1] = {9, 0, 3, 0, 1};
static const int32_t ends[rows + 2] = {0, 2, 6, 9, 13, 16};
static const char text[] = "??spamhamspamham";
static const void *xs[] = {NULL, x}, *ks[] = {NULL, k}, *ls[] = {NULL, ends, text}, *none[] = {NULL};
static struct ArrowSchema types[3], *type_of[3], schema;
static struct ArrowArray columns[3], *column_of[3], batch;

/* Rows 1 to 4 of the columns; x begins one element later. */
static void make(void) {
	const char *formats[] = {"f", "u", "l"}, *names[] = {"x", "label", "k"};
	const void **buffers[] = {xs, ls, ks};
	for (int i = 0; i < 3; i++) {
		types[i] = (struct ArrowSchema){.format = formats[i], .name = names[i]};
		columns[i] = (struct ArrowArray){.length = rows + 1, .offset = i == 0, .n_buffers = 2 + (i == 1),
			.buffers = buffers[i]};
		type_of[i] = &types[i];
		column_of[i] = &columns[i];
	}
	schema = (struct ArrowSchema){.format = "+s", .n_children = 3, .children = type_of,
		.release = release_schema};
	batch = (struct ArrowArray){.length = rows, .offset = 1, .n_buffers = 1, .buffers = none,
		.n_children = 3, .children = column_of, .release = release_array, .private_data = malloc(1)};
}

#define CHECK(c) \
	if (!(c)) { \
		fprintf(stderr, "line %d: %s: %s\n", __LINE__, #c, halfspace_error()); \
		return 1; \
	}

int main(void) {
	int made = 0;
	halfspace_model m = halfspace_new("{\"learner\": \"pa\", \"positive\": \"spam\"}");
	CHECK(m);
	for (int i = 0; i < 5; i++) {
		make(), made++;
		CHECK(halfspace_learn_arrow(m, &schema, &batch, "label") >= 0);
		CHECK(schemas == made && arrays == made);
	}
	double score[rows];
	make(), made++;
	CHECK(halfspace_score_arrow(m, &schema, &batch, "label", score, rows) == 0);
	CHECK(score[0] > 0 && score[1] < 0 && score[2] > 0 && score[3] < 0);
	/* handed over already */
	CHECK(halfspace_score_arrow(m, &schema, &batch, "label", score, rows) == -1);
	CHECK(strstr(halfspace_error(), "released") && schemas == made && arrays == made);
	CHECK(halfspace_learn_arrow(m, NULL, NULL, "label") == -1);
	/* failures release, too */
	static const unsigned char valid[] = {0x1b};
	for (int i = 0; i < 7; i++) {
		const char *label = "label";
		halfspace_model of = m;
		make(), made++;
		switch (i) {
		case 0: label = "nothing"; break;
		case 1: of = 0; break;
		case 2: types[2].format = "tdD"; break;
		case 3: columns[2].length = rows; break;
		case 4: schema.n_children = 2; break;
		case 5: label = NULL; break;
		case 6: ks[0] = valid, columns[2].null_count = -1; break;
		}
		CHECK(halfspace_learn_arrow(of, &schema, &batch, label) == -1);
		CHECK(schemas == made && arrays == made && *halfspace_error());
	}
	CHECK(strstr(halfspace_error(), "\"k\" has nulls"));
	printf("%d batches\n", made);
	return halfspace_free(m);
}
