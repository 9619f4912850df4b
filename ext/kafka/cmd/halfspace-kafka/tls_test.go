package main

import (
	"crypto/x509"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"github.com/halfspace-ml/halfspace/internal/brokertest"
	"github.com/halfspace-ml/halfspace/internal/commandtest"
)

// TestTLS: connections that are encrypted, with a user or a program's certificate; another
// authority, host or password, or none, is one error that says what to name.
func TestTLS(t *testing.T) {
	ca, cert, key := brokertest.Authority(t, "127.0.0.1")
	other, strange, strangeKey := brokertest.Authority(t, "elsewhere.example")
	serve := func(cert, key string, users, ask bool) string {
		o := []kfake.Opt{kfake.NumBrokers(1), kfake.TLS(brokertest.Encrypted(t, ca, cert, key,
			ask))}
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
		mine := brokertest.Encrypted(t, ca, cert, key, false)
		mine.RootCAs = x509.NewCertPool()
		mine.RootCAs.AppendCertsFromPEM(commandtest.Content(t, ca))
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
		fill(t, c, "rows", brokertest.Rows(100), 10)
		return host
	}
	url := func(host, options string) string {
		return fmt.Sprintf("kafka://%s/rows/0?end=pause&timeout=2s%s", host, options)
	}
	t.Setenv("KAFKA_USER", "me")
	t.Setenv("KAFKA_PASSWORD", "se@cret")
	host := serve(cert, key, true, false)
	m := filepath.Join(t.TempDir(), "model")
	commandtest.Run(t, 0, "train", "-q", "-a", "pa", "-m", m, url(host, "&tls=true&ca="+ca))
	if text := string(commandtest.Content(t, m)); strings.Contains(text, "cret") ||
		strings.Contains(text, ca) {
		t.Error("the password, or a file's name, is in the model")
	}
	brokertest.Refused(t, url(host, "&tls=true"), "certificate", "?ca=FILE")
	brokertest.Refused(t, url(host, "&ca="+other), "certificate", "?ca=FILE")
	brokertest.Refused(t, url(host, "&ca="+ca+".no"), "no such file", "Check the name")
	brokertest.Refused(t, url(host, "&ca="+key), "no certificate in it", "PEM")
	brokertest.Refused(t, url(serve(strange, strangeKey, true, false), "&ca="+other), "127.0.0.1",
		"?ca=FILE")
	brokertest.Refused(t, url(host, ""), "", "tls=true") // a broker that encrypts, and we don't
	t.Setenv("KAFKA_PASSWORD", "another")
	brokertest.Refused(t, url(host, "&ca="+ca), "", "?sasl=")
	t.Setenv("KAFKA_USER", "")
	host = serve(cert, key, false, true)
	commandtest.Run(t, 0, "train", "-q", "-a", "pa", url(host, "&ca="+ca+"&cert="+cert+"&key="+key))
	brokertest.Refused(t, url(host, "&ca="+ca), "lets nobody in so", "?cert=FILE")
	brokertest.Refused(t, url(host, "&ca="+ca+"&cert="+strange+"&key="+strangeKey),
		"lets nobody in so", "?cert=FILE")
	brokertest.Refused(t, url(host, "&ca="+ca+"&cert="+cert+"&key="+strangeKey), "private key",
		"files of PEM")
}
