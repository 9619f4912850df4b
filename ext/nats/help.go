package nats

// Help says how streams are named, and what becomes of them.
const Help = `
train, predict and evaluate -i read a stream of NATS JetStream in place of files, and predict -o
answers on one. It is named by a URL:

  nats://[USER[:PASSWORD]@]HOST[:PORT][,HOST...]/STREAM/SUBJECT[@SEQUENCE][?OPTION=VALUE&...]

STREAM is one that JetStream keeps; SUBJECT is one of its subjects, which may have wildcards, or
all of them where none is given. Reading begins with message SEQUENCE of the stream, or else with the
first one there is. A message has one row or several, in whole lines; errors name SUBJECT@SEQUENCE
and the line in the message. Each message is read once and in order: by a consumer without a name
that acknowledges nothing, which a work queue doesn't allow.

  end       never (the default): go on until the run is stopped; now: end behind what the stream
            holds when it is opened; pause: stop there, so that train --resume can go on
  timeout   how long a connection, a request or an acknowledgement may take: 5s
  patience  how long the servers may be away meanwhile: 5m; 0s is for ever
  tls       true encrypts the connection, even if the server doesn't ask for it
  ca, cert, key
            files of PEM: whom to trust, and who this program is
  creds     a file of credentials
  create    answers only: true makes the stream where there is none

What is secret may stand in the environment: NATS_USER, NATS_PASSWORD, NATS_TOKEN, NATS_CREDS,
NATS_CA, NATS_CERT, NATS_KEY.

A model that is written on the way has the place behind which it has learned nothing yet, a
message and bytes of it, and train --resume begins there: each row is learned once, whatever was
killed. Messages that were removed since are an error.

An answer has a line for each good row of a message, its headers, and Halfspace-Source, which is
SUBJECT@SEQUENCE of the message. Its Nats-Msg-Id is that of the message, or where this has none, and
where the answers go to the stream that is read, its Halfspace-Source. So a predict that is begun
again at an earlier message answers none twice, within the time in which a stream finds duplicates
(two minutes, unless it says otherwise).`
