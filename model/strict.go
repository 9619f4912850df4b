package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// members calls each for the members of the JSON object that text is, in order, until an error. A
// key that comes twice is one, and so is text behind the object.
func members(text []byte, each func(key string, value json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil {
		return err
	} else if t != json.Delim('{') {
		return fmt.Errorf("%v where an object should be", t)
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string) // the decoder takes no other
		if seen[key] {
			return fmt.Errorf("key %q comes twice", key)
		}
		seen[key] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		if err := each(key, value); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil { // the closing brace
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("text behind its end")
	}
	return nil
}

// exactKeys refuses what encoding/json takes without a word in text that was decoded into v: keys
// of structs that are not theirs letter for letter, and keys that come twice.
func exactKeys(text []byte, v reflect.Value) error {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if string(text) == "null" {
		return nil
	}
	switch v.Kind() {
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Struct {
			return nil
		}
		var list []json.RawMessage
		if err := json.Unmarshal(text, &list); err != nil {
			return err
		}
		for i, value := range list {
			if err := exactKeys(value, v.Index(i)); err != nil {
				return fmt.Errorf("%d: %w", i, err)
			}
		}
	case reflect.Map:
		return members(text, func(string, json.RawMessage) error { return nil })
	case reflect.Struct:
		fields := reflect.VisibleFields(v.Type())
		return members(text, func(key string, value json.RawMessage) error {
			for _, f := range fields {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				if name == "" || name == "-" || name != key {
					continue
				}
				if err := exactKeys(value, v.FieldByIndex(f.Index)); err != nil {
					return fmt.Errorf("%s: %w", key, err)
				}
				return nil
			}
			return fmt.Errorf("unknown key %q", key)
		})
	}
	return nil
}
