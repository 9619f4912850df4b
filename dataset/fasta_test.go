package dataset

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
)

// trimers is the plain form of the features of a sequence.
func trimers(sequence string) (idx []int32) {
	from := (len(sequence) - 51) / 2
	code := func(i int) int {
		at := strings.IndexByte("ACGT", strings.ReplaceAll(strings.ToUpper(sequence), "U",
			"T")[from+i])
		if at < 0 {
			return 4
		}
		return at
	}
	for i := range 49 {
		idx = append(idx, int32(i*125+code(i)*25+code(i+1)*5+code(i+2)))
	}
	return idx
}

func TestFastaBad(t *testing.T) {
	a, b := strings.Repeat("A", 60), strings.Repeat("C", 60)
	good := "> label=1\n" + a + "\n> label=-1\n" + b + "\n"
	// Bad rows are skipped where that is allowed; a label that only they have does not count.
	text := "what?\n" + good + "> label=1\n" + a[:9] + "\n> label=3\n" + a + "-\n" + good
	d, err := LoadReader[float32](context.Background(), "in", strings.NewReader(text),
		Options{Format: "fasta", OnError: "skip"})
	if err != nil || d.Info.Rows != 4 || d.Info.BadRows != 3 {
		t.Errorf("%+v, %v", d, err)
	}
	// Data to be predicted need no labels.
	d, err = LoadReader[float32](context.Background(), "in",
		strings.NewReader(">\n"+a+"\n>label=-1\n"+b), Options{Labels: &LabelMap{"-1", "1"},
			LabelsOptional: true})
	if err != nil || d.Info.Rows != 2 || d.Info.Unlabelled != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	// A second file of other lengths, and one of another format.
	dir := t.TempDir()
	for name, text := range map[string]string{"/long": "> label=1\n" + a + "A\n", "/csv": "1,2\n"} {
		if err := os.WriteFile(dir+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load[float32](context.Background(), []string{"testdata/sites.fasta", dir +
			name}, Options{}); !errors.Is(err, ErrBadRow) && !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Packed data that end too early: the place is that of the last letter.
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(strings.Repeat(good, headSize/len(good)+1) + "> label=1\n" + a[:20]))
	if err := z.Flush(); err != nil { // and not closed
		t.Fatal(err)
	}
	lines := 4 * (headSize/len(good) + 1)
	_, err = LoadReader[float32](context.Background(), "in", &packed, Options{})
	if say := fmt.Sprintf("in:%d:21: the gzip data are truncated", lines+2); !errors.Is(err,
		ErrTruncated) || !strings.Contains(err.Error(), say) {
		t.Errorf("%v, want %q", err, say)
	}
}

// TestFastaTruncated cuts packed data (one pair of records 3000 times) everywhere: rows that were
// read are whole ones, and then the end is an error, also where bad rows are skipped.
func TestFastaTruncated(t *testing.T) {
	const whole = 6000
	packed, err := base64.StdEncoding.DecodeString(
		"QlpoMTFBWSZTWb6Fx8QAV+PdAAAQQAIgQygAMgQwALMiAaABNVQ00DQKVJpoAxVCFiqELNUIWaoQs1CF" +
			"1UIXdQhaqhB0FSpkSKGBUqZEihgVKmQqVPAqVPQqhaqhC1VCF+LuSKcKEhfQuPiA")
	if err != nil {
		t.Fatal(err)
	}
	read := func(packed []byte) (rows int, err error) {
		s, err := OpenReader[float32](context.Background(), "in", bytes.NewReader(packed),
			Options{OnError: "skip", chunk: 1000, Workers: 2})
		if err != nil {
			return 0, err
		}
		defer s.Close()
		for {
			b, err := s.Next()
			if err == io.EOF {
				return rows, nil
			}
			if err != nil {
				return rows, err
			}
			for i, y := range b.Y {
				want, code := float32(1), int32(0)
				if (rows+i)%2 != 0 {
					want, code = -1, 31
				}
				if idx, _ := b.Sparse(i); y != want || idx[0] != code || len(idx) != 49 {
					t.Fatalf("row %d: %v, %v", rows+i, y, idx)
				}
			}
			rows += b.Len()
		}
	}
	if rows, err := read(packed); err != nil || rows != whole {
		t.Fatalf("%d rows, %v", rows, err)
	}
	most := 0
	for n := 10; n < len(packed); n++ { // less than its first marks is no bzip2
		rows, err := read(packed[:n])
		if !errors.Is(err, ErrTruncated) {
			t.Errorf("%d of %d bytes: %v, want ErrTruncated", n, len(packed), err)
		}
		most = max(most, rows)
	}
	if most <= whole/2 || most > whole {
		t.Errorf("at most %d rows of a cut file", most)
	}
}

// labelled finds a label in a header.
var labelled = regexp.MustCompile(`[> \t,]label=([^, \t]*)`)

// refFasta parses in the plainest way: the good records of data whose first sequence has so many
// letters.
func refFasta(text string, letters int) (b engine.Block[float64]) {
	b.Ptr = []int{0}
	var header, sequence string
	open := false
	done := func() {
		label := ""
		if m := labelled.FindStringSubmatch(header); m != nil {
			label = m[1]
		}
		known := strings.Trim(strings.ToUpper(sequence), "ACGTURYSWKMBDHVN") == ""
		if open && len(label) > 0 && len(sequence) == letters && known {
			y := -1.0
			if format.MakeLabel(label).Equal(format.MakeLabel("1")) {
				y = 1
			}
			idx := trimers(sequence)
			b.Y, b.Idx = append(b.Y, y), append(b.Idx, idx...)
			for range idx {
				b.Val = append(b.Val, 1)
			}
			b.Ptr = append(b.Ptr, len(b.Idx))
		}
	}
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, " \t\r")
		if strings.HasPrefix(line, ">") {
			done()
			header, sequence, open = line, "", true
		} else {
			sequence += line
		}
	}
	done()
	return b
}

// FuzzFasta compares with refFasta, for any cut of the text.
func FuzzFasta(f *testing.F) {
	small, err := os.ReadFile("testdata/sites.fasta")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(small, 3)
	f.Add([]byte("x\n>label=1\n"+strings.Repeat("ACGTN", 11)+"\n\n>label=-1 ,\n"+strings.Repeat(
		"acgu ", 11)+"\n>"), 40)
	f.Add([]byte("> label=00\n"+strings.Repeat("A", 30)+"X"+strings.Repeat("A", 20)+"\n"), 91)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		if bytes.HasPrefix(text, gzipMagic) || bytes.HasPrefix(text, zstdMagic) ||
			bytes.HasPrefix(text, []byte("BZh")) || bytes.HasPrefix(text, []byte("\ufeff")) {
			return
		}
		head := format.Head{Text: text, Whole: true, Ended: true}
		lay, lengthErr := format.Fasta.Layout(&head, &format.Options{}, nil)
		letters := 0
		if lengthErr == nil {
			letters = lay.Own.(int)
		}
		o := Options{Format: "fasta", OnError: "skip", Positive: "1", Workers: 2, chunk: size&63 +
			1}
		s, err := OpenReader[float64](context.Background(), "in", bytes.NewReader(text), o)
		if (err != nil) && lengthErr == nil && !errors.Is(err, ErrEmpty) {
			t.Fatal(err)
		}
		if err != nil {
			return
		}
		rows, err := drain(s)
		want := refFasta(string(text), letters)
		if errors.Is(err, ErrEmpty) && want.Len() == 0 {
			return
		}
		if got := dump(&want); got != rows || err != nil && !errors.Is(err, ErrLabels) {
			t.Errorf("%q\ngot  %s (%v)\nwant %s", text, rows, err, got)
		}
	})
}
