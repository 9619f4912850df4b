package learner

import (
	"errors"
	"fmt"

	"github.com/halfspace-ml/halfspace/engine"
)

// KernelConfig holds the settings of a kernel. It is embedded in the Config of every learner that
// takes one. The zero value is the plain inner product.
type KernelConfig struct {
	// Kernel is linear: x.z; poly: (gamma x.z + coef0)^degree; or rbf: exp(-gamma |x-z|^2).
	//
	// "" is linear, too. Default linear; linear, poly or rbf.
	Kernel string `json:"kernel" flag:"kernel" values:"linear|poly|rbf"`
	// Gamma is the factor of poly and rbf, in units of 1/|x|^2, needed without sigma. Default 0; 0
	// or more.
	Gamma float64 `json:"gamma" flag:"gamma" with:"kernel=poly|rbf" tune:"0.01|0.1|1|10"`
	// Sigma is the width of rbf, in units of |x|, instead of gamma = 1/(2 sigma^2). Default 0; 0 or
	// more.
	Sigma float64 `json:"sigma" flag:"sigma" with:"kernel=rbf"`
	// Degree is the degree of poly, which needs it. Default 0; 0 or more.
	Degree int `json:"degree" flag:"degree" with:"kernel=poly"`
	// Coef0 is the constant of poly, in units of gamma |x|^2. Default 0; 0 or more.
	Coef0 float64 `json:"coef0" flag:"coef0" with:"kernel=poly"`
	// Scale is the length by which the kernel divides examples, 0 for 1. Default 0; 0 or more.
	Scale float64 `json:"scale" flag:"scale"`
}

// Validate wants settings >= 0 that make an [engine.Kernel], and one of Gamma and Sigma, for a
// learner of that name.
func (c *KernelConfig) Validate(learner string) error {
	check := func(field string, v float64) error {
		return CheckSetting(learner, field, v, v >= 0, "a number >= 0")
	}
	if err := errors.Join(check("gamma", c.Gamma), check("sigma", c.Sigma), check("degree",
		float64(c.Degree)), check("coef0", c.Coef0), check("scale", c.Scale)); err != nil {
		return err
	}
	if c.Sigma != 0 && (c.Gamma != 0 || c.Kernel != "rbf") {
		return fmt.Errorf("%s: sigma is %v, gamma %v, the kernel %s: sigma stands for rbf's "+
			"gamma: %w", learner, c.Sigma, c.Gamma, c.EngineKernel().Kind, ErrConfig)
	}
	if c.Kernel == "rbf" && c.Gamma == 0 && c.Sigma == 0 {
		return fmt.Errorf("%s: the kernel rbf has no width: want gamma, or sigma for 1/(2 "+
			"sigma^2): %w", learner, ErrConfig)
	}
	if err := c.EngineKernel().Validate(); err != nil {
		return fmt.Errorf("%s: %w: %w", learner, err, ErrConfig)
	}
	return nil
}

// EngineKernel returns the kernel of these settings as engine computes it.
func (c *KernelConfig) EngineKernel() engine.Kernel {
	k := engine.Kernel{Kind: engine.KernelKind(c.Kernel), Gamma: c.Gamma, Degree: c.Degree,
		Coef0: c.Coef0, Scale: c.Scale}
	if c.Kernel == "" {
		k.Kind = "linear"
	}
	if c.Sigma != 0 {
		k.Gamma = engine.RBFSigma(c.Sigma).Gamma
	}
	return k
}

// Linear reports whether the hypothesis is one weight vector: the plain inner product.
func (c *KernelConfig) Linear() bool {
	return (c.Kernel == "" || c.Kernel == "linear") && (c.Scale == 0 || c.Scale == 1)
}
