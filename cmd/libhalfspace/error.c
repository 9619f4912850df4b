#include <string.h>

static _Thread_local char said[2048];

/* Keeps what went wrong for the calling thread; NULL is nothing. */
void halfspace_keep_error(const char *text) {
	said[0] = 0;
	if (text)
		strncat(said, text, sizeof said - 1);
}

const char *halfspace_kept_error(void) { return said; }
