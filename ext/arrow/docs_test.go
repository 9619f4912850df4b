package arrow

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	arr "github.com/apache/arrow-go/v18/arrow"

	"github.com/halfspace-ml/halfspace/internal/commandtest"
)

// TestDocs runs the commands of docs/arrow.md, and compares what they print. The files that they
// read are made here.
func TestDocs(t *testing.T) {
	dir := t.TempDir()
	people := table(t, fields("age", i64, "job", utf8, "joined",
		&arr.TimestampType{Unit: arr.Microsecond}, "label", utf8),
		`{"age":31,"job":"clerk","joined":"2020-01-01","label":"no"},
		{"age":52,"job":"smith","joined":"2021-01-01","label":"yes"},
		{"age":null,"job":"smith","joined":"2022-01-01","label":"yes"},
		{"age":28,"job":"clerk","joined":"2023-01-01","label":"no"}`)
	rows := strings.Repeat(`{"label":-1,"indices":[1,7],"values":[2,0.5]},
		{"label":1,"indices":[3],"values":[1]},{"label":1,"indices":[2,3],"values":[-1,4]},`, 40)
	sparse := table(t, fields("label", i32, "indices", arr.ListOf(i32), "values",
		arr.ListOf(f32)), strings.TrimSuffix(rows, ","))
	for name, data := range map[string][]byte{"people.parquet": asParquet(t, people),
		"people.arrows": asStream(t, people), "rows.parquet": asParquet(t, sparse),
		"rows.arrow": asFile(t, sparse)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	commandtest.Docs(t, dir, "../../docs/arrow.md", "", "halfspace-arrow", 5, nil)
}
