#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The text of each thread, by a key and not _Thread_local: a library that is opened late has few
 * bytes of that. The key frees it where the thread ends. */
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_key(void) { pthread_key_create(&key, free); }

/* Keeps a copy of what went wrong for the calling thread; NULL is nothing. */
void halfspace_keep_error(const char *text) {
	pthread_once(&once, make_key);
	char *before = pthread_getspecific(key);
	if (!before && !text)
		return;
	pthread_setspecific(key, text ? strdup(text) : NULL);
	free(before);
}

const char *halfspace_kept_error(void) {
	pthread_once(&once, make_key);
	const char *text = pthread_getspecific(key);
	return text ? text : "";
}
