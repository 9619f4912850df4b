package vecmath

import (
	"fmt"
	"testing"
)

// BenchmarkKernels times every kernel that SelfTest goes through, in every implementation, on its
// operands of some sizes:
//
//	go test -run '^$' -bench Kernels/dot/ -count 10 ./internal/vecmath | tee bench.txt
//	go tool benchstat -col /impl bench.txt
//
// halfspace bench kernels times what learners call most next to gonum's.
func BenchmarkKernels(b *testing.B) {
	benchKernels[float32](b)
	benchKernels[float64](b)
}

func benchKernels[T Float](b *testing.B) {
	defer func(im Impl) { active = im }(active)
	for _, k := range kernelTable[T]() {
		for _, n := range []int{14, 123, 784} {
			for _, info := range Implementations() {
				if !info.Supported {
					continue
				}
				active = info.Impl
				name := fmt.Sprintf("%s/impl=%s/type=%T/n=%d", k.name, info.Name, T(0), n)
				b.Run(name, func(b *testing.B) {
					o := k.make(newGenerator[T](n, 0, nil), n)
					for b.Loop() {
						k.run(o)
					}
				})
			}
		}
	}
}
