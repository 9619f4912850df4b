package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
)

// TestTLS: connections that are encrypted, with a user or a program's certificate; another
// authority, host or password, or none, is one error that says what to name.
func TestTLS(t *testing.T) {
	ca, cert, key := authority(t, "127.0.0.1")
	other, strange, strangeKey := authority(t, "elsewhere.example")
	serve := func(cert, key string, users, ask bool) string {
		o := []kfake.Opt{kfake.NumBrokers(1), kfake.TLS(encrypted(t, ca, cert, key, ask))}
		if users {
			o = append(o, kfake.EnableSASL(), kfake.Superuser("PLAIN", "me", "se@cret"))
		}
		k, err := kfake.NewCluster(o...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(k.Close)
		host := k.ListenAddrs()[0]
		if cert == strange {
			return host
		}
		mine := encrypted(t, ca, cert, key, false)
		mine.RootCAs = x509.NewCertPool()
		mine.RootCAs.AppendCertsFromPEM(content(t, ca))
		with := []kgo.Opt{kgo.SeedBrokers(host), kgo.DialTLSConfig(mine),
			kgo.RecordPartitioner(kgo.ManualPartitioner())}
		if users {
			with = append(with, kgo.SASL(plain.Auth{User: "me", Pass: "se@cret"}.AsMechanism()))
		}
		c, err := kgo.NewClient(with...)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		create(t, c, "rows")
		fill(t, c, "rows", rows(100), 10)
		return host
	}
	url := func(host, options string) string {
		return fmt.Sprintf("kafka://%s/rows/0?end=pause&timeout=2s%s", host, options)
	}
	t.Setenv("KAFKA_USER", "me")
	t.Setenv("KAFKA_PASSWORD", "se@cret")
	host := serve(cert, key, true, false)
	m := filepath.Join(t.TempDir(), "model")
	halfspace(t, 0, "train", "-q", "-a", "pa", "-m", m, url(host, "&tls=true&ca="+ca))
	if text := string(content(t, m)); strings.Contains(text, "cret") || strings.Contains(text, ca) {
		t.Error("the password, or a file's name, is in the model")
	}
	refused(t, url(host, "&tls=true"), "certificate", "?ca=FILE")
	refused(t, url(host, "&ca="+other), "certificate", "?ca=FILE")
	refused(t, url(host, "&ca="+ca+".no"), "no such file", "Check the name")
	refused(t, url(host, "&ca="+key), "no certificate in it", "PEM")
	refused(t, url(serve(strange, strangeKey, true, false), "&ca="+other), "127.0.0.1", "?ca=FILE")
	refused(t, url(host, ""), "", "tls=true") // a broker that encrypts, and we don't
	t.Setenv("KAFKA_PASSWORD", "another")
	refused(t, url(host, "&ca="+ca), "", "?sasl=")
	t.Setenv("KAFKA_USER", "")
	host = serve(cert, key, false, true)
	halfspace(t, 0, "train", "-q", "-a", "pa", url(host, "&ca="+ca+"&cert="+cert+"&key="+key))
	refused(t, url(host, "&ca="+ca), "lets nobody in so", "?cert=FILE")
	refused(t, url(host, "&ca="+ca+"&cert="+strange+"&key="+strangeKey), "lets nobody in so",
		"?cert=FILE")
	refused(t, url(host, "&ca="+ca+"&cert="+cert+"&key="+strangeKey), "private key",
		"files of PEM")
}

// authority makes an authority in files of PEM: its own certificate, and one with its key of a
// server, or a program, of those hosts. They hold for an hour.
func authority(t testing.TB, hosts ...string) (ca, cert, key string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		name = filepath.Join(dir, name)
		text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	made := func(x, by *x509.Certificate, key *ecdsa.PrivateKey, byKey *ecdsa.PrivateKey) []byte {
		der, err := x509.CreateCertificate(rand.Reader, x, by, &key.PublicKey, byKey)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ownKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	root := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true,
		Subject: pkix.Name{CommonName: "test"}, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	own := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "own"},
		NotBefore: root.NotBefore, NotAfter: root.NotAfter,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			own.IPAddresses = append(own.IPAddresses, ip)
		} else {
			own.DNSNames = append(own.DNSNames, h)
		}
	}
	ca = write("ca.pem", "CERTIFICATE", made(root, root, caKey, caKey))
	cert = write("cert.pem", "CERTIFICATE", made(own, root, ownKey, caKey))
	der, err := x509.MarshalPKCS8PrivateKey(ownKey)
	if err != nil {
		t.Fatal(err)
	}
	return ca, cert, write("key.pem", "PRIVATE KEY", der)
}

// encrypted is how a server of that certificate encrypts; with ask it lets in programs alone whose
// certificate is of the authority.
func encrypted(t testing.TB, ca, cert, key string, ask bool) *tls.Config {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	c := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if ask {
		c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		c.ClientCAs.AppendCertsFromPEM(content(t, ca))
	}
	return c
}

// refused runs train on a stream, which must end with one error that says that, and a next step.
func refused(t testing.TB, url, says, next string) {
	t.Helper()
	out := halfspace(t, 1, "train", "-q", "-a", "pa", url)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], says) || !strings.Contains(lines[1], next) {
		t.Errorf("%s, want %q and %q", out, says, next)
	}
}
