// Command importer imports what a program needs that trains and predicts. TestImportCost builds it.
package main

import (
	_ "github.com/halfspace-ml/halfspace/dataset"
	_ "github.com/halfspace-ml/halfspace/internal/eval"
	_ "github.com/halfspace-ml/halfspace/learner"
	_ "github.com/halfspace-ml/halfspace/learners"
	_ "github.com/halfspace-ml/halfspace/model"
)

func main() {}
