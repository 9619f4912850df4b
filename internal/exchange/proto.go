package exchange

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// What is written of onnx.proto (github.com/onnx/onnx, IR version 8): messages as bytes, fields by
// their numbers there.

// message adds a field that is a message, a text or bytes.
func message(b []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), m)
}

func text(b []byte, field protowire.Number, s string) []byte {
	return message(b, field, []byte(s))
}

func integer(b []byte, field protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(v))
}

// Elements of tensors.
const (
	elemFloat  = 1
	elemInt64  = 7
	elemString = 8
)

// attribute is one of a node, an AttributeProto.
type attribute []byte

func attributeOf(name string, kind int64) attribute {
	return integer(text(nil, 1, name), 20, kind)
}

func intAttribute(name string, v int64) attribute { return integer(attributeOf(name, 2), 3, v) }

func textAttribute(name, v string) attribute { return text(attributeOf(name, 3), 4, v) }

func floatsAttribute(name string, values []float64) attribute {
	b := attributeOf(name, 6)
	for _, v := range values {
		b = protowire.AppendFixed32(protowire.AppendTag(b, 7, protowire.Fixed32Type),
			math.Float32bits(float32(v)))
	}
	return b
}

func intsAttribute(name string, values ...int64) attribute {
	b := attributeOf(name, 7)
	for _, v := range values {
		b = integer(b, 8, v)
	}
	return b
}

func textsAttribute(name string, values []string) attribute {
	b := attributeOf(name, 8)
	for _, v := range values {
		b = text(b, 9, v)
	}
	return b
}

// mlDomain is that of operators of classifiers.
const mlDomain = "ai.onnx.ml"

// node returns a NodeProto.
func node(domain, op string, inputs, outputs []string, attributes ...attribute) []byte {
	var b []byte
	for _, name := range inputs {
		b = text(b, 1, name)
	}
	for _, name := range outputs {
		b = text(b, 2, name)
	}
	b = text(text(b, 3, outputs[0]+"_"+op), 4, op)
	for _, a := range attributes {
		b = message(b, 5, a)
	}
	if domain != "" {
		b = text(b, 7, domain)
	}
	return b
}

// floats is a tensor of that name and shape, a TensorProto.
func floats(name string, values []float64, shape ...int64) []byte {
	raw := make([]byte, 0, 4*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(v)))
	}
	return message(tensor(name, elemFloat, shape), 9, raw)
}

// ints is a tensor of whole numbers.
func ints(name string, values ...int64) []byte {
	b := tensor(name, elemInt64, []int64{int64(len(values))})
	for _, v := range values {
		b = integer(b, 7, v)
	}
	return b
}

func tensor(name string, elem int64, shape []int64) []byte {
	var b []byte
	for _, n := range shape {
		b = integer(b, 1, n)
	}
	return text(integer(b, 2, elem), 8, name)
}

// value is an input or output of so many rows, a ValueInfoProto: columns each, or none.
func value(name string, elem int64, columns ...int64) []byte {
	shape := message(nil, 1, text(nil, 2, "rows"))
	for _, n := range columns {
		shape = message(shape, 1, integer(nil, 1, n))
	}
	kind := message(nil, 1, message(integer(nil, 1, elem), 2, shape))
	return message(text(nil, 1, name), 2, kind)
}
