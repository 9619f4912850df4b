package command

import (
	"reflect"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// completeFlags gives the flags of a command, and of those below it, their completion: the values
// of those that have few, files of those that name files, and nothing for numbers and words.
func completeFlags(cmd *cobra.Command) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.NoOptDefVal != "" { // a switch
			return
		}
		complete := cobra.NoFileCompletions
		switch f.Value.(type) {
		case *choice, *setting, learnerFlag:
			complete = func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion,
				cobra.ShellCompDirective) {
				return flagValues(cmd, f), cobra.ShellCompDirectiveNoFileComp
			}
		default:
			if values := flagValues(cmd, f); values != nil {
				complete = cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
			}
		}
		if use := f.Annotations[placeKey]; len(use) > 0 {
			switch use[0] {
			case UseFigures, UseFolder:
				cmd.MarkFlagDirname(f.Name)
			}
			return
		}
		cmd.RegisterFlagCompletionFunc(f.Name, complete)
	})
	for _, c := range cmd.Commands() {
		completeFlags(c)
	}
}

// flagValues returns the values of a flag that has a few of them, else nil. Those of settings are
// the chosen learner's, or all where none is chosen.
func flagValues(cmd *cobra.Command, f *pflag.Flag) []string {
	switch v := f.Value.(type) {
	case *choice:
		return v.options
	case learnerFlag:
		return learner.Names()
	case *setting:
		if len(v.uses) == 0 {
			return v.words
		}
		return append(slices.Clone(v.words), settingValues(cmd, v)...)
	}
	switch f.Name {
	case "impl":
		values := []string{"auto"}
		for _, im := range vecmath.Implementations() {
			values = append(values, im.Name)
		}
		return values
	case "on-error":
		return []string{"stop", "skip", "limit="}
	}
	return nil
}

// settingValues returns the values that the learners which a command line may mean take for one of
// their settings.
func settingValues(cmd *cobra.Command, s *setting) []string {
	of := s.uses
	if name, ok := chosenLearner(cmd); ok && slices.Contains(of, name) {
		of = []string{name}
	}
	var values []string
	add := func(v string) {
		if !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	for _, name := range of {
		e, err := learner.Lookup(name)
		if err != nil {
			continue
		}
		c := e.Config()
		for _, f := range settingsOf(c) {
			if f.flag != s.name {
				continue
			}
			for _, v := range f.values {
				add(v)
			}
			if f.estimated(c) {
				add("auto")
			}
		}
		if s.name == "base" {
			for _, v := range bases(e) {
				add(v)
			}
		}
	}
	return values
}

// bases returns the names of the learners that a wrapper takes as its base.
func bases(e learner.Entry) (names []string) {
	for _, name := range learner.Names() {
		c := e.Config()
		place, config, ok := base(c)
		if !ok {
			return nil
		}
		inner, err := learner.Lookup(name)
		if err != nil {
			continue
		}
		place.SetString(name)
		config.Set(reflect.ValueOf(inner.Config()))
		if c.Validate() == nil {
			names = append(names, name)
		}
	}
	return names
}
