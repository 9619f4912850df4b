package main

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/halfspace-ml/halfspace/internal/brokertest"
	"github.com/halfspace-ml/halfspace/internal/commandtest"
)

// TestTLS: connections that are encrypted, with a token or a program's certificate; another
// authority, host or token, or none, is one error that says what to name.
func TestTLS(t *testing.T) {
	ca, cert, key := brokertest.Authority(t, "127.0.0.1")
	other, strange, strangeKey := brokertest.Authority(t, "elsewhere.example")
	serve := func(cert, key, token string, ask bool, more ...nats.Option) string {
		s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true,
			StoreDir: t.TempDir(), NoSigs: true, Authorization: token, TLSTimeout: 20,
			TLSVerify: ask,
			TLSConfig: brokertest.Encrypted(t, ca, cert, key, ask)})
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
		fill(t, js, "ROWS", "rows", brokertest.Rows(100), 10)
		return url
	}
	stream := "/ROWS/rows?end=pause"
	t.Setenv("NATS_TOKEN", "a-token")
	url := serve(cert, key, "a-token", false) + stream
	m := filepath.Join(t.TempDir(), "model")
	commandtest.Run(t, 0, "train", "-q", "-a", "pa", "-m", m, url+"&tls=true&ca="+ca)
	commandtest.Run(t, 0, "train", "-q", "-a", "pa", url+"&ca="+ca) // the server asks for it
	if text := string(commandtest.Content(t, m)); strings.Contains(text, "a-token") ||
		strings.Contains(text, ca) {
		t.Error("the token, or a file's name, is in the model")
	}
	brokertest.Refused(t, url, "certificate", "?ca=FILE")
	brokertest.Refused(t, url+"&ca="+other, "certificate", "?ca=FILE")
	brokertest.Refused(t, url+"&ca="+ca+".no", "no such file", "Check the name")
	brokertest.Refused(t, url+"&ca="+key, "no certificate in it", "PEM")
	brokertest.Refused(t, serve(strange, strangeKey, "a-token", false)+stream+"&ca="+other,
		"127.0.0.1", "?ca=FILE")
	t.Setenv("NATS_TOKEN", "another")
	brokertest.Refused(t, url+"&ca="+ca, "lets nobody in so", "NATS_TOKEN")
	t.Setenv("NATS_TOKEN", "")
	url = serve(cert, key, "", true, nats.ClientCert(cert, key)) + stream + "&ca=" + ca
	commandtest.Run(t, 0, "train", "-q", "-a", "pa", url+"&cert="+cert+"&key="+key)
	brokertest.Refused(t, url, "lets nobody in so", "?cert=FILE")
	brokertest.Refused(t, url+"&cert="+strange+"&key="+strangeKey, "lets nobody in so", "?cert=FILE")
	brokertest.Refused(t, url+"&cert="+cert+"&key="+strangeKey, "private key", "files of PEM")
}
