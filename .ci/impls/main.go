// Command impls reads the JSON of `halfspace doctor --json` and prints the names of the supported
// implementations.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	var d struct {
		Implementations []struct {
			Name      string
			Supported bool
		}
	}
	if err := json.NewDecoder(os.Stdin).Decode(&d); err != nil {
		fmt.Fprintln(os.Stderr, "impls:", err)
		os.Exit(1)
	}
	for _, i := range d.Implementations {
		if i.Supported {
			fmt.Println(i.Name)
		}
	}
}
