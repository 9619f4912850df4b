//go:build !amd64 && !arm64

package vecmath

func symRankOneMul[T Float](y, v *T, stride int, x *T, a T, u *T, n int) {
	symRankOneMulGeneric(y, v, stride, x, a, u, n)
}
