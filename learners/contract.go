package learners

import (
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// The contract of package learner, under the names that it has here.
type (
	Float                    = learner.Float
	Round                    = learner.Round
	Learner[T Float]         = learner.Learner[T]
	Predictor[T Float]       = learner.Predictor[T]
	Prober[T Float]          = learner.Prober[T]
	PosteriorMerger[T Float] = learner.PosteriorMerger[T]
	PosteriorReport          = learner.PosteriorReport
	MistakeChecker[T Float]  = learner.MistakeChecker[T]
	Fitter[T Float]          = learner.Fitter[T]
	Keeper                   = learner.Keeper
	Biased                   = learner.Biased
	Config                   = learner.Config
	Env                      = learner.Env
	Tensor                   = learner.Tensor
	State                    = learner.State
	Entry                    = learner.Entry
	Pass                     = learner.Pass
	Facts                    = learner.Facts
	Extent                   = learner.Extent
	MemoryPart               = learner.MemoryPart
	Footprint                = learner.Footprint
	FitOptions               = learner.FitOptions
	FitStatus                = learner.FitStatus
	FitResult                = learner.FitResult
	Remedy                   = learner.Remedy
	Traits                   = learner.Traits
)

// Errors of package learner.
var (
	ErrConfig       = learner.ErrConfig
	ErrState        = learner.ErrState
	ErrOut          = learner.ErrOut
	ErrPrior        = learner.ErrPrior
	ErrDim          = learner.ErrDim
	ErrLength       = learner.ErrLength
	ErrFit          = learner.ErrFit
	ErrBatch        = learner.ErrBatch
	ErrNotSeparable = learner.ErrNotSeparable
	ErrMemory       = learner.ErrMemory
)

// Numbers of package learner.
const (
	Any              = learner.Any
	MaxCount         = learner.MaxCount
	DefaultGramBytes = learner.DefaultGramBytes
	DefaultRefresh   = learner.DefaultRefresh
	LeastMargin      = learner.LeastMargin
	huge             = learner.Huge
)

// Functions of package learner.
var (
	Register = learner.Register
	Names    = learner.Names
	Lookup   = learner.Lookup
	KeptRoom = learner.KeptRoom
	plus     = learner.Plus
	times    = learner.Times
)

// New is learner.New.
func New[T Float](e Entry, c Config, env Env) (Learner[T], error) { return learner.New[T](e, c, env) }

// ProberOf is learner.ProberOf.
func ProberOf[T Float](l Learner[T]) Prober[T] { return learner.ProberOf(l) }

// PosteriorOf is learner.PosteriorOf.
func PosteriorOf[T Float](l Learner[T]) PosteriorMerger[T] { return learner.PosteriorOf(l) }

// ReportOf is learner.ReportOf.
func ReportOf[T Float](l Learner[T]) *PosteriorReport { return learner.ReportOf(l) }

// MistakeCheckerOf is learner.MistakeCheckerOf.
func MistakeCheckerOf[T Float](l Learner[T]) MistakeChecker[T] { return learner.MistakeCheckerOf(l) }

// KeptExample is learner.KeptExample.
func KeptExample[T Float](c Config, b *engine.Block[T]) (mean, largest int64, err error) {
	return learner.KeptExample(c, b)
}
