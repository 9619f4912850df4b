package serve

import (
	"testing"

	"github.com/halfspace-ml/halfspace"
)

// BenchmarkPredict is one row a request, without HTTP.
func BenchmarkPredict(b *testing.B) {
	s := start(b, Options{Models: []Model{{Name: "a", Path: newModel(b,
		halfspace.Options{Learner: "obpm"})}}})
	named := start(b, Options{Models: []Model{{Name: "a", Path: newModel(b,
		halfspace.Options{Learner: "pa"}, "x", "y")}}})
	for _, c := range []struct {
		name        string
		s           *Server
		media, body string
	}{
		{"dense", s, mediaJSON, `{"features":[0.5,-1,0.25,3,1,0.5,-1,0.25,3,1]}`},
		{"sparse", s, mediaJSON, `{"features":{"0":0.5,"3":-1,"7":0.25}}`},
		{"ndjson", s, mediaNDJSON, `{"0":0.5,"3":-1,"7":0.25}`},
		{"svmlight", s, mediaSVM, "0:0.5 3:-1 7:0.25"},
		{"names", named, mediaJSON, `{"x":1,"y":0.5}`},
		{"id", named, mediaJSON, `{"id":"a","x":1,"y":0.5}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			body := make([]byte, 0, len(c.body)+2)
			var dst []byte
			for b.Loop() {
				body = append(body[:0], c.body...)
				a := c.s.Do(&Request{Op: Predict, Model: "a", Media: c.media, Body: body}, dst[:0])
				if dst = a.Body; a.Status != 200 {
					b.Fatal(string(dst))
				}
			}
		})
	}
}
