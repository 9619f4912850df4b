package vecmath

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

func TestImplementations(t *testing.T) {
	var names []string
	for i, info := range Implementations() {
		names = append(names, info.Name)
		if info.Name != info.Impl.String() || info.Supported != (len(info.Missing) == 0) {
			t.Errorf("%d: %+v", i, info)
		}
	}
	if got := strings.Join(names, " "); got != "avx512 avx2 neon generic" {
		t.Errorf("implementations %s", got)
	}
	if last := Implementations()[3]; !last.Supported {
		t.Error("generic is not supported")
	}
}

// CI names the implementations that its machine must have, so that no test passes by testing
// nothing: HALFSPACE_REQUIRE_IMPL="avx2 generic". Nor may a wrong HALFSPACE_IMPL test the best one
// instead.
func TestRequired(t *testing.T) {
	if err := Err(); err != nil {
		t.Error(err)
	}
	for name := range strings.FieldsSeq(os.Getenv("HALFSPACE_REQUIRE_IMPL")) {
		if _, err := lookup(name); err != nil {
			t.Error(err)
		}
	}
}

func TestUse(t *testing.T) {
	defer func(im Impl, w string) { active, why = im, w }(active, why)
	if err := Use("generic"); err != nil || Active() != Generic || Why() != "forced by name" {
		t.Errorf("generic: %v, active %v, %s", err, Active(), Why())
	}
	for _, name := range []string{"", "AVX2", "nonsense"} {
		err := Use(name)
		if !errors.Is(err, ErrImpl) || !strings.Contains(err.Error(), "no such implementation; "+
			"this machine supports ") || Active() != Generic {
			t.Errorf("Use(%q): %v, active %v", name, err, Active())
		}
	}
	for _, info := range Implementations() {
		err := Use(info.Name)
		if info.Supported && (err != nil || Active() != info.Impl) {
			t.Errorf("%s: %v, active %v", info.Name, err, Active())
		}
		if !info.Supported && (!errors.Is(err, ErrImpl) || !strings.Contains(err.Error(),
			"lacks "+info.Missing[0])) {
			t.Errorf("%s: %v", info.Name, err)
		}
	}
	if err := Use("auto"); err != nil || Active() != best() || !strings.HasPrefix(Why(),
		"best of "+Active().String()) {
		t.Errorf("auto: %v, active %v, %s", err, Active(), Why())
	}
}

func TestSelfTest(t *testing.T) {
	before := active
	for _, info := range Implementations() {
		err := SelfTest(info.Name)
		if info.Supported && err != nil || !info.Supported && !errors.Is(err, ErrImpl) {
			t.Errorf("%s: %v", info.Name, err)
		}
	}
	if err := SelfTest("nonsense"); !errors.Is(err, ErrImpl) {
		t.Error(err)
	}
	if active != before {
		t.Errorf("active is %v, was %v", active, before)
	}
}

// The self-test would see one wrong bit.
func TestSelfTestSees(t *testing.T) {
	o := makeDense(newGenerator[float32](9, 0, nil), 9)
	for _, change := range []func(o *operands[float32]){
		func(o *operands[float32]) { o.sum = 1e-45 },
		func(o *operands[float32]) { o.y[8] += o.y[8] * 0x1p-23 },
		func(o *operands[float32]) { o.d[3] = -o.d[3] },
	} {
		c := o.clone()
		change(c)
		if c.diff(o) == "" {
			t.Errorf("no difference seen: %+v", c)
		}
	}
	nan := float32(math.NaN())
	if negative := math.Float32frombits(1 << 31); sameBits(negative, 0) || !sameBits(nan, -nan) ||
		sameBits(nan, 0) {
		t.Error("zeros of both signs must differ, NaN must not")
	}
}

// A bad HALFSPACE_IMPL is an error of Err, and a program that doesn't call it runs on with the best
// implementation.
func TestEnvironment(t *testing.T) {
	if os.Getenv("VECMATH_TELL") != "" { // the program that TestEnvironment starts
		fmt.Printf("%v|%v|%v|%v\n", Err(), errors.Is(Err(), ErrImpl), Active(), Why())
		return
	}
	supported := "; this machine supports " + supportedNames()
	bestWhy := best().String() + "|best of " + supportedNames()
	wants := map[string]string{"": "<nil>|false|" + bestWhy, "auto": "<nil>|false|" + bestWhy}
	refused := func(name, why string) {
		wants[name] = EnvImpl + "=" + name + ": " + why + supported + "|true|" + bestWhy
	}
	refused("nonsense", "no such implementation")
	refused("AVX2", "no such implementation")
	for _, info := range Implementations() {
		if info.Supported {
			wants[info.Name] = "<nil>|false|" + info.Name + "|forced by " + EnvImpl
		} else {
			refused(info.Name, "this machine lacks "+strings.Join(info.Missing, ", "))
		}
	}
	for name, want := range wants {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestEnvironment$")
		cmd.Env = append(os.Environ(), EnvImpl+"="+name, "VECMATH_TELL=1")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if errors.Is(err, syscall.ENOEXEC) || errors.Is(err, errors.ErrUnsupported) {
			t.Skip("this system can not start the test program again: ", err)
		}
		if got, _, _ := strings.Cut(string(out), "\n"); err != nil || got != want ||
			stderr.Len() > 0 {
			t.Errorf("%q: %v, stderr %q, says\n%s, want\n%s", name, err, stderr.String(), got, want)
		}
	}
}
