// Command halfspace-arrow is the command halfspace that reads Parquet and Arrow, too.
package main

import (
	"os"

	_ "github.com/halfspace-ml/halfspace/ext/arrow" // registers the formats
	"github.com/halfspace-ml/halfspace/internal/command"
)

func main() { os.Exit(command.Run()) }
