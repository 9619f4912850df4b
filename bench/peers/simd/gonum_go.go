//go:build !amd64 || noasm || gccgo || safe

package main

const gonumBuild = "Go"
