package format

import "testing"

// TestInKiB: amounts of memory for people, at the ends of each form.
func TestInKiB(t *testing.T) {
	for n, want := range map[int64]string{1023: "1023 bytes", 1024: "1 KiB", 1<<20 - 1: "1023 KiB",
		1 << 20: "1 MiB", 1<<20 + 1024: "1025 KiB",
		10<<20 - 1: "10239 KiB", 10 << 20: "10 MiB", 10<<20 + 1<<19: "10.5 MiB"} {
		if got := InKiB(n); got != want {
			t.Errorf("%d bytes are %q, want %q", n, got, want)
		}
	}
}
