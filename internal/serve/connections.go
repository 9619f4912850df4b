package serve

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// connections bounds those of a server by HTTP.
type connections struct {
	most int

	mu  sync.Mutex
	all map[net.Conn]*connection
}

// connection is one of them. The zero value, of a request that came another way, does nothing.
type connection struct {
	of *connections
	// working says that its request is being answered: else the server waits for the client,
	since   time.Time
	working bool
	idle    bool // and for its next request
	closed  bool // to make room
}

func newConnections(most int) *connections {
	if most <= 0 {
		most = 1000
	}
	if files := mostFiles(); files > 0 { // models and logs must find room, too
		most = min(most, max(files/4*3, 1))
	}
	return &connections{most: most, all: map[net.Conn]*connection{}}
}

// connectionKey is that of a context's connection.
type connectionKey struct{}

// begins is http.Server.ConnContext, which is called first.
func (c *connections) begins(ctx context.Context, conn net.Conn) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.all) >= c.most {
		c.closeOne()
	}
	one := &connection{of: c, since: time.Now(), idle: true}
	c.all[conn] = one
	return context.WithValue(ctx, connectionKey{}, one)
}

// connectionOf returns the one on which a request came.
func connectionOf(r *http.Request) *connection {
	if c, ok := r.Context().Value(connectionKey{}).(*connection); ok {
		return c
	}
	return &connection{}
}

// works says that a request is there and is answered now, waits that what is left is the client's
// to take.
func (c *connection) works() { c.set(true) }
func (c *connection) waits() { c.set(false) }

func (c *connection) set(working bool) {
	if c.of != nil {
		c.of.mu.Lock()
		defer c.of.mu.Unlock()
		c.working, c.since = working, time.Now()
	}
}

// changed is http.Server.ConnState.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
	case http.StateActive, http.StateIdle:
		if one := c.all[conn]; one != nil {
			one.idle, one.since = state == http.StateIdle, time.Now()
		}
	default:
		delete(c.all, conn)
	}
}

// closeOne closes the connection that has kept the server waiting longest, one without a request
// first; none, if all are being answered.
func (c *connections) closeOne() {
	var worst net.Conn
	var of *connection
	for conn, one := range c.all {
		if one.working || one.closed {
			continue
		}
		if of == nil || one.idle && !of.idle || one.idle == of.idle && one.since.Before(of.since) {
			worst, of = conn, one
		}
	}
	if worst == nil {
		return
	}
	of.closed = true
	if t, ok := worst.(*tls.Conn); ok {
		worst = t.NetConn() // without the words that TLS has for the end, which may have to wait
	}
	worst.Close()
}
