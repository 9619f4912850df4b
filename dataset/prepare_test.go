package dataset

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
)

// TestPrepared: examples that are prepared after they were read are those that are prepared as they
// are read, to the bit: sparse and dense, as a stream and in memory, with the same Info.
func TestPrepared(t *testing.T) {
	var sparse, dense strings.Builder
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
	}
	for name, text := range map[string]string{"sparse": sparse.String(), "dense": dense.String()} {
		for _, o := range []Options{{}, {Bias: "append"}, {Normalize: "unit"},
			{Bias: "append", BiasValue: 0.3, Normalize: "unit"}, {Normalize: "max"},
			{Bias: "append", Normalize: "max"}, {Normalize: "max", Scale: 3}} {
			if name == "dense" {
				o.LabelCol = "1"
			}
			t.Run(fmt.Sprintf("%s/%s%s", name, o.Bias, o.Normalize), func(t *testing.T) {
				prepares[float32](t, text, o)
				prepares[float64](t, text, o)
			})
		}
	}
	if _, err := NewPreparer[float32](Options{Normalize: "max"}); err != ErrScale {
		t.Errorf("max without a scale: %v", err)
	}
	if _, err := NewPreparer[float32](Options{Bias: "prepend"}); err == nil {
		t.Error("an unknown bias was taken")
	}
}

func prepares[T engine.Float](t *testing.T, text string, o Options) {
	t.Helper()
	ctx := context.Background()
	raw := o
	raw.Bias, raw.BiasValue, raw.Normalize, raw.Scale = "", 0, "", 0
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
	same := func(b *engine.Block[T], at int) {
		t.Helper()
		for i := range b.Len() {
			idx, val := b.Example(i)
			wantIdx, wantVal := want.Block.Example(at + i)
			if fmt.Sprint(idx, val, b.Y[i]) != fmt.Sprint(wantIdx, wantVal, want.Block.Y[at+i]) {
				t.Fatalf("example %d: %v %v, want %v %v", at+i, idx, val, wantIdx, wantVal)
			}
		}
	}
	same(&got.Block, 0)
	if o.Normalize == "max" && o.Scale == 0 {
		return
	}
	p, err := NewPreparer[T](o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := open[T](ctx, []string{"x"}, &opener{reader: strings.NewReader(text)}, raw, false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for at := 0; ; {
		b, err := s.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		same(p.Block(b), at)
		at += b.Len()
	}
	if info := p.Info(s.Info()); info.Dim != want.Info.Dim || info.MaxNorm != want.Info.MaxNorm ||
		info.Scale != want.Info.Scale || info.NonZeros != want.Info.NonZeros {
		t.Errorf("a stream's info %+v, want %+v", info, want.Info)
	}
}
