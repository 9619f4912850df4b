// Command impls reads the JSON of `halfspace doctor --json` and prints the names of the supported
// implementations: the chosen one, which tests run without being asked, first.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	var d struct {
		Impl            string
		Implementations []struct {
			Name      string
			Supported bool
		}
	}
	if err := json.NewDecoder(os.Stdin).Decode(&d); err != nil {
		fmt.Fprintln(os.Stderr, "impls:", err)
		os.Exit(1)
	}
	fmt.Println(d.Impl)
	for _, i := range d.Implementations {
		if i.Supported && i.Name != d.Impl {
			fmt.Println(i.Name)
		}
	}
}
