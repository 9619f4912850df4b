package bench

// limit is the least time that loads and stores take, and what is limited.
type limit struct {
	ns float64
	by string
}

// of puts a limit into a result whose unit is a time.
func (l limit) of(r *Result) {
	if l.ns <= 0 {
		return
	}
	share := l.ns / r.Median
	r.Limit, r.OfLimit, r.LimitBy = &l.ns, &share, l.by
}
