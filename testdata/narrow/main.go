// Command narrow imports the learners and nothing that reads files. TestImportCost builds it.
package main

import (
	_ "github.com/halfspace-ml/halfspace/learner"
	_ "github.com/halfspace-ml/halfspace/learners"
)

func main() {}
