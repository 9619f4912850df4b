package training_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/halfspace-ml/halfspace/learners"
	"github.com/halfspace-ml/halfspace/training"
)

// ring is a file of examples in a folder of its own, which done removes.
func ring() (file string, done func()) {
	dir, err := os.MkdirTemp("", "training")
	if err != nil {
		log.Fatal(err)
	}
	var text strings.Builder
	for i := range 400 {
		x, y := float64(i*37%101-50)/50, float64(i*53%89-44)/44
		fmt.Fprintf(&text, "%+d 1:%g 2:%g\n", map[bool]int{true: 1, false: -1}[x+y > 0.1], x, y)
	}
	file = filepath.Join(dir, "ring.svm")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		log.Fatal(err)
	}
	return file, func() { os.RemoveAll(dir) }
}

// One call reads, learns, saves and measures.
func ExampleRun() {
	file, done := ring()
	defer done()
	res, err := training.Run(context.Background(), training.Options{
		Learner: "pa", Config: &learners.PAConfig{C: 1, Variant: 1},
		Files: []string{file}, Test: []string{file}, Data: training.Data{Bias: "append"},
		Epochs: 3, Shuffle: true, Model: filepath.Join(filepath.Dir(file), "a.model"),
	}, training.Env{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Counts.Presented, res.Test.Count.Error() < 0.1, filepath.Base(res.Saved.Path))
	// Output:
	// 1200 true a.model
}

// An error names the fields as its reader knows them.
func ExampleError() {
	o := training.Options{Learner: "pa", Files: []string{"a.svm"}, MaxUpdates: new(int64(10))}
	e := (*training.Error)(nil)
	if errors.As(o.Validate(), &e) {
		flag := func(field string) string { return "--" + strings.ReplaceAll(field, "_", "-") }
		fmt.Println(e.Text(flag))
		fmt.Println(e.Next(flag))
	}
	// Output:
	// --max-updates without --until-converged
	// It limits --until-converged.
}

// The records of a run, by a handler of the program's own.
func ExampleEnv_logger() {
	file, done := ring()
	defer done()
	level := func(_ []string, a slog.Attr) slog.Attr { // without what differs from run to run
		if a.Key == slog.LevelKey || a.Key == slog.MessageKey || a.Key == "examples" {
			return a
		}
		return slog.Attr{}
	}
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: level}))
	if _, err := training.Run(context.Background(), training.Options{Learner: "pa",
		Files: []string{file}}, training.Env{Logger: log}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// level=INFO msg=planned examples=0
	// level=INFO msg=learned examples=400
	// level=INFO msg="data read"
}

// teller is an Observer of two of the things that happen.
type teller struct{ training.Silent }

func (teller) Planned(p *training.Plan) { fmt.Println(p.Learner, "in", p.Way) }
func (teller) Saved(s training.Saved) {
	fmt.Println(filepath.Base(s.Path), "after", s.Presented)
}
func (teller) Warn(w training.Warning) { fmt.Println(w.Code) }
func (teller) Needs(n training.Need)   { fmt.Println(n.Learner, n.Held>>20, "MiB for", n.What) }

// An observer follows a run; the events that it leaves out are those of Silent, which ignores them.
func ExampleObserver() {
	file, done := ring()
	defer done()
	var o training.Observer = teller{training.Silent{}}
	res, err := training.Run(context.Background(), training.Options{Learner: "pa",
		Files: []string{file}, Model: filepath.Join(filepath.Dir(file), "a.model"),
		CheckpointEvery: "300"}, training.Env{Observer: o})
	if err != nil {
		log.Fatal(err)
	}
	var last training.Saved = *res.Saved
	fmt.Println(last.Presented)
	// Output:
	// pa in stream
	// a.model after 300
	// a.model after 400
	// 400
}

// A source that is no file says where it stands, and is opened there when the run goes on. The run
// that is gone on with here was stopped by a bad row, behind a checkpoint.
func ExampleSource() {
	dir, err := os.MkdirTemp("", "training")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	log := "+1 1:3\n-1 1:-2\n+1 1:4 2:1\nno row\n-1 2:-1\n"
	env := training.Env{Open: func(_ context.Context, at string) (training.Source, error) {
		from := 0
		fmt.Sscan(at, &from)
		fmt.Printf("opened at byte %d\n", from)
		return training.Source{Reader: strings.NewReader(log[from:]),
			Place: func(n int64) string { return fmt.Sprint(int64(from) + n) }}, nil
	}}
	o := training.Options{Learner: "pa", Files: []string{"log"}, CheckpointEvery: "2",
		Model: filepath.Join(dir, "m")}
	_, err = training.Run(context.Background(), o, env)
	fmt.Println(err != nil)
	log = strings.Replace(log, "no row\n", "", 1)
	res, err := training.Run(context.Background(), training.Options{Resume: true, Model: o.Model,
		Files: o.Files}, env)
	fmt.Println(res.Counts.Presented, err)
	// Output:
	// opened at byte 0
	// true
	// opened at byte 0
	// 4 <nil>
}

// The messages of a topic, of one row or two, are learned until there is no more for now; the model
// knows where it stands.
func ExampleMessages() {
	topic := []string{"+1 1:1", "-1 1:-1\n+1 1:2", "-1 2:1"}
	open := func(_ context.Context, at string) (_ training.Source, err error) {
		from := training.Place{Name: "rows"}
		if at != "" {
			if from, err = training.ParsePlace("rows", at); err != nil {
				return training.Source{}, err
			}
		}
		next := from.At
		m := training.NewMessages(from, func() ([]training.Message, error) {
			if next == int64(len(topic)) {
				return nil, training.ErrPaused
			}
			next++
			return []training.Message{{At: next - 1, Text: []byte(topic[next-1])}}, nil
		})
		return m.Source(nil), nil
	}
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	o := training.Options{Learner: "pa", Files: []string{"rows"}, Model: filepath.Join(dir, "m")}
	r, err := training.Run(context.Background(), o, training.Env{Open: open})
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Counts.Presented, "examples")

	topic = append(topic, "+1 1:3") // which came later
	o = training.Options{Resume: true, Files: o.Files, Model: o.Model}
	if r, err = training.Run(context.Background(), o, training.Env{Open: open}); err != nil {
		panic(err)
	}
	fmt.Println(r.Counts.Presented, "examples")
	// Output:
	// 4 examples
	// 5 examples
}
