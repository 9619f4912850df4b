// Package vecmath holds the numeric kernels of halfspace: dense and sparse vector operations and
// the member-lane kernels, for float32 and float64, in AVX-512, AVX2 (with FMA), NEON and plain Go.
//
// # The same bits
//
// The order of operations of a kernel is part of its contract, and every implementation keeps it,
// so a result does not depend on the CPU. The plain Go functions whose names end in Generic are the
// reference; the tests compare every implementation with them bit for bit. The rules:
//
//   - Every multiply-add is fused (one rounding). Nothing else is fused or reordered.
//   - Element-wise kernels (Axpy, Scal, Exp, lanes) treat each element on its own.
//   - Dense reductions (Dot, SumSq, SqDist, Asum, rows x vector) keep 64 partial sums for float32,
//     32 for float64. All start at +0, element i is added to partial sum i mod 64 (32), and a
//     partial sum that owns no element of a short input stays +0. They are combined by halving: for
//     h = 32 (16), ..., 2, 1: p[i] += p[i+h] for i < h.
//   - Sparse reductions keep 8 partial sums: non-zero k is added to partial sum k mod 8; the same
//     halving tree.
//   - Member lanes: each lane starts at +0 and adds its products in the order of the non-zeros.
//   - Denormals are kept. Any NaN equals any other: its sign and payload are not part of a
//     contract.
//
// # Choosing an implementation
//
// The best one that CPU and operating system support is chosen at start. The environment variable
// HALFSPACE_IMPL (or [Use]) forces one by name. A name that is unknown, or that this machine does
// not support, is an error that changes nothing: Use returns it; for the environment, [Err] does,
// and the best one is used meanwhile. [Implementations], [Active] and [Why] tell what there is and
// what was chosen; [SelfTest] compares one with the reference.
//
// # Conventions
//
// The destination comes first, lengths are elements, slices of one call have the length of the
// first (a shorter one panics, a longer one is cut). Kernels allocate nothing, keep nothing and are
// safe for concurrent use on distinct destinations. Sparse kernels check the ends of a list of
// indices; [CheckIndices] checks all of it.
//
// Package vecmath above internal/ has what other modules may call.
package vecmath

// Float is the element type of kernels.
type Float interface{ float32 | float64 }
