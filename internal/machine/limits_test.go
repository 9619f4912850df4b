package machine

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMemoryLimit makes systems of files and asks for their limits.
func TestMemoryLimit(t *testing.T) {
	t.Parallel()
	const (
		gib  = 1 << 30
		none = "9223372036854771712\n" // the first version's
		v1   = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:15 - cgroup cgroup " +
			"rw,memory\n"
		v2    = "41 31 0:38 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n"
		other = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n34 31 0:31 / /sys/fs/cgroup/cpu rw - " +
			"cgroup cgroup rw,cpu\n"
	)
	machine := map[string]string{"proc/meminfo": "MemTotal:       16777216 kB\nMemFree: " +
		"       1000 kB\n"}
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int64
		of    Limiter
	}{
		{"no control groups", map[string]string{}, 16 * gib, byMachine},
		{"second version", map[string]string{
			"proc/self/cgroup": "0::/user.slice/run.scope\n", "proc/self/mountinfo": other + v2,
			"sys/fs/cgroup/user.slice/run.scope/memory.max": "2147483648\n",
			"sys/fs/cgroup/user.slice/memory.max":           "max\n",
		}, 2 * gib, byGroup},
		{"second version, a group around has less", map[string]string{
			"proc/self/cgroup": "0::/user.slice/run.scope\n", "proc/self/mountinfo": other + v2,
			"sys/fs/cgroup/user.slice/run.scope/memory.max": "2147483648\n",
			"sys/fs/cgroup/user.slice/memory.max":           "1073741824\n",
		}, gib, byGroup},
		{"second version, no limit in any", map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "proc/self/mountinfo": v2,
			"sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "max\n",
		}, 16 * gib, byMachine},
		{"second version, more than the machine has", map[string]string{
			"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": v2,
			"sys/fs/cgroup/a/memory.max": "34359738368\n",
		}, 16 * gib, byMachine},
		{"a container with its own view", map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2,
			"sys/fs/cgroup/memory.max": "536870912\n",
		}, gib / 2, byGroup},
		{"a container that is told a path outside", map[string]string{
			"proc/self/cgroup": "0::/../../elsewhere\n", "proc/self/mountinfo": v2,
			"sys/fs/cgroup/memory.max": "536870912\n",
		}, gib / 2, byGroup},
		{"first version", map[string]string{
			"proc/self/cgroup":    "8:pids:/x\n4:memory:/jobs/one\n0::/\n",
			"proc/self/mountinfo": other + v1,
			"sys/fs/cgroup/memory/jobs/one/memory.limit_in_bytes": none,
			"sys/fs/cgroup/memory/jobs/memory.limit_in_bytes":     "3221225472\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":          none,
		}, 3 * gib, byGroup},
		{"first version, with other controllers, and the limit of a group that can't be seen",
			map[string]string{
				"proc/self/cgroup": "4:hugetlb,memory:/docker/0123\n",
				"proc/self/mountinfo": "35 31 0:32 /docker/0123 /sys/fs/cgroup/hugetlb,memory " +
					"ro - " +
					"cgroup cgroup rw,hugetlb,memory\n",
				"sys/fs/cgroup/hugetlb,memory/memory.limit_in_bytes": none,
				"sys/fs/cgroup/hugetlb,memory/memory.stat": "cache 7\n" +
					"hierarchical_memory_limit 1073741824\nhierarchical_memsw_limit 5\n",
			}, gib, byGroup},
		{"both versions, memory under the first", map[string]string{
			"proc/self/cgroup": "4:memory:/job\n0::/job\n",
			"proc/self/mountinfo": v1 +
				"42 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
			"sys/fs/cgroup/memory/job/memory.limit_in_bytes": "1073741824\n",
		}, gib, byGroup},
		{"a mount point with a blank", map[string]string{
			"proc/self/cgroup":       "0::/a\n",
			"proc/self/mountinfo":    `41 31 0:38 / /my\040groups rw - cgroup2 cgroup2 rw` + "\n",
			"my groups/a/memory.max": "1073741824\n",
		}, gib, byGroup},
		{"nonsense", map[string]string{
			"proc/self/cgroup":         "0::\n\n:\n4:memory\n",
			"proc/self/mountinfo":      "- -\n1 2 - cgroup2\n" + v2,
			"sys/fs/cgroup/memory.max": "many\n",
		}, 16 * gib, byMachine},
	} {
		root := t.TempDir()
		for _, files := range []map[string]string{machine, c.files} {
			for name, text := range files {
				file := filepath.Join(root, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got, of := memoryLimit(root, 0); got != c.want || of != c.of {
			t.Errorf("%s: %d of %s, want %d of %s", c.name, got, of, c.want, c.of)
		}
	}
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "proc/self"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "proc/self/status"),
		[]byte("VmSize:\t 1048576 kB\nVmRSS:\t 524288 kB\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for space, want := range map[int64]int64{2 * gib: 3 * gib / 2, gib / 4: 1} {
		if got, of := memoryLimit(root, space); got != want || of != bySpace {
			t.Errorf("%d bytes of address space: %d of %s, want %d", space, got, of, want)
		}
	}
	if got, of := memoryLimit(t.TempDir(), 0); got != 0 || of != "" {
		t.Errorf("a system that tells nothing: %d of %q", got, of)
	}
}
