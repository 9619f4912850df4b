// Command user trains by name and predicts: all learners and formats are in it. TestImportCost
// builds it.
package main

import (
	"context"

	"github.com/halfspace-ml/halfspace"
)

func main() {
	m, err := halfspace.Train(context.Background(), halfspace.Options{Learner: "obpm"}, "in")
	if err == nil {
		err = m.Save("model")
	}
	if err != nil {
		panic(err)
	}
}
