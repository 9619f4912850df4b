package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/internal/spelling"
	"github.com/halfspace-ml/halfspace/learner"
)

// learnerFlags are the flags made of the fields of every learner's Config. Learners share a flag of
// one name; which of them it serves is known when the learner is.
type learnerFlags struct {
	fs   *pflag.FlagSet
	text map[string]*setting
}

// setting is the text given for a flag.
type setting struct {
	name string
	typ  string
	text string
	uses []string // learners that have it

	// words that are no values of the setting, and where they go: the flag is another's too
	words []string
	word  *string
	rest  string // the word without
	said  string // help on the words
}

func (s *setting) String() string {
	if s.text == "" && s.word != nil {
		return *s.word
	}
	return s.text
}

func (s *setting) Type() string { return s.typ }

func (s *setting) Set(text string) error {
	if slices.Contains(s.words, text) {
		*s.word = text
	} else {
		s.text = text
	}
	return nil
}

// reset takes back what was given.
func (s *setting) reset() {
	if s.text = ""; s.word != nil {
		*s.word = s.rest
	}
}

// given returns all that was given.
func (s *setting) given() (texts []string) {
	if s.word != nil && *s.word != s.rest {
		texts = append(texts, *s.word)
	}
	if s.text != "" || len(texts) == 0 {
		texts = append(texts, s.String())
	}
	return texts
}

// share has words that are given for a learners' flag go to another place. The flag may be given
// twice, for both.
func (l *learnerFlags) share(flag string, word *string, help string, words ...string) {
	s, f := l.text[flag], l.fs.Lookup(flag)
	s.words, s.word, s.rest, s.said = words, word, *word, help
	s.typ = strings.Join(words, "|") + "|" + s.typ
	f.Usage = help + "\n" + f.Usage
}

// changed reports whether a learners' flag was given for the learner.
func (l *learnerFlags) changed(flag string) bool {
	s := l.text[flag]
	return l.fs.Lookup(flag).Changed && (s.word == nil || s.text != "")
}

// addLearnerFlags adds a flag for every field with a flag tag of every registered learner.
func addLearnerFlags(fs *pflag.FlagSet) *learnerFlags {
	l := &learnerFlags{fs: fs, text: map[string]*setting{}}
	type line struct {
		learners, text string
	}
	help := map[string][]line{} // of a flag; learners with the same text share one
	kinds := map[string]reflect.Kind{}
	var order []string
	for _, name := range learner.Names() {
		e, err := learner.Lookup(name)
		if err != nil {
			panic(err)
		}
		for _, f := range settingsOf(e.Config()) {
			s := l.text[f.flag]
			if s == nil {
				s = &setting{name: f.flag, typ: f.kind()}
				l.text[f.flag] = s
				kinds[f.flag] = f.value.Kind()
				order = append(order, f.flag)
			}
			if (kinds[f.flag] == reflect.Bool) != (f.value.Kind() == reflect.Bool) {
				panic("halfspace: --" + f.flag + " is a switch for one learner and takes a " +
					"value for another")
			}
			s.uses = append(s.uses, name)
			text := f.help
			if !f.value.IsZero() || f.named() {
				text += fmt.Sprintf(" (default %v)", f.shown())
			}
			if i := slices.IndexFunc(help[f.flag],
				func(l line) bool { return l.text == text }); i >= 0 {
				help[f.flag][i].learners += ", " + name
			} else {
				help[f.flag] = append(help[f.flag], line{name, text})
			}
		}
	}
	for _, flag := range order {
		var lines []string
		for _, h := range help[flag] {
			lines = append(lines, h.learners+": "+h.text)
		}
		f := fs.VarPF(l.text[flag], flag, "", strings.Join(lines, "\n"))
		if kinds[flag] == reflect.Bool {
			f.NoOptDefVal = "true"
		}
	}
	return l
}

// field is a setting of a Config.
type field struct {
	flag, help string
	// when it has an effect: "kernel=poly|rbf,scale" is --kernel poly, --kernel rbf or any --scale;
	// "" is always
	with   string
	values []string // all that it can be, where they are few
	tune   []string // values worth trying beside each other, where there are such
	value  reflect.Value
	auto   reflect.Value // the switch that the value "auto" sets; not valid where there is none
	// what is said of auto
	autoHelp string
}

// kind returns what the flag takes: its values where they are few, else their type.
func (f field) kind() string {
	if f.values != nil {
		return strings.Join(f.values, "|")
	}
	return kindName(f.value.Kind())
}

// text returns the value as the flag takes it.
func (f field) text() string {
	if f.auto.IsValid() && f.auto.Bool() {
		return "auto"
	}
	return f.shown()
}

// named reports whether the setting is one of few names, of which "" stands for the first.
func (f field) named() bool { return f.values != nil && f.value.Kind() == reflect.String }

// shown returns the value.
func (f field) shown() string {
	if f.named() && f.value.Len() == 0 {
		return f.values[0]
	}
	return fmt.Sprint(f.value.Interface())
}

// set gives the field the flag's text.
func (f field) set(text string) error {
	if f.auto.IsValid() {
		if f.auto.SetBool(text == "auto"); text == "auto" {
			return nil
		}
	}
	return parseInto(f.value, text)
}

// estimators returns the learners that take auto for a flag.
func estimators(flag string) (names []string) {
	for _, name := range learner.Names() {
		e, err := learner.Lookup(name)
		if err != nil {
			continue
		}
		c := e.Config()
		for _, f := range settingsOf(c) {
			if f.flag == flag && f.estimated(c) {
				names = append(names, name)
			}
		}
	}
	return names
}

// estimated reports whether c, of which f is a setting, takes auto for it.
func (f field) estimated(c learner.Config) bool {
	if !f.auto.IsValid() {
		return false
	}
	before := f.auto.Bool()
	f.auto.SetBool(true)
	err := c.Validate()
	f.auto.SetBool(before)
	return err == nil
}

// line returns the help on f, a setting of c: with what auto does, and what it has no effect
// without.
func (f field) line(c learner.Config) string {
	text := f.help
	if f.estimated(c) {
		text += "; auto " + f.autoHelp
	}
	if want, idle := f.idle(settingsOf(c)); idle {
		text += "; only with " + want
	}
	return text
}

// idle reports whether f has no effect beside the other settings of its Config, and says what it
// wants. What it wants must have an effect itself.
func (f field) idle(all []field) (want string, yes bool) {
	if f.with == "" {
		return "", false
	}
	var wants []string
	for _, or := range strings.Split(f.with, ",") {
		flag, list, _ := strings.Cut(or, "=")
		i := slices.IndexFunc(all, func(g field) bool { return g.flag == flag })
		if want, idle := all[i].idle(all); idle {
			wants = append(wants, want)
			continue
		}
		if list == "" {
			wants = append(wants, "--"+flag)
			if !all[i].value.IsZero() {
				return "", false
			}
			continue
		}
		values := strings.Split(list, "|")
		wants = append(wants, "--"+flag+" "+strings.Join(values, " or "))
		if slices.Contains(values, fmt.Sprint(all[i].value.Interface())) {
			return "", false
		}
	}
	return strings.Join(wants, " or "), true
}

// settingsOf returns the fields of c that have flags; those of embedded structs too.
func settingsOf(c learner.Config) []field {
	return settingsOfStruct(c, reflect.ValueOf(c).Elem())
}

// settingsOfStruct returns those of v, which is c's struct or one that is embedded there.
func settingsOfStruct(c learner.Config, v reflect.Value) []field {
	var list []field
	for i := range v.NumField() {
		t := v.Type().Field(i)
		if t.Anonymous && t.Type.Kind() == reflect.Struct {
			list = append(list, settingsOfStruct(c, v.Field(i))...)
		} else if flag := t.Tag.Get("flag"); flag != "" && t.IsExported() {
			f := field{flag: flag, help: c.Help(t.Name), with: t.Tag.Get("with"),
				value: v.Field(i)}
			if values := t.Tag.Get("values"); values != "" {
				f.values = strings.Split(values, "|")
			}
			if tune := t.Tag.Get("tune"); tune != "" {
				f.tune = strings.Split(tune, "|")
			}
			if auto := t.Tag.Get("auto"); auto != "" {
				f.auto, f.autoHelp = v.FieldByName(auto), c.Help(auto)
			}
			list = append(list, f)
		}
	}
	return list
}

func kindName(k reflect.Kind) string {
	switch k {
	case reflect.Bool:
		return "bool"
	case reflect.Float32, reflect.Float64:
		return "float"
	case reflect.String:
		return "string"
	}
	return "int"
}

// base returns the places of c for a base learner's name and Config, if it has them (obpm).
func base(c learner.Config) (name, config reflect.Value, ok bool) {
	v := reflect.ValueOf(c).Elem()
	name, config = v.FieldByName("Base"), v.FieldByName("BaseConfig")
	ok = name.IsValid() && config.IsValid() && name.Kind() == reflect.String &&
		config.Type() == reflect.TypeFor[learner.Config]()
	return name, config, ok
}

// apply sets the fields of c to what the flags say. c starts from its defaults, or from a model's
// settings. A flag that is neither of the learner nor of its base learner is an error, and so is
// one that has no effect beside the others.
func (l *learnerFlags) apply(learnerName string, c learner.Config) error {
	used := map[string]bool{}
	set := func(c learner.Config) error {
		all := settingsOf(c)
		var mine []field
		for _, f := range all {
			if !l.changed(f.flag) || used[f.flag] {
				continue
			}
			used[f.flag] = true
			text := l.text[f.flag].text
			if err := f.set(text); err != nil {
				next := "The flags: halfspace train -a " + learnerName + " --help."
				if names := estimators(f.flag); text == "auto" && len(names) > 0 {
					next = "Learners that estimate it: " + strings.Join(names, ", ") + "."
				}
				return Usage(next, "%s %s: %w", Given(l.fs, f.flag), text, plainNumber(err))
			}
			mine = append(mine, f)
		}
		for _, f := range mine {
			if want, idle := f.idle(all); idle && !f.value.IsZero() {
				return Usage("Add that, or leave it out.", "%s %s has no effect without %s",
					Given(l.fs, f.flag), l.text[f.flag].text, want)
			}
		}
		return nil
	}
	if err := set(c); err != nil {
		return err
	}
	has := flagNames(c)
	who := learnerName
	if name, config, ok := base(c); ok {
		if bc, _ := config.Interface().(learner.Config); bc == nil || l.fs.Lookup("base").Changed {
			e, err := lookupLearner("--base", name.String())
			if err != nil {
				return err
			}
			fresh := e.Config()
			if bc == nil || reflect.TypeOf(bc) != reflect.TypeOf(fresh) {
				config.Set(reflect.ValueOf(fresh))
			}
		}
		bc := config.Interface().(learner.Config)
		if err := set(bc); err != nil {
			return err
		}
		has = append(has, flagNames(bc)...)
		who += " with base " + name.String()
	}
	var err error
	l.fs.VisitAll(func(f *pflag.Flag) {
		if s := l.text[f.Name]; err == nil && s != nil && l.changed(f.Name) && !used[f.Name] {
			err = Usage(
				fmt.Sprintf("Flags of %s: %s.", who, strings.Join(dashed(has), ", ")),
				"%s is a flag of %s, not of %s", Given(l.fs, f.Name), strings.Join(s.uses, ", "),
				who)
		}
	})
	return err
}

// config returns the learner that -a chooses, and its settings as the flags say.
func (l *learnerFlags) config(chosen string) (string, learner.Config, error) {
	e, err := lookupLearner(Given(l.fs, "learner"), chosen)
	if err != nil {
		return "", nil, err
	}
	c := e.Config()
	if wrapper, around, ok := wrapperOf(l.fs, chosen); ok {
		if l.fs.Changed("base") {
			return "", nil, Usage("Leave one of them out.",
				"%s and %s exclude each other, but with %s %s", Given(l.fs, wrapper),
				Given(l.fs, "base"), Given(l.fs, "learner"), wrapper)
		}
		name, config, _ := base(around)
		name.SetString(chosen)
		config.Set(reflect.ValueOf(c))
		chosen, c = wrapper, around
	}
	return chosen, c, l.apply(chosen, c)
}

// wrapperOf finds the learner that the one of -a is wrapped in: one with a base whose own name is a
// flag of it, which is given. So -a NAME --rff D is the learner rff with the base NAME.
func wrapperOf(fs *pflag.FlagSet, chosen string) (name string, c learner.Config, ok bool) {
	for _, name := range learner.Names() {
		e, err := learner.Lookup(name)
		if f := fs.Lookup(name); err != nil || name == chosen || f == nil || !f.Changed ||
			!ofLearner(f) {
			continue
		}
		c := e.Config()
		if _, _, wraps := base(c); wraps && slices.Contains(flagNames(c), name) {
			return name, c, true
		}
	}
	return "", nil, false
}

// unchanged applies flags to a model's settings. Learning goes on only as it began: a flag that
// changes what the model keeps is an error.
func (l *learnerFlags) unchanged(learner string, have learner.Config) (learner.Config, error) {
	want, err := copyConfig(learner, have)
	if err != nil {
		return nil, err
	}
	if err := l.apply(learner, want); err != nil {
		return nil, err
	}
	a, errA := json.Marshal(have)
	b, errB := json.Marshal(want)
	if errA != nil || errB != nil {
		return nil, fmt.Errorf("settings of %s: %w", learner, errors.Join(errA, errB))
	}
	if string(a) == string(b) {
		return want, nil
	}
	var names []string
	l.fs.Visit(func(f *pflag.Flag) {
		if l.text[f.Name] != nil && l.changed(f.Name) {
			names = append(names, Given(l.fs, f.Name)+" "+f.Value.String())
		}
	})
	return nil, Usage("Leave the learner's flags out: they come from the model.",
		"%s would change the settings of the model, which are %s", strings.Join(names, ", "), a)
}

// copyConfig returns a deep copy, by way of JSON.
func copyConfig(learner string, c learner.Config) (learner.Config, error) {
	e, err := lookupLearner("-a", learner)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	d := e.Config()
	if err := json.Unmarshal(text, d); err != nil {
		return nil, err
	}
	return d, nil
}

// lookupLearner finds a learner; the error suggests the nearest name.
func lookupLearner(flag, name string) (learner.Entry, error) {
	e, err := learner.Lookup(name)
	if err == nil {
		return e, nil
	}
	next := "The learners: " + strings.Join(learner.Names(), ", ") + "."
	if near := spelling.Nearest(name, learner.Names()); near != "" {
		next = "Did you mean " + near + "? " + next
	}
	return e, Usage(next, "%s %s: no such learner", flag, name)
}

func flagNames(c learner.Config) []string {
	var names []string
	for _, f := range settingsOf(c) {
		names = append(names, f.flag)
	}
	return names
}

func dashed(names []string) []string {
	names = slices.Clone(names)
	for i, n := range names {
		names[i] = "--" + n
	}
	return names
}

// parseInto sets a field from text.
func parseInto(v reflect.Value, text string) error {
	switch v.Kind() {
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return err
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, v.Type().Bits())
		if err != nil {
			return err
		}
		v.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, v.Type().Bits())
		if err != nil {
			return err
		}
		v.SetUint(n)
	case reflect.Float32, reflect.Float64:
		x, err := strconv.ParseFloat(text, v.Type().Bits())
		if err != nil {
			return err
		}
		v.SetFloat(x)
	case reflect.String:
		v.SetString(text)
	default:
		return fmt.Errorf("a field of type %s can't be a flag", v.Type())
	}
	return nil
}

// learnerHelp lists the learners.
func learnerHelp() string {
	var b strings.Builder
	for _, name := range learner.Names() {
		e, _ := learner.Lookup(name)
		fmt.Fprintf(&b, "  %-12s  %s\n", name, e.Summary)
	}
	return b.String()
}

// learnersThat returns the learners that have a trait.
func learnersThat(has func(learner.Traits) bool) (names []string) {
	for _, name := range learner.Names() {
		if e, err := learner.Lookup(name); err == nil && has(e.Config().Traits()) {
			names = append(names, name)
		}
	}
	return names
}

// who lists the learners that have a trait, as flags for those alone end their help.
func who(has func(learner.Traits) bool) string {
	return " (" + strings.Join(learnersThat(has), ", ") + ")"
}
