package command

// servingHelp is the help topic on serve.
const servingHelp = `
Rows

  application/json       an object, or an array of objects; an answer of the same shape
  application/x-ndjson   an object a line; answered a line each
  text/x-svmlight        as in files; answered a line each

An object has the keys label (also class, target or y, or the one that training named), id, weight
and features, and all others are features, as in files of ndjson. features is an object, {"age": 3,
"job": "clerk"} by names or {"17": 0.5} by numbers, or an array: of each column in the order of
training, or of the first feature and so on. A model of csv columns needs a number for each column
of
numbers. A key that features of training have as a name is a feature.

  {"features": [0.5, -1]}                          {"label": "+1", "features": {"3": 1}}
  {"age": 3, "job": "clerk"}                       {"id": "a7", "label": "no"}

A prediction has the label that is predicted, its score, where the learner has probabilities proba,
with more than two classes scores and probas in the order of the model's labels, the row's id, and
snapshot: how many examples what predicted had learned. A number that is none (NaN) is null.

Labels that come later

A row that is predicted with an id waits for its label, within --wait-max and --wait-bytes; the
oldest are dropped. A row to learn that has an id and no features is the one that waited. One that
doesn't is refused, unknown_id, and nothing of its request is learned. Rows don't wait over a
restart.

Learning

Requests are learned in the order in which they were accepted, and answered when they are learned.
Of a request with a bad row nothing is learned. --queue bounds those that wait; more are refused
with
429. Predictions never wait: they read a copy, which is replaced each --publish-every.

With --log FILE each request is written down before it is learned, and is with the system when it is
answered: a process that is killed loses nothing, a machine that stops the last second, or with
--log-sync always nothing. Start serve again with the same flags: it takes the model's file, which
each --checkpoint-every renews, learns the rest of the log, and has the bytes of the model of a
process that wasn't killed. The log begins with the model as it was: train --replay FILE -m MODEL
makes the model of it anew, with --until N as it was after N examples. A request at the end of a log
that was never answered is cut off; other damage is an error.

A request that leaves weights which are not finite, or that panics, ends the learning of its model
with 503, and is taken out of the log: a restart, or SIGHUP, learns what was acknowledged.

Deploying

A file that the server did not write is never written over. Replace the model's file and send
SIGHUP: the new model is served, with a new log; the old log becomes LOG.old, and what was learned
since the last save FILE.unsaved. SIGHUP reads token and certificate again, too. Models and logs are
locked; servers with --read-only share them.

Status codes, with {"error": {"code", "message", "row", "next"}}

  400 malformed           a row, or the document, is none
  401 unauthorized        the token is missing or another
  403 host, read_only     another name of this machine was asked for; nothing is learned here
  404 no_such_model       and no_such_path
  405 method              POST to predict, learn and save, else GET
  408 too_slow            the body took longer than --body-time
  413 too_large           --max-body; too_many_rows: --max-rows; too_many_scores: rows times
                          classes are more than 262144
  415 media_type          of the body, or it is packed
  422 unfit               the rows are not of the model: features, labels, weights; --max-classes,
                          --max-model; too_many_features: --max-features; unknown_id
  429 queue_full          and rate: --rate; see Retry-After
  503 busy, unavailable   --max-requests, or the server stops, or the model learns no more`
