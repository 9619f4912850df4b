package learners

import (
	"fmt"
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/learner"
)

// obpmBases are bases with settings that make updates on examples of some length, and how far the
// sums of their members' scores may be from ours, relatively.
var obpmBases = map[string]struct {
	base   string
	config learner.Config
	within float64
}{
	"perceptron":       {"perceptron", &PerceptronConfig{Margin: 0.5, Eta: 0.25}, 1e-11},
	"pa":               {"pa", &PAConfig{Variant: 1, C: 0.5}, 1e-11},
	"lms":              {"lms", &LMSConfig{Eta: 0.02}, 1e-11},
	"romma":            {"romma", nil, 1e-11},
	"romma aggressive": {"romma", linearROMMA(true), 1e-11},
	"cramma": {"cramma", &CRAMMAConfig{Epsilon: 0.5, Beta: 0.1, Eta: 0.2, EtaDelta: 0.5, R: 5},
		1e-11},
	"micra":     {"micra", nil, 1e-11},
	"beta":      {"perceptron", &PerceptronConfig{Beta: 0.2, Eta: 0.5}, 1e-11},
	"alma":      {"alma", nil, 1e-11},
	"alma p=4":  {"alma", &ALMAConfig{P: 4, Alpha: 0.9}, 1e-11},
	"pumma":     {"pumma", nil, 1e-11},
	"pumma p=4": {"pumma", &PUMMAConfig{P: "4", Delta: 0.1}, 1e-11},
	"arow":      {"arow", nil, 1e-11},
}

func linearROMMA(aggressive bool) *ROMMAConfig {
	return &ROMMAConfig{Aggressive: aggressive, Delta: 0.1,
		KernelConfig: learner.KernelConfig{Kernel: "linear"}}
}

// TestOBPMBases: over any base OBPM is Algorithm 2 in its plain form: N single learners, each given
// the examples that it is drawn for, one at a time, whose weights are averaged; with step 15 the
// average is divided by its length where that is above 1. One member that sees everything is its
// base.
func TestOBPMBases(t *testing.T) {
	sparse := randomBlock[float64](240, 20, 6, false, 12)
	for what, c := range obpmBases {
		for form, b := range map[string]*engine.Block[float64]{"sparse": sparse,
			"dense": toDense(sparse)} {
			for _, combine := range []string{"weights", "cap", "vote", "one"} {
				t.Run(what+"/"+form+"/"+combine, func(t *testing.T) {
					cfg := OBPMConfig{Members: 5, Tau: 0.4, Base: c.base, BaseConfig: c.config,
						Combine: CombineWeights, Cap: combine == "cap",
						Together: true}
					switch combine {
					case "vote":
						cfg.Combine = CombineVote
					case "one": // that sees everything: the base itself
						cfg.Members, cfg.Tau = 1, 1
					}
					followBase(t, &cfg, b, c.within)
				})
			}
		}
	}
}

// followBase compares an ensemble with its plain form.
func followBase(t *testing.T, cfg *OBPMConfig, b *engine.Block[float64], within float64) {
	const seed = 3
	e, err := learner.Lookup("obpm")
	if err != nil {
		t.Fatal(err)
	}
	o, err := learner.New[float64](e, cfg, learner.Env{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	members := plainMembers(t, cfg)
	draws := engine.NewDraws(seed, 0).Bernoulli(cfg.Tau)
	mask := make([]uint64, 1)
	for i := range b.Len() {
		v := b.Slice(i, i+1)
		draws.Masks(mask, 0, cfg.Members, uint64(i))
		var got, one [1]learner.Round
		var f, sum float64
		var updates int32
		for _, l := range members {
			score := []float64{0}
			if err := l.Score(&v, score); err != nil {
				t.Fatal(err)
			}
			f += vote(cfg, score[0])
			sum += math.Abs(score[0])
		}
		f /= float64(cfg.Members)
		w := plainAverage(members)
		length := math.Sqrt(engine.SumSqOrdered(w))
		if cfg.Cap {
			f /= max(1, length)
		}
		for m, l := range members {
			if mask[0]>>m&1 == 0 {
				continue
			}
			if err := l.Learn(&v, one[:]); err != nil {
				t.Fatal(err)
			}
			updates += one[0].Updates
		}
		if err := o.Learn(&v, got[:]); err != nil {
			t.Fatal(err)
		}
		if got[0].Updates != updates {
			t.Fatalf("example %d: %d updates, want %d", i, got[0].Updates, updates)
		}
		if !(math.Abs(got[0].Score-f) <= within*(1+sum)) {
			t.Fatalf("example %d: score %v, want %v", i, got[0].Score, f)
		}
	}
	if cfg.Combine == CombineVote {
		return
	}
	w := plainAverage(members)
	if cfg.Cap {
		length := max(1, math.Sqrt(engine.SumSqOrdered(w)))
		for j := range w {
			w[j] /= length
		}
	}
	if !approx.AllEqual(o.Weights(), w, 1e-9) {
		t.Errorf("weights %v, want %v", o.Weights(), w)
	}
}

// plainMembers are learners of the base alone, with the seeds of members.
func plainMembers(t *testing.T, cfg *OBPMConfig) (of []learner.Learner[float64]) {
	e, err := learner.Lookup(cfg.Base)
	if err != nil {
		t.Fatal(err)
	}
	base, err := cfg.baseSettings()
	if err != nil {
		t.Fatal(err)
	}
	for m := range cfg.Members {
		l, err := learner.New[float64](e, base, learner.Env{Seed: uint64(m)}) // none of these draws
		if err != nil {
			t.Fatal(fmt.Errorf("member %d: %w", m, err))
		}
		of = append(of, l)
	}
	return of
}

// vote is what a member's score adds.
func vote(cfg *OBPMConfig, score float64) float64 {
	if cfg.Combine != CombineVote {
		return score
	}
	if score >= 0 {
		return 1
	}
	return -1
}

func plainAverage(members []learner.Learner[float64]) []float64 {
	var w []float64
	for _, l := range members {
		for j, v := range l.Weights() {
			if j == len(w) {
				w = append(w, 0)
			}
			w[j] += v / float64(len(members))
		}
	}
	return w
}

// TestOBPMTogetherSettings: settings of before there was a choice are those of members of their
// own, and are written as they were; others say that members are together.
func TestOBPMTogetherSettings(t *testing.T) {
	for text, together := range map[string]bool{
		`{"base":"romma"}`:                   false,
		`{"base":"romma","together":true}`:   true,
		`{"base":"cramma","together":false}`: false,
		`{"base":"perceptron"}`:              true, // whatever it says
	} {
		e, err := learner.Lookup("obpm")
		if err != nil {
			t.Fatal(err)
		}
		c, again := e.Config().(*OBPMConfig), e.Config().(*OBPMConfig)
		if err := c.UnmarshalJSON([]byte(text)); err != nil || c.Together != together {
			t.Errorf("%s: Together is %v, %v", text, c.Together, err)
		}
		out, err := c.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if err := again.UnmarshalJSON(out); err != nil || again.Together != together {
			t.Errorf("%s is written as %s, whose Together is %v, %v", text, out, again.Together,
				err)
		}
	}
}
