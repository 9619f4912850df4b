package brokertest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halfspace-ml/halfspace/internal/commandtest"
)

// Authority makes an authority in files of PEM: its own certificate, and one with its key of a
// server, or a program, of those hosts. They hold for an hour.
func Authority(t testing.TB, hosts ...string) (ca, cert, key string) {
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

// Encrypted is how a server of that certificate encrypts; with ask it lets in programs alone whose
// certificate is of the authority.
func Encrypted(t testing.TB, ca, cert, key string, ask bool) *tls.Config {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	c := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if ask {
		c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		c.ClientCAs.AppendCertsFromPEM(commandtest.Content(t, ca))
	}
	return c
}

// Refused runs train on a stream, which must end with one error that says that, and a next step.
func Refused(t testing.TB, url, says, next string) {
	t.Helper()
	out := commandtest.Run(t, 1, "train", "-q", "-a", "pa", url)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], says) || !strings.Contains(lines[1], next) {
		t.Errorf("%s, want %q and %q", out, says, next)
	}
}
