package exchange

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// writeNPZ writes what numpy.load reads without pickle: a zip of arrays, each a file NAME.npy in
// version 1.0 of that format, little-endian.
//
//	weights     [outputs][features]    of weights
//	coef        [points]               of a sum over examples, which are a matrix in CSR:
//	data, indices, indptr              values, features from 0, ends of rows
//	output      [points]               the output that a point is of
//	kernel, gamma, coef0, degree       of it
//	frequencies [features][D/2], offset [D/2]   of random features
//	bias        [outputs]
//	classes     names of classes: of one output the negative and the positive one
//	threshold   of one output: the least score of the positive class
//	names       names of features
//	shift, factor [features]    (x - shift) factor is what a row becomes first, where there are any
//	normalize   "unit" where a row is divided by its length then, else "none"; with it constant is
//	            the value of a feature behind the others that counts in the length; 0: none
func writeNPZ(w *bufio.Writer, f *Form) ([]string, error) {
	z := zip.NewWriter(w)
	a := arrays{z: z}
	var (
		weights, bias, coef, data []float64
		indices, ends, outputs    []int64
	)
	ends = append(ends, 0)
	for k, o := range f.divided() {
		weights, bias = append(weights, o.Weights...), append(bias, o.Bias)
		coef = append(coef, o.Coef...)
		for i := range o.Coef {
			idx, val := o.Points.Sparse(i)
			for _, j := range idx {
				indices = append(indices, int64(j))
			}
			data = append(data, val...)
			ends, outputs = append(ends, int64(len(indices))), append(outputs, int64(k))
		}
	}
	k := len(f.Outputs)
	if f.Outputs[0].Weights != nil {
		a.put("weights", "<f8", weights, k, len(weights)/k)
	} else {
		a.put("coef", "<f8", coef, len(coef))
		a.put("data", "<f8", data, len(data))
		a.put("indices", "<i8", indices, len(indices))
		a.put("indptr", "<i8", ends, len(ends))
		a.put("output", "<i8", outputs, len(outputs))
		a.texts("kernel", []string{string(f.Kernel.Kind)})
		a.put("gamma", "<f8", []float64{f.Kernel.Gamma})
		a.put("coef0", "<f8", []float64{f.Kernel.Coef0})
		a.put("degree", "<i8", []int64{int64(f.Kernel.Degree)})
	}
	if r := f.Random; r != nil {
		a.put("frequencies", "<f8", r.W, f.Places(), r.Half)
		a.put("offset", "<f8", r.Offset, r.Half)
	}
	a.put("bias", "<f8", bias, k)
	a.texts("classes", f.Classes)
	if k == 1 {
		a.put("threshold", "<f8", []float64{f.From})
	}
	names := make([]string, f.Dim)
	for j := range names {
		names[j] = f.Name(j)
	}
	a.texts("names", names)
	normalize := "none"
	if f.Unit {
		normalize = "unit"
	}
	if f.Factor != nil {
		a.put("shift", "<f8", f.Shift, f.Dim)
		a.put("factor", "<f8", f.Factor, f.Dim)
	}
	a.texts("normalize", []string{normalize})
	a.put("constant", "<f8", []float64{f.Constant})
	if a.err == nil {
		a.err = z.Close()
	}
	return nil, a.err
}

// arrays are files of a zip.
type arrays struct {
	z   *zip.Writer
	err error
}

// begin begins an array of that shape; of none it is a number.
func (a *arrays) begin(name, kind string, shape []int) io.Writer {
	if a.err != nil {
		return io.Discard
	}
	w, err := a.z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
	if err != nil {
		a.err = err
		return io.Discard
	}
	dims := ""
	for _, n := range shape {
		dims += fmt.Sprintf("%d, ", n)
	}
	if len(shape) > 1 {
		dims = strings.TrimSuffix(dims, ", ")
	}
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", kind,
		strings.TrimSuffix(dims, " "))
	for (10+len(head)+1)%64 != 0 {
		head += " "
	}
	start := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)+1), byte((len(head)+1)>>8))
	if _, err := w.Write(append(start, head+"\n"...)); err != nil {
		a.err = err
	}
	return w
}

// put writes an array of numbers.
func (a *arrays) put(name, kind string, data any, shape ...int) {
	w := a.begin(name, kind, shape)
	if a.err == nil {
		a.err = binary.Write(w, binary.LittleEndian, data)
	}
}

// texts writes an array of texts, as many characters each as the longest has.
func (a *arrays) texts(name string, of []string) {
	most := 1
	for _, text := range of {
		most = max(most, utf8.RuneCountInString(text))
	}
	if int64(most)*int64(len(of)) > math.MaxInt32/4 {
		a.err = fmt.Errorf("names of %d characters, %d of them: %w", most, len(of), ErrForm)
		return
	}
	data := make([]int32, 0, most*len(of))
	for _, text := range of {
		at := len(data)
		for _, r := range text {
			data = append(data, r)
		}
		data = append(data, make([]int32, at+most-len(data))...)
	}
	a.put(name, fmt.Sprintf("<U%d", most), data, len(of))
}
