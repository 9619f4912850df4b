/* Learns mail from ham and spam, row by row, and scores one. */
#include <stdio.h>
#include "halfspace.h"

int main(void) {
	const char *names[] = {"ham", "spam"};
	int64_t ptr[] = {0, 2, 3, 5};
	int32_t idx[] = {0, 2, 1, 0, 1}, labels[] = {1, 0, 1};
	float values[] = {1, 2, 1, 1, -1};
	halfspace_rows rows = {.n = 3, .dim = 3, .ptr = ptr, .idx = idx, .f32 = values, .labels = labels};
	halfspace_model m = halfspace_train("{\"learner\": \"pa\", \"bias\": \"append\"}", &rows, names, 2);
	double score[3];
	if (!m || halfspace_score(m, &rows, score, 3) || halfspace_save(m, "mail.model")) {
		fprintf(stderr, "%s\n", halfspace_error());
		return 1;
	}
	printf("%s\n", score[0] > 0 ? "spam" : "ham");
	return halfspace_free(m);
}
