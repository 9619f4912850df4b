package command

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptForge is forge from to OLD NEW: a copy of a model in whose document NEW stands for OLD,
// with the checksum put right.
func scriptForge(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: forge from to OLD NEW")
	}
	data := []byte(ts.ReadFile(args[0]))
	end := 8 + binary.LittleEndian.Uint64(data)
	quoted := func(text string) string {
		b, err := json.Marshal(text)
		ts.Check(err)
		return strings.Trim(string(b), `"`)
	}
	header := string(data[8:end])
	if strings.Count(header, quoted(args[2])) != 1 {
		ts.Fatalf("%q is there %d times in\n%s", args[2], strings.Count(header, quoted(args[2])),
			header)
	}
	header = strings.Replace(header, quoted(args[2]), quoted(args[3]), 1)
	at := strings.Index(header, `"sha256":"`) + len(`"sha256":"`)
	forged := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	forged = append(append(forged, header...), data[end:]...)
	digits := forged[8+at:][:64]
	copy(digits, bytes.Repeat([]byte{'0'}, 64))
	sum := sha256.Sum256(forged)
	hex.Encode(digits, sum[:])
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), forged, 0o600))
}

// scriptStretch is stretch FILE BYTES: makes the file longer by a hole.
func scriptStretch(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: stretch file bytes")
	}
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), n))
}
