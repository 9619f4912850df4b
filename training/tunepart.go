package training

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// Settings that many processes try, some each: what each of them gets wrong is written down, and
// gone through once more by one that sees it all. So a race has the losers that it has on one
// machine, though nobody is dropped while it is learned.

// TunePart is what came of the settings that one process has tried, of all that Tune compares.
type TunePart struct {
	Only  []int   `json:"only"`  // their numbers, ascending
	Tried []Tried `json:"tried"` // of these, CV and Seconds
	Info  []Found `json:"info"`  // of these
	// Log is what RunTunePart has written.
	Log io.Reader `json:"-"`
}

// Found is what Tuned.Info says of the data to those who print it.
type Found struct {
	Dim     int      `json:"dim"`
	Classes []string `json:"classes,omitempty"`
	BadRows int      `json:"bad_rows,omitempty"`
}

func found(info dataset.Info) Found { return Found{info.Dim, info.Classes, info.BadRows} }

// What a log has: a letter, and
//
//	w  n, and a word a setting that is left: bits of the n examples that it got wrong; where they
//	   are judged by losses, n of them each behind the words
//	f  what a fold came to for each setting that is left, where they are judged by that
//	l  there is a look of the race here
//	o  a setting is out from here on: its number, the length of why, and why
//	b  likewise, it can't be saved, as it stands; no text: it can
//	r  all that came before is void: the examples are begun again
//	e  the end: the fingerprint of the examples
//
// Numbers are varints, words, losses, what folds came to and the fingerprint of eight bytes,
// little-endian.
const (
	logWords   = 'w'
	logFold    = 'f'
	logLook    = 'l'
	logOut     = 'o'
	logBroken  = 'b'
	logRestart = 'r'
	logEnd     = 'e'

	maxReason = 1 << 16 // bytes
)

// tuneLog writes one.
type tuneLog struct {
	only   []int
	out    *bufio.Writer
	buf    []byte
	began  bool
	broken map[int]string // as last said
	sum    uint64
}

// begin is called where the examples begin.
func (l *tuneLog) begin() {
	if l.broken = map[int]string{}; l.began {
		l.out.WriteByte(logRestart) // errors of out are sticky, and found by end
	}
	l.began, l.sum = true, 0
}

// add says what the settings that are left got wrong of n examples, and what these cost them where
// that is judged.
func (l *tuneLog) add(alive []int, wrong []uint64, losses [][]float64, n int) {
	if l == nil {
		return
	}
	l.buf = append(l.buf[:0], logWords, byte(n))
	for _, i := range alive {
		l.buf = binary.LittleEndian.AppendUint64(l.buf, wrong[i])
	}
	for _, i := range alive {
		if losses != nil {
			l.numbers(losses[i][:n])
		}
	}
	l.out.Write(l.buf)
}

// numbers puts numbers behind what is to be written.
func (l *tuneLog) numbers(values []float64) {
	for _, v := range values {
		l.buf = binary.LittleEndian.AppendUint64(l.buf, math.Float64bits(v))
	}
}

// fold says what a fold came to for the settings that are left.
func (l *tuneLog) fold(alive []int, values []float64) {
	if l == nil {
		return
	}
	l.buf = append(l.buf[:0], logFold)
	for _, i := range alive {
		l.numbers(values[i : i+1])
	}
	l.out.Write(l.buf)
}

// say writes that a setting is out, or what it is to be saved.
func (l *tuneLog) say(kind byte, i int, why string) {
	why = why[:min(len(why), maxReason)]
	b := binary.AppendUvarint(append(l.buf[:0], kind), uint64(i))
	l.buf = append(binary.AppendUvarint(b, uint64(len(why))), why...)
	l.out.Write(l.buf)
}

// state says what has changed of whether a setting can be saved.
func (l *tuneLog) state(i int, err error) {
	why := ""
	if err != nil {
		why = err.Error()
	}
	if why != l.broken[i] {
		l.broken[i] = why
		l.say(logBroken, i, why)
	}
}

// look says that there is one.
func (l *tuneLog) look() {
	if l != nil {
		l.out.WriteByte(logLook)
	}
}

// learned counts examples into the fingerprint.
func learned[T engine.Float](l *tuneLog, b *engine.Block[T]) {
	if l != nil {
		l.sum = learner.Fingerprinted(l.sum, b)
	}
}

// end writes the end.
func (l *tuneLog) end() error {
	l.buf = binary.LittleEndian.AppendUint64(append(l.buf[:0], logEnd), l.sum)
	l.out.Write(l.buf)
	return l.out.Flush()
}

// RunTunePart is Tune of some of the settings, those of the numbers only, which ascend; the others
// are some other process's. None of them is dropped, and what JoinTune needs to know of each
// example is written to log: a bit a setting, and eight bytes where its loss is judged. Models are
// not written. Errors are those of Tune; a setting that can't go on is in the log, too.
func RunTunePart(ctx context.Context, settings []Options, t TuneOptions, only []int,
	log io.Writer, env Env) (*TunePart, error) {
	for k, i := range only {
		if i < 0 || i >= len(settings) || k > 0 && i <= only[k-1] {
			return nil, badOption("", "{settings}: %v of %d: want ascending numbers of them", only,
				len(settings))
		}
	}
	l := &tuneLog{only: only, out: bufio.NewWriterSize(log, 1<<16)}
	settings = slices.Clone(settings)
	settings[0].Model, t.Watch = "", nil
	res, err := compete(ctx, settings, t, env, l)
	if err != nil {
		return nil, err
	}
	if err := l.end(); err != nil {
		return nil, wrapped(ErrSave, err)
	}
	p := &TunePart{Only: only, Info: res.found}
	for _, i := range only {
		p.Tried = append(p.Tried, res.Tried[i])
	}
	return p, nil
}

// JoinTune returns what Tune of all settings returns, of parts that have tried each of them once:
// the same order, errors, tests and drops, and with a Model of the first Options the same file,
// for which the best is trained once more. Errors wrap learner.ErrParts where a setting is missing
// or comes twice, and learner.ErrTrace where a log is not whole or the parts have seen other
// examples. Cost: that of reading the logs. Memory: 8 bytes for each two settings.
func JoinTune(ctx context.Context, settings []Options, t TuneOptions, parts []TunePart,
	env Env) (*Tuned, error) {
	started := time.Now()
	if err := t.check(); err != nil {
		return nil, err
	}
	j := &tuneJoin{alpha: t.Alpha, folds: t.By == ByFolds, n: len(settings), by: t}
	if err := j.take(parts); err != nil {
		return nil, err
	}
	for done := false; !done; {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("training: %w: nothing was written", ErrStopped)
		}
		var err error
		if done, err = j.step(); err != nil {
			return nil, err
		}
	}
	res := &j.res
	if j.folds {
		for i := range res.Tried {
			res.Tried[i].CV.sum(t.Score)
		}
		if err := res.judge(&t, j.race, nil); err != nil {
			return nil, err
		}
	} else if err := res.judge(&t, j.race, j.failed); err != nil {
		return nil, err
	}
	f := j.info[res.Best]
	res.Info = dataset.Info{Dim: f.Dim, Classes: f.Classes, BadRows: f.BadRows}
	err := tuneRun(ctx, settings, env, res)
	res.Total = time.Since(started)
	return res, err
}

// tuneJoin goes through the logs of parts side by side.
type tuneJoin struct {
	n      int // settings
	alpha  float64
	folds  bool
	logs   []*tuneReader
	race   *race
	by     TuneOptions
	wrong  []uint64
	lost   [][]float64 // nil where no losses are judged
	values []float64   // of a fold
	failed []error
	last   error
	gone   []bool // dropped, or out
	looks  int
	res    Tuned
	info   []Found
}

// reason is why a setting failed, as its part has said it.
type reason string

// Error is error's.
func (r reason) Error() string { return string(r) }

// Is says that it is an ErrDiverged.
func (r reason) Is(err error) bool { return err == ErrDiverged }

// tuneReader reads the log of a part.
type tuneReader struct {
	in    *bufio.Reader
	alive []int
	sum   uint64
}

// take takes the parts.
func (j *tuneJoin) take(parts []TunePart) error {
	seen := make([]bool, j.n)
	j.res.Tried, j.info = make([]Tried, j.n), make([]Found, j.n)
	for k, p := range parts {
		if len(p.Tried) != len(p.Only) || len(p.Info) != len(p.Only) {
			return fmt.Errorf("part %d: %d settings, and %d results: %w", k+1, len(p.Only),
				len(p.Tried), learner.ErrTrace)
		}
		for at, i := range p.Only {
			if i < 0 || i >= j.n || seen[i] {
				return fmt.Errorf("setting %d comes twice, or is none of %d: %w", i+1, j.n,
					learner.ErrParts)
			}
			t := p.Tried[at]
			if seen[i], j.info[i] = true, p.Info[at]; j.folds {
				if t.CV == nil {
					return fmt.Errorf("part %d has no folds: %w", k+1, learner.ErrTrace)
				}
				cv := *t.CV // of which some may be left out
				j.res.Tried[i].CV = &cv
			}
			j.res.Tried[i].Seconds = t.Seconds
		}
		j.logs = append(j.logs, &tuneReader{in: bufio.NewReaderSize(p.Log, 1<<16),
			alive: slices.Clone(p.Only)})
	}
	if i := slices.Index(seen, false); i >= 0 {
		return fmt.Errorf("setting %d is missing: %w", i+1, learner.ErrParts)
	}
	j.begin()
	return nil
}

// begin is where the examples begin.
func (j *tuneJoin) begin() {
	j.race, j.wrong, j.looks = newRace(j.n), make([]uint64, j.n), 0
	j.race.judge(j.by.Score, j.by.foldsJudged())
	if j.values = make([]float64, j.n); j.race.losing() {
		j.lost = make([][]float64, j.n)
		for i := range j.lost {
			j.lost[i] = make([]float64, 64)
		}
	}
	j.failed, j.gone = make([]error, j.n), make([]bool, j.n)
}

// step goes to the next thing that all logs have, through it, and says whether it is the end.
func (j *tuneJoin) step() (done bool, err error) {
	kind, n, sum := byte(0), 0, uint64(0)
	for k, r := range j.logs {
		if len(r.alive) == 0 {
			continue // it ended with them
		}
		got, count, err := j.next(r)
		if err != nil {
			return false, fmt.Errorf("part %d: %w", k+1, err)
		}
		if len(r.alive) == 0 {
			continue
		}
		if kind == 0 {
			kind, n, sum = got, count, r.sum
		}
		if got != kind || count != n || got == logEnd && r.sum != sum {
			return false, fmt.Errorf("part %d has seen other examples than those before it: %w",
				k+1, learner.ErrTrace)
		}
	}
	if len(j.race.alive) == 0 || kind == 0 { // as on one machine, the last reason counts
		return true, j.last
	}
	switch kind {
	case logWords:
		j.race.add(j.wrong, j.lost, n)
	case logFold:
		j.race.fold(j.values)
	case logLook:
		j.looks++
		for _, i := range j.race.look(j.alpha) {
			j.drop(i)
		}
	case logRestart:
		for _, r := range j.logs {
			if len(r.alive) == 0 {
				return false, fmt.Errorf("a part ended before its examples began again: %w",
					learner.ErrTrace)
			}
		}
		j.begin()
	}
	return kind == logEnd, nil
}

// drop has a setting be as it is here.
func (j *tuneJoin) drop(i int) {
	j.gone[i] = true
	if t := &j.res.Tried[i]; j.folds && len(t.CV.Folds) > j.looks {
		t.CV.Folds, t.Seconds = t.CV.Folds[:j.looks], 0
		for _, f := range t.CV.Folds {
			t.Seconds += f.Seconds
		}
	}
}

// next reads on to what all logs have: words, a look, a restart or the end.
func (j *tuneJoin) next(r *tuneReader) (kind byte, n int, err error) {
	for {
		if kind, err = r.in.ReadByte(); err != nil {
			return 0, 0, torn(err)
		}
		switch kind {
		case logWords:
			n, err := r.in.ReadByte()
			if err == nil && (n == 0 || n > 64) {
				err = fmt.Errorf("a word of %d examples: %w", n, learner.ErrTrace)
			}
			for _, i := range r.alive {
				if err == nil {
					j.wrong[i], err = r.word()
				}
			}
			for _, i := range r.alive {
				if err == nil && j.lost != nil {
					err = r.numbers(j.lost[i][:n])
				}
			}
			return kind, int(n), torn(err)
		case logFold:
			if j.race.folds == 0 {
				return 0, 0, fmt.Errorf("what a fold came to, which is not judged: %w",
					learner.ErrTrace)
			}
			for _, i := range r.alive {
				if err == nil {
					err = r.numbers(j.values[i : i+1])
				}
			}
			return kind, 0, torn(err)
		case logLook, logRestart:
			return kind, 0, nil
		case logEnd:
			if r.sum, err = r.word(); err == nil {
				if _, e := r.in.ReadByte(); e != io.EOF {
					err = fmt.Errorf("it goes on behind its end: %w", learner.ErrTrace)
				}
			}
			return kind, 0, torn(err)
		case logOut, logBroken:
			if err := j.said(r, kind); err != nil {
				return 0, 0, torn(err)
			}
			if len(r.alive) == 0 {
				return kind, 0, nil
			}
		default:
			return 0, 0, fmt.Errorf("an entry of kind %q: %w", kind, learner.ErrTrace)
		}
	}
}

// said reads what is said of a setting.
func (j *tuneJoin) said(r *tuneReader, kind byte) error {
	i, err := binary.ReadUvarint(r.in)
	if err != nil {
		return err
	}
	size, err := binary.ReadUvarint(r.in)
	if err != nil {
		return err
	}
	at := slices.Index(r.alive, int(min(i, math.MaxInt32)))
	if at < 0 || size > maxReason || kind == logOut && size == 0 {
		return fmt.Errorf("setting %d: not one that is left: %w", i, learner.ErrTrace)
	}
	why := make([]byte, size)
	if _, err := io.ReadFull(r.in, why); err != nil {
		return err
	}
	if kind == logOut {
		r.alive = slices.Delete(r.alive, at, at+1)
	}
	if j.gone[i] {
		return nil
	}
	if j.failed[i] = nil; size > 0 {
		j.failed[i] = reason(why)
	}
	if kind == logOut {
		j.last = j.failed[i]
		j.race.leave(int(i))
		j.gone[i] = true
		j.res.Tried[i].Failed = string(why)
	}
	return nil
}

// word reads eight bytes.
func (r *tuneReader) word() (uint64, error) {
	var b [8]byte
	_, err := io.ReadFull(r.in, b[:])
	return binary.LittleEndian.Uint64(b[:]), err
}

// numbers reads numbers that are finite.
func (r *tuneReader) numbers(to []float64) error {
	for i := range to {
		w, err := r.word()
		if err != nil {
			return err
		}
		if to[i] = math.Float64frombits(w); to[i]-to[i] != 0 {
			return fmt.Errorf("%v is no loss: %w", to[i], learner.ErrTrace)
		}
	}
	return nil
}

// torn is the error of a log that ends early.
func torn(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("its log ends early: %w", learner.ErrTrace)
	}
	return err
}
