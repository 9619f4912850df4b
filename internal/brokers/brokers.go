// Package brokers has what the streams of all brokers share: the parts of a URL that each of them
// has, and how connections are encrypted. The brokers themselves are in modules of their own.
package brokers

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/halfspace-ml/halfspace/training"
)

// Kind is a kind of broker.
type Kind struct {
	Scheme string // what names of streams begin with; variables do in capitals, as NATS_USER
	Of     string // "no stream of ..."
	Form   string // what a bad name is told
	More   string // names of further options, as in "creds, sasl"
}

// Bad is an error in a stream's name.
func (k *Kind) Bad(format string, args ...any) error {
	return training.NewError(training.ErrOption, k.Form, format, args...)
}

// Address is what the name of a stream has with each broker:
//
//	SCHEME://[USER:PASSWORD@]HOST[:PORT][,HOST...]/PATH[?OPTION=VALUE&...]
//
// Options are end, timeout, patience, tls, ca, cert, key and create.
type Address struct {
	*Kind
	Hosts             []string // HOST or HOST:PORT
	Path              string
	Place             string // of the path, what the numbers of messages belong to: the kind's
	End               string // never, now or pause
	Timeout, Patience time.Duration
	Create            bool

	user, password string
	tls            bool
	ca, cert, key  string
}

// Parse takes a name apart. option takes an option that is the kind's own.
func Parse(k *Kind, name string, option func(key, value string) error) (*Address, error) {
	a := &Address{Kind: k, End: "never", Timeout: 5 * time.Second, Patience: 5 * time.Minute}
	rest, ok := strings.CutPrefix(name, k.Scheme+"://")
	if !ok {
		return nil, k.Bad("%q is no stream of %s", name, k.Of)
	}
	rest, query, _ := strings.Cut(rest, "?")
	host, path, _ := strings.Cut(rest, "/")
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		user, password, _ := strings.Cut(host[:i], ":")
		var err, err2 error
		a.user, err = url.PathUnescape(user)
		a.password, err2 = url.PathUnescape(password)
		if err != nil || err2 != nil {
			return nil, k.Bad("user and password: %% begins a code of two digits, %%25 is %%")
		}
		host = host[i+1:]
	}
	a.Path, a.Place = path, path
	if a.Hosts = strings.Split(host, ","); strings.Contains(","+host+",", ",,") {
		return nil, k.Bad("%s: no host", a)
	}
	if a.cut() { // an error with the name would show a part of the password
		return nil, k.Bad("no port or no path: in user and password / is %%2F, ? %%3F, @ %%40")
	}
	options, err := url.ParseQuery(query)
	if err != nil {
		return nil, k.Bad("%s: options: %v", a, err)
	}
	for _, key := range slices.Sorted(maps.Keys(options)) {
		values := options[key]
		if err := a.option(key, values[0], option); err != nil {
			return nil, k.Bad("%s: %s=%s: %v", a, key, values[0], err)
		}
		if len(values) > 1 {
			return nil, k.Bad("%s: %s=%s: given twice", a, key, values[1])
		}
	}
	return a, nil
}

// cut reports whether hosts and path look like a name that a / or ? of its password has cut in two:
// a port that is no number, or an @ before the path's first /.
func (a *Address) cut() bool {
	first, _, _ := strings.Cut(a.Path, "/")
	for _, host := range a.Hosts {
		i := strings.LastIndexByte(host, ':')
		if i < 0 || strings.HasSuffix(host, "]") { // an address of IPv6 without a port
			continue
		}
		if _, err := strconv.ParseUint(host[i+1:], 10, 16); err != nil {
			return true
		}
	}
	return strings.Contains(first, "@")
}

// option takes an option.
func (a *Address) option(key, value string, own func(key, value string) error) (err error) {
	switch key {
	case "end":
		if a.End = value; value != "never" && value != "now" && value != "pause" {
			return errors.New("want never, now or pause")
		}
	case "timeout":
		if a.Timeout, err = time.ParseDuration(value); err != nil || a.Timeout <= 0 {
			return errors.New("want a time, as 5s")
		}
	case "patience":
		if a.Patience, err = time.ParseDuration(value); err != nil || a.Patience < 0 {
			return errors.New("want a time, as 5m")
		}
	case "tls", "create":
		on, err := strconv.ParseBool(value)
		if err != nil {
			return errors.New("want true or false")
		}
		if key == "tls" {
			a.tls = on
		} else {
			a.Create = on
		}
	case "ca":
		a.ca = value
	case "cert":
		a.cert = value
	case "key":
		a.key = value
	default:
		if strings.Contains(", "+a.More+",", ", "+key+",") {
			return own(key, value)
		}
		return fmt.Errorf("no such option; there are end, timeout, patience, tls, ca, cert, key, "+
			"%s, create", a.More)
	}
	return nil
}

// String is the name in errors and models: without what is secret, and without options.
func (a *Address) String() string {
	return a.Scheme + "://" + strings.Join(a.Hosts, ",") + "/" + a.Place
}

// Failed is an error of a broker.
func (a *Address) Failed(next, format string, args ...any) error {
	return training.NewError(training.ErrSource, next, a.String()+": "+format, args...)
}

// Or returns a value, or else that of a variable, as USER for NATS_USER.
func (a *Address) Or(value, variable string) string {
	if value == "" {
		return os.Getenv(strings.ToUpper(a.Scheme) + "_" + variable)
	}
	return value
}

// Login returns the user, "" for none, and the password.
func (a *Address) Login() (user, password string) {
	return a.Or(a.user, "USER"), a.Or(a.password, "PASSWORD")
}

// encrypts reports whether connections are encrypted, whatever the other side asks for.
func (a *Address) encrypts() bool {
	return a.tls || a.Or(a.ca, "CA") != "" || a.Or(a.cert, "CERT") != ""
}

// Encryption returns how connections are encrypted; nil: no option asks for it.
func (a *Address) Encryption() (*tls.Config, error) {
	if !a.encrypts() {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca := a.Or(a.ca, "CA"); ca != "" {
		text, err := os.ReadFile(ca)
		if err != nil {
			return nil, a.Failed("Check the name and its permissions.", "%w", err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, a.Failed("It has certificates in PEM.", "%s: no certificate in it", ca)
		}
	}
	if cert := a.Or(a.cert, "CERT"); cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, a.Or(a.key, "KEY"))
		if err != nil {
			return nil, a.Failed("cert and key are files of PEM.", "%w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// Refused reports whether the other side has ended a connection that was to be encrypted: with a
// word, which doesn't always arrive before the end, or without.
func (a *Address) Refused(err error) bool {
	op := (*net.OpError)(nil)
	return errors.As(err, &op) && (op.Op == "remote error" || a.encrypts() &&
		(errors.Is(op, syscall.EPIPE) || errors.Is(op, syscall.ECONNRESET)))
}
