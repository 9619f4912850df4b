package arrow

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Places of fields in the tables of Arrow's Message.fbs and Schema.fbs.
const (
	messageType, messageHeader, messageBody, messageMeta = 6, 8, 10, 12
	schemaFields, schemaMeta                             = 6, 8
	fieldName, fieldTypeType, fieldType                  = 4, 8, 10
	fieldChildren, fieldMeta                             = 14, 16
	unionTypes                                           = 6
	batchNodes, batchBuffers, batchViews                 = 6, 8, 12
	dictionaryData                                       = 6
	footerSchema                                         = 6
)

const (
	isSchema, isDictionary, isBatch = 1, 2, 3

	typeUnion, typeBinaryView, typeUTF8View, typeListView, typeLargeListView = 14, 23, 24, 25, 26
)

// checkMeta looks at the description of a message, before anything is made as long as it claims to
// be, and returns how long the body is.
func checkMeta(meta []byte) (body int64, err error) {
	defer guard(&err)
	at := flatbuffers.GetUOffsetT(meta)
	c := metaCheck{meta: meta, left: len(meta) / 8}
	t := flatbuffers.Table{Bytes: meta, Pos: at}
	c.vector(&t, messageMeta, 4)
	if body = t.GetInt64Slot(messageBody, 0); body < 0 {
		return 0, fmt.Errorf("a body of %d bytes", body)
	}
	kind := t.GetByteSlot(messageType, 0)
	h, ok := c.table(&t, messageHeader)
	if !ok {
		return 0, errors.New("it has no header")
	}
	switch kind {
	case isSchema:
		c.vector(&h, schemaMeta, 4)
		c.fields(&h, schemaFields, 0)
	case isDictionary:
		if d, ok := c.table(&h, dictionaryData); ok {
			c.batch(&d)
		}
	case isBatch:
		c.batch(&h)
	}
	return body, c.err
}

// schemaBefore is a message of version 5 without a body, whose header is a schema after it: the
// place of its table, the table's vtable, and the table. At headerAt stands how far away the schema
// is.
var schemaBefore = []byte{
	16, 0, 0, 0, // the table
	10, 0, 12, 0, 10, 0, 8, 0, 4, 0, 0, 0, // sizes; version, kind and header in the table
	12, 0, 0, 0, // back to the vtable
	0, 0, 0, 0, // the header
	isSchema, 0, 4, 0, // kind, and version 5
	0, 0, 0, 0, // to a multiple of 8
}

const headerAt = 20

// schemaIn returns where the table of the schema stands in a file's footer.
func schemaIn(footer []byte) (at int, err error) {
	defer guard(&err)
	t := flatbuffers.Table{Bytes: footer, Pos: flatbuffers.GetUOffsetT(footer)}
	o := t.Offset(footerSchema)
	if o == 0 {
		return 0, errors.New("the footer has no schema")
	}
	return int(t.Indirect(t.Pos + flatbuffers.UOffsetT(o))), nil
}

// checkStored is checkMeta of the schema that Parquet keeps of a table that was Arrow's: a stream's
// first message, in base64.
func checkStored(text string) error {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		if data, err = base64.RawStdEncoding.DecodeString(text); err != nil {
			return nil // it is left aside
		}
	}
	for range 2 { // a mark, and the length
		if len(data) < 4 {
			return errMeta
		}
		size := binary.LittleEndian.Uint32(data)
		if data = data[4:]; size == 0xffffffff {
			continue
		}
		if int64(size) > int64(len(data)) {
			return errMeta
		}
		body, err := checkMeta(data[:size])
		if err == nil && body > int64(len(data)) {
			err = errMeta
		}
		return err
	}
	return errMeta
}

// metaCheck goes through tables of a flatbuffer. left is how many fields there can be.
type metaCheck struct {
	meta []byte
	left int
	err  error
}

func (c *metaCheck) fail(what string) {
	if c.err == nil {
		c.err = errors.New(what)
	}
}

// table returns the table at a place of t.
func (c *metaCheck) table(t *flatbuffers.Table, slot flatbuffers.VOffsetT) (u flatbuffers.Table,
	ok bool) {
	if o := t.Offset(slot); o != 0 {
		t.Union(&u, flatbuffers.UOffsetT(o))
		return u, true
	}
	return u, false
}

// vector returns how many elements of that size stand at a place of t: no more than fit.
func (c *metaCheck) vector(t *flatbuffers.Table, slot flatbuffers.VOffsetT, size int) int {
	o := t.Offset(slot)
	if o == 0 {
		return 0
	}
	n, at := t.VectorLen(flatbuffers.UOffsetT(o)), int(t.Vector(flatbuffers.UOffsetT(o)))
	if n < 0 || at > len(c.meta) || n > (len(c.meta)-at)/size {
		c.fail(fmt.Sprintf("a list of %d", n))
		return 0
	}
	return n
}

// fields looks at the fields of a schema or of a field.
func (c *metaCheck) fields(t *flatbuffers.Table, slot flatbuffers.VOffsetT, depth int) {
	n := c.vector(t, slot, 4)
	if depth > 64 {
		c.fail("fields are nested too deep")
	}
	for i := 0; i < n && c.err == nil; i++ {
		if c.left--; c.left < 0 {
			c.fail("there are more fields than it has room for")
			return
		}
		at := t.Vector(flatbuffers.UOffsetT(t.Offset(slot))) + flatbuffers.UOffsetT(4*i)
		f := flatbuffers.Table{Bytes: c.meta, Pos: t.Indirect(at)}
		c.vector(&f, fieldMeta, 4)
		switch kind := f.GetByteSlot(fieldTypeType, 0); kind {
		case typeBinaryView, typeUTF8View, typeListView, typeLargeListView:
			name := ""
			if o := f.Offset(fieldName); o != 0 {
				name = string(f.ByteVector(f.Pos + flatbuffers.UOffsetT(o)))
			}
			c.fail(fmt.Sprintf("column %q is a view: write it as utf8 or a list", name))
		case typeUnion:
			if u, ok := c.table(&f, fieldType); ok {
				c.vector(&u, unionTypes, 4)
			}
		}
		c.fields(&f, fieldChildren, depth+1)
	}
}

// batch looks at the description of a batch.
func (c *metaCheck) batch(t *flatbuffers.Table) {
	c.vector(t, batchNodes, 16)
	c.vector(t, batchBuffers, 16)
	c.vector(t, batchViews, 8)
}
