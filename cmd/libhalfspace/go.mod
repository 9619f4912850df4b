module github.com/halfspace-ml/halfspace/cmd/libhalfspace

go 1.26.0

require github.com/halfspace-ml/halfspace v0.0.0

require (
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/therootcompany/xz v1.0.1 // indirect
	github.com/twmb/murmur3 v1.2.2 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/halfspace-ml/halfspace => ../..
