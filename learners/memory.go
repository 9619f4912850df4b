package learners

import (
	"fmt"
	"sort"

	"github.com/halfspace-ml/halfspace/engine"
)

// MemoryConfig is a Config of a learner that holds no more memory than its settings say, however long the stream.
type MemoryConfig interface {
	Config
	// Bounded reports whether that is so with these settings. A learner that keeps no examples with them is bounded, and has no parts.
	Bounded() bool
	// Memory returns what the learner holds when full. An example takes that many bytes, an element (of T) elem.
	Memory(example, elem int64) []MemoryPart
	// FitMemory makes the settings the largest ones, in their present proportions, that take up to that many bytes.
	FitMemory(bytes, example, elem int64) error
}

// MemoryPart is what some things of a learner take together.
type MemoryPart struct {
	Name  string `json:"name"`
	Items int    `json:"items"` // how many there are
	Bytes int64  `json:"bytes"`
}

// TotalMemory adds up the bytes.
func TotalMemory(parts []MemoryPart) (bytes int64) {
	for _, p := range parts {
		bytes += p.Bytes
	}
	return bytes
}

// ExampleBytes returns the mean bytes of a kept example of such a kind as those of b, which are some. It is 0 for a learner that keeps none.
func ExampleBytes[T Float](c Config, b *engine.Block[T]) (int64, error) {
	k, ok := c.(interface{ kernel() engine.Kernel })
	if !ok || b.Len() == 0 {
		return 0, nil
	}
	list, err := engine.NewPoints[T](k.kernel())
	if err != nil {
		return 0, err
	}
	list.Append(b, 0, b.Len())
	return (list.Bytes() + int64(b.Len()) - 1) / int64(b.Len()), nil
}

// FeatureBytes returns the bytes that a learner of that Config takes for each feature below the largest index, seen or not; an element (of T)
// takes elem. It is 0 for those that refuse many features (ErrDim).
func FeatureBytes(c Config, elem int64) int64 {
	if f, ok := c.(interface{ featureBytes(elem int64) int64 }); ok {
		return f.featureBytes(elem)
	}
	return elem // a weight
}

func (c *ADFConfig) featureBytes(int64) int64 {
	if c.Covariance == "diagonal" {
		return 2 * 8
	}
	return 0
}

func (c *ALMAConfig) featureBytes(elem int64) int64 {
	if c.P > 2 {
		return 2 * elem
	}
	return elem
}

func (c *NGConfig) featureBytes(elem int64) int64 { return int64(c.Buffer+2*c.Rank)*8 + elem }

// featureBytes is that of the sum, and of the table of the lanes' rows; members have rows for features that were seen.
func (c *OBPMConfig) featureBytes(int64) int64 {
	if c.linear() {
		return 8 + 4
	}
	return spreadBytes
}

func (c *PUMMAConfig) featureBytes(int64) int64 {
	if c.linear() {
		return 7 * 8
	}
	return spreadBytes
}

func (c *RFFConfig) featureBytes(elem int64) int64 { return int64(c.D) / 2 * elem }

// spreadBytes is the float64 of a feature in an example that is spread out to make its kernel values.
const spreadBytes = 8

func (c *BudgetConfig) featureBytes(int64) int64 { return spreadBytes }
func (c *KMPConfig) featureBytes(int64) int64    { return spreadBytes }
func (c *SOGPConfig) featureBytes(int64) int64   { return spreadBytes }
func (c *SVMConfig) featureBytes(int64) int64    { return spreadBytes }
func (c *TBPConfig) featureBytes(int64) int64    { return spreadBytes }

func (c *EPConfig) featureBytes(int64) int64  { return 0 }
func (c *VVMConfig) featureBytes(int64) int64 { return 0 }
func (c *WEPConfig) featureBytes(int64) int64 { return 0 }

// keptBytes is what a support holds for an example besides its features: coefficients, numbers, hashes, and the kernel values in hand.
func keptBytes(elem int64) int64 { return 4*8 + 8 + elem }

// growth bounds what a growing list of examples takes for that which it needs.
func growth(bytes int64) int64 { return bytes + bytes/4 }

// supportMemory is that of a support of p examples, whose errors on one another are counted or not.
func supportMemory(p int, example, elem int64, bounded bool) []MemoryPart {
	n := int64(p)
	parts := []MemoryPart{{"kept examples", p, growth(n*example) + n*keptBytes(elem)}}
	if bounded {
		parts = append(parts, MemoryPart{"kernel values among them", p * p, n*n*8 + n*16})
	}
	return parts
}

// largest returns the largest n from 1 to limit for which need(n) is at most bytes, or an error if there is none.
func largest(learner string, bytes int64, limit int, need func(n int) int64) (int, error) {
	n := sort.Search(limit, func(i int) bool { return need(i+1) > bytes })
	if n == 0 {
		return 0, fmt.Errorf("%s: %d bytes are too few: one kept example takes %d: %w", learner, max(0, bytes), need(1), ErrConfig)
	}
	return n, nil
}

// mostKept bounds FitMemory: an update goes over all kept examples.
const mostKept = 1 << 20

// Bounded is MemoryConfig.Bounded.
func (c *BudgetConfig) Bounded() bool { return c.Budget > 0 }

// Memory is MemoryConfig.Memory.
func (c *BudgetConfig) Memory(example, elem int64) []MemoryPart {
	return supportMemory(c.Budget, example, elem, true)
}

// FitMemory is MemoryConfig.FitMemory: it sets Budget.
func (c *BudgetConfig) FitMemory(bytes, example, elem int64) (err error) {
	d := *c
	c.Budget, err = largest("budget", bytes, mostKept, func(n int) int64 {
		d.Budget = n
		return TotalMemory(d.Memory(example, elem))
	})
	return err
}

// Bounded is MemoryConfig.Bounded: the error cache "all" grows with the stream.
func (c *TBPConfig) Bounded() bool { return c.ErrorCache != "all" }

// Memory is MemoryConfig.Memory.
func (c *TBPConfig) Memory(example, elem int64) []MemoryPart {
	parts := supportMemory(c.Budget, example, elem, true)
	if c.ErrorCache == "sv" {
		return parts
	}
	q := int64(c.ErrorSize)
	return append(parts,
		MemoryPart{"error cache", c.ErrorSize, growth(q*example) + q*(2*8+3*8+1+8+elem)},
		MemoryPart{"kernel values of it", c.Budget * c.ErrorSize, int64(c.Budget) * q * 8})
}

// FitMemory is MemoryConfig.FitMemory: it sets Budget and ErrorSize.
func (c *TBPConfig) FitMemory(bytes, example, elem int64) (err error) {
	d := *c
	size := func(n int) int { return max(1, int(float64(n)*float64(c.ErrorSize)/float64(c.Budget))) }
	n, err := largest("tbp", bytes, mostKept, func(n int) int64 {
		d.Budget, d.ErrorSize = n, size(n)
		return TotalMemory(d.Memory(example, elem))
	})
	if err == nil {
		c.Budget, c.ErrorSize = n, size(n)
	}
	return err
}

// Bounded is MemoryConfig.Bounded. Without a kernel OBPM keeps no examples.
func (c *OBPMConfig) Bounded() bool { return c.linear() || c.Budget > 0 }

// Memory is MemoryConfig.Memory.
func (c *OBPMConfig) Memory(example, elem int64) []MemoryPart {
	if c.linear() {
		return nil
	}
	parts := supportMemory(c.Budget, example, elem, c.Removal == RemoveErrors)
	lanes := (int64(c.Members)*elem + 63) / 64 * 64
	return append(parts, MemoryPart{"members' coefficients", c.Budget * c.Members, int64(c.Budget) * (lanes + 4 + 4 + 8)})
}

// FitMemory is MemoryConfig.FitMemory: it sets Budget.
func (c *OBPMConfig) FitMemory(bytes, example, elem int64) (err error) {
	if c.linear() {
		return nil
	}
	d := *c
	c.Budget, err = largest("obpm", bytes, mostKept, func(n int) int64 {
		d.Budget = n
		return TotalMemory(d.Memory(example, elem))
	})
	return err
}

// Bounded is MemoryConfig.Bounded.
func (c *SOGPConfig) Bounded() bool { return true }

// Memory is MemoryConfig.Memory.
func (c *SOGPConfig) Memory(example, elem int64) []MemoryPart {
	n, stride := int64(c.Basis), int64(c.Basis+8)&^7
	return []MemoryPart{
		{"basis points", c.Basis, growth(n*example) + stride*(6*8+elem)},
		{"elements of two matrices", int(2 * stride * stride), 2 * stride * stride * 8},
	}
}

// FitMemory is MemoryConfig.FitMemory: it sets Basis.
func (c *SOGPConfig) FitMemory(bytes, example, elem int64) (err error) {
	d := *c
	c.Basis, err = largest("sogp", bytes, maxBasis, func(n int) int64 {
		d.Basis = n
		return TotalMemory(d.Memory(example, elem))
	})
	return err
}
