package measure

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/klauspost/cpuid/v2"

	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// Machine is the line that stands above every figure: CPU, cores, caches, implementation, Go.
func Machine() string {
	c := cpuid.CPU
	line := fmt.Sprintf("%s, %d cores in use", cpuName(), runtime.GOMAXPROCS(0))
	size := func(label string, bytes int) {
		if bytes > 0 {
			line += fmt.Sprintf(", %s %d KiB", label, bytes/1024)
		}
	}
	size("L1d", c.Cache.L1D)
	size("L2", c.Cache.L2)
	return line + fmt.Sprintf("; kernels %s; %s %s/%s", vecmath.Active(), runtime.Version(),
		runtime.GOOS, runtime.GOARCH)
}

func cpuName() string {
	if name := strings.Join(strings.Fields(cpuid.CPU.BrandName), " "); name != "" {
		return name
	}
	return "unnamed " + runtime.GOARCH
}
