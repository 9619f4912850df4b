// Command typecheck reads packages, their tests and all that they import as the compiler for
// another target does, and reports what does not type-check there. It compiles nothing, which for a
// target of which nothing was compiled before takes ten times as long.
//
//	go run ./.ci/typecheck windows/amd64 ./...
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: typecheck GOOS/GOARCH PACKAGE...")
		os.Exit(2)
	}
	goos, goarch, _ := strings.Cut(os.Args[1], "/")
	found, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles |
			packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax |
			packages.NeedTypesInfo | packages.NeedTypesSizes,
		Env:   append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
		Tests: true,
	}, os.Args[2:]...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if packages.PrintErrors(found) > 0 {
		os.Exit(1)
	}
	fmt.Printf("%s: %d packages\n", os.Args[1], len(found))
}
