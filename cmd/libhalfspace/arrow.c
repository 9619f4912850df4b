#define HALFSPACE_NO_FUNCTIONS
#include "halfspace_arrow.h"

/* Go can't call what a pointer points to. A producer sets release to NULL itself; one that doesn't
 * is called no second time either. */
void halfspace_release_schema(struct ArrowSchema *s) {
	if (s && s->release) {
		s->release(s);
		s->release = 0;
	}
}

void halfspace_release_array(struct ArrowArray *a) {
	if (a && a->release) {
		a->release(a);
		a->release = 0;
	}
}
