// Command halfspace learns linear classifiers with a large margin, one example at a time, and uses
// them.
package main

import "os"

func main() { os.Exit(run()) }
