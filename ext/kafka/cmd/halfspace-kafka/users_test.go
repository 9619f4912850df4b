package main

import (
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

// TestUsers: a broker that knows who may read; a password is in no model and no error.
func TestUsers(t *testing.T) {
	t.Parallel()
	k, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.EnableSASL(),
		kfake.Superuser("PLAIN", "me", "se@cret"), kfake.Superuser("SCRAM-SHA-256", "you", "secret"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	host := k.ListenAddrs()[0]
	c, err := kgo.NewClient(kgo.SeedBrokers(host), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.SASL(plain.Auth{User: "me", Pass: "se@cret"}.AsMechanism()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	create(t, c, "rows")
	fill(t, c, "rows", brokertest.Rows(100), 10)
	m := filepath.Join(t.TempDir(), "model")
	url := func(user string) string {
		return fmt.Sprintf("kafka://%s@%s/rows/0?end=pause&timeout=2s", user, host)
	}
	commandtest.Run(t, 0, "train", "-q", "-a", "pa", "-m", m, url("me:se%40cret"))
	if text := string(commandtest.Content(t, m)); strings.Contains(text, "cret") {
		t.Error("the password is in the model")
	}
	commandtest.Run(t, 0, "train", "-q", "-a", "pa", url("you:secret")+"&sasl=scram-sha-256")
	out := commandtest.Run(t, 1, "train", "-a", "pa", url("me:wrong"))
	if !strings.Contains(out, "user, password and ?sasl=") || strings.Contains(out, "wrong") {
		t.Errorf("a wrong password: %s", out)
	}
}
