package arrow_test

import (
	"context"
	"fmt"
	"strings"

	arr "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/ext/arrow"
)

// A program's record batches are examples: of columns of numbers and of texts.
func ExampleLoad() {
	schema := arr.NewSchema([]arr.Field{{Name: "age", Type: arr.PrimitiveTypes.Float64},
		{Name: "job", Type: arr.BinaryTypes.String},
		{Name: "clicked", Type: arr.FixedWidthTypes.Boolean}}, nil)
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(
		`[{"age":31,"job":"clerk","clicked":false},{"age":52,"job":"smith","clicked":true}]`))
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := array.NewRecordReader(schema, []arr.RecordBatch{batch})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rows.Release()
	d, err := arrow.Load[float64](context.Background(), "people", rows, dataset.Options{
		LabelCol: "clicked"})
	if err != nil {
		fmt.Println(err)
		return
	}
	idx, val := d.Block.Sparse(1)
	fmt.Println(d.Info.Names, d.Block.Y, idx, val)
	// Output:
	// [job=clerk job=smith] [-1 1] [0 2] [52 1]
}
