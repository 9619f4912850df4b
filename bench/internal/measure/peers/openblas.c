/* The peer of "bench symmetric": y = V x, then V -= a u u', by OpenBLAS on the lower triangle.
 *
 * Arguments: f32 or f64, n, and "mul" for y = V x alone. Each number k on standard input is answered with the nanoseconds of CPU time that k steps took. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COL_MAJOR = 102, LOWER = 122 };
void cblas_dsymv(int, int, int, double, const double *, int, const double *, int, double, double *, int);
void cblas_dsyr(int, int, int, double, const double *, int, double *, int);
void cblas_ssymv(int, int, int, float, const float *, int, const float *, int, float, float *, int);
void cblas_ssyr(int, int, int, float, const float *, int, float *, int);

#define STEPS(T, symv, syr) \
	T *v = aligned_alloc(64, lda * n * sizeof(T)), *x = calloc(n, sizeof(T)), *y = calloc(n, sizeof(T)), a = 1e-6; \
	if (!v || !x || !y) return 1; \
	for (long i = 0; i < lda * n; i++) v[i] = i % (lda + 1) == 0; \
	for (long i = 0; i < n; i++) x[i] = 1. / (1 + i); \
	while (scanf("%ld", &k) == 1) { \
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t0); \
		for (long i = 0; i < k; i++, a = -a) { \
			symv(COL_MAJOR, LOWER, n, 1, v, lda, x, 1, 0, y, 1); \
			if (!mul) syr(COL_MAJOR, LOWER, n, a, x, 1, v, lda); \
		} \
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t1); \
		printf("%lld\n", (t1.tv_sec - t0.tv_sec) * 1000000000LL + t1.tv_nsec - t0.tv_nsec); \
		fflush(stdout); \
	}

int main(int argc, char **argv)
{
	struct timespec t0, t1;
	long k, n = argc >= 3 ? atol(argv[2]) : 0, lda = (n + 15) / 16 * 16;
	int mul = argc == 4 && !strcmp(argv[3], "mul");
	if (n <= 0) return 2;
	if (!strcmp(argv[1], "f32")) {
		STEPS(float, cblas_ssymv, cblas_ssyr)
	} else {
		STEPS(double, cblas_dsymv, cblas_dsyr)
	}
	return 0;
}
