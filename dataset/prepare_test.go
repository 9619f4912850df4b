package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
)

// TestPrepared: examples that are prepared after they were read are those that are prepared as they
// are read, to the bit: sparse, dense, and with texts and missing values, as a stream and in
// memory, with the same Info.
func TestPrepared(t *testing.T) {
	var sparse, dense, texts strings.Builder
	texts.WriteString("size,job,age,label\n")
	r := engine.NewRand(1, 0)
	rnd := rand.New(r)
	for range 600 {
		y := r.IntN(2)*2 - 1
		fmt.Fprintf(&sparse, "%+d", y)
		for j := range 40 {
			if r.IntN(5) == 0 {
				fmt.Fprintf(&sparse, " %d:%.3g", j+1, rnd.Float64()*4-2)
			}
		}
		fmt.Fprintf(&dense, "%d", y)
		for range 37 {
			fmt.Fprintf(&dense, ",%.4g", rnd.Float64()*3-1)
		}
		sparse.WriteString("\n")
		dense.WriteString("\n")
		size, job := fmt.Sprintf("%.4g", rnd.Float64()*300), []string{"a", "b", "c", "?"}[r.IntN(4)]
		if r.IntN(6) == 0 {
			size = "?"
		}
		fmt.Fprintf(&texts, "%s,%s,%d,%d\n", size, job, r.IntN(50), y)
	}
	for name, text := range map[string]string{"sparse": sparse.String(), "dense": dense.String(),
		"texts": texts.String()} {
		for _, o := range []Options{{}, {Bias: "append"}, {Normalize: "unit"},
			{Bias: "append", BiasValue: 0.3, Normalize: "unit"}, {Normalize: "max"},
			{Bias: "append", Normalize: "max"}, {Normalize: "max", Scale: 3}, {Scaling: "std"},
			{Scaling: "std", Bias: "append", Normalize: "unit"},
			{Scaling: "maxabs", Bias: "append"}, {Scaling: "std", Normalize: "max"}} {
			switch name {
			case "dense":
				o.LabelCol = "1"
			case "texts":
				o.Missing = "mean"
			}
			t.Run(fmt.Sprintf("%s/%s%s%s", name, o.Scaling, o.Bias, o.Normalize), func(t *testing.T) {
				prepares[float32](t, text, o)
				prepares[float64](t, text, o)
			})
		}
	}
	if _, err := NewPreparer[float32](Options{Normalize: "max"}, Info{}); err != ErrScale {
		t.Errorf("max without a scale: %v", err)
	}
	for _, o := range []Options{{Bias: "prepend"}, {Scaling: "minmax"}, {Missing: "zero"}} {
		if _, err := NewPreparer[float32](o, Info{}); !errors.Is(err, ErrOption) {
			t.Errorf("%+v was taken: %v", o, err)
		}
	}
}

func prepares[T engine.Float](t *testing.T, text string, o Options) {
	t.Helper()
	ctx := context.Background()
	raw := o
	raw.Bias, raw.BiasValue, raw.Normalize, raw.Scale = "", 0, "", 0
	raw.Scaling, raw.PrepareByHand = "", true
	read := func(o Options) *Data[T] {
		d, err := LoadReader[T](ctx, "x", strings.NewReader(text), o)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	want := read(o)
	got, err := read(raw).Prepared(o)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Info, want.Info) {
		t.Errorf("info %+v, want %+v", got.Info, want.Info)
	}
	same := func(b, want *engine.Block[T]) {
		t.Helper()
		for i := range b.Len() {
			idx, val := b.Example(i)
			wantIdx, wantVal := want.Example(i)
			if fmt.Sprint(idx, val, b.Y[i]) != fmt.Sprint(wantIdx, wantVal, want.Y[i]) {
				t.Fatalf("example %d: %v %v, want %v %v", i, idx, val, wantIdx, wantVal)
			}
		}
	}
	same(&got.Block, &want.Block)
	if o.Normalize == "max" && o.Scale == 0 {
		return
	}
	stream := func(o Options) *Stream[T] {
		s, err := open[T](ctx, []string{"x"}, &opener{reader: strings.NewReader(text)}, o, false)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	s, like := stream(raw), stream(o)
	p, err := NewPreparer[T](o, s.Info())
	if err != nil {
		t.Fatal(err)
	}
	for {
		b, err := s.Next()
		c, _ := like.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if b.Len() != c.Len() {
			t.Fatalf("a block of %d, and one of %d", b.Len(), c.Len())
		}
		same(p.Block(b), c)
	}
	if info, want := p.Info(s.Info()), like.Info(); !reflect.DeepEqual(info, want) {
		t.Errorf("a stream's info %+v, want %+v", info, want)
	}
}
