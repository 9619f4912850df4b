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

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// TestTLS: connections that are encrypted, with a token or a program's certificate; another
// authority, host or token, or none, is one error that says what to name.
func TestTLS(t *testing.T) {
	ca, cert, key := authority(t, "127.0.0.1")
	other, strange, strangeKey := authority(t, "elsewhere.example")
	serve := func(cert, key, token string, ask bool, more ...nats.Option) string {
		s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true,
			StoreDir: t.TempDir(), NoSigs: true, Authorization: token, TLSTimeout: 20,
			TLSVerify: ask,
			TLSConfig: encrypted(t, ca, cert, key, ask)})
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		t.Cleanup(s.Shutdown)
		if !s.ReadyForConnections(20 * time.Second) {
			t.Fatal("no server")
		}
		url := fmt.Sprintf("nats://127.0.0.1:%d", s.Addr().(*net.TCPAddr).Port)
		if cert == strange {
			return url
		}
		c, err := nats.Connect(url, append(more, nats.RootCAs(ca), nats.Token(token))...)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		js, err := jetstream.New(c)
		if err != nil {
			t.Fatal(err)
		}
		fill(t, js, "ROWS", "rows", rows(100), 10)
		return url
	}
	stream := "/ROWS/rows?end=pause"
	t.Setenv("NATS_TOKEN", "a-token")
	url := serve(cert, key, "a-token", false) + stream
	m := filepath.Join(t.TempDir(), "model")
	halfspace(t, 0, "train", "-q", "-a", "pa", "-m", m, url+"&tls=true&ca="+ca)
	halfspace(t, 0, "train", "-q", "-a", "pa", url+"&ca="+ca) // the server asks for it
	if text := string(content(t, m)); strings.Contains(text, "a-token") ||
		strings.Contains(text, ca) {
		t.Error("the token, or a file's name, is in the model")
	}
	refused(t, url, "certificate", "?ca=FILE")
	refused(t, url+"&ca="+other, "certificate", "?ca=FILE")
	refused(t, url+"&ca="+ca+".no", "no such file", "Check the name")
	refused(t, url+"&ca="+key, "no certificate in it", "PEM")
	refused(t, serve(strange, strangeKey, "a-token", false)+stream+"&ca="+other, "127.0.0.1",
		"?ca=FILE")
	t.Setenv("NATS_TOKEN", "another")
	refused(t, url+"&ca="+ca, "lets nobody in so", "NATS_TOKEN")
	t.Setenv("NATS_TOKEN", "")
	url = serve(cert, key, "", true, nats.ClientCert(cert, key)) + stream + "&ca=" + ca
	halfspace(t, 0, "train", "-q", "-a", "pa", url+"&cert="+cert+"&key="+key)
	refused(t, url, "lets nobody in so", "?cert=FILE")
	refused(t, url+"&cert="+strange+"&key="+strangeKey, "lets nobody in so", "?cert=FILE")
	refused(t, url+"&cert="+cert+"&key="+strangeKey, "private key", "files of PEM")
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
