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

// TestUsers: a server that knows who may read; a password is in no model and no error.
func TestUsers(t *testing.T) {
	t.Parallel()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true,
		StoreDir: t.TempDir(), NoSigs: true, Username: "me", Password: "se@cret"})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(s.Shutdown)
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("no server")
	}
	port := s.Addr().(*net.TCPAddr).Port
	c, err := nats.Connect(s.ClientURL(), nats.UserInfo("me", "se@cret"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	js, err := jetstream.New(c)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, js, "ROWS", "rows", brokertest.Rows(100), 10)
	m := filepath.Join(t.TempDir(), "model")
	url := fmt.Sprintf("nats://me:%s@127.0.0.1:%d/ROWS/rows?end=pause", "se%40cret", port)
	commandtest.Run(t, 0, "train", "-q", "-a", "pa", "-m", m, url)
	if text := string(commandtest.Content(t, m)); strings.Contains(text, "cret") {
		t.Error("the password is in the model")
	}
	out := commandtest.Run(t, 1, "train", "-a", "pa", strings.Replace(url, "se%40cret", "wrong", 1))
	if !strings.Contains(out, "lets nobody in so") || strings.Contains(out, "wrong") {
		t.Errorf("a wrong password: %s", out)
	}
}
