package learners

import (
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/gauss"
)

func init() { learner.Register("wep", (*WEPConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*WEPConfig) Entry() learner.Entry {
	return learner.EntryFor(WEPConfig{Buffer: 10, PointsConfig: defaultPoints},
		newWEP[float32], newWEP[float64], learner.Entry{
			Summary:  "window expectation propagation: a Gaussian posterior plus the last examples",
			Optional: []string{"alarm"},
		})
}

// WEPConfig holds the settings of window-EP: VVM whose points are the last Buffer examples. The
// oldest is absorbed by the Gaussian when one more comes.
//
// Reference: Y. Qi, T. P. Minka, "Window-based expectation propagation for adaptive signal
// detection in flat-fading channels", IEEE Transactions on Wireless Communications 6(1), 2007, as
// the VVM paper (see [VVMConfig], whose symbols are those of its table), section 2, has it.
//
// Deviations: Buffer is the number of examples kept after one was absorbed; EP runs on one more.
//
// Guarantee: every state of an independent implementation: TestGoldenVVM.
//
// Cost and memory: those of VVM, without pairs.
type WEPConfig struct {
	// Buffer is the number of recent examples kept. Default 10; 0 to 4096.
	Buffer int `json:"buffer" flag:"buffer"`

	PointsConfig
}

// Validate wants Buffer in [0, 4096], Noise in [0, 1/2), Tolerance, Sweeps > 0 and Damping in (0,
// 1].
func (c *WEPConfig) Validate() error {
	if err := checkBuffer("wep", c.Buffer); err != nil {
		return err
	}
	return c.PointsConfig.validate("wep")
}

// Traits is Config.Traits.
func (c *WEPConfig) Traits() learner.Traits { return gauss.PosteriorTraits(c.memory) }

// memory is Traits.Memory: that of VVM.
func (c *WEPConfig) memory(x learner.Extent) learner.Footprint {
	return virtualFootprint(x, int64(c.Buffer), 0)
}

func newWEP[T learner.Float](cfg WEPConfig, _ learner.Env) (learner.Learner[T], error) {
	return virtualPoints[T]("wep", cfg.PointsConfig, cfg.Buffer, 0, true), nil
}
