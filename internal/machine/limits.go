// Package machine says how much memory there is: of the machine, of control groups and of ulimit,
// and how much the program takes itself.
package machine

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Limiter is what decides how much memory there is.
type Limiter string

const (
	byMachine Limiter = "this machine"
	byGroup   Limiter = "the control group"
	bySpace   Limiter = "ulimit -v"
)

// Grants says that in a sentence that goes on with an amount.
func (l Limiter) Grants() string {
	switch l {
	case byGroup:
		return string(l) + " allows"
	case bySpace:
		return string(l) + " leaves"
	}
	return string(l) + " has"
}

// Limit is memoryLimit of this system.
func Limit() (limit int64, by Limiter) { return memoryLimit("/", addressSpace()) }

// memoryLimit returns how much memory this process may take, in bytes, and what decides that: the
// least of the machine's, its control groups' (those around it included, of both versions), and
// what is left of the address space that ulimit -v grants, 0 for all. It is 0 where the system
// sets no limit that can be read. root is "/", but in tests.
func memoryLimit(root string, space int64) (limit int64, by Limiter) {
	least := func(n int64, l Limiter) {
		if n > 0 && (limit == 0 || n < limit) {
			limit, by = n, l
		}
	}
	least(KiBOf(filepath.Join(root, "proc/meminfo"), "MemTotal:"), byMachine)
	least(cgroupLimit(root), byGroup)
	if space > 0 {
		// Much of the address space is reserved, never used: what is left grows with what is
		// resident.
		status := filepath.Join(root, "proc/self/status")
		least(max(1, space-KiBOf(status, "VmSize:")+KiBOf(status, "VmRSS:")), bySpace)
	}
	return limit, by
}

// cgroupLimit returns the least memory limit of the control groups that this process is in; 0 if
// there is none.
func cgroupLimit(root string) (limit int64) {
	groups, _ := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	mounts, _ := os.ReadFile(filepath.Join(root, "proc/self/mountinfo"))
	least := func(n int64) {
		if n > 0 && (limit == 0 || n < limit) {
			limit = n
		}
	}
	// Lines are number:controllers:path, that of the second version 0::path.
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimRight(line, "\n"), ":", 3)
		if len(parts) < 3 {
			continue
		}
		second := parts[0] == "0" && parts[1] == ""
		if !second && !listed(parts[1], "memory") {
			continue
		}
		top, group := cgroupMount(mounts, parts[2], second)
		if top == "" {
			continue
		}
		top = filepath.Join(root, top)
		file := "memory.limit_in_bytes"
		if second {
			file = "memory.max"
		} else { // knows of groups that can't be seen from within a container, too
			least(numberOf(filepath.Join(top, group, "memory.stat"), "hierarchical_memory_limit"))
		}
		for { // from the group up
			least(numberOf(filepath.Join(top, group, file), ""))
			if group == "." || group == "/" {
				break
			}
			group = filepath.Dir(group)
		}
	}
	return limit
}

// cgroupMount finds where the tree of control groups that has a path is mounted, and where in it
// the path's group is. The lines of mountinfo are: number, parent, device, root of the mount in its
// tree, mount point, options, optional fields, -, type, source, options.
func cgroupMount(mountinfo []byte, path string, second bool) (top, group string) {
	for line := range strings.Lines(string(mountinfo)) {
		before, after, ok := strings.Cut(line, " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 5 || len(right) < 3 {
			continue
		}
		if second && right[0] != "cgroup2" {
			continue
		}
		if !second && (right[0] != "cgroup" || !listed(right[2], "memory")) {
			continue
		}
		inside, at := unescaped(left[3]), unescaped(left[4])
		rel, err := filepath.Rel(inside, path)
		if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
			rel = "." // the path is one outside of the container, whose own group is at the top
		}
		return at, rel
	}
	return "", ""
}

// listed reports whether a list with commas has a word.
func listed(list, word string) bool {
	for w := range strings.SplitSeq(list, ",") {
		if w == word {
			return true
		}
	}
	return false
}

// unescaped undoes the octal escapes (\040) of mountinfo.
func unescaped(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// numberOf returns the number that a file consists of, or that follows a name in it; 0 if it is
// none, or stands for no limit.
func numberOf(file, name string) int64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	if name != "" {
		if _, text, _ = bytes.Cut(text, []byte(name)); text == nil {
			return 0
		}
	}
	fields := bytes.Fields(text)
	if len(fields) == 0 {
		return 0
	}
	n, err := strconv.ParseInt(string(fields[0]), 10, 64)
	if err != nil || n > math.MaxInt64/2 { // max; the first version has the largest number of pages
		return 0
	}
	return n
}
